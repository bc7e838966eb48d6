package kube

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
)

// validateDefinition returns an error if a real server refuses to create the definition.
func validateDefinition(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) error {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	d = d.DeepCopy()
	d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	scheme.Default(d)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(d, internal, nil); err != nil {
		return fmt.Errorf("custom resource definition %q cannot be read: %w", d.Name, err)
	}
	for _, v := range internal.Spec.Versions {
		if v.Storage {
			internal.Status.StoredVersions = []string{v.Name}
		}
	}
	if errs := validation.ValidateCustomResourceDefinition(ctx, internal); len(errs) > 0 {
		return fmt.Errorf("custom resource definition %q: an API server refuses it: %w", d.Name, errs.ToAggregate())
	}
	return nil
}

package main

import (
	"context"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv1 "github.com/crossplane/crossplane-runtime/v2/apis/common/v1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	v1 "github.com/crossplane/crossplane/v2/apis/apiextensions/v1"
	"github.com/crossplane/crossplane/v2/internal/xcrd"
)

const group = "example.org"

// newDefinition defines the composite kind XDatabase and the claim kind Database.
func newDefinition() *v1.CompositeResourceDefinition {
	return &v1.CompositeResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "xdatabases." + group},
		Spec: v1.CompositeResourceDefinitionSpec{
			Group:                          group,
			Names:                          extv1.CustomResourceDefinitionNames{Kind: "XDatabase", ListKind: "XDatabaseList", Plural: "xdatabases", Singular: "xdatabase"},
			ClaimNames:                     &extv1.CustomResourceDefinitionNames{Kind: "Database", ListKind: "DatabaseList", Plural: "databases", Singular: "database"},
			Scope:                          ptr.To(v1.CompositeResourceScopeLegacyCluster),
			DefaultCompositeDeletePolicy:   ptr.To(xpv1.CompositeDeleteBackground),
			DefaultCompositionUpdatePolicy: ptr.To(xpv1.UpdateAutomatic),
			Versions: []v1.CompositeResourceDefinitionVersion{{
				Name:          "v1",
				Referenceable: true,
				Served:        true,
				Schema: &v1.CompositeResourceValidation{OpenAPIV3Schema: runtime.RawExtension{
					Raw: []byte(`{"type": "object", "properties": {"spec": {"type": "object"}}}`),
				}},
			}},
		},
	}
}

// customResources returns the custom resource definitions that Crossplane makes of a
// definition. They have no owner, since the definition has no uid before it is created.
func customResources(of *v1.CompositeResourceDefinition) ([]*extv1.CustomResourceDefinition, error) {
	composite, err := xcrd.ForCompositeResource(of)
	if err != nil {
		return nil, err
	}
	claim, err := xcrd.ForCompositeResourceClaim(of)
	if err != nil {
		return nil, err
	}
	composite.OwnerReferences, claim.OwnerReferences = nil, nil
	return []*extv1.CustomResourceDefinition{composite, claim}, nil
}

// establish tells the controllers of definitions that a custom resource definition is
// served already.
func establish(_ context.Context, object client.Object, _ ...resource.ApplyOption) error {
	if crd, ok := object.(*extv1.CustomResourceDefinition); ok {
		crd.Status.Conditions = []extv1.CustomResourceDefinitionCondition{{Type: extv1.Established, Status: extv1.ConditionTrue}}
	}
	return nil
}

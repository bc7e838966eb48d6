package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv1 "github.com/crossplane/crossplane-runtime/v2/apis/common/v1"
	v1 "github.com/crossplane/crossplane/v2/apis/apiextensions/v1"
	pkgmetav1 "github.com/crossplane/crossplane/v2/apis/pkg/meta/v1"
	pkgv1 "github.com/crossplane/crossplane/v2/apis/pkg/v1"
)

// Names of objects.
const (
	namespace    = "default"
	functionName = "function-text"
	alpha        = "alpha"
	beta         = "beta"
)

// claimName is the name of a claim, and of the composite that it is to be bound to.
func claimName(number int) string { return fmt.Sprintf("db%d", number+1) }

// newComposition is a composition for XDatabases whose pipeline is one step. The
// ConfigMap has the composition's name as its text, and the name given, or, if that is
// empty, one that Crossplane derives.
func newComposition(name, configMap string) *v1.Composition {
	input := fmt.Sprintf(`{"apiVersion": "text.fn.example.org/v1", "kind": "Input", "text": %q, "name": %q}`, name, configMap)
	return &v1.Composition{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.CompositionSpec{
			CompositeTypeRef: v1.TypeReferenceTo(newDefinition().GetCompositeGroupVersionKind()),
			Mode:             v1.CompositionModePipeline,
			Pipeline: []v1.PipelineStep{{
				Step:        "compose",
				FunctionRef: v1.FunctionReference{Name: functionName},
				Input:       &runtime.RawExtension{Raw: []byte(input)},
			}},
		},
	}
}

// newClaim is a Database that asks for a composition. It says which composite it is to
// be bound to, since the name would be random otherwise.
func newClaim(name, composition string, policy xpv1.UpdatePolicy) *unstructured.Unstructured {
	of := newDefinition()
	composite := of.GetCompositeGroupVersionKind()
	claim := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"spec": map[string]any{
			"compositionRef":          map[string]any{"name": composition},
			"compositionUpdatePolicy": string(policy),
			"resourceRef": map[string]any{
				"apiVersion": composite.GroupVersion().String(),
				"kind":       composite.Kind,
				"name":       name,
			},
		},
	}}
	claim.SetGroupVersionKind(of.GetClaimGroupVersionKind())
	return claim
}

// newFunction is the active revision of the function, which says what it can do.
func newFunction() client.Object {
	revision := &pkgv1.FunctionRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name:   functionName + "-1",
			Labels: map[string]string{pkgv1.LabelParentPackage: functionName},
		},
	}
	revision.Spec.DesiredState = pkgv1.PackageRevisionActive
	revision.Spec.Package = "example.org/function-text:v1"
	revision.Spec.Revision = 1
	revision.Status.Capabilities = []string{pkgmetav1.FunctionCapabilityComposition}
	return revision
}

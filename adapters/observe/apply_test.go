package observe_test

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// applyToStatus applies a field to the status of a ConfigMap, which the server of these tests takes for one like any
// other.
func applyToStatus(ctx context.Context, c client.Client, namespace, name string) error {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"data":     map[string]any{"applied": "yes"},
	}}
	return c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test"))
}

package controllerruntime_test

import (
	"context"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
)

// BenchmarkWrite makes writes through the client of a controller, to a server that
// remembers nothing.
func BenchmarkWrite(b *testing.B) {
	deployment := func() *appsv1.Deployment {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "d"}, Spec: deploymentSpec()}
	}
	for _, write := range []struct {
		name  string
		first client.Object
		// again changes what the client last got, or sends something of its own.
		again func(ctx context.Context, c client.Client, last client.Object, n int) error
	}{
		{"ConfigMap/create", configMap("a", nil), func(ctx context.Context, c client.Client, _ client.Object, n int) error {
			return c.Create(ctx, configMap("created-"+strconv.Itoa(n), nil))
		}},
		{"ConfigMap/update", configMap("a", nil), func(ctx context.Context, c client.Client, last client.Object, n int) error {
			last.SetLabels(map[string]string{"n": strconv.Itoa(n)})
			return c.Update(ctx, last)
		}},
		{"Deployment/update", deployment(), func(ctx context.Context, c client.Client, last client.Object, n int) error {
			last.(*appsv1.Deployment).Spec.Replicas = ptr.To(int32(n))
			return c.Update(ctx, last)
		}},
		{"Deployment/update-status", deployment(), func(ctx context.Context, c client.Client, last client.Object, n int) error {
			last.(*appsv1.Deployment).Status.Replicas = int32(n)
			return c.Status().Update(ctx, last)
		}},
		{"Deployment/merge-patch", deployment(), func(ctx context.Context, c client.Client, last client.Object, n int) error {
			before := last.DeepCopyObject().(client.Object)
			last.(*appsv1.Deployment).Spec.Replicas = ptr.To(int32(n))
			return c.Patch(ctx, last, client.MergeFrom(before))
		}},
		{"Deployment/apply", deployment(), func(ctx context.Context, c client.Client, _ client.Object, n int) error {
			wanted := deployment()
			wanted.Spec.Replicas = ptr.To(int32(n))
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
			if err != nil {
				return err
			}
			delete(fields, "status")
			u := &unstructured.Unstructured{Object: fields}
			u.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
			return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("bench"), client.ForceOwnership)
		}},
		{"Widget/update", widget("a", 1), func(ctx context.Context, c client.Client, last client.Object, n int) error {
			last.(*Widget).Spec.Parts = n
			return c.Update(ctx, last)
		}},
	} {
		b.Run(write.name, func(b *testing.B) {
			w := newWorld(b, controllerruntime.Setup(setupWidgets))
			server := w.system.Store.(*kube.Server)
			c, err := client.New(transport.New(server, w).Config("bench"), client.Options{Scheme: server.Scheme(), Mapper: server.RESTMapper()})
			if err != nil {
				b.Fatal(err)
			}
			last := write.first.DeepCopyObject().(client.Object)
			if err := c.Create(b.Context(), last); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for n := 2; b.Loop(); n++ {
				if err := write.again(b.Context(), c, last, n); err != nil {
					b.Fatal(err)
				}
				w.calls, w.events = nil, nil
			}
		})
	}
}

package controllerruntime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
)

// definitionOf defines a kind of example.org with a plural.
func definitionOf(kind, plural string) []byte {
	return fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: %[1]s, plural: %[2]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, kind, plural)
}

// The path of a request names the group exactly: the core group is not "any".
func TestPluralsOfSeveralGroups(t *testing.T) {
	for _, kind := range []string{"Service", "Pod", "Secret"} {
		for _, group := range []string{"", "example.org"} {
			t.Run(strings.Trim(kind+"."+group, "."), func(t *testing.T) {
				of := schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
				w := newWorld(t, controllerruntime.CRDBytes(definitionOf(kind, strings.ToLower(kind)+"s")), using(func(ctx context.Context, mgr ctrl.Manager) error {
					object := &unstructured.Unstructured{}
					object.SetGroupVersionKind(of)
					object.SetNamespace("default")
					object.SetName("a")
					spec := map[string]any{"ports": []any{map[string]any{"port": int64(80)}}, "containers": []any{map[string]any{"name": "c", "image": "i"}}}
					if kind != "Secret" {
						object.Object["spec"] = spec
					}
					if err := mgr.GetClient().Create(ctx, object); err != nil {
						return err
					}
					if err := mgr.GetClient().Get(ctx, keyA, object); err != nil {
						return err
					}
					mapped, err := mgr.GetRESTMapper().KindFor(schema.GroupVersionResource{Resource: strings.ToLower(kind) + "s"})
					if err != nil || mapped.Group != "" {
						return fmt.Errorf("the plural alone means %s, %w", mapped, err)
					}
					return mgr.GetClient().Delete(ctx, object)
				}))
				if err := use(w); err != nil {
					t.Error(err)
				}
				for _, call := range w.calls {
					if asked := call.(*kube.Request).Kind; asked != of {
						t.Errorf("%s asks for %s", call, asked)
					}
				}
				if len(w.calls) != 3 {
					t.Errorf("there are %d calls, want a create, a get and a delete", len(w.calls))
				}
				if len(w.unsupported) > 0 {
					t.Errorf("unsupported: %v", w.unsupported)
				}
			})
		}
	}
}

// Kubernetes itself has two kinds of events under one plural.
func TestClientSetsForEvents(t *testing.T) {
	w := newWorld(t, controllerruntime.CRDBytes(definitionOf("Event", "events")), using(func(ctx context.Context, mgr ctrl.Manager) error {
		clients, err := kubernetes.NewForConfig(mgr.GetConfig())
		if err != nil {
			return err
		}
		event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e"}, InvolvedObject: corev1.ObjectReference{Namespace: "default"}}
		_, err = clients.CoreV1().Events("default").Create(ctx, event, metav1.CreateOptions{})
		return err
	}))
	if err := use(w); err != nil {
		t.Error(err)
	}
	equal(t, "calls", w.said(), []string{"live create Event default/e"})
}

// What the check does not know is not what a cluster does not know.
func TestKindsThatAreNotKnown(t *testing.T) {
	for _, test := range []struct {
		name string
		ask  func(context.Context, ctrl.Manager) error
		want string
	}{
		{
			name: "not in the scheme",
			ask: func(ctx context.Context, mgr ctrl.Manager) error {
				clients, err := kubernetes.NewForConfig(mgr.GetConfig())
				if err != nil {
					return err
				}
				_, err = clients.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{})
				return err
			},
			want: "jobs.v1.batch: add its Go type to the scheme",
		}, {
			name: "never stored",
			ask: func(ctx context.Context, mgr ctrl.Manager) error {
				return mgr.GetClient().Create(ctx, &authorizationv1.SubjectAccessReview{})
			},
			want: "not modelled",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			scheme := newScheme()
			if err := authorizationv1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			system := controllerruntime.ForTest(t, scheme, controllerruntime.CRDBytes(widgetDefinition), using(test.ask))
			w := worldOf(t, system)
			if err := use(w); err == nil {
				t.Error("the call succeeded")
			}
			if len(w.unsupported) != 1 || !strings.Contains(w.unsupported[0].Error(), test.want) {
				t.Errorf("unsupported: %v, want %q", w.unsupported, test.want)
			}
		})
	}
}

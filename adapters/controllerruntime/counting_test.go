package controllerruntime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/specification"
)

// numbering is a controller that does its work once for each generation, which it notes somewhere.
type numbering struct {
	client.Client
	done  map[string]int64
	whole map[string]*appsv1.StatefulSet
	place place
}

// place is where a controller notes generations.
type place struct {
	name string
	// has reports whether it has dealt with an object as it is.
	has func(*numbering, context.Context, *appsv1.StatefulSet) bool
	// note notes that it has.
	note func(*numbering, context.Context, *appsv1.StatefulSet) error
	// counted are the kinds of which generations have to stay as they are.
	counted []core.Kind
}

// Reconcile implements [reconcile.Reconciler].
func (n *numbering) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	s := &appsv1.StatefulSet{}
	if err := n.Get(ctx, r.NamespacedName, s); err != nil || r.Name != "a" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if n.place.has(n, ctx, s) {
		return ctrl.Result{}, nil
	}
	if parts := fmt.Sprint(*s.Spec.Replicas); s.Annotations["parts"] != parts {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, "parts", parts)
		if err := n.Update(ctx, s); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, n.place.note(n, ctx, s)
}

// child is what the controller makes for a generation.
func child(s *appsv1.StatefulSet) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: fmt.Sprintf("%s-%05d", s.Name, s.Generation)}}
}

// other is the other object of the kind.
func (n *numbering) other(ctx context.Context) *appsv1.StatefulSet {
	other := &appsv1.StatefulSet{}
	_ = n.Get(ctx, client.ObjectKey{Namespace: "default", Name: "b"}, other)
	return other
}

var places = []place{
	{
		"in the status",
		func(_ *numbering, _ context.Context, s *appsv1.StatefulSet) bool {
			return s.Status.ObservedGeneration == s.Generation
		},
		func(n *numbering, ctx context.Context, s *appsv1.StatefulSet) error {
			s.Status.ObservedGeneration = s.Generation
			return n.Status().Update(ctx, s)
		}, nil,
	}, {
		"in an annotation",
		func(_ *numbering, _ context.Context, s *appsv1.StatefulSet) bool {
			return s.Annotations["done"] == fmt.Sprintf("%d-%s", s.Generation, s.Name)
		},
		func(n *numbering, ctx context.Context, s *appsv1.StatefulSet) error {
			s.Annotations["done"] = fmt.Sprintf("%d-%s", s.Generation, s.Name)
			return n.Update(ctx, s)
		}, []core.Kind{"StatefulSet.apps"},
	}, {
		"in memory",
		func(n *numbering, _ context.Context, s *appsv1.StatefulSet) bool {
			return n.done[s.Name] == s.Generation
		},
		func(n *numbering, _ context.Context, s *appsv1.StatefulSet) error {
			n.done[s.Name] = s.Generation
			return nil
		}, []core.Kind{"StatefulSet.apps"},
	}, {
		"in memory with all the rest",
		func(n *numbering, _ context.Context, s *appsv1.StatefulSet) bool {
			return n.whole[s.Name] != nil && n.whole[s.Name].Generation == s.Generation
		},
		func(n *numbering, _ context.Context, s *appsv1.StatefulSet) error {
			n.whole[s.Name] = s.DeepCopy()
			return nil
		}, nil,
	}, {
		"in the name of a child",
		func(n *numbering, ctx context.Context, s *appsv1.StatefulSet) bool {
			return n.Get(ctx, client.ObjectKeyFromObject(child(s)), &corev1.ConfigMap{}) == nil
		},
		func(n *numbering, ctx context.Context, s *appsv1.StatefulSet) error { return n.Create(ctx, child(s)) },
		[]core.Kind{"StatefulSet.apps"},
	}, {
		"in the status of another",
		func(n *numbering, ctx context.Context, s *appsv1.StatefulSet) bool {
			return n.other(ctx).Status.ObservedGeneration == s.Generation
		},
		func(n *numbering, ctx context.Context, s *appsv1.StatefulSet) error {
			other := n.other(ctx)
			other.Status.ObservedGeneration = s.Generation
			return n.Status().Update(ctx, other)
		}, []core.Kind{"StatefulSet.apps"},
	},
}

// TestNotedGenerations checks controllers that are right: what users ask for later is done, too. The server has to
// count generations on where they are noted in a place that it does not know of, and must not where it does.
func TestNotedGenerations(t *testing.T) {
	long(t)
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			set := func(name string) *appsv1.StatefulSet {
				labels := map[string]string{"app": name}
				return &appsv1.StatefulSet{
					TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
					ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
					Spec: appsv1.StatefulSetSpec{Replicas: ptr.To(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
						ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
					}},
				}
			}
			more := controllerruntime.Change("ask for more", set("a"), func(s *appsv1.StatefulSet) { s.Spec.Replicas = ptr.To(int32(2)) })
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(set("a"), set("b")), controllerruntime.Scenario(more.OnceSettled()),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					n := &numbering{mgr.GetClient(), map[string]int64{}, map[string]*appsv1.StatefulSet{}, place}
					return ctrl.NewControllerManagedBy(mgr).For(&appsv1.StatefulSet{}).Complete(n)
				}))
			follows, err := specification.Of(system).Formula(`G F "statefulsets.all(s, s.metadata.name == 'b' || s.metadata.?annotations[?'parts'] == optional.of(string(s.spec.replicas)))"`)
			if err != nil {
				t.Fatal(err)
			}
			system.Properties = append(system.Properties, follows)
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r := result.Report; r.Verdict != core.Holds || !slices.Equal(r.Counted, place.counted) {
				t.Errorf("%s: %v %v, %v are counted, want %s and %v", r.Verdict, r.Reasons, r.Findings, r.Counted, core.Holds, place.counted)
			}
		})
	}
}

// TestGenerationsOfUnknownKinds names a kind that nobody serves.
func TestGenerationsOfUnknownKinds(t *testing.T) {
	_, err := controllerruntime.New(newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.APIServer(kube.CountGenerations("Widget")),
		controllerruntime.Setup(func(ctrl.Manager) error { return nil }))
	if err == nil || !strings.Contains(err.Error(), "Widget.example.org") {
		t.Errorf("%v, want an error that names the kind", err)
	}
}

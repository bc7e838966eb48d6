package remote_test

import (
	"context"
	"slices"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/external/remote"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// observer notes the generation of a StatefulSet in another cluster: in its status there, or here.
type observer struct {
	client.Client
	other client.Client
	there bool
}

func (o *observer) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	config, set := &corev1.ConfigMap{}, &appsv1.StatefulSet{}
	if err := o.Get(ctx, request.NamespacedName, config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := o.other.Get(ctx, request.NamespacedName, set); err != nil {
		return ctrl.Result{}, err
	}
	if o.there {
		if set.Status.ObservedGeneration == set.Generation {
			return ctrl.Result{}, nil
		}
		set.Status.ObservedGeneration = set.Generation
		return ctrl.Result{}, o.other.Status().Update(ctx, set)
	}
	if config.Data["generation"] == strconv.FormatInt(set.Generation, 10) {
		return ctrl.Result{}, nil
	}
	config.Data = map[string]string{"generation": strconv.FormatInt(set.Generation, 10)}
	return ctrl.Result{}, o.Update(ctx, config)
}

// TestGenerationsOfAnotherCluster checks that those of its kinds are counted on where they are noted in this one, and
// only then.
func TestGenerationsOfAnotherCluster(t *testing.T) {
	labels := map[string]string{"app": "task"}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "task"}, Spec: appsv1.StatefulSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}}}},
	}}
	for there, want := range map[bool][]core.Kind{true: nil, false: {"StatefulSet.apps@west"}} {
		west, err := remote.New("west", scheme.Scheme, remote.Objects(set))
		if err != nil {
			t.Fatal(err)
		}
		made := controllerruntime.ForTest(t, scheme.Scheme, controllerruntime.External(west),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				other, err := west.Client(mgr.GetConfig())
				if err != nil {
					return err
				}
				return ctrl.NewControllerManagedBy(mgr).Named("observer").For(&corev1.ConfigMap{}).Complete(&observer{mgr.GetClient(), other, there})
			}),
			controllerruntime.ObjectValues(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "task"}}),
			controllerruntime.Properties(properties.Convergent()...))
		if r := check(t, made, orrery.Options{}); r.Verdict != core.Holds || !slices.Equal(r.Counted, want) {
			t.Errorf("noted there %t: %s %v %v, %v are counted, want %v", there, r.Verdict, r.Findings, r.Reasons, r.Counted, want)
		}
	}
}

// elder writes down in each ConfigMap which one is the oldest.
type elder struct{ client.Client }

func (e *elder) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	all := &corev1.ConfigMapList{}
	if err := e.List(ctx, all); err != nil || len(all.Items) == 0 {
		return ctrl.Result{}, err
	}
	oldest := slices.MinFunc(all.Items, func(a, b corev1.ConfigMap) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	for _, config := range all.Items {
		if config.Name == request.Name && config.Data["oldest"] != oldest.Name {
			config.Data = map[string]string{"oldest": oldest.Name}
			return ctrl.Result{}, e.Update(ctx, &config)
		}
	}
	return ctrl.Result{}, nil
}

// TestAgesBesideAnotherCluster checks that it is found out that a controller compares the ages of objects of the first
// cluster where there is another one.
func TestAgesBesideAnotherCluster(t *testing.T) {
	west, err := remote.New("west", scheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	config := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	made := controllerruntime.ForTest(t, scheme.Scheme, controllerruntime.External(west), controllerruntime.ObjectValues(config("a"), config("b")),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("elder").For(&corev1.ConfigMap{}).Complete(&elder{mgr.GetClient()})
		}),
		controllerruntime.Properties(properties.Convergent()...))
	result, err := orrery.Run(t.Context(), made, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if compared := result.Report.Ages; len(compared) != 1 || !slices.Contains(compared[0], "ConfigMap") {
		t.Errorf("%s: %v are compared by their ages, want ConfigMaps", result.Report.Verdict, compared)
	}
}

package controllerruntime_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// lister lists the Secrets of its namespace from the cache, or from the API server, and does something about them.
type lister struct {
	client.Client
	reader client.Reader
	does   func(context.Context, client.Client, *corev1.ConfigMap, []corev1.Secret) error
}

func (r *lister) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	object, all := &corev1.ConfigMap{}, corev1.SecretList{}
	if err := r.Get(ctx, req.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.reader.List(ctx, &all, client.InNamespace(req.Namespace)); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.does(ctx, r.Client, object, all.Items)
}

// joins writes the names of Secrets into the object, as they come or sorted.
func joins(sorted bool) func(context.Context, client.Client, *corev1.ConfigMap, []corev1.Secret) error {
	return func(ctx context.Context, c client.Client, object *corev1.ConfigMap, all []corev1.Secret) error {
		var names []string
		for _, secret := range all {
			names = append(names, secret.Name)
		}
		if sorted {
			slices.Sort(names)
		}
		joined := strings.Join(names, " ")
		if object.Data["names"] == joined {
			return nil
		}
		object.Data = map[string]string{"names": joined}
		return c.Update(ctx, object)
	}
}

// marksFirst marks the first Secret that is not marked, one in each reconcile.
func marksFirst(ctx context.Context, c client.Client, _ *corev1.ConfigMap, all []corev1.Secret) error {
	for i := range all {
		if all[i].Labels["marked"] == "" {
			all[i].Labels = map[string]string{"marked": "yes"}
			return c.Update(ctx, &all[i])
		}
	}
	return nil
}

// elects writes the name of the first Secret, unless one was written before.
func elects(ctx context.Context, c client.Client, object *corev1.ConfigMap, all []corev1.Secret) error {
	if object.Data["first"] != "" || len(all) == 0 {
		return nil
	}
	object.Data = map[string]string{"first": all[0].Name}
	return c.Update(ctx, object)
}

// TestOrderOfCachedLists has controllers list objects: caches list them in any order, API servers in that of their
// keys.
func TestOrderOfCachedLists(t *testing.T) {
	type does = func(context.Context, client.Client, *corev1.ConfigMap, []corev1.Secret) error
	for about, test := range map[string]struct {
		does    does
		live    bool
		options orrery.Options
		want    core.Verdict
		// heeds is whether the order makes a difference, and states how many there are: an object that was written is
		// in the queue once more.
		heeds  bool
		states int
	}{
		"as they come":               {joins(false), false, orrery.Options{}, core.Violated, true, 5},
		"as they come, call by call": {joins(false), false, orrery.Options{Granularity: orrery.PerCall}, core.Violated, true, 0},
		"as the server lists them":   {joins(false), true, orrery.Options{}, core.Holds, false, 3},
		"sorted":                     {joins(true), false, orrery.Options{}, core.Holds, false, 3},
		// Either of two Secrets comes first.
		"one at a time":                       {marksFirst, false, orrery.Options{}, core.Holds, true, 5},
		"one at a time, without reduction":    {marksFirst, false, orrery.Options{Reduction: orrery.NoReduction}, core.Holds, true, 5},
		"one at a time, and a call may fail":  {marksFirst, false, orrery.Options{Failures: 1}, core.Holds, true, 0},
		"one at a time, as the server lists":  {marksFirst, true, orrery.Options{}, core.Holds, false, 4},
		"the first one":                       {elects, false, orrery.Options{}, core.Violated, true, 5},
		"the first one, as the server has it": {elects, true, orrery.Options{}, core.Holds, false, 3},
	} {
		t.Run(about, func(t *testing.T) {
			named := func(name string) metav1.ObjectMeta {
				return metav1.ObjectMeta{Namespace: "default", Name: name}
			}
			system, err := controllerruntime.New(scheme.Scheme, controllerruntime.Setup(func(mgr ctrl.Manager) error {
				r := &lister{mgr.GetClient(), mgr.GetClient(), test.does}
				if test.live {
					r.reader = mgr.GetAPIReader()
				}
				return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Named("lister").Complete(r)
			}), controllerruntime.ObjectValues(&corev1.ConfigMap{ObjectMeta: named("a")}, &corev1.Secret{ObjectMeta: owned(named("x"))}, &corev1.Secret{ObjectMeta: owned(named("y"))}))
			if err != nil {
				t.Fatal(err)
			}
			system.Properties = properties.Convergent()
			result, err := orrery.Run(t.Context(), system, test.options)
			if err != nil {
				t.Fatal(err)
			}
			r := result.Report
			says := slices.ContainsFunc(r.Assumptions, func(text string) bool { return strings.Contains(text, "Caches list objects to lister in the order") })
			if r.Verdict != test.want || says != test.heeds || test.states > 0 && r.States != test.states {
				t.Errorf("%s with %d states, and the order makes a difference: %t\n%v\n%v", r.Verdict, r.States, says, r.Reasons, r.Findings)
			}
			happensAgain(t, system, test.options, &r)
		})
	}
}

// owned returns the metadata of an object whose controller is the ConfigMap of the test.
func owned(meta metav1.ObjectMeta) metav1.ObjectMeta {
	yes := true
	meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "a", Controller: &yes}}
	return meta
}

// TestFormsOfOneKind has a controller watch a kind in one form and read it from its cache in another: on a cluster,
// these are two caches. That matters where a cache may be stale.
func TestFormsOfOneKind(t *testing.T) {
	for about, test := range map[string]struct {
		options []builder.ForOption
		read    client.Object
		lag     bool
		doubted bool
	}{
		"metadata watched, all read":  {[]builder.ForOption{builder.OnlyMetadata}, &corev1.ConfigMap{}, true, true},
		"fresh":                       {[]builder.ForOption{builder.OnlyMetadata}, &corev1.ConfigMap{}, false, false},
		"all watched, all read":       {nil, &corev1.ConfigMap{}, true, false},
		"metadata watched, and read":  {[]builder.ForOption{builder.OnlyMetadata}, partial(), true, false},
		"all watched, metadata read":  {nil, partial(), true, true},
		"metadata of a kind besides":  {nil, &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}, true, false},
		"metadata watched, both read": {[]builder.ForOption{builder.OnlyMetadata}, nil, true, true},
	} {
		t.Run(about, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
			system, err := controllerruntime.New(scheme.Scheme, controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}, test.options...).Named("reader").Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
					for _, read := range []client.Object{&corev1.ConfigMap{}, partial()} {
						if test.read != nil {
							read = test.read.DeepCopyObject().(client.Object)
						}
						if err := c.Get(ctx, req.NamespacedName, read); client.IgnoreNotFound(err) != nil {
							return ctrl.Result{}, err
						}
					}
					return ctrl.Result{}, nil
				}))
			}), controllerruntime.ObjectValues(object), controllerruntime.Scenario(controllerruntime.Delete(object)))
			if err != nil {
				t.Fatal(err)
			}
			options := orrery.Options{}
			if test.lag {
				options.Stale = []orrery.Staleness{{Controller: "reader", Rule: orrery.Lag(1)}}
			}
			result, err := orrery.Run(t.Context(), system, options)
			if err != nil {
				t.Fatal(err)
			}
			doubted := slices.ContainsFunc(result.Report.Reasons, func(text string) bool { return strings.Contains(text, "reader reads ConfigMap from another cache") })
			if doubted != test.doubted || doubted == (result.Report.Verdict == core.Holds) {
				t.Errorf("%s: %v", result.Report.Verdict, result.Report.Reasons)
			}
		})
	}
}

// partial is the metadata of a ConfigMap.
func partial() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
}

package controllerruntime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// setupParts registers a controller that keeps one ConfigMap per part of a Widget, and
// finds those that there are in an index. It does well whatever happens to it.
func setupParts(mgr ctrl.Manager) error {
	byWidget := func(o client.Object) []string { return []string{o.GetLabels()["widget"]} }
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.ConfigMap{}, "widget", byWidget); err != nil {
		return err
	}
	c := mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).Named("parts").For(&Widget{}).Owns(&corev1.ConfigMap{}).
		Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			var w Widget
			if err := c.Get(ctx, request.NamespacedName, &w); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			var there corev1.ConfigMapList
			if err := c.List(ctx, &there, client.InNamespace(w.Namespace), client.MatchingFields{"widget": w.Name}); err != nil {
				return reconcile.Result{}, err
			}
			for part := len(there.Items); part < w.Spec.Parts; part++ {
				made := configMap(fmt.Sprintf("%s-%d", w.Name, part), map[string]string{"widget": w.Name})
				if err := controllerutil.SetControllerReference(&w, made, mgr.GetScheme()); err != nil {
					return reconcile.Result{}, err
				}
				if err := c.Create(ctx, made); client.IgnoreAlreadyExists(err) != nil {
					return reconcile.Result{}, err
				}
			}
			if w.Status.Ready == w.Spec.Parts {
				return reconcile.Result{}, nil
			}
			w.Status.Ready = w.Spec.Parts
			err := c.Status().Update(ctx, &w)
			if apierrors.IsConflict(err) {
				return reconcile.Result{Requeue: true}, nil
			}
			return reconcile.Result{}, err
		}))
}

// check searches a system with Widgets of one part each.
func check(t *testing.T, widgets int, options orrery.Options, more ...controllerruntime.Option) *orrery.Result {
	t.Helper()
	more = append(more, controllerruntime.CRDBytes(widgetDefinition), controllerruntime.Setup(setupParts))
	for i := range widgets {
		more = append(more, controllerruntime.ObjectValues(widget(string(rune('a'+i)), 1)))
	}
	result, err := orrery.Run(t.Context(), controllerruntime.ForTest(t, newScheme(), more...), options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestConditions searches under each of the conditions, and all of them together. They
// make more happen, and nothing wrong.
func TestConditions(t *testing.T) {
	undisturbed := check(t, 1, orrery.Options{}).Report
	for _, test := range []struct {
		name    string
		options orrery.Options
		more    []controllerruntime.Option
	}{
		{"stale", orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(2)}}}, nil},
		{"relist", orrery.Options{Stale: []orrery.Staleness{{Controller: "parts", Kind: "Widget.example.org", Rule: orrery.Relist}}}, nil},
		{"crashes", orrery.Options{Crashes: 1}, nil},
		{"restarts with stale views", orrery.Options{Crashes: 1, Stale: []orrery.Staleness{{Rule: orrery.Restart(1)}}}, nil},
		{"failures", orrery.Options{Failures: 2}, nil},
		{"calls", orrery.Options{Granularity: orrery.PerCall}, nil},
		{"doubles", orrery.Options{Doubles: []string{"parts"}, Granularity: orrery.PerCall}, nil},
		{
			"all",
			orrery.Options{Granularity: orrery.PerCall, Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}, Crashes: 1, Failures: 1},
			[]controllerruntime.Option{controllerruntime.Scenario(controllerruntime.Delete(configMap("a-0", nil)))},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := check(t, 1, test.options, test.more...).Report
			if report.Verdict != core.Holds {
				t.Errorf("%s: %v", report.Verdict, report.Reasons)
				for _, f := range report.Findings {
					t.Errorf("%s: %s", f.Property, f.Summary)
				}
			}
			if report.States <= undisturbed.States {
				t.Errorf("there are %d states, and %d where nothing happens", report.States, undisturbed.States)
			}
		})
	}
}

// TestFailuresReachTheController lets one call fail, and looks at how the run ends.
func TestFailuresReachTheController(t *testing.T) {
	failed := func(options ...kube.Option) []string {
		graph := check(t, 1, orrery.Options{Failures: 1}, controllerruntime.APIServer(options...)).Graph
		var ends []string
		for id := range graph.States() {
			for _, edge := range graph.Edges(core.StateID(id)) {
				if _, how, fails := strings.Cut(edge.Step.Detail, " fails: "); fails {
					ends = append(ends, fmt.Sprintf("%s: wrote %t, requeued %t: %s", how, edge.Wrote, edge.Requeued, edge.Failed))
				}
			}
		}
		slices.Sort(ends)
		return slices.Compact(ends)
	}
	const late = "Timeout: request did not complete within the allotted timeout"
	equal(t, "failures that are conflicts", failed(kube.Failures(kube.Conflict)), []string{
		"conflict: wrote true, requeued true: ",
	})
	equal(t, "failures that take too long", failed(kube.Failures(kube.Timeout, kube.AnswerLost)), []string{
		"committed, but the answer is lost: wrote true, requeued false: " + late,
		"timeout: wrote false, requeued false: " + late,
		"timeout: wrote true, requeued false: " + late,
	})
	equal(t, "failures that have other reasons", failed(kube.Failures(kube.InternalError, kube.Throttled)), []string{
		"internal error: wrote false, requeued false: Internal error occurred: etcdserver: leader changed",
		"internal error: wrote true, requeued false: Internal error occurred: etcdserver: leader changed",
		"throttled: wrote false, requeued false: the server has received too many requests and has asked us to try again later (post configmaps)",
		"throttled: wrote true, requeued false: the server has received too many requests and has asked us to try again later (put widgets.example.org a)",
	})
}

// TestOthersDoNotMakeBehaviours checks that what a controller does for one owner is learned
// whatever there is of others, since its lists show only what their index finds.
func TestOthersDoNotMakeBehaviours(t *testing.T) {
	one, two, three := check(t, 1, orrery.Options{}).Report, check(t, 2, orrery.Options{}).Report, check(t, 3, orrery.Options{}).Report
	if two.Behaviours != 2*one.Behaviours || three.Behaviours != 3*one.Behaviours {
		t.Errorf("one, two and three owners have %d, %d and %d behaviours", one.Behaviours, two.Behaviours, three.Behaviours)
	}
}

package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// noting is a reconciler that notes what it was asked for, and does nothing else about it.
type noting struct {
	reconcile.Func
	asked map[string]bool
}

// Reconcile implements [reconcile.Reconciler].
func (n *noting) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	n.asked[r.Name] = true
	return n.Func(ctx, r)
}

// TestTimes checks what is said of reconcilers that write times, and of one that waits for a time: whether they keep
// something in memory besides or not.
func TestTimes(t *testing.T) {
	long(t)
	for _, test := range []struct {
		name      string
		reconcile func(context.Context, client.Client, *corev1.Service) (ctrl.Result, error)
		verdict   core.Verdict
		says      string
	}{
		{"the time at each reconcile, by an update", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "seen", metav1.Now().Format(time.RFC3339))
			return ctrl.Result{}, c.Update(ctx, s)
		}, core.Violated, "never stops changing"},
		{"the time at each reconcile, by a patch", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			from := client.MergeFrom(s.DeepCopy())
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "seen", metav1.Now().Format(time.RFC3339))
			return ctrl.Result{}, c.Patch(ctx, s, from)
		}, core.Violated, "never stops changing"},
		{"a condition", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Done"})
			return ctrl.Result{}, c.Status().Update(ctx, s)
		}, core.Holds, ""},
		{"a condition, after a part of a second", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			// The more often it is repeated, the later it is, until it is another second.
			time.Sleep(300 * time.Millisecond)
			meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Done"})
			return ctrl.Result{}, c.Status().Update(ctx, s)
		}, core.Holds, ""},
		{"a deadline", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			if rest := time.Minute - time.Since(s.CreationTimestamp.Time); rest > 0 {
				return ctrl.Result{RequeueAfter: rest}, nil
			}
			return ctrl.Result{}, c.Delete(ctx, s)
		}, core.Holds, ""},
		{"a deadline, and then too many Services", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			if rest := time.Minute - time.Since(s.CreationTimestamp.Time); rest > 0 {
				return ctrl.Result{RequeueAfter: rest}, nil
			}
			next := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name + "a"}, Spec: corev1.ServiceSpec{Ports: s.Spec.Ports}}
			if len(next.Name) > 2 {
				return ctrl.Result{}, nil
			}
			return ctrl.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, next))
		}, core.Violated, "fewer than two"},
		{"an expiry that is put off again and again", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			end, err := time.Parse(time.RFC3339, s.Annotations["not-after"])
			if err != nil || !time.Now().Before(end) {
				end = time.Now().Add(365 * 24 * time.Hour)
				metav1.SetMetaDataAnnotation(&s.ObjectMeta, "not-after", end.Format(time.RFC3339))
				if err := c.Update(ctx, s); err != nil {
					return ctrl.Result{}, err
				}
			}
			return ctrl.Result{RequeueAfter: time.Until(end)}, nil
		}, core.Holds, ""},
		{"attempts that are counted", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			if time.Since(s.CreationTimestamp.Time) < time.Duration(1+len(s.Annotations["tried"]))*10*365*24*time.Hour {
				return ctrl.Result{RequeueAfter: time.Minute}, nil
			}
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "tried", s.Annotations["tried"]+"x")
			return ctrl.Result{RequeueAfter: time.Minute}, c.Update(ctx, s)
		}, core.Inconclusive, "more were not searched"},
		{"attempts that are counted, and given up after many", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			if time.Since(s.CreationTimestamp.Time) < time.Duration(1+len(s.Annotations["tried"]))*10*365*24*time.Hour {
				return ctrl.Result{RequeueAfter: time.Minute}, nil
			}
			if err := c.List(ctx, &corev1.PodList{}); err != nil { // as after each of them
				return ctrl.Result{}, err
			}
			if len(s.Annotations["tried"]) == 6 {
				return ctrl.Result{}, c.Delete(ctx, s)
			}
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "tried", s.Annotations["tried"]+"x")
			return ctrl.Result{RequeueAfter: time.Minute}, c.Update(ctx, s)
		}, core.Inconclusive, "more were not searched"},
		{"a warning, and a deadline later", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			age := time.Since(s.CreationTimestamp.Time)
			switch {
			case age > 24*time.Hour:
				return ctrl.Result{}, c.Delete(ctx, s)
			case age > time.Hour && s.Annotations["warned"] == "":
				metav1.SetMetaDataAnnotation(&s.ObjectMeta, "warned", "yes")
				return ctrl.Result{RequeueAfter: 24*time.Hour - age}, c.Update(ctx, s)
			}
			return ctrl.Result{RequeueAfter: time.Hour}, nil
		}, core.Holds, ""},
		{"a warning, and a deadline later, behind a look at something else", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			age := time.Since(s.CreationTimestamp.Time)
			if age < time.Hour {
				return ctrl.Result{RequeueAfter: time.Hour - age}, nil
			}
			if err := c.List(ctx, &corev1.PodList{}); err != nil {
				return ctrl.Result{}, err
			}
			switch {
			case age > 24*time.Hour:
				return ctrl.Result{}, c.Delete(ctx, s)
			case s.Annotations["warned"] == "":
				metav1.SetMetaDataAnnotation(&s.ObjectMeta, "warned", "yes")
				return ctrl.Result{RequeueAfter: 24*time.Hour - age}, c.Update(ctx, s)
			}
			return ctrl.Result{RequeueAfter: 24*time.Hour - age}, nil
		}, core.Holds, ""},
		{"a deadline behind a look at something else", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			if age := time.Since(s.CreationTimestamp.Time); age < time.Hour {
				return ctrl.Result{RequeueAfter: time.Hour - age}, nil
			}
			if err := c.List(ctx, &corev1.PodList{}); err != nil {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, c.Delete(ctx, s)
		}, core.Holds, ""},
		{"a duration, beside a time, which is told by its field", func(ctx context.Context, c client.Client, s *corev1.Service) (ctrl.Result, error) {
			if s.Annotations["took"] != "" {
				return ctrl.Result{}, nil
			}
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "ended", time.Now().Format(time.RFC3339))
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "took", time.Since(s.CreationTimestamp.Time).Truncate(time.Minute).String())
			return ctrl.Result{}, c.Update(ctx, s)
		}, core.Inconclusive, `now: update Service default/a with "took":"0s"; then: update Service default/a with "took":"1m0s"; later: update Service default/a with "took":"`},
	} {
		check := func(t *testing.T, remembers bool) {
			service := &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"},
				Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
			}
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(service), controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				var reconciler reconcile.Reconciler = reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
					s := &corev1.Service{}
					if err := c.Get(ctx, r.NamespacedName, s); err != nil {
						return ctrl.Result{}, client.IgnoreNotFound(err)
					}
					return test.reconcile(ctx, c, s)
				})
				if remembers {
					reconciler = &noting{reconciler.(reconcile.Func), map[string]bool{}}
				}
				return ctrl.NewControllerManagedBy(mgr).For(&corev1.Service{}).Named("clock").Complete(reconciler)
			}))
			system.Properties = append(system.Properties, properties.Convergent()...)
			system.Properties = append(system.Properties, core.Property{Name: "fewer than two Services", Invariant: func(state core.State) error {
				if n := len(state.List("Service", "")); n > 1 {
					return fmt.Errorf("there are %d, want fewer than two", n)
				}
				return nil
			}})
			result := judged(t, system, orrery.Options{}, test.verdict, test.says)
			if several := strings.Contains(test.name, "a warning, and a deadline later"); several != (len(result.Report.Spans) == 1) {
				t.Errorf("these times pass besides the long one: %v", result.Report.Spans)
			}
			if (len(result.Report.Memory) > 0) != remembers {
				t.Errorf("it is said to keep %v", result.Report.Memory)
			}
		}
		t.Run(test.name, func(t *testing.T) { check(t, false) })
		t.Run(test.name+", and something in memory", func(t *testing.T) { check(t, true) })
	}
}

// resting is a reconciler that touches each Service once, leaves it alone for an hour, of which it knows from memory
// only, and removes it then.
type resting struct {
	client.Client
	until map[string]time.Time
}

// Reconcile implements [reconcile.Reconciler].
func (r *resting) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s := &corev1.Service{}
	if err := r.Get(ctx, request.NamespacedName, s); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	until, rests := r.until[s.Name]
	switch {
	case rests:
		if time.Now().After(until) {
			delete(r.until, s.Name) // nothing else is to be seen of it
		}
		return ctrl.Result{RequeueAfter: time.Minute}, nil
	case s.Annotations["touched"] == "":
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, "touched", "yes")
		r.until[s.Name] = time.Now().Add(time.Hour)
		return ctrl.Result{RequeueAfter: time.Minute}, r.Update(ctx, s)
	}
	return ctrl.Result{}, r.Delete(ctx, s)
}

// TestDeadlinesInMemory checks that what is done after a deadline is searched, although the run that finds it over does
// nothing but to forget it.
func TestDeadlinesInMemory(t *testing.T) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(service), controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.Service{}).Named("resting").Complete(&resting{mgr.GetClient(), map[string]time.Time{}})
	}))
	system.Properties = append(system.Properties, core.Property{Name: "the Service stays", Invariant: func(state core.State) error {
		if len(state.List("Service", "")) == 0 {
			return errors.New("it is gone")
		}
		return nil
	}})
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Violated || len(r.Awaiting) != 1 {
		t.Errorf("%s, and %v wait for times, want violated by one that does; it says %q", r.Verdict, r.Awaiting, r.Reasons)
	}
}

// judged checks a system, and has it come to a verdict with a reason or a finding that says something.
func judged(t *testing.T, system *core.System, options orrery.Options, verdict core.Verdict, says string) *orrery.Result {
	t.Helper()
	result, err := orrery.Run(t.Context(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(result.Report.Reasons, "\n")
	for _, f := range result.Report.Findings {
		text += f.Property + ": " + f.Summary + "\n"
	}
	if result.Report.Verdict != verdict || !strings.Contains(text, says) {
		t.Errorf("%s of %d states, want %s with %q; it says:\n%s", result.Report.Verdict, result.Report.States, verdict, says, text)
	}
	return result
}

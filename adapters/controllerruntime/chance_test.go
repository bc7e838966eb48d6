package controllerruntime_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// keyed is the object that the controllers of these tests reconcile: a ConfigMap with three keys.
func keyed() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "keys", Namespace: "default"}, Data: map[string]string{"a": "1", "b": "2", "c": "3"}}
}

// onKeys checks a controller of such objects, and of the Secrets and Services that belong to them.
func onKeys(t *testing.T, reconciles func(context.Context, client.Client, *corev1.ConfigMap) (ctrl.Result, error)) core.Report {
	t.Helper()
	return convergent(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).Named("keys").For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Owns(&corev1.Service{}).
			Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				var keys corev1.ConfigMap
				if err := c.Get(ctx, req.NamespacedName, &keys); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				return reconciles(ctx, c, &keys)
			}))
	}), controllerruntime.ObjectValues(keyed()))
}

// convergent checks a system with nothing going wrong.
func convergent(t *testing.T, options ...controllerruntime.Option) core.Report {
	t.Helper()
	system := controllerruntime.ForTest(t, scheme.Scheme, options...)
	system.Properties = properties.Convergent()
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// secretFor makes a Secret of a name.
func secretFor(ctx context.Context, c client.Client, keys *corev1.ConfigMap, name string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: keys.Namespace}}
	if err := ctrl.SetControllerReference(keys, secret, c.Scheme()); err != nil {
		return err
	}
	return client.IgnoreAlreadyExists(c.Create(ctx, secret))
}

// TestChance has controllers do one thing or another by chance: what comes of each is searched, and what is certain is
// said.
func TestChance(t *testing.T) {
	long(t)
	for _, test := range []struct {
		name       string
		reconciles func(context.Context, client.Client, *corev1.ConfigMap) (ctrl.Result, error)
		want       core.Verdict
		broken     string
	}{
		{"it creates as keys come out of a map", func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			for key := range keys.Data {
				if err := secretFor(ctx, c, keys, key); err != nil {
					return ctrl.Result{}, err
				}
			}
			return ctrl.Result{}, nil
		}, core.Holds, ""},
		{"it creates as keys come out of five maps", func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			for _, kind := range []string{"u", "v", "w", "x", "y"} {
				for key := range keys.Data {
					if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: kind + key}, &corev1.Secret{}); client.IgnoreNotFound(err) != nil {
						return ctrl.Result{}, err
					}
				}
				for key := range keys.Data {
					if err := secretFor(ctx, c, keys, kind+key); err != nil {
						return ctrl.Result{}, err
					}
				}
			}
			return ctrl.Result{}, nil
		}, core.Holds, ""},
		{"what it has created first is the default", func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			first := ""
			for key := range keys.Data {
				if err := secretFor(ctx, c, keys, key); err != nil {
					return ctrl.Result{}, err
				}
				if first == "" {
					first = key
				}
			}
			if keys.Annotations["default"] != "" {
				return ctrl.Result{}, nil
			}
			keys.Annotations = map[string]string{"default": first}
			return ctrl.Result{}, c.Update(ctx, keys)
		}, core.Violated, "same outcome"},
		{"the last one that it creates sees all others", func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			for key := range keys.Data {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: key, Namespace: keys.Namespace}}
				err := c.Get(ctx, client.ObjectKeyFromObject(secret), secret)
				if !apierrors.IsNotFound(err) {
					return ctrl.Result{}, err
				}
				var others corev1.SecretList
				if err := c.List(ctx, &others); err != nil {
					return ctrl.Result{}, err
				}
				secret.Labels = map[string]string{"before": fmt.Sprint(len(others.Items))}
				if err := c.Create(ctx, secret); err != nil {
					return ctrl.Result{}, err
				}
			}
			return ctrl.Result{}, nil
		}, core.Violated, "same outcome"},
		{"it writes as keys come out of a map", func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			var ports []corev1.ServicePort
			for key, value := range keys.Data {
				ports = append(ports, corev1.ServicePort{Name: key, Port: 80 + int32(value[0]), TargetPort: intstr.FromInt32(80 + int32(value[0])), Protocol: corev1.ProtocolTCP})
			}
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: keys.Namespace}}
			err := c.Get(ctx, client.ObjectKeyFromObject(service), service)
			switch {
			case apierrors.IsNotFound(err):
				service.Spec.Ports = ports
				return ctrl.Result{}, c.Create(ctx, service)
			case err != nil, equality.Semantic.DeepEqual(service.Spec.Ports, ports):
				return ctrl.Result{}, err
			}
			service.Spec.Ports = ports
			return ctrl.Result{}, c.Update(ctx, service)
		}, core.Violated, "fixpoint"},
		{"it goes to and fro, besides what comes out of a map", func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			for key := range keys.Data {
				if err := secretFor(ctx, c, keys, key); err != nil {
					return ctrl.Result{}, err
				}
			}
			keys.Data["a"] = map[string]string{"1": "2", "2": "1"}[keys.Data["a"]]
			return ctrl.Result{}, c.Update(ctx, keys)
		}, core.Violated, "stable convergence"},
		{"it picks one of three", func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			var secrets corev1.SecretList
			if err := c.List(ctx, &secrets); err != nil || len(secrets.Items) > 0 {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, secretFor(ctx, c, keys, []string{"x", "y", "z"}[mathrand.IntN(3)])
		}, core.Violated, "same outcome"},
		{"it tosses a coin until it falls", func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			if keys.Data["a"] == "done" {
				return ctrl.Result{}, nil
			}
			if keys.Data["a"] = map[string]string{"1": "2", "2": "1"}[keys.Data["a"]]; mathrand.IntN(2) == 0 {
				keys.Data["a"] = "done"
			}
			return ctrl.Result{}, c.Update(ctx, keys)
		}, core.Holds, ""},
		{"it counts in a variable that outlives it", func() func(context.Context, client.Client, *corev1.ConfigMap) (ctrl.Result, error) {
			n := 0
			return func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
				n++
				return ctrl.Result{}, secretFor(ctx, c, keys, []string{"x", "y", "z"}[n%3])
			}
		}(), core.Inconclusive, ""},
		{"it writes a number that is new each time", func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			if len(keys.Data["n"]) > 0 {
				return ctrl.Result{}, nil
			}
			keys.Data["n"] = fmt.Sprint(mathrand.IntN(1000))
			return ctrl.Result{}, c.Update(ctx, keys)
		}, core.Inconclusive, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := onKeys(t, test.reconciles)
			if report.Verdict != test.want {
				t.Fatalf("the verdict is %s, want %s: %q, %v", report.Verdict, test.want, report.Reasons, report.Findings)
			}
			if test.broken == "" {
				return
			}
			if test.broken == "same outcome" && !strings.Contains(report.Findings[0].Summary, "3 different outcomes, depending on chance") {
				t.Error(report.Findings[0].Summary)
			}
			decides := test.broken != "stable convergence" // or the order makes no difference
			if finding := report.Findings[0]; finding.Property != test.broken || strings.Contains(fmt.Sprint(finding.Trace.Steps), core.ByChance) != decides {
				t.Errorf("the finding is %+v", finding)
			}
		})
	}
}

// TestDueTimers has controllers do something at a time that their timers are set for, and that comes and goes: between
// two and four o'clock, and five minutes after the start.
func TestDueTimers(t *testing.T) {
	night := func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
		now := time.Now().UTC()
		opens := time.Date(now.Year(), now.Month(), now.Day(), 2, 0, 0, 0, time.UTC)
		if now.After(opens.Add(2 * time.Hour)) {
			opens = opens.Add(24 * time.Hour)
		}
		if now.Before(opens) {
			return ctrl.Result{RequeueAfter: opens.Sub(now)}, nil
		}
		panic("in the night")
	}
	if report := onKeys(t, night); report.Verdict != core.Violated || report.Findings[0].Property != "no panic" {
		t.Errorf("it panics in the night, and the verdict is %s: %v", report.Verdict, report.Findings)
	}
	stages := func(comesBack bool) func(context.Context, client.Client, *corev1.ConfigMap) (ctrl.Result, error) {
		return func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			age := time.Since(keys.CreationTimestamp.Time)
			set := func(phase string) error {
				if keys.Data["phase"] == phase {
					return nil
				}
				keys.Data["phase"] = phase
				return c.Update(ctx, keys)
			}
			switch {
			case age < 5*time.Minute:
				return ctrl.Result{RequeueAfter: 5*time.Minute - age}, nil
			case age >= 10*time.Minute:
				return ctrl.Result{}, set("failed")
			case comesBack:
				return ctrl.Result{RequeueAfter: 10*time.Minute - age}, set("warned")
			}
			return ctrl.Result{}, set("warned")
		}
	}
	if report := onKeys(t, stages(true)); report.Verdict != core.Holds {
		t.Errorf("it comes back, and the verdict is %s: %q, %v", report.Verdict, report.Reasons, report.Findings)
	}
	if report := onKeys(t, stages(false)); report.Verdict != core.Inconclusive || !strings.Contains(report.Reasons[0], "would do something later that nothing makes it do") {
		t.Errorf("it does not come back, and the verdict is %s: %q", report.Verdict, report.Reasons)
	}
}

// TestDatesFarAhead has controllers wait for a date in an object that is further ahead than anything else that is
// waited for. It comes in the search if long times pass until then, and is a reason else.
func TestDatesFarAhead(t *testing.T) {
	for date, want := range map[string]core.Verdict{"2015-01-01T00:00:00Z": core.Violated, "2026-12-31T00:00:00Z": core.Violated, "2035-06-01T12:00:00Z": core.Violated, "2079-01-01T00:00:00Z": core.Inconclusive} {
		report := onKeys(t, func(_ context.Context, _ client.Client, _ *corev1.ConfigMap) (ctrl.Result, error) {
			at, err := time.Parse(time.RFC3339, date)
			if left := time.Until(at); left > 0 {
				return ctrl.Result{RequeueAfter: left}, err
			}
			panic("it is over")
		})
		if report.Verdict != want || want == core.Inconclusive && !strings.Contains(report.Reasons[0], "after the last of the times that passed") {
			t.Errorf("it panics on %s, and the verdict is %s: %q, %v", date, report.Verdict, report.Reasons, report.Findings)
		}
	}
}

// TestDueTimersAreKnownAgain has what one search found out of a controller that waits for a time be no reason for
// another one of the same controller not to find it out.
func TestDueTimersAreKnownAgain(t *testing.T) {
	system := controllerruntime.ForTest(t, scheme.Scheme, controllerruntime.ObjectValues(keyed()), controllerruntime.Setup(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).Named("keys").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
			var keys corev1.ConfigMap
			if err := c.Get(ctx, req.NamespacedName, &keys); err != nil || keys.Data["started"] != "" {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			now := time.Now().UTC()
			if now.Hour() < 2 || now.Hour() >= 4 {
				opens := time.Date(now.Year(), now.Month(), now.Day(), 2, 0, 0, 0, time.UTC)
				if now.After(opens) {
					opens = opens.Add(24 * time.Hour)
				}
				return ctrl.Result{RequeueAfter: opens.Sub(now)}, nil
			}
			keys.Data["started"] = "yes" // and is lost if it crashes now
			if err := c.Update(ctx, &keys); err != nil {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, secretFor(ctx, c, &keys, "job")
		}))
	}))
	system.Properties = properties.Convergent()
	memo := orrery.NewMemo()
	for crashes, want := range []core.Verdict{core.Holds, core.Violated} {
		result, err := orrery.Run(t.Context(), system, orrery.Options{Memo: memo, Crashes: crashes})
		if err != nil {
			t.Fatal(err)
		}
		if report := result.Report; report.Verdict != want {
			t.Errorf("with %d crashes the verdict is %s, want %s: %q", crashes, report.Verdict, want, report.Reasons)
		}
	}
}

// TestChanceBehindLists has a controller that heeds in which order its cache lists objects look something up by chance
// if they come in one of the orders: both are searched.
func TestChanceBehindLists(t *testing.T) {
	report := convergent(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).Named("keys").For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
			var all corev1.ConfigMapList
			if err := c.List(ctx, &all); err != nil || len(all.Items) == 0 {
				return ctrl.Result{}, err
			}
			first := all.Items[0]
			for key := range first.Data {
				err := c.Get(ctx, client.ObjectKey{Namespace: first.Namespace, Name: key}, &corev1.Secret{})
				if apierrors.IsNotFound(err) {
					err = secretFor(ctx, c, &first, key)
				}
				if err != nil {
					return ctrl.Result{}, err
				}
			}
			return ctrl.Result{}, nil
		}))
	}), controllerruntime.ObjectValues(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "default"}, Data: map[string]string{"a": "1"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "two", Namespace: "default"}, Data: map[string]string{"b": "4", "c": "5"}},
	))
	if report.Verdict != core.Violated || len(report.Reasons) > 0 {
		t.Errorf("which of two objects comes first decides, and the verdict is %s: %q, %v", report.Verdict, report.Reasons, report.Findings)
	}
}

// TestListsOfEventHandlers has a mapping function take the first object that a cache lists, or all of them.
func TestListsOfEventHandlers(t *testing.T) {
	for most, want := range map[int]core.Verdict{1: core.Inconclusive, 3: core.Holds} {
		report := convergent(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
			c := mgr.GetClient()
			secrets := func(ctx context.Context, _ client.Object) (requests []ctrl.Request) {
				var list corev1.SecretList
				if err := c.List(ctx, &list); err != nil {
					return nil
				}
				for _, secret := range list.Items[:min(most, len(list.Items))] {
					requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&secret)})
				}
				return requests
			}
			return ctrl.NewControllerManagedBy(mgr).Named("keys").Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(secrets)).
				Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
					var secret corev1.Secret
					if err := c.Get(ctx, req.NamespacedName, &secret); err != nil || secret.Labels["seen"] != "" {
						return ctrl.Result{}, client.IgnoreNotFound(err)
					}
					secret.Labels = map[string]string{"seen": "yes"}
					return ctrl.Result{}, c.Update(ctx, &secret)
				}))
		}), controllerruntime.ObjectValues(keyed(),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}}, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "default"}}))
		if report.Verdict != want || want == core.Inconclusive && !strings.Contains(report.Reasons[0], "heeds in which order its cache lists objects") {
			t.Errorf("the first %d are enqueued, and the verdict is %s, want %s: %q, %v", most, report.Verdict, want, report.Reasons, report.Findings)
		}
	}
}

// TestRandomNumbersAreAlike has a Secret be made with two random numbers of whatever lengths: all outcomes are the
// same.
func TestRandomNumbersAreAlike(t *testing.T) {
	draw := func() string {
		n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
		if err != nil {
			panic(err)
		}
		return fmt.Sprintf("x%x", n)
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		report := onKeys(t, func(ctx context.Context, c client.Client, keys *corev1.ConfigMap) (ctrl.Result, error) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: keys.Namespace}}
			if err := c.Get(ctx, client.ObjectKeyFromObject(secret), secret); !apierrors.IsNotFound(err) {
				return ctrl.Result{}, err
			}
			secret.StringData = map[string]string{"user": draw(), "password": draw()}
			return ctrl.Result{}, c.Create(ctx, secret)
		})
		if report.Verdict != core.Holds {
			t.Errorf("%s: the verdict is %s: %q, %v", name, report.Verdict, report.Reasons, report.Findings)
		}
	}
}

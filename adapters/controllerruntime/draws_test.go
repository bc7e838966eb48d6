package controllerruntime_test

import (
	"context"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	mathrand "math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	storagenames "k8s.io/apiserver/pkg/storage/names"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// makeMap creates a ConfigMap of a name for a Widget.
func makeMap(ctx context.Context, c client.Client, w *Widget, name string, data map[string]string) error {
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}, Data: data}
	return c.Create(ctx, made)
}

// reconcileWidget reconciles Widgets that are there.
func reconcileWidget(c client.Client, with func(context.Context, client.Client, *Widget) (ctrl.Result, error)) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
		w := &Widget{}
		if err := c.Get(ctx, r.NamespacedName, w); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		return with(ctx, c, w)
	})
}

// madeOnce creates a ConfigMap of a random name where there is none.
func madeOnce(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
	list := &corev1.ConfigMapList{}
	if err := c.List(ctx, list); err != nil || len(list.Items) > 0 {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, makeMap(ctx, c, w, "w-"+rand.String(5), nil)
}

// madeAndNoted creates a ConfigMap of a random name, and notes that name then.
func madeAndNoted(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
	if w.Spec.Config != "" {
		return ctrl.Result{}, nil
	}
	w.Spec.Config = "w-" + rand.String(5)
	if err := makeMap(ctx, c, w, w.Spec.Config, nil); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, c.Update(ctx, w)
}

// mapsOf lists the ConfigMaps.
func mapsOf(ctx context.Context, c client.Client) ([]corev1.ConfigMap, error) {
	list := &corev1.ConfigMapList{}
	err := c.List(ctx, list)
	return list.Items, err
}

// namer is a reconciler that draws names before it needs them, and keeps them.
type namer struct {
	client.Client
	next  map[string]string
	names func() string
}

// Reconcile creates a ConfigMap where there is none.
func (n *namer) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	w := &Widget{}
	if err := n.Get(ctx, r.NamespacedName, w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if n.next[r.Name] == "" {
		n.next[r.Name] = "w-" + n.names()
		return ctrl.Result{Requeue: true}, nil
	}
	list := &corev1.ConfigMapList{}
	if err := n.List(ctx, list); err != nil || len(list.Items) > 0 {
		return ctrl.Result{}, err
	}
	defer delete(n.next, r.Name)
	return ctrl.Result{Requeue: true}, makeMap(ctx, n, w, n.next[r.Name], nil)
}

// TestRememberedDraws checks a controller that keeps what it has drawn in memory.
func TestRememberedDraws(t *testing.T) {
	word := func() string { return rand.String(5) }
	for _, test := range []struct {
		options orrery.Options
		names   func() string
		verdict core.Verdict
	}{
		{orrery.Options{Crashes: 1}, word, core.Holds},
		{orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}}, word, core.Violated},
		{orrery.Options{}, func() string { return []string{"even", "odd"}[rand.Intn(2)] }, core.Inconclusive}, // of which one comes up
	} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				n := &namer{Client: mgr.GetClient(), next: map[string]string{}, names: test.names}
				return ctrl.NewControllerManagedBy(mgr).Named("namer").For(&Widget{}).Owns(&corev1.ConfigMap{}).Complete(n)
			}))
		system.Properties = append(properties.Convergent(), properties.AtMost(1, "ConfigMap"))
		result, err := orrery.Run(t.Context(), system, test.options)
		if err != nil {
			t.Fatal(err)
		}
		if r := result.Report; r.Verdict != test.verdict || len(r.Memory) != 1 {
			t.Errorf("%+v: %s, want %s: %q, and it keeps %v", test.options, r.Verdict, test.verdict, r.Reasons, r.Memory)
		}
	}
}

// makeSecret creates a Secret where there is none.
func makeSecret(ctx context.Context, c client.Client, w *Widget, data map[string][]byte) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}, Data: data}
	if err := c.Get(ctx, client.ObjectKeyFromObject(w), &corev1.Secret{}); !apierrors.IsNotFound(err) {
		return err
	}
	return client.IgnoreAlreadyExists(c.Create(ctx, secret))
}

// twoSecrets creates two Secrets with passwords, and a ConfigMap with a checksum of the second.
func twoSecrets(ctx context.Context, c client.Client, w *Widget) error {
	sum := ""
	for _, name := range []string{"a", "b"} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}, Data: map[string][]byte{"password": password(16)}}
		err := c.Create(ctx, secret)
		if apierrors.IsAlreadyExists(err) {
			err = c.Get(ctx, client.ObjectKeyFromObject(secret), secret)
		}
		if err != nil {
			return err
		}
		sum = fmt.Sprintf("%x", sha256.Sum256(secret.Data["password"]))
	}
	return client.IgnoreAlreadyExists(makeMap(ctx, c, w, "sum", map[string]string{"sha256": sum}))
}

// password draws letters and other characters.
func password(length int) []byte {
	const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!$%&/=?#"
	var password []byte
	for range length {
		n, err := cryptorand.Int(cryptorand.Reader, big.NewInt(int64(len(characters))))
		if err != nil {
			panic(err)
		}
		password = append(password, characters[n.Int64()])
	}
	return password
}

// TestRequestsOfRandomNames has one controller make a ConfigMap of a random name, and another one reconcile it: it does
// not decide by the name if it looks for the one that it was asked for.
func TestRequestsOfRandomNames(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			c := mgr.GetClient()
			made := ctrl.NewControllerManagedBy(mgr).Named("makes").For(&Widget{}).Complete(reconcileWidget(c, madeOnce))
			return errors.Join(made, ctrl.NewControllerManagedBy(mgr).Named("marks").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				maps, err := mapsOf(ctx, c)
				for _, m := range maps {
					if m.Name == r.Name && m.Data["of"] == "" {
						m.Data = map[string]string{"of": strings.ToUpper(m.Name)}
						return ctrl.Result{}, c.Update(ctx, &m)
					}
				}
				return ctrl.Result{}, err
			})))
		}))
	system.Properties = properties.Convergent()
	result, err := orrery.Run(t.Context(), system, orrery.Options{Crashes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Holds {
		t.Errorf("%s of %d states: %q, %v", r.Verdict, r.States, r.Reasons, r.Findings)
	}
}

// TestDraws checks controllers that draw random values.
func TestDraws(t *testing.T) {
	long(t)
	stale := []orrery.Staleness{{Rule: orrery.Lag(1)}}
	for _, test := range []struct {
		name      string
		reconcile func(context.Context, client.Client, *Widget) (ctrl.Result, error)
		options   orrery.Options
		verdict   core.Verdict
		says      string
	}{
		{"a name that is noted first", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if w.Spec.Config == "" {
				w.Spec.Config = "w-" + rand.String(5)
				return ctrl.Result{}, c.Update(ctx, w)
			}
			return ctrl.Result{}, client.IgnoreAlreadyExists(makeMap(ctx, c, w, w.Spec.Config, nil))
		}, orrery.Options{Crashes: 1, Failures: 1}, core.Holds, ""},
		{"a name without anything between", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if w.Spec.Config == "" {
				w.Spec.Config = storagenames.SimpleNameGenerator.GenerateName("made")
				return ctrl.Result{}, c.Update(ctx, w)
			}
			return ctrl.Result{}, client.IgnoreAlreadyExists(makeMap(ctx, c, w, w.Spec.Config, map[string]string{"of": "Made" + w.Spec.Config}))
		}, orrery.Options{Crashes: 1, Failures: 1}, core.Holds, ""},
		{"a name that is noted later", madeAndNoted, orrery.Options{Crashes: 1}, core.Violated, "at most 1 of kind ConfigMap"},
		{"a name that is noted later, and nothing goes wrong", madeAndNoted, orrery.Options{}, core.Holds, ""},
		{"one that an answer is lost for", madeOnce, orrery.Options{Failures: 1}, core.Holds, ""},
		{"one that is looked for in a stale cache", madeOnce, orrery.Options{Stale: stale, Failures: 1}, core.Violated, "at most 1 of kind ConfigMap"},
		{"two instances", madeOnce, orrery.Options{Doubles: []string{"draws"}, Stale: stale}, core.Violated, "at most 1 of kind ConfigMap"},
		{"two instances, call by call", madeOnce, orrery.Options{Doubles: []string{"draws"}, Granularity: orrery.PerCall}, core.Violated, "at most 1 of kind ConfigMap"},
		{"call by call", madeOnce, orrery.Options{Granularity: orrery.PerCall, Crashes: 1}, core.Holds, ""},
		{"a name that is not used where one is there", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			name := "w-" + rand.String(8)
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, makeMap(ctx, c, w, name, nil)
		}, orrery.Options{Crashes: 1}, core.Holds, ""},
		{"two names in one run, used the other way round", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			first, second := "w-"+rand.String(5), rand.String(40)
			return ctrl.Result{}, makeMap(ctx, c, w, first, map[string]string{second: first})
		}, orrery.Options{Crashes: 1}, core.Holds, ""},
		{"what decides", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			if rand.Intn(8) == 0 {
				return ctrl.Result{}, makeMap(ctx, c, w, "seldom", nil)
			}
			return ctrl.Result{}, makeMap(ctx, c, w, "mostly", nil)
		}, orrery.Options{}, core.Violated, "same outcome"},
		{"what decides, besides a name", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			if rand.Intn(2) == 0 {
				return ctrl.Result{}, makeMap(ctx, c, w, "a-"+rand.String(5), nil)
			}
			return ctrl.Result{}, makeMap(ctx, c, w, "b-"+rand.String(5), nil)
		}, orrery.Options{}, core.Inconclusive, "not deterministic"},
		{"what decides, after a name", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			if err := makeMap(ctx, c, w, "w-"+rand.String(5), nil); err != nil || rand.Intn(2) == 0 {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, makeMap(ctx, c, w, "sometimes", nil)
		}, orrery.Options{}, core.Inconclusive, "not deterministic"},
		{"a name that decides", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			name := rand.String(5)
			if err := makeMap(ctx, c, w, "w-"+name, nil); err != nil || name[0] != 'b' {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, makeMap(ctx, c, w, "seldom", nil)
		}, orrery.Options{}, core.Inconclusive, "not deterministic"},
		{"names in their order", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			one, other := rand.String(5), rand.String(5)
			return ctrl.Result{}, makeMap(ctx, c, w, min(one, other), map[string]string{"last": max(one, other)})
		}, orrery.Options{}, core.Holds, ""},
		{"which name is told first", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			one, other := rand.String(5), rand.String(5)
			return ctrl.Result{}, makeMap(ctx, c, w, one, map[string]string{"last": max(one, other), "other": other})
		}, orrery.Options{}, core.Inconclusive, "not deterministic"},
		{"a name that is taken from the answer", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if w.Spec.Config != "" {
				return ctrl.Result{}, nil
			}
			made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "w-" + rand.String(5)}}
			if err := c.Create(ctx, made); err != nil {
				return ctrl.Result{}, err
			}
			w.Spec.Config = made.Name
			return ctrl.Result{}, c.Update(ctx, w)
		}, orrery.Options{}, core.Holds, ""},
		{"a number", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, makeMap(ctx, c, w, "w", map[string]string{"port": strconv.Itoa(rand.IntnRange(30000, 32768))})
		}, orrery.Options{}, core.Inconclusive, "not deterministic"},
		{"a while to wait", func(_ context.Context, _ client.Client, w *Widget) (ctrl.Result, error) {
			if rand.Intn(2) == 0 {
				rand.Intn(2)
			}
			return ctrl.Result{RequeueAfter: time.Duration(1+rand.Intn(10)) * time.Second}, nil
		}, orrery.Options{}, core.Holds, ""},
		{"a while to wait, besides a name", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if r, err := madeOnce(ctx, c, w); err != nil {
				return r, err
			}
			return ctrl.Result{RequeueAfter: time.Duration(1+rand.Intn(10)) * time.Second}, nil
		}, orrery.Options{Crashes: 1}, core.Holds, ""},
		{"a password", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			return ctrl.Result{}, makeSecret(ctx, c, w, map[string][]byte{"user": []byte("admin"), "password": password(16)})
		}, orrery.Options{Crashes: 1, Failures: 1, Granularity: orrery.PerCall}, core.Holds, ""},
		{"a password of few letters", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			return ctrl.Result{}, makeSecret(ctx, c, w, map[string][]byte{"password": password(2)})
		}, orrery.Options{}, core.Inconclusive, "not deterministic"},
		{"bytes, and something of them in another object", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			key := make([]byte, 32)
			if _, err := cryptorand.Read(key); err != nil {
				return ctrl.Result{}, err
			}
			if err := makeSecret(ctx, c, w, map[string][]byte{"key": key}); err != nil {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, client.IgnoreAlreadyExists(makeMap(ctx, c, w, "w", map[string]string{"key": base64.StdEncoding.EncodeToString(key)}))
		}, orrery.Options{}, core.Holds, ""},
		{"a UUID", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if w.Spec.Config == "" {
				w.Spec.Config = uuid.NewString()
				return ctrl.Result{}, c.Update(ctx, w)
			}
			return ctrl.Result{}, client.IgnoreAlreadyExists(makeMap(ctx, c, w, w.Spec.Config, nil))
		}, orrery.Options{Crashes: 1, Failures: 1}, core.Holds, ""},
		{"two passwords, and a checksum of one", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			return ctrl.Result{}, twoSecrets(ctx, c, w)
		}, orrery.Options{Crashes: 1, Granularity: orrery.PerCall}, core.Holds, ""},
		{"two passwords, and which of them comes first", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if err := twoSecrets(ctx, c, w); err != nil {
				return ctrl.Result{}, err
			}
			one, other := &corev1.Secret{}, &corev1.Secret{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: "a"}, one); err != nil {
				return ctrl.Result{}, err
			}
			if err := c.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: "b"}, other); err != nil {
				return ctrl.Result{}, err
			}
			w.Spec.Config = "no"
			if string(one.Data["password"]) < string(other.Data["password"]) {
				w.Spec.Config = "yes"
			}
			return ctrl.Result{}, c.Update(ctx, w)
		}, orrery.Options{Crashes: 1, Granularity: orrery.PerCall}, core.Inconclusive, "it depends on random numbers"},
		{"a key and a certificate", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			data, err := certificate("web.example.com")
			if err != nil {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, makeSecret(ctx, c, w, data)
		}, orrery.Options{Crashes: 1, Failures: 1, Granularity: orrery.PerCall}, core.Holds, ""},
		{"certificates for one of a few names", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			data, err := certificate([]string{"www.example.com", "web.example.com", "api.example.com"}[mathrand.Intn(3)])
			if err != nil {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, makeSecret(ctx, c, w, data)
		}, orrery.Options{}, core.Inconclusive, "not deterministic"},
		{"a name of numbers that anybody draws", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			name := []byte("w-")
			for range 8 {
				name = append(name, byte('a'+mathrand.Intn(26)))
			}
			return ctrl.Result{}, makeMap(ctx, c, w, string(name), nil)
		}, orrery.Options{Stale: stale, Failures: 1}, core.Violated, "at most 1 of kind ConfigMap"},
		{"a choice among a few", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if list, err := mapsOf(ctx, c); err != nil || len(list) > 0 {
				return ctrl.Result{}, err
			}
			zones := []string{"north", "south", "east0", "west0", "central"}
			return ctrl.Result{}, makeMap(ctx, c, w, "w", map[string]string{"zone": zones[mathrand.Intn(len(zones))]})
		}, orrery.Options{}, core.Violated, "same outcome"},
		{"a word that is dropped", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			m := configMap(w.Name, nil)
			m.Data = map[string]string{"password": rand.String(20)}
			if err := c.Create(ctx, m); client.IgnoreAlreadyExists(err) != nil {
				return ctrl.Result{}, err
			}
			w.Spec.Config = map[string]string{"on": "off"}[w.Spec.Config]
			if w.Spec.Config == "" {
				w.Spec.Config = "on"
			}
			return ctrl.Result{}, c.Update(ctx, w)
		}, orrery.Options{}, core.Violated, "draws never stops changing"},
		{"another word each time", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			w.Spec.Config = rand.String(5)
			return ctrl.Result{}, c.Update(ctx, w)
		}, orrery.Options{}, core.Violated, "draws writes random values that it has drawn anew"},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					return ctrl.NewControllerManagedBy(mgr).Named("draws").For(&Widget{}).Owns(&corev1.ConfigMap{}).Complete(reconcileWidget(c, test.reconcile))
				}))
			system.Properties = append(properties.Convergent(), properties.AtMost(1, "ConfigMap"))
			result := judged(t, system, test.options, test.verdict, test.says)
			happensAgain(t, system, test.options, &result.Report)
		})
	}
}

// happensAgain replays all findings of a report.
func happensAgain(t *testing.T, system *core.System, options orrery.Options, r *core.Report) {
	t.Helper()
	again, err := options.Again(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if parting, err := orrery.Replay(t.Context(), system, f.Trace, again); err != nil || parting != nil {
			t.Errorf("%s does not happen again: %+v, %v", f.Property, parting, err)
		}
	}
}

// TestDrawsBehindChance has a controller make a password behind something that it writes in another order every third
// time, as if it took it out of a map: only that is a reason.
func TestDrawsBehindChance(t *testing.T) {
	times := 0
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			c := mgr.GetClient()
			return ctrl.NewControllerManagedBy(mgr).Named("draws").For(&Widget{}).Complete(reconcileWidget(c, func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
				ports := []string{"amqp", "http"}
				if times++; times%3 == 0 {
					slices.Reverse(ports)
				}
				if err := client.IgnoreAlreadyExists(makeMap(ctx, c, w, "ports", map[string]string{"ports": strings.Join(ports, " ")})); err != nil {
					return ctrl.Result{}, err
				}
				return ctrl.Result{}, makeSecret(ctx, c, w, map[string][]byte{"password": password(16)})
			}))
		}))
	result, err := orrery.Run(t.Context(), system, orrery.Options{Failures: 1})
	if err != nil {
		t.Fatal(err)
	}
	reasons := strings.Join(result.Report.Reasons, "\n")
	if result.Report.Verdict != core.Inconclusive || !strings.Contains(reasons, "create ConfigMap default/ports") || strings.Contains(reasons, "Secret") {
		t.Errorf("%s, because of:\n%s", result.Report.Verdict, reasons)
	}
}

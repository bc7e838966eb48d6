package clientgo_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// newer reports whether one resource version is newer than another, as apimachinery does since Kubernetes 1.35.
func newer(one, other string) bool {
	return len(one) > len(other) || len(one) == len(other) && one > other
}

// tracked returns a system with a controller of a ConfigMap of a name that notes the version it has written, and waits
// for its cache depending on that and on the version there.
func tracked(t *testing.T, name string, waits func(cached *corev1.ConfigMap, last string) bool) *core.System {
	t.Helper()
	return changed(t, name, working("tracking", name, func(ctx context.Context, c *at) error {
		cached, err := c.cache.Get(name)
		if err != nil {
			return err
		}
		if c.last != "" && waits(cached, c.last) {
			c.queue.AddAfter(name, 100*time.Millisecond)
			return nil
		}
		if cached.Data["seen"] == cached.Data["want"] {
			return nil
		}
		seen := cached.DeepCopy()
		seen.Data["seen"] = seen.Data["want"]
		written, err := c.maps.Update(ctx, seen, metav1.UpdateOptions{})
		if err == nil {
			c.last = written.ResourceVersion
		}
		return err
	}))
}

// TestOrderOfVersions has controllers wait until their cache is as new as what they have written. What their object is
// called, and so what its versions look like, makes no difference.
func TestOrderOfVersions(t *testing.T) {
	for about, test := range map[string]struct {
		waits   func(cached *corev1.ConfigMap, last string) bool
		verdict core.Verdict
		ordered bool
	}{
		"until the cache is no older": {func(cached *corev1.ConfigMap, last string) bool { return newer(last, cached.ResourceVersion) }, core.Holds, true},
		"until the cache is no newer": {func(cached *corev1.ConfigMap, last string) bool { return newer(cached.ResourceVersion, last) }, core.Violated, true},
		"until the cache is no other": {func(cached *corev1.ConfigMap, last string) bool { return cached.ResourceVersion != last }, core.Violated, false},
		"never":                       {func(*corev1.ConfigMap, string) bool { return false }, core.Holds, false},
		"never, and compares for that": {func(cached *corev1.ConfigMap, last string) bool {
			return newer(cached.ResourceVersion, last) && newer(last, cached.ResourceVersion)
		}, core.Holds, false},
	} {
		for _, name := range []string{"a", "b", "c", "d"} {
			for _, stale := range [][]orrery.Staleness{nil, {{Rule: orrery.Lag(1)}}} {
				result, err := orrery.Run(t.Context(), tracked(t, name, test.waits), orrery.Options{Stale: stale})
				if err != nil {
					t.Fatal(err)
				}
				if r := result.Report; r.Verdict != test.verdict || r.Ordered != test.ordered {
					t.Errorf("%s waits %s, with %v: %s, and versions are in order: %t, want %s and %t; %v", name, about, stale, r.Verdict, r.Ordered, test.verdict, test.ordered, r.Reasons)
				}
			}
		}
	}
}

// at is a controller at work on a ConfigMap: its client, what its cache shows, its queue, the version that it noted,
// and whether it noted that its cache was behind.
type at struct {
	maps   typedcorev1.ConfigMapInterface
	cache  corelisters.ConfigMapNamespaceLister
	queue  *clientgo.Queue[string]
	last   string
	behind bool
}

// working is a process with a controller that works whenever a ConfigMap of a name comes or changes.
func working(controller, name string, work func(ctx context.Context, c *at) error) clientgo.Option {
	return clientgo.Setup(func(e *clientgo.Environment) error {
		client, factory, err := filled(e)
		if err != nil {
			return err
		}
		queue, err := clientgo.NewQueue[string](e)
		if err != nil {
			return err
		}
		enqueue := func(o any) {
			if o.(*corev1.ConfigMap).Name == name {
				queue.Add(name)
			}
		}
		maps := factory.Core().V1().ConfigMaps()
		if _, err := maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, o any) { enqueue(o) }}); err != nil {
			return err
		}
		c := &at{maps: client.CoreV1().ConfigMaps("default"), cache: maps.Lister().ConfigMaps("default"), queue: queue}
		clientgo.Sync(e, controller, c, queue, func(ctx context.Context, _ string) error { return work(ctx, c) })
		return nil
	})
}

// changed returns a system of processes in which a user changes a ConfigMap of a name. There is another one that is
// called note.
func changed(t *testing.T, name string, processes ...clientgo.Option) *core.System {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"want": "1"}}
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "note"}, Data: map[string]string{"of": ""}}
	return clientgo.ForTest(t, scheme.Scheme, append(processes, clientgo.ObjectValues(object, note), clientgo.Properties(properties.Convergent()...),
		clientgo.Scenario(scenario.Change("want 2", object, func(m *corev1.ConfigMap) { m.Data["want"] = "2" })))...)
}

// TestOrderHeededInMemoryOnly has a controller note in memory that its cache was behind, which it does nothing about
// before it is no longer. Whether hashes show the cache to be behind depends on the name of the object. It does so in a
// process that is quiet between runs, and in one that is not.
func TestOrderHeededInMemoryOnly(t *testing.T) {
	for i, name := range []string{"a", "b", "c", "d", "a", "b", "c", "d"} {
		later := i >= 4
		system := changed(t, name, working("flagging", name, func(ctx context.Context, c *at) error {
			cached, err := c.cache.Get(name)
			if err != nil {
				return err
			}
			live, err := c.maps.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if later && live.Data["late"] == "" {
				time.AfterFunc(time.Second, func() {
					_, _ = c.maps.Patch(context.Background(), name, types.MergePatchType, []byte(`{"data":{"late":"yes"}}`), metav1.PatchOptions{})
				})
			}
			if c.behind && cached.ResourceVersion == live.ResourceVersion && live.Data["flagged"] == "" {
				live.Data["flagged"] = "yes"
				_, err = c.maps.Update(ctx, live, metav1.UpdateOptions{})
				return err
			}
			if newer(live.ResourceVersion, cached.ResourceVersion) {
				c.behind = true
			}
			return nil
		}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}})
		if err != nil {
			t.Fatal(err)
		}
		if r := result.Report; r.Verdict != core.Violated || !r.Ordered {
			t.Errorf("%s, something comes later: %t; %s, and versions are in order: %t; %v", name, later, r.Verdict, r.Ordered, r.Reasons)
		}
	}
}

// TestOrderBesideChecksums has a controller write a checksum of a version, which is another one under any other names.
// That is no comparison, and hides none.
func TestOrderBesideChecksums(t *testing.T) {
	for _, name := range []string{"a", "b", "c", "d"} {
		for _, compares := range []bool{false, true} {
			system := changed(t, name, working("summing", name, func(ctx context.Context, c *at) error {
				cached, err := c.cache.Get(name)
				if err != nil {
					return err
				}
				live, err := c.maps.Get(ctx, name, metav1.GetOptions{})
				if err != nil || live.Data["seen"] == live.Data["want"] {
					return err
				}
				sum := fmt.Appendf(nil, `{"data":{"of":"%x"}}`, sha256.Sum256([]byte(live.ResourceVersion)))
				if _, err := c.maps.Patch(ctx, "note", types.MergePatchType, sum, metav1.PatchOptions{}); err != nil {
					return err
				}
				if live.Data["seen"] = live.Data["want"]; compares && newer(live.ResourceVersion, cached.ResourceVersion) {
					live.Data["flagged"] = "yes"
				}
				_, err = c.maps.Update(ctx, live, metav1.UpdateOptions{})
				return err
			}))
			result, err := orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}})
			if err != nil {
				t.Fatal(err)
			}
			if result.Report.Ordered != compares {
				t.Errorf("%s, compares: %t; versions are in order: %t", name, compares, result.Report.Ordered)
			}
		}
	}
}

// TestNothingOfTheWrongOrder: what went wrong in a search before it was known that a controller compares versions is
// not told if it cannot happen. Here the first comparison stands behind a call that a checksum aims, so that it is the
// second one by which the controller is found out.
func TestNothingOfTheWrongOrder(t *testing.T) {
	for _, name := range []string{"a", "b", "c", "d"} {
		system := changed(t, name,
			working("minding", "note", func(ctx context.Context, c *at) error {
				note, err := c.maps.Get(ctx, "note", metav1.GetOptions{})
				if err == nil && note.Data["of"] == "wrong" {
					panic("the cache was ahead of the server")
				}
				return err
			}),
			working("noting", name, func(ctx context.Context, c *at) error {
				cached, err := c.cache.Get(name)
				if err != nil {
					return err
				}
				live, err := c.maps.Get(ctx, name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				ahead := newer(cached.ResourceVersion, live.ResourceVersion)
				switch {
				case live.Data["want"] == "2" && live.Data["seen"] == "":
					sum := fmt.Sprintf("%x", sha256.Sum256([]byte(live.ResourceVersion)))
					if _, err := c.maps.Get(ctx, sum, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
						return err
					}
					is := "right"
					if ahead {
						is = "wrong"
					}
					if _, err := c.maps.Patch(ctx, "note", types.MergePatchType, fmt.Appendf(nil, `{"data":{"of":%q}}`, is), metav1.PatchOptions{}); err != nil {
						return err
					}
					live.Data["seen"] = "yes"
					_, err = c.maps.Update(ctx, live, metav1.UpdateOptions{})
				case live.Data["seen"] == "yes" && ahead:
					_, err = c.maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "never"}}, metav1.CreateOptions{})
				}
				return err
			}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{{Controller: "noting", Rule: orrery.Lag(2)}}})
		if err != nil {
			t.Fatal(err)
		}
		if r := result.Report; r.Verdict != core.Holds || !r.Ordered {
			t.Errorf("%s: %s, and versions are in order: %t; %v", name, r.Verdict, r.Ordered, r.Findings)
		}
	}
}

// TestVersionsInObjects has a controller note in an object which version of another one it has seen. That is fine as
// long as nobody compares versions; if somebody does, their names depend on who knows them, and no outcome may come of
// that.
func TestVersionsInObjects(t *testing.T) {
	for _, compared := range []bool{false, true} {
		const name = "source"
		system := changed(t, name,
			working("copying", name, func(ctx context.Context, c *at) error {
				live, err := c.maps.Get(ctx, name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				note, err := c.maps.Get(ctx, "note", metav1.GetOptions{})
				if err != nil || note.Data["of"] == live.ResourceVersion {
					return err
				}
				note.Data["of"] = live.ResourceVersion
				_, err = c.maps.Update(ctx, note, metav1.UpdateOptions{})
				return err
			}),
			working("looking", name, func(ctx context.Context, c *at) error {
				cached, err := c.cache.Get(name)
				if err != nil {
					return err
				}
				live, err := c.maps.Get(ctx, name, metav1.GetOptions{})
				if err == nil && compared && newer(cached.ResourceVersion, live.ResourceVersion) {
					_, err = c.maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "never"}}, metav1.CreateOptions{})
				}
				return err
			}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{{Controller: "looking", Rule: orrery.Lag(1)}}})
		if err != nil {
			t.Fatal(err)
		}
		want, why := core.Holds, ""
		if compared {
			want, why = core.Inconclusive, "it writes into ConfigMap default/note which version of ConfigMap default/source there is"
		}
		if r := result.Report; r.Verdict != want || r.Ordered != compared || !strings.Contains(strings.Join(r.Reasons, "\n"), why) {
			t.Errorf("compared: %t; %s, and versions are in order: %t; %v", compared, r.Verdict, r.Ordered, r.Reasons)
		}
	}
}

// TestOrderOfVersionsOfObjects has a controller write what is newer of two objects: that is not known.
func TestOrderOfVersionsOfObjects(t *testing.T) {
	object := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	system := clientgo.ForTest(t, scheme.Scheme, clientgo.ObjectValues(object("a"), object("b")), clientgo.Properties(properties.Convergent()...),
		clientgo.Setup(func(e *clientgo.Environment) error {
			client, err := kubernetes.NewForConfig(e.Config())
			if err != nil {
				return err
			}
			queue, err := clientgo.NewQueue[string](e)
			if err != nil {
				return err
			}
			queue.Add("which")
			clientgo.Sync(e, "choosing", nil, queue, func(ctx context.Context, _ string) error {
				list, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
				if err != nil || len(list.Items) != 2 {
					return err
				}
				newest := object("a-is-newer")
				if newer(list.Items[1].ResourceVersion, list.Items[0].ResourceVersion) {
					newest = object("b-is-newer")
				}
				_, err = client.CoreV1().ConfigMaps("default").Create(ctx, newest, metav1.CreateOptions{})
				return err
			})
			return nil
		}))
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Inconclusive || !strings.Contains(strings.Join(r.Reasons, "\n"), "choosing compares versions of different objects") {
		t.Errorf("%s: %v", r.Verdict, r.Reasons)
	}
}

// TestVersionsNotedInObjects has a controller note in one object which version of another it has seen, and compare the
// two: whether the note is older says nothing here, whoever else compares versions. Neither an outcome nor that nothing
// goes wrong may come of that. Who only looks whether both are the same is fine.
func TestVersionsNotedInObjects(t *testing.T) {
	for about, test := range map[string]struct {
		behind  func(live, note string) bool
		verdict core.Verdict
	}{
		"the note is newer": {func(live, note string) bool { return newer(note, live) }, core.Inconclusive},
		"the note is older": {func(live, note string) bool { return newer(live, note) }, core.Inconclusive},
		"never":             {func(string, string) bool { return false }, core.Holds},
	} {
		for _, name := range []string{"a", "b", "c", "d"} {
			system := changed(t, name, working("noting", name, func(ctx context.Context, c *at) error {
				live, err := c.maps.Get(ctx, name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				note, err := c.maps.Get(ctx, "note", metav1.GetOptions{})
				if err != nil || note.Data["of"] == live.ResourceVersion {
					return err
				}
				if of := note.Data["of"]; of != "" && test.behind(live.ResourceVersion, of) {
					return fmt.Errorf("%s is older than %s", live.ResourceVersion, of)
				}
				note.Data["of"] = live.ResourceVersion
				_, err = c.maps.Update(ctx, note, metav1.UpdateOptions{})
				return err
			}))
			result, err := orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}})
			if err != nil {
				t.Fatal(err)
			}
			if r := result.Report; r.Verdict != test.verdict {
				t.Errorf("%s says that it is behind if %s: %s, and versions are in order: %t; %v %v", name, about, r.Verdict, r.Ordered, r.Reasons, r.Findings)
			}
		}
	}
}

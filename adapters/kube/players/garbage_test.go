package players

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// collector is a garbage collector that learns of every change in its world.
type collector struct {
	*world
	strategy core.Strategy
	instance core.Instance
	seen     map[core.Key]core.Content
	work     []core.Request
}

func newCollector(t *testing.T) *collector {
	w := newWorld(t)
	strategy, err := GarbageCollector(w.server, "Widget.example.com", "Gadget.example.com", "Fleet.example.com", "Pod")
	if err != nil {
		t.Fatal(err)
	}
	instance, err := strategy.New()
	if err != nil {
		t.Fatal(err)
	}
	return &collector{world: w, strategy: strategy, instance: instance, seen: map[core.Key]core.Content{}}
}

// deliver hands all changes since the last time to the collector.
func (c *collector) deliver() {
	for _, kind := range c.strategy.Describe().Watches {
		keys := map[core.Key]bool{}
		for _, o := range c.List(kind, "") {
			keys[o.Key] = true
		}
		for key := range c.seen {
			if key.Kind == kind {
				keys[key] = true
			}
		}
		for key := range keys {
			was, is := c.seen[key], c.objects[key]
			if was == is {
				continue
			}
			for _, r := range c.instance.Handle(c, core.Event{Key: key, Old: was, New: is}) {
				if !slices.Contains(c.work, r) {
					c.work = append(c.work, r)
				}
			}
			c.seen[key] = is
			if is == nil {
				delete(c.seen, key)
			}
		}
	}
	slices.Sort(c.work)
}

// run lets the collector work until there is nothing left to do, and returns the
// names of what is left.
func (c *collector) run(t *testing.T) []string {
	t.Helper()
	for range 100 {
		c.deliver()
		if len(c.work) == 0 {
			left := []string{}
			for key := range c.objects {
				if !storage.IsRecord(key.Kind) {
					left = append(left, key.Name)
				}
			}
			slices.Sort(left)
			return left
		}
		next := c.work[0]
		c.work = c.work[1:]
		if result := c.instance.Reconcile(c, next); result.Err != nil {
			t.Fatalf("%s: %v", next, result.Err)
		}
		c.settle()
	}
	t.Fatal("the garbage collector does not come to an end")
	return nil
}

// owned creates a Gadget with owners.
func (c *collector) owned(name string, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	references := []any{}
	for i, owner := range owners {
		reference := ownerReference(owner)
		reference["controller"] = i == 0
		references = append(references, reference)
	}
	return c.must(creation(gadgetKind, tree{"name": name, "ownerReferences": references}, nil))
}

func TestGarbageCollector(t *testing.T) {
	remove := func(c *collector, name, propagation string) {
		r := request(kube.Delete, widgetKind, name)
		r.Propagation = propagation
		c.must(r)
	}
	for _, test := range []struct {
		name string
		act  func(*collector)
		left []string
	}{
		{"keeps what has an owner", func(c *collector) { c.owned("child", c.widget("a", nil)) }, []string{"a", "child"}},
		{"keeps what has no owner", func(c *collector) { c.owned("child"); remove(c, c.widget("a", nil).GetName(), "") }, []string{"child"}},
		{"deletes with the owner, and so on down", func(c *collector) {
			c.owned("grandchild", c.owned("child", c.widget("a", nil)))
			remove(c, "a", "")
		}, []string{}},
		{"keeps what has another owner", func(c *collector) {
			c.owned("child", c.widget("a", nil), c.widget("b", nil))
			remove(c, "a", "")
		}, []string{"b", "child"}},
		{"deletes when the last of several owners is gone", func(c *collector) {
			c.owned("child", c.widget("a", nil), c.widget("b", nil))
			remove(c, "a", "")
			remove(c, "b", "")
		}, []string{}},
		{"deletes what refers to an earlier owner of the name", func(c *collector) {
			c.owned("child", c.widget("a", nil))
			remove(c, "a", "")
			c.widget("a", nil)
		}, []string{"a"}},
		{"deletes dependents first in the foreground", func(c *collector) {
			c.owned("grandchild", c.owned("child", c.widget("a", nil)))
			remove(c, "a", "Foreground")
			c.must(request(kube.Get, widgetKind, "a"))
		}, []string{}},
		{"waits in the foreground for dependents that stay", func(c *collector) {
			child := c.owned("child", c.widget("a", nil))
			child.SetFinalizers([]string{"example.com/x"})
			c.must(updating(gadgetKind, child))
			remove(c, "a", "Foreground")
		}, []string{"a", "child"}},
		{"does not wait for dependents that do not block", func(c *collector) {
			child := c.owned("child", c.widget("a", nil))
			child.SetFinalizers([]string{"example.com/x"})
			references := child.GetOwnerReferences()
			references[0].BlockOwnerDeletion = nil
			child.SetOwnerReferences(references)
			c.must(updating(gadgetKind, child))
			remove(c, "a", "Foreground")
		}, []string{"child"}},
		{"breaks a circle that waits for itself", func(c *collector) {
			a := c.widget("a", nil)
			b := c.owned("b", a)
			a.SetOwnerReferences([]metav1.OwnerReference{{
				APIVersion: "example.com/v1", Kind: "Gadget", Name: "b", UID: b.GetUID(), BlockOwnerDeletion: ptr.To(true),
			}})
			c.must(updating(widgetKind, a))
			remove(c, "a", "Foreground")
		}, []string{}},
		{"looks for owners in the namespace of the object only", func(c *collector) {
			a := c.widget("a", nil)
			elsewhere := creation(gadgetKind, tree{"name": "child", "ownerReferences": []any{ownerReference(a)}}, nil)
			elsewhere.Namespace = "elsewhere"
			c.must(elsewhere)
		}, []string{"a"}},
		{"keeps what has no namespace but an owner in one", func(c *collector) {
			c.must(creation(fleetKind, tree{"name": "f", "ownerReferences": []any{ownerReference(c.widget("a", nil))}}, nil))
			remove(c, "a", "")
		}, []string{"f"}},
		{"orphans", func(c *collector) {
			c.owned("child", c.widget("a", nil))
			remove(c, "a", "Orphan")
		}, []string{"child"}},
		{"keeps what has an owner of an unknown kind", func(c *collector) {
			c.must(creation(gadgetKind, tree{"name": "child", "ownerReferences": []any{
				tree{"apiVersion": "example.com/v1", "kind": "Gizmo", "name": "g", "uid": "u"}}}, nil))
		}, []string{"child"}},
		{"deletes with a cluster-scoped owner", func(c *collector) {
			c.owned("child", c.must(creation(fleetKind, tree{"name": "f"}, nil)))
			c.must(request(kube.Delete, fleetKind, "f"))
		}, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCollector(t)
			test.act(c)
			expect(t, "left", c.run(t), test.left)
		})
	}
}

// TestGarbageCollectorHearsOfForegroundDeletion: who is known already is marked by an update. From then on its
// dependents are to be deleted, which is looked at once.
func TestGarbageCollectorHearsOfForegroundDeletion(t *testing.T) {
	c := newCollector(t)
	c.owned("child", c.widget("a", nil))
	expect(t, "left without a deletion", c.run(t), []string{"a", "child"})
	key := core.Key{Kind: "Widget.example.com", Namespace: "default", Name: "a"}
	before := c.objects[key]
	remove := request(kube.Delete, widgetKind, "a")
	remove.Propagation = "Foreground"
	c.must(remove)
	marked := c.objects[key]
	both := []core.Request{requestFor(core.Key{Kind: "Gadget.example.com", Namespace: "default", Name: "child"}), requestFor(key)}
	for _, test := range []struct {
		name     string
		old, new core.Content
		want     []core.Request
	}{
		{"made without a deletion", nil, before, nil},
		{"known as marked", nil, marked, both},
		{"marked by an update", before, marked, both},
		{"marked before", marked, marked, both[1:]},
	} {
		got := c.instance.Handle(c, core.Event{Key: key, Old: test.old, New: test.new})
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v is looked at, want %v", test.name, got, test.want)
		}
	}
	expect(t, "left behind the deletion", c.run(t), []string{})
}

// The collector also finds what became garbage while nobody looked.
func TestGarbageCollectorStartsLate(t *testing.T) {
	c := newCollector(t)
	a := c.widget("a", nil)
	c.owned("child", a)
	c.must(request(kube.Delete, widgetKind, "a"))
	expect(t, "left", c.run(t), []string{})
}

func TestGarbageCollectorRemovesDanglingReferences(t *testing.T) {
	c := newCollector(t)
	c.owned("child", c.widget("a", nil), c.widget("b", nil))
	c.must(request(kube.Delete, widgetKind, "a"))
	c.run(t)
	references := c.must(request(kube.Get, gadgetKind, "child")).GetOwnerReferences()
	if len(references) != 1 || references[0].Name != "b" {
		t.Errorf("references left: %v", references)
	}
}

// TestGarbageCollectorAdopts wants the collector to look after the kinds of an object that belongs to another one, and
// of its owner, if the server serves them. A server says so once for each.
func TestGarbageCollectorAdopts(t *testing.T) {
	w := newWorld(t)
	strategy, err := GarbageCollector(w.server, "Widget.example.com")
	if err != nil {
		t.Fatal(err)
	}
	server := w.server.Collecting(strategy.(kube.Collector))
	owned := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name": "a", "namespace": "default", "ownerReferences": []any{
			map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1"},
			map[string]any{"apiVersion": "example.com/v9", "kind": "Unheard", "name": "a", "uid": "2"},
		},
	}}}
	body, err := json.Marshal(owned)
	if err != nil {
		t.Fatal(err)
	}
	create := &kube.Request{Verb: kube.Create, Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Namespace: "default", Body: body}
	var afresh *core.Afresh
	if answer, err := server.Answer(w, create); !errors.As(err, &afresh) || !slices.Equal(afresh.Kinds, []core.Kind{"ConfigMap", "Pod", "ConfigMap"}) || len(answer.Writes) == 0 {
		t.Fatalf("%+v, %v", answer, err)
	}
	strategy, server = strategy.(core.Adopting).Adopted(afresh.Kinds).(core.Strategy), server.Adopted(afresh.Kinds).(*kube.Server)
	if _, err := server.Answer(w, create); err != nil {
		t.Error(err)
	}
	if got := strategy.Describe().Watches; !slices.Equal(got, []core.Kind{"ConfigMap", "Pod", "Widget.example.com"}) {
		t.Errorf("it watches %q", got)
	}
	// A collector of somebody else looks after what it watches.
	for kind, want := range map[core.Kind]bool{"ConfigMap": true, "Pod": false} {
		if fixed := (kube.Collected{"ConfigMap"}); fixed.Collects(kind) != want || fixed.Adopts(kind) {
			t.Errorf("%s: it is looked after: %t", kind, !want)
		}
	}
}

func TestGarbageCollectorErrors(t *testing.T) {
	server := newTestServer(t)
	if _, err := GarbageCollector(server, "Gizmo.example.com"); err == nil {
		t.Error("an unknown kind is watched")
	}
	c := newCollector(t)
	if c.instance.Reconcile(c, "nonsense").Err == nil {
		t.Error("a request that names nothing is no error")
	}
}

// TestCircleLeaves checks what is said of the owners of an object in a circle, which it blocks no longer: of those of
// Kubernetes' own kinds, that it does not block those that it has blocked, and of custom resources that they block
// none.
func TestCircleLeaves(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind][]*bool{podKind: {ptr.To(false), nil}, gadgetKind: {ptr.To(false), ptr.To(false)}} {
		c := newCollector(t)
		a, b := c.widget("a", nil), c.widget("b", nil)
		other := ownerReference(b)
		delete(other, "controller")
		delete(other, "blockOwnerDeletion")
		inside := c.must(creation(kind, tree{
			"name": "inside", "finalizers": []any{"example.com/x"}, "ownerReferences": []any{ownerReference(a), other},
		}, nil))
		a.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: "inside", UID: inside.GetUID()}})
		c.must(updating(widgetKind, a))
		for _, name := range []string{"b", "a"} {
			r := request(kube.Delete, widgetKind, name)
			if name == "a" {
				r.Propagation = "Foreground"
			}
			c.must(r)
		}
		expect(t, "left", c.run(t), []string{"inside"})
		var blocks []*bool
		for _, reference := range c.must(request(kube.Get, kind, "inside")).GetOwnerReferences() {
			blocks = append(blocks, reference.BlockOwnerDeletion)
		}
		expect(t, kind.Kind, blocks, want)
	}
}

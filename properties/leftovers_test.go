package properties_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// thing is an object in the form of those of Kubernetes.
type thing map[string]any

func (t thing) Canonical() string { return fmt.Sprint(map[string]any(t)) }
func (t thing) Fields() any       { return map[string]any(t) }

// shelf is a store that only holds things.
type shelf struct{}

func (shelf) Answer(core.Snapshot, core.Call) (core.Answer, error)                   { return core.Answer{}, nil }
func (shelf) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions }
func (shelf) Outcome(_ core.Key, c core.Content) any                                 { return c.Fields() }

func (shelf) Faults(core.Call) []core.Fault { return nil }

func (shelf) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

// idle is a controller that does nothing.
type idle struct{}

func (idle) Describe() core.Description {
	return core.Description{Name: "idle", Watches: []core.Kind{"Thing.example.com"}, Sequential: true}
}
func (idle) New() (core.Instance, error)                                 { return idle{}, nil }
func (idle) Handle(core.EffectRecorder, core.Event) []core.Request       { return nil }
func (idle) Reconcile(core.EffectRecorder, core.Request) (r core.Result) { return r }

// named returns a thing under a name.
func named(name string, t thing) core.Object {
	return core.Object{Key: core.Key{Kind: "Thing.example.com", Name: name}, Content: t}
}

func TestLeftovers(t *testing.T) {
	owned := func(name string) thing {
		owner := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "name": name}
		return thing{"metadata": map[string]any{"ownerReferences": []any{owner}}}
	}
	waits := func(finalizers ...any) thing {
		return thing{"metadata": map[string]any{"deletionTimestamp": "now", "finalizers": finalizers}}
	}
	leaf := func(name string) core.Object {
		return core.Object{Key: core.Key{Kind: "Leaf.example.com", Name: name}, Content: thing{}}
	}
	identity := func(fields any) string {
		tree, _ := fields.(map[string]any)
		text, _ := tree["for"].(string)
		return text
	}
	for _, test := range []struct {
		name     string
		property core.Property
		start    []core.Object
		want     []string // part of each finding
	}{
		{"all is well", properties.DeletionCompletes(), []core.Object{named("1", thing{})}, nil},
		{"a finalizer is left", properties.DeletionCompletes(),
			[]core.Object{named("1", waits("example.com/volumes"))},
			[]string{"nothing removes its finalizers example.com/volumes"}},
		{"nobody deletes it", properties.DeletionCompletes(),
			[]core.Object{named("1", thing{"metadata": map[string]any{"deletionTimestamp": "now"}})}, []string{"is never removed"}},
		{"the owner is there", properties.NoOrphans(), []core.Object{named("1", thing{}), named("2", owned("1"))}, nil},
		{"the owner is gone", properties.NoOrphans(), []core.Object{named("2", owned("1"))}, []string{"its owner Thing.example.com 1 does not exist"}},
		{"many are left over", properties.NoOrphans(), []core.Object{named("2", owned("1")), named("3", owned("0"))}, []string{"And one more like this: Thing.example.com 3."}},
		{"two wait for the same", properties.DeletionCompletes(), []core.Object{named("1", waits("example.com/a")), named("2", waits("example.com/a"))},
			[]string{"And one more like this: Thing.example.com 2."}},
		{"two wait for different things", properties.DeletionCompletes(), []core.Object{named("1", waits("example.com/a")), named("2", waits("example.com/b"))},
			[]string{"its finalizers example.com/a", "its finalizers example.com/b"}},
		{"each is named", properties.NoLeaks("Leaf.example.com", "Thing.example.com", "status.leaves"),
			[]core.Object{leaf("a"), leaf("b"), named("1", thing{"status": map[string]any{"leaves": []any{"a", "b"}}})}, nil},
		{"it is named", properties.NoLeaks("Leaf.example.com", "Thing.example.com", "status.leaf"),
			[]core.Object{leaf("a"), named("1", thing{"status": map[string]any{"leaf": "a"}})}, nil},
		{"one is not named", properties.NoLeaks("Leaf.example.com", "Thing.example.com", "status.leaves"),
			[]core.Object{leaf("a"), leaf("b"), named("1", thing{"status": map[string]any{"leaves": []any{"a"}}})},
			[]string{"Leaf.example.com b stays forever: no Thing.example.com has its name in status.leaves"}},
		{"it is named elsewhere", properties.NoLeaks("Leaf.example.com", "Thing.example.com", "status.leaf"),
			[]core.Object{leaf("a"), named("1", thing{"spec": map[string]any{"leaf": "a"}})},
			[]string{"no Thing.example.com has its name in status.leaf"}},
		{"each is for something else", properties.NoDuplicates("Thing.example.com", identity),
			[]core.Object{named("1", thing{"for": "a"}), named("2", thing{"for": "b"}), named("3", thing{}), named("4", thing{})}, nil},
		{"two are for the same", properties.NoDuplicates("Thing.example.com", identity),
			[]core.Object{named("1", thing{"for": "a"}), named("2", thing{"for": "a"})}, []string{"has the same identity as Thing.example.com 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := &core.System{
				Name:       "leftovers",
				Store:      shelf{},
				Strategies: []core.Strategy{idle{}},
				Initial:    []core.Initial{{Objects: test.start}},
				Properties: []core.Property{test.property},
			}
			result, err := orrery.Run(context.Background(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Report.Findings) != len(test.want) {
				t.Fatalf("%s: %+v, want %q", result.Report.Verdict, result.Report.Findings, test.want)
			}
			for i, want := range test.want {
				if got := told(result.Report.Findings[i]); !strings.Contains(got, want) {
					t.Errorf("finding %d is %q, want %q", i+1, got, want)
				}
			}
		})
	}
}

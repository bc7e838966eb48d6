package reduction_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/reduction"
)

// shelves is a store of numbers, of which it can be asked how many there are, how many are odd, and whether one is.
type shelves struct{}

// number is what an object holds, and what is answered.
type number int

// String implements [core.Response], Identity is the same.
func (n number) String() string    { return strconv.Itoa(int(n)) }
func (n number) Identity() string  { return n.String() }
func (n number) Canonical() string { return n.String() }
func (n number) Fields() any       { return int(n) }

// odd shows of an object whether it is odd, or selects those that are.
type odd struct{}

func (odd) Identity() string                   { return "odd" }
func (odd) Project(o core.Object) core.Content { return o.Content.(number) % 2 }
func (odd) Selects(o core.Object) bool         { return o.Content.(number)%2 == 1 }

// question is a call.
type question struct {
	verb  string
	key   core.Key
	value number
}

func (q question) Identity() string  { return fmt.Sprint(q.verb, q.key, int(q.value)) }
func (q question) String() string    { return fmt.Sprintf("%s %s %d", q.verb, q.key, int(q.value)) }
func (question) Source() core.Source { return core.Live }

// Answer implements [core.Store].
func (shelves) Answer(s core.Snapshot, call core.Call) (core.Answer, error) {
	q := call.(question)
	answered := number(0)
	switch q.verb {
	case "get":
		answered, _ = s.Get(q.key).(number)
	case "is it odd":
		answered, _ = core.Project(s, q.key, odd{}).(number)
	case "how many":
		answered = number(len(s.List(q.key.Kind, q.key.Namespace)))
	case "how many are odd":
		answered = number(len(core.Select(s, q.key.Kind, q.key.Namespace, odd{})))
	case "set":
		if was, there := s.Get(q.key).(number); !there || was != q.value {
			return core.Answer{Response: number(0), Writes: []core.Write{{Key: q.key, Content: q.value}}}, nil
		}
	}
	return core.Answer{Response: answered}, nil
}

func (shelves) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content {
	return versions
}
func (shelves) Outcome(_ core.Key, c core.Content) any { return c.Fields() }
func (shelves) Faults(core.Call) []core.Fault          { return nil }
func (shelves) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

// asker is a controller with one request, which asks.
type asker struct {
	name string
	run  func(ask func(verb string, key core.Key) int, set func(key core.Key, value int)) core.Result
}

func (a asker) Describe() core.Description {
	return core.Description{Name: a.name, Initial: []core.Request{"r"}, Sequential: true}
}
func (a asker) New() (core.Instance, error)                         { return a, nil }
func (asker) Handle(core.EffectRecorder, core.Event) []core.Request { return nil }
func (a asker) Reconcile(r core.EffectRecorder, _ core.Request) core.Result {
	return a.run(
		func(verb string, key core.Key) int { return int(r.Do(question{verb, key, 0}).(number)) },
		func(key core.Key, value int) { r.Do(question{"set", key, number(value)}) },
	)
}

// TestPartsAndLists compares reduced searches with full ones where parts of objects and lists of them are looked at.
// The one that looks is the first of the agents, and must not be followed alone, nor before the others: what it looks
// at changes later, and nobody tells it.
func TestPartsAndLists(t *testing.T) {
	x, z := core.Key{Kind: "k", Namespace: "n", Name: "x"}, core.Key{Kind: "out", Name: "z"}
	looks := func(verb string, key core.Key, at int) core.Strategy {
		return asker{"looks", func(ask func(string, core.Key) int, set func(core.Key, int)) core.Result {
			if ask(verb, key) == at {
				set(z, 1)
			}
			return core.Result{}
		}}
	}
	writes := func(key core.Key, value int) core.Strategy {
		return asker{"writes", func(_ func(string, core.Key) int, set func(core.Key, int)) core.Result {
			set(key, value)
			return core.Result{}
		}}
	}
	other, elsewhere := x, x
	other.Name, elsewhere.Namespace = "y", "m"
	everywhere := core.Key{Kind: "k"}
	for _, test := range []struct {
		name       string
		strategies []core.Strategy
	}{
		{"a part", []core.Strategy{looks("is it odd", x, 1), writes(x, 1)}},
		{"another part", []core.Strategy{looks("is it odd", x, 1), writes(x, 2)}},
		{"a list", []core.Strategy{looks("how many", x, 2), writes(other, 0)}},
		{"a list of all namespaces", []core.Strategy{looks("how many", everywhere, 2), writes(elsewhere, 0)}},
		{"a list of another namespace", []core.Strategy{looks("how many", x, 2), writes(elsewhere, 0)}},
		{"what is selected", []core.Strategy{looks("how many are odd", x, 1), writes(x, 1)}},
		{"what is selected of all namespaces", []core.Strategy{looks("how many are odd", everywhere, 1), writes(elsewhere, 1)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := &core.System{
				Name: test.name, Store: shelves{}, Strategies: test.strategies,
				Initial: []core.Initial{{Objects: []core.Object{{Key: x, Content: number(0)}}}},
			}
			o := options()
			want, full, _ := find(t, system, o)
			o.Reducer = reduction.Stubborn{}
			got, reduced, _ := find(t, system, o)
			if difference := differ(got, want); difference != "" {
				t.Error(difference)
			}
			t.Logf("%d states in full, %d reduced, %d ends", full.States(), reduced.States(), len(want.ends))
		})
	}
}

// settling is a store in which numbers from 10 on settle, behind the step that writes them, to what is above 10.
type settling struct{ shelves }

// Answer implements [core.Store].
func (s settling) Answer(snapshot core.Snapshot, call core.Call) (core.Answer, error) {
	q := call.(question)
	if q.verb != "sum of odd" {
		return s.shelves.Answer(snapshot, call)
	}
	sum := number(0)
	for _, o := range core.Select(snapshot, q.key.Kind, q.key.Namespace, odd{}) {
		sum += o.Content.(number)
	}
	return core.Answer{Response: sum}, nil
}

// Normalize implements [core.Store].
func (settling) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content {
	settled := slices.Clone(versions)
	for i, v := range versions {
		if n := v.(number); n >= 10 {
			settled[i] = n - 10
		}
	}
	return settled
}

// TestValuesThatSettle has what is listed leave the list and come back, without waking who looks. In between it is
// written as 12, and is 2 for others.
func TestValuesThatSettle(t *testing.T) {
	x, z := core.Key{Kind: "k", Namespace: "n", Name: "x"}, core.Key{Kind: "out", Name: "z"}
	system := &core.System{
		Name: "settling", Store: settling{}, Strategies: []core.Strategy{
			asker{"looks", func(ask func(string, core.Key) int, set func(core.Key, int)) core.Result {
				if ask("sum of odd", x) == 3 {
					set(z, 1)
				}
				return core.Result{}
			}},
			asker{"writes", func(ask func(string, core.Key) int, set func(core.Key, int)) core.Result {
				switch ask("get", x) {
				case 1:
					set(x, 12)
					return core.Result{Requeue: true}
				case 2:
					set(x, 3)
				}
				return core.Result{}
			}},
		},
		Initial: []core.Initial{{Objects: []core.Object{{Key: x, Content: number(1)}}}},
	}
	o := options()
	want, _, _ := find(t, system, o)
	o.Reducer = reduction.Stubborn{}
	got, _, _ := find(t, system, o)
	if difference := differ(got, want); difference != "" {
		t.Error(difference)
	}
}

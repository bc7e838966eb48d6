package behavior_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// waiting is the memory of a process in which some calls wait.
func waiting(calls ...string) map[string]string {
	memory := map[string]string{"count": "3"}
	for i, call := range calls {
		memory["background["+string(rune('1'+i))+"]"] = call
	}
	return memory
}

func TestRestIn(t *testing.T) {
	memory := waiting("get a", "get b")
	if rest := behavior.RestIn(memory); !slices.Equal(rest.Calls, []string{"get a", "get b"}) || rest.Time {
		t.Errorf("it rests as %+v", rest)
	}
	memory["time[1]"] = "later"
	if rest := behavior.RestIn(memory); len(rest.Calls) != 2 || !rest.Time {
		t.Errorf("it rests as %+v", rest)
	}
	if rest := behavior.RestIn(waiting()); rest.Calls != nil || rest.Time {
		t.Errorf("it rests as %+v", rest)
	}
	for path, want := range map[string][2]bool{
		"count": {false, true}, "background[1]": {false, false}, "waiting goroutines[1]": {true, false}, "time[1]": {true, false}, "times": {false, true},
	} {
		if unsaid, shown := behavior.Unsaid(path), behavior.Shown(path); unsaid != want[0] || shown != want[1] {
			t.Errorf("%s is unsaid: %t, and shown: %t", path, unsaid, shown)
		}
	}
}

// TestOriginate has calls that wait be told apart by the run that they come from, unless they waited before it.
func TestOriginate(t *testing.T) {
	works := func(turn int) behavior.Activation { return behavior.Activation{Own: behavior.Works, Turn: turn} }
	asked := behavior.Activation{Request: "r"}
	for _, test := range []struct {
		name   string
		before []string
		of     behavior.Activation
		calls  []string
		want   []string
	}{
		{"none", nil, asked, nil, nil},
		{"a new one", nil, asked, []string{"get a"}, []string{"get a\nRUN"}},
		{"one that waited", []string{"get a\nOLD"}, asked, []string{"get a"}, []string{"get a\nOLD"}},
		{"one that waited from the start", []string{"get a"}, asked, []string{"get a"}, []string{"get a"}},
		{"a second one", []string{"get a\nOLD"}, asked, []string{"get a", "get a"}, []string{"get a\nOLD", "get a\nRUN"}},
		{"two that waited", []string{"get a\nOLD", "get a\nOLDER"}, asked, []string{"get a", "get a"}, []string{"get a\nOLD", "get a\nOLDER"}},
		{"another one", []string{"get ab\nOLD"}, asked, []string{"get a", "get ab"}, []string{"get a\nRUN", "get ab\nOLD"}},
		{"the one that went on waits again", []string{"get a\nOLD"}, works(0), []string{"get a"}, []string{"get a\nRUN"}},
		{"the second one went on", []string{"get a\nOLD", "get b\nOLD"}, works(1), []string{"get a", "get b"}, []string{"get a\nOLD", "get b\nRUN"}},
		{"the first one went on", []string{"get a\nOLD", "get b\nOLD"}, works(0), []string{"get a", "get b"}, []string{"get a\nRUN", "get b\nOLD"}},
		{"none went on", []string{"get a\nOLD"}, works(1), []string{"get a"}, []string{"get a\nOLD"}},
		{"a turn of a reconcile means nothing", []string{"get a\nOLD"}, behavior.Activation{Request: "r", Turn: 0}, []string{"get a"}, []string{"get a\nOLD"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rest := behavior.Rest{Calls: slices.Clone(test.before)}
			memory := waiting(test.calls...)
			rest.Originate(memory, test.of, "RUN")
			if want := waiting(test.want...); !maps.Equal(memory, want) {
				t.Errorf("the memory is %q, want %q", memory, want)
			}
			if !slices.Equal(rest.Calls, test.before) {
				t.Errorf("how it rested was changed to %q", rest.Calls)
			}
		})
	}
}

// TestCommute holds pairs of calls, by what they read and write, against whether their order matters.
func TestCommute(t *testing.T) {
	const one, other = state.Cell(1), state.Cell(2)
	web, elsewhere := core.Key{Kind: "K", Namespace: "ns", Name: "web"}, core.Key{Kind: "K", Namespace: "other", Name: "web"}
	of := func(answers ...*behavior.Answered) behavior.Made { return behavior.Made{Answers: answers} }
	writes := func(cell state.Cell, key core.Key, from, to state.Value) *behavior.Answered {
		return &behavior.Answered{Reads: []behavior.Read{{Cell: cell, Value: from}}, Writes: []behavior.Write{{Cell: cell, Key: key, To: to}}}
	}
	reads := func(r behavior.Read) *behavior.Answered { return &behavior.Answered{Reads: []behavior.Read{r}} }
	// The even values are selected.
	selection := new(state.Selection)
	selects := func(s *state.Selection, _ state.Cell, value state.Value) bool { return s == selection && value%2 == 0 }
	listed := func(kind core.Kind, namespace string, s *state.Selection) *behavior.Answered {
		return reads(behavior.Read{Listed: true, Kind: kind, Namespace: namespace, Selection: s})
	}
	for _, test := range []struct {
		name string
		a, b behavior.Made
		want bool
	}{
		{"reads", of(reads(behavior.Read{Cell: one})), of(reads(behavior.Read{Cell: one})), true},
		{"a read of what is written", of(reads(behavior.Read{Cell: one})), of(writes(one, web, 1, 2)), false},
		{"a read of something else", of(reads(behavior.Read{Cell: other})), of(writes(one, web, 1, 2)), true},
		{"writes of two objects", of(writes(one, web, 1, 2)), of(writes(other, elsewhere, 1, 2)), true},
		{"blind writes of one object", of(&behavior.Answered{Writes: []behavior.Write{{Cell: one, Key: web}}}), of(&behavior.Answered{Writes: []behavior.Write{{Cell: one, Key: web}}}), false},
		{"a list of the kind", of(listed("K", "", nil)), of(writes(one, web, 1, 3)), false},
		{"a list of another kind", of(listed("L", "", nil)), of(writes(one, web, 1, 3)), true},
		{"a list of the namespace", of(listed("K", "ns", nil)), of(writes(one, web, 1, 3)), false},
		{"a list of another namespace", of(listed("K", "ns", nil)), of(writes(one, elsewhere, 1, 3)), true},
		{"a list that selects neither", of(listed("K", "", selection)), of(writes(one, web, 1, 3)), true},
		{"a list that selects it now", of(listed("K", "", selection)), of(writes(one, web, 1, 2)), false},
		{"a list that selected it before", of(listed("K", "", selection)), of(writes(one, web, 2, 3)), false},
		{"a list that selects nothing, of an object that nobody looked at", of(listed("K", "", selection)),
			of(&behavior.Answered{Writes: []behavior.Write{{Cell: one, Key: web, To: 3}}}), false},
		{"what was looked at in other ways says nothing of what was there", of(listed("K", "", selection)),
			of(&behavior.Answered{
				Reads: []behavior.Read{
					{Cell: one, Value: 1, Listed: true, Kind: "L"}, {Cell: one, Value: 1, Held: true}, {Cell: one, Value: 1, Projection: new(state.Projection)}, {Cell: other, Value: 1},
				},
				Writes: []behavior.Write{{Cell: one, Key: web, To: 3}},
			}), false},
		{"a call of an event handler", of(reads(behavior.Read{Cell: other}), reads(behavior.Read{Cell: one})), of(writes(other+1, elsewhere, 1, 2), writes(one, web, 1, 2)), false},
	} {
		for _, pair := range [][2]behavior.Made{{test.a, test.b}, {test.b, test.a}} {
			if got := behavior.Commute(pair[0], pair[1], selects); got != test.want {
				t.Errorf("%s: they commute: %t, want %t", test.name, got, test.want)
			}
		}
	}
	if of(reads(behavior.Read{Cell: one})).Effects() || !of(writes(one, web, 1, 2)).Effects() || !of(&behavior.Answered{Enqueue: []state.Cell{one}}).Effects() ||
		of(reads(behavior.Read{Cell: one}), writes(one, web, 1, 2)).Effects() {
		t.Error("what a call itself changes or sends is its effect, and nothing else")
	}
}

package stepcache_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core/internal/stepcache"
	"github.com/orrery-dev/orrery/core/state"
)

// TestCacheIsAFunction has runs of two agents be cached that look at one cell after the other, where what they look
// at next follows from what they saw, and compares what is found with what the runs do.
func TestCacheIsAFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cells = 4
		salt := rapid.IntRange(0, 1000).Draw(t, "salt")
		// look returns what a run looks at in a state, and a text that follows from that.
		look := func(agent int, vector state.Vector) (trace []state.Touch, does string) {
			at := (salt + agent) % cells
			for range 1 + (salt+agent)%3 {
				trace = append(trace, state.Touch{Cell: state.Cell(at), Was: vector[at]})
				at = (at*3 + int(vector[at])*(1+salt%5) + 1) % cells
			}
			return trace, fmt.Sprint(agent, trace)
		}
		var s stepcache.Cache[string]
		s.Forget()
		known := map[string]bool{}
		draw := rapid.Custom(func(t *rapid.T) state.Vector {
			var v state.Vector
			for range cells {
				v = append(v, state.Value(rapid.IntRange(0, 2).Draw(t, "value")))
			}
			return v
		})
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			agent, vector := rapid.IntRange(0, 2).Draw(t, "agent"), draw.Draw(t, "vector")
			trace, does := look(agent, vector)
			found := s.Find(agent, vector)
			if (found != nil) != known[does] || found != nil && *found != does {
				t.Fatalf("in %v agent %d does %q, known %t: found %v", vector, agent, does, known[does], found)
			}
			if found != nil {
				continue
			}
			s.Trace = s.Trace[:0]
			for _, touch := range trace {
				s.Depend(touch.Cell, touch.Was)
				s.Depend(touch.Cell, touch.Was+1) // what was seen first counts
			}
			room := s.Room
			s.Add(agent, &does)
			known[does] = true
			if s.Room >= room {
				t.Fatal("a cached step takes no room")
			}
		}
		s.Forget()
		for agent := range 3 {
			if s.Find(agent, make(state.Vector, cells)) != nil {
				t.Fatal("what was forgotten is found")
			}
		}
		if s.Room != stepcache.MostDecisions {
			t.Fatalf("there is room for %d", s.Room)
		}
	})
}

// TestRemembers has what is looked at come in any order: what is found is what was remembered of a state in
// which as much is the same.
func TestRemembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cells = 5
		var s stepcache.Cache[string]
		s.Forget()
		var all []state.Vector
		var traces [][]state.Touch
		for range rapid.IntRange(1, 10).Draw(t, "times") {
			vector := make(state.Vector, rapid.IntRange(3, cells).Draw(t, "length"))
			for c := range vector {
				vector[c] = state.Value(rapid.IntRange(0, 1).Draw(t, "value"))
			}
			var trace []state.Touch
			for _, c := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(vector)-1), 0, 3, rapid.ID[int]).Draw(t, "looks at") {
				trace = append(trace, state.Touch{Cell: state.Cell(c), Was: vector[c]})
			}
			full := append(slices.Clone(vector), make(state.Vector, cells-len(vector))...)
			if s.Find(1, full) != nil {
				continue
			}
			s.Remember(1, vector, trace)
			all, traces = append(all, full), append(traces, trace)
			if s.Find(0, full) != nil {
				t.Fatal("it is remembered of another agent")
			}
			if s.Find(1, full) == nil {
				t.Fatalf("%v is not remembered with %v", vector, trace)
			}
		}
		for n := range 1 << cells {
			vector := make(state.Vector, cells)
			for c := range vector {
				vector[c] = state.Value(n >> c & 1)
			}
			if s.Find(1, vector) == nil {
				continue
			}
			if !slices.ContainsFunc(traces, func(trace []state.Touch) bool {
				return !slices.ContainsFunc(trace, func(seen state.Touch) bool { return vector[seen.Cell] != seen.Was })
			}) {
				t.Fatalf("%v is remembered, and nothing like it was seen: %v in %v", vector, traces, all)
			}
		}
	})
}

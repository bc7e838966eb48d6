package reduction

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// TestEachCombinationIsTried has a run see two things, each of which may become two others: it lasts only if each of
// the nine combinations is known and idle.
func TestEachCombinationIsTried(t *testing.T) {
	for bad := range 10 {
		for _, unknown := range []bool{false, true} {
			p := newPlot(t)
			cells := p.objects("x", "y")
			for x := range 3 {
				then := p.learns(t, p.root, []behavior.Read{{Cell: cells[0], Value: state.Value(x + 1)}}, p.sees(cells[0], state.Value(x+1)))
				for y := range 3 {
					if leaf := (&behavior.Leaf{}); 3*x+y != bad {
						p.ends(p.learns(t, then, []behavior.Read{{Cell: cells[1], Value: state.Value(y + 1)}}, p.sees(cells[1], state.Value(y+1))), leaf)
					} else if !unknown {
						leaf.Result.Requeue = true
						p.ends(p.learns(t, then, []behavior.Read{{Cell: cells[1], Value: state.Value(y + 1)}}, p.sees(cells[1], state.Value(y+1))), leaf)
					}
				}
			}
			looks := []Place{p.sees(cells[0], 2), p.sees(cells[1], 2)}
			m := missed{become: map[Place][]state.Value{looks[0]: {2, 1, 3}, looks[1]: {2, 1, 3}}}
			if got := p.lasting(m, looks...); got != (bad == 9) {
				t.Errorf("where combination %d of what it sees is not idle, or not known: %t, it lasts: %t", bad, unknown, got)
			}
			delete(m.become, looks[1])
			if got := p.lasting(m, looks...); got != (bad%3 != 1 || bad == 9) {
				t.Errorf("where combination %d of what it sees is not idle, and only one thing changes, it lasts: %t", bad, got)
			}
		}
	}
}

// TestFailuresOfOtherRuns has a run not last if a call may fail to which it only comes by seeing something else,
// whatever comes after that.
func TestFailuresOfOtherRuns(t *testing.T) {
	for _, test := range []struct {
		name string
		at   [2]int // which of the calls may fail, by what was seen before
		want bool
	}{
		{"none", [2]int{-1, -1}, true}, {"one of the run", [2]int{0, 1}, true}, {"one of the other run", [2]int{0, 2}, false}, {"a later one of the other run", [2]int{1, 2}, false}, {"a later one of the run", [2]int{1, 1}, true},
	} {
		p := newPlot(t)
		cells := p.objects("x", "y", "z")
		for x := range 2 {
			n := p.learns(t, p.root, []behavior.Read{{Cell: cells[0], Value: state.Value(x + 1)}}, p.sees(cells[0], state.Value(x+1)))
			for i, c := range cells[1:] {
				if test.at == [2]int{i, x + 1} {
					n.Faults = make([]behavior.Fault, 1)
				}
				n = p.learns(t, n, []behavior.Read{{Cell: c, Value: 1}}, p.sees(c, 1))
			}
			p.ends(n, &behavior.Leaf{})
		}
		looks := []Place{p.sees(cells[0], 1), p.sees(cells[1], 1), p.sees(cells[2], 1)}
		if got := p.lasting(missed{become: map[Place][]state.Value{looks[0]: {1, 2}}}, looks...); got != test.want {
			t.Errorf("%s: it lasts: %t", test.name, got)
		}
	}
}

// TestWhatAnotherRunLooksAt has no run last that looks at something else once it sees something else: nobody knows what
// may be seen there.
func TestWhatAnotherRunLooksAt(t *testing.T) {
	type again struct {
		p     plot
		t     *testing.T
		n     *behavior.Node
		cells []state.Cell
	}
	end := func(n *behavior.Node, a *again) { a.p.ends(n, &behavior.Leaf{}) }
	for _, test := range []struct {
		name string
		then func(*again)
		want bool
	}{
		{"nothing", func(a *again) { end(a.n, a) }, true},
		{"the same", func(a *again) {
			end(a.p.learns(a.t, a.n, []behavior.Read{{Cell: a.cells[0], Value: 2}}, a.p.sees(a.cells[0], 2)), a)
		}, true},
		{"another object", func(a *again) {
			for v := range state.Value(4) {
				end(a.p.learns(a.t, a.n, []behavior.Read{{Cell: a.cells[1], Value: v}}), a)
			}
		}, false},
		{"the same through a view", func(a *again) {
			watched := core.Key{Kind: a.p.it.Actor.Process.Views[0].Kind()}
			c := a.p.vocabulary.Object(watched)
			end(a.p.learns(a.t, a.n, []behavior.Read{{Cell: c}}), a)
			a.n.Call = look(core.Cached)
		}, false},
		{"a part of the object", func(a *again) {
			part := a.p.vocabulary.Projection("thing", first{})
			for v := range state.Value(4) {
				end(a.p.learns(a.t, a.n, []behavior.Read{{Cell: a.cells[0], Projection: part, Value: v}}), a)
			}
		}, false},
		{"a list", func(a *again) {
			end(a.p.learns(a.t, a.n, []behavior.Read{{Listed: true, Kind: "thing"}}), a)
			end(a.p.learns(a.t, a.n, []behavior.Read{{Listed: true, Kind: "thing", Signature: string(state.AppendSigned(nil, a.cells[0], 2))}}), a)
		}, false},
		{"who holds the object", func(a *again) { end(a.p.learns(a.t, a.n, []behavior.Read{{Cell: a.cells[0], Held: true}}), a) }, false},
		{"something that was not noted", func(a *again) {
			end(a.p.learns(a.t, a.n, nil), a)
			clear(a.p.looks)
		}, false},
		{"it draws", func(a *again) { end(a.n, a); a.n.Drawn = true }, false},
		{"it never comes back", func(a *again) { a.p.ends(a.n, &behavior.Leaf{Failure: behavior.Deadlock}) }, false},
	} {
		p := newPlot(t)
		p.place(placeName{sight: sight{cell: 99}, value: 1, valued: true}) // the first place of all
		cells := p.objects("x", "y")
		sees := p.sees(cells[0], 1)
		p.ends(p.learns(t, p.root, []behavior.Read{{Cell: cells[0], Value: 1}}, sees), &behavior.Leaf{})
		then := p.learns(t, p.root, []behavior.Read{{Cell: cells[0], Value: 2}}, p.sees(cells[0], 2))
		test.then(&again{p, t, then, cells})
		if got := p.lasting(missed{become: map[Place][]state.Value{sees: {1, 2}}}, sees); got != test.want {
			t.Errorf("%s: it lasts: %t", test.name, got)
		}
	}
	// Of a run that began as none is known to have begun, nothing is known.
	p := newPlot(t)
	p.ends(p.root, &behavior.Leaf{})
	for value, want := range []bool{true, false} {
		run := idleRun{it: p.it}
		run.begun.Value = state.Value(value)
		if got := p.judge(run, &missed{}, 2); got != want {
			t.Errorf("a run that remembers %d lasts: %t", value, got)
		}
	}
}

// TestPartsAndListsThatChange has a run last if it does nothing with each part and each list that may come to be, as it
// is shown: selected, in a namespace, through a view or not.
func TestPartsAndListsThatChange(t *testing.T) {
	type sights struct {
		p       plot
		n       *behavior.Node
		a, b, c state.Cell
	}
	value := func(s *sights, c state.Cell, content text) state.Value { return s.p.vocabulary.Intern(c, content) }
	idle := func(t *testing.T, s *sights, reads []behavior.Read, places ...Place) {
		s.p.ends(s.p.learns(t, s.n, reads, places...), &behavior.Leaf{})
	}
	signed := func(c state.Cell, v state.Value) string { return string(state.AppendSigned(nil, c, v)) }
	for _, test := range []struct {
		name  string
		learn func(*testing.T, *sights) (looks []Place, m missed)
		want  bool
	}{
		{"a part that becomes another one, which is known", func(t *testing.T, s *sights) ([]Place, missed) {
			part := s.p.vocabulary.Projection("thing", first{})
			one, two := s.p.vocabulary.Project(part, s.a, value(s, s.a, "aa")), s.p.vocabulary.Project(part, s.a, value(s, s.a, "ba"))
			at := s.p.place(placeName{sight: sight{cell: s.a, projection: part}, value: one, valued: true})
			for _, v := range []state.Value{one, two} {
				idle(t, s, []behavior.Read{{Cell: s.a, Projection: part, Value: v}}, at)
			}
			return []Place{at}, missed{become: map[Place][]state.Value{at: {one, two}}}
		}, true},
		{"a part that becomes another one, which is not known", func(t *testing.T, s *sights) ([]Place, missed) {
			part := s.p.vocabulary.Projection("thing", first{})
			one, two := s.p.vocabulary.Project(part, s.a, value(s, s.a, "aa")), s.p.vocabulary.Project(part, s.a, value(s, s.a, "ba"))
			at := s.p.place(placeName{sight: sight{cell: s.a, projection: part}, value: one, valued: true})
			idle(t, s, []behavior.Read{{Cell: s.a, Projection: part, Value: one}}, at)
			return []Place{at}, missed{become: map[Place][]state.Value{at: {one, two}}}
		}, false},
		{"one that is not selected any more", func(t *testing.T, s *sights) ([]Place, missed) {
			selection := s.p.vocabulary.Selection("thing", "", starting('a'))
			list := s.p.place(placeName{listed: true, kind: "thing", selection: selection, entering: true})
			one, two := value(s, s.a, "aa"), value(s, s.a, "ba")
			idle(t, s, []behavior.Read{{Listed: true, Kind: "thing", Selection: selection, Signature: signed(s.a, one)}})
			idle(t, s, []behavior.Read{{Listed: true, Kind: "thing", Selection: selection}})
			at := s.p.sees(s.a, one)
			return []Place{list, at}, missed{become: map[Place][]state.Value{at: {one, two}}}
		}, true},
		{"one that stays selected and becomes what is not known", func(t *testing.T, s *sights) ([]Place, missed) {
			selection := s.p.vocabulary.Selection("thing", "", starting('a'))
			list := s.p.place(placeName{listed: true, kind: "thing", selection: selection, entering: true})
			one, two := value(s, s.a, "aa"), value(s, s.a, "ab")
			idle(t, s, []behavior.Read{{Listed: true, Kind: "thing", Selection: selection, Signature: signed(s.a, one)}})
			idle(t, s, []behavior.Read{{Listed: true, Kind: "thing", Selection: selection}})
			at := s.p.sees(s.a, one)
			return []Place{list, at}, missed{become: map[Place][]state.Value{at: {one, two}}}
		}, false},
		{"one of another namespace, which is seen elsewhere", func(t *testing.T, s *sights) ([]Place, missed) {
			list := s.p.place(placeName{listed: true, kind: "thing", namespace: "n", entering: true})
			one, other := value(s, s.a, "aa"), value(s, s.c, "ca")
			idle(t, s, []behavior.Read{{Listed: true, Kind: "thing", Namespace: "n", Signature: signed(s.a, one)}})
			return []Place{list, s.p.sees(s.a, one), s.p.sees(s.c, other)}, missed{}
		}, true},
		{"all namespaces", func(t *testing.T, s *sights) ([]Place, missed) {
			list := s.p.place(placeName{listed: true, kind: "thing", entering: true})
			one, other := value(s, s.a, "aa"), value(s, s.c, "ca")
			// In the order of keys, the namespace m comes before n.
			idle(t, s, []behavior.Read{{Listed: true, Kind: "thing", Signature: signed(s.c, other) + signed(s.a, one)}})
			return []Place{list, s.p.sees(s.a, one), s.p.sees(s.c, other)}, missed{}
		}, true},
		{"two of a list that change", func(t *testing.T, s *sights) ([]Place, missed) {
			list := s.p.place(placeName{listed: true, kind: "thing", entering: true})
			m := missed{become: map[Place][]state.Value{}}
			for v := range state.Value(3) {
				for w := range state.Value(3) {
					signature := ""
					if v > 0 {
						signature += signed(s.a, v)
					}
					if w > 0 {
						signature += signed(s.b, w)
					}
					idle(t, s, []behavior.Read{{Listed: true, Kind: "thing", Signature: signature}})
				}
			}
			looks := []Place{list, s.p.sees(s.a, 1), s.p.sees(s.b, 1)}
			m.become[looks[1]], m.become[looks[2]] = []state.Value{1, 0, 2}, []state.Value{1, 0, 2}
			return looks, m
		}, true},
		{"two of a list that change, and they never changed both", func(t *testing.T, s *sights) ([]Place, missed) {
			list := s.p.place(placeName{listed: true, kind: "thing", entering: true})
			m := missed{become: map[Place][]state.Value{}}
			for _, pair := range [][2]state.Value{{1, 1}, {1, 2}, {2, 1}} {
				idle(t, s, []behavior.Read{{Listed: true, Kind: "thing", Signature: signed(s.a, pair[0]) + signed(s.b, pair[1])}})
			}
			looks := []Place{list, s.p.sees(s.a, 1), s.p.sees(s.b, 1)}
			m.become[looks[1]], m.become[looks[2]] = []state.Value{1, 2}, []state.Value{1, 2}
			return looks, m
		}, false},
		{"who holds versions, which nobody does", func(t *testing.T, s *sights) ([]Place, missed) {
			held := s.p.place(placeName{sight: sight{cell: s.a}, held: true})
			s.p.ends(s.n, &behavior.Leaf{})
			return []Place{held}, missed{}
		}, true},
		{"who holds versions, which may change", func(t *testing.T, s *sights) ([]Place, missed) {
			held := s.p.place(placeName{sight: sight{cell: s.a}, held: true})
			s.p.ends(s.n, &behavior.Leaf{})
			return []Place{held}, missed{become: map[Place][]state.Value{held: {0}}}
		}, false},
		{"what it remembers, which may change", func(t *testing.T, s *sights) ([]Place, missed) {
			memory := s.p.place(placeName{sight: sight{cell: s.p.vocabulary.Note("memory")}, valued: true})
			s.p.ends(s.n, &behavior.Leaf{})
			return []Place{memory}, missed{become: map[Place][]state.Value{memory: {0, 1}}}
		}, false},
		{"an object as it is and through a view", func(t *testing.T, s *sights) ([]Place, missed) {
			// What a view shows changes, and what is there does not. Only what is there is looked at first.
			v := s.p.it.Actor.Process.Views[0]
			c := s.p.vocabulary.Object(core.Key{Kind: v.Kind(), Name: "watched"})
			one, two := value(s, c, "aa"), value(s, c, "ba")
			live := s.p.sees(c, one)
			late := s.p.place(placeName{sight: sight{cell: c, view: v.Cell(), viewed: true}, value: one, valued: true})
			then := s.p.learns(t, s.n, []behavior.Read{{Cell: c, Value: one}}, live)
			for _, v := range []state.Value{one, two} {
				s.p.ends(s.p.learns(t, then, []behavior.Read{{Cell: c, Value: v}}, late), &behavior.Leaf{})
			}
			then.Call = look(core.Cached)
			return []Place{live, late}, missed{become: map[Place][]state.Value{late: {one, two}}}
		}, true},
		{"what a view shows becomes something that makes it go on", func(t *testing.T, s *sights) ([]Place, missed) {
			v := s.p.it.Actor.Process.Views[0]
			c := s.p.vocabulary.Object(core.Key{Kind: v.Kind(), Name: "watched"})
			one, two := value(s, c, "aa"), value(s, c, "ba")
			late := s.p.place(placeName{sight: sight{cell: c, view: v.Cell(), viewed: true}, value: one, valued: true})
			idle(t, s, []behavior.Read{{Cell: c, Value: one}}, late)
			s.p.ends(s.p.learns(t, s.n, []behavior.Read{{Cell: c, Value: two}}, late), &behavior.Leaf{Result: core.Result{Requeue: true}})
			s.n.Call = look(core.Cached)
			return []Place{s.p.sees(c, one), late}, missed{become: map[Place][]state.Value{late: {one, two}}}
		}, false},
		{"another list than the one that it looks at", func(t *testing.T, s *sights) ([]Place, missed) {
			list := s.p.place(placeName{listed: true, kind: "thing", namespace: "n", entering: true})
			one := value(s, s.a, "aa")
			idle(t, s, []behavior.Read{{Listed: true, Kind: "thing", Signature: signed(s.a, one)}})
			return []Place{list, s.p.sees(s.a, one)}, missed{}
		}, false},
		{"more than can be tried", func(t *testing.T, s *sights) ([]Place, missed) {
			const many = 30
			looks := []Place{s.p.sees(s.a, 1), s.p.sees(s.b, 1)}
			m := missed{become: map[Place][]state.Value{}}
			for v := range state.Value(many) {
				then := s.p.learns(t, s.n, []behavior.Read{{Cell: s.a, Value: v + 1}})
				for w := range state.Value(many) {
					s.p.ends(s.p.learns(t, then, []behavior.Read{{Cell: s.b, Value: w + 1}}), &behavior.Leaf{})
				}
				for _, at := range looks {
					m.become[at] = append(m.become[at], v+1)
				}
			}
			return looks, m
		}, false},
	} {
		p := newPlot(t)
		s := &sights{p: p, n: p.root}
		for key, c := range map[core.Key]*state.Cell{thingA: &s.a, thingB: &s.b, thingC: &s.c} {
			*c = p.vocabulary.Object(key)
			for _, content := range []text{"aa", "ba", "ab", "ca"} {
				p.vocabulary.Intern(*c, content)
			}
		}
		looks, m := test.learn(t, s)
		if got := p.lasting(m, looks...); got != test.want {
			t.Errorf("%s: it lasts: %t", test.name, got)
		}
	}
}

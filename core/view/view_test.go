package view_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

const kind core.Kind = "thing"

var _ core.Content = text("")

func keys() []core.Key {
	return []core.Key{
		{Kind: kind, Namespace: "one", Name: "b"},
		{Kind: kind, Namespace: "one", Name: "a"},
		{Kind: kind, Namespace: "two", Name: "a"},
	}
}

// stream is a view with the part of a state that it is about.
type stream struct {
	vocabulary *state.Vocabulary
	view       *view.View
	vector     state.Vector
}

func newStream(rule view.Rule, keys []core.Key) *stream {
	vocabulary := state.NewVocabulary(settle)
	for _, key := range keys {
		vocabulary.Object(key)
	}
	v := view.New(vocabulary, "c", kind, rule)
	return &stream{vocabulary: vocabulary, view: v, vector: make(state.Vector, vocabulary.Cells())}
}

func (s *stream) backlog() state.Value { return s.vector[s.view.Cell()] }

func (s *stream) commit(v version, own bool) []string {
	cell := s.vocabulary.Object(v.key)
	to := s.vocabulary.Intern(cell, v.content)
	change := view.Change{Cell: cell, From: s.vector[cell], To: to}
	s.vector[cell] = to
	after := s.view.Commit(s.backlog(), change)
	s.vector[s.view.Cell()] = after
	var events []string
	for range s.view.Forced(after, own) {
		events = append(events, s.deliver()...)
	}
	return events
}

func (s *stream) deliver() []string {
	changes, rest := s.view.Deliver(s.backlog())
	s.vector[s.view.Cell()] = rest
	var events []string
	for _, c := range changes {
		key, _ := s.vocabulary.Key(c.Cell)
		events = append(events, event(key, s.vocabulary.Content(c.Cell, c.From), s.vocabulary.Content(c.Cell, c.To)))
	}
	return events
}

// TestViewIsAStream compares a view with its twin, under every rule: what it shows,
// what is delivered and when, where restarts may put it. Equal backlogs must have
// equal values, different ones different values and prints, and the prints must not
// depend on the order in which cells and values were met.
func TestViewIsAStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := drawRule(t)
		name, rest, _ := strings.Cut(rule.String(), "(")
		bound := 0
		if rest != "" {
			bound = int(rest[0] - '0')
		}
		plainTwin := &twin{rule: name, bound: bound}
		s := newStream(rule, keys())
		// The other stream meets everything in another order.
		other := newStream(rule, rapid.Permutation(keys()).Draw(t, "order"))
		for _, word := range rapid.Permutation(words()).Draw(t, "words") {
			other.vocabulary.Intern(other.vocabulary.Object(keys()[0]), text(word))
		}
		valueOf, textOf := map[string]state.Value{}, map[state.Value]string{}

		steps := rapid.IntRange(1, 25).Draw(t, "steps")
		for range steps {
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			default:
				v, own := drawVersion(t, plainTwin), rapid.Bool().Draw(t, "own")
				want := plainTwin.commit(v, own)
				for _, s := range []*stream{s, other} {
					if got := s.commit(v, own); !slices.Equal(got, want) {
						t.Fatalf("under %s a commit delivered %v, want %v", rule, got, want)
					}
				}
			case 0, 1:
				if len(s.view.Backlog(s.backlog()).Waiting) == 0 {
					continue
				}
				want := plainTwin.deliver()
				for _, s := range []*stream{s, other} {
					if got := s.deliver(); !slices.Equal(got, want) {
						t.Fatalf("under %s a delivery brought %v, want %v", rule, got, want)
					}
				}
			case 2:
				key := rapid.SampledFrom(keys()).Draw(t, "settled")
				visible := plainTwin.visible(key)
				plainTwin.settle(key)
				if now := plainTwin.visible(key); len(now) != len(visible) {
					t.Fatalf("settling %v leaves %v: the twin does not keep different versions apart", visible, now)
				}
				s.settle(key)
				other.settle(key)
			case 3:
				positions := s.view.Positions(s.backlog())
				if want := plainTwin.positions(); positions != want {
					t.Fatalf("under %s there are %d positions to restart at, want %d", rule, positions, want)
				}
				behind := rapid.IntRange(0, positions-1).Draw(t, "behind")
				plainTwin.received = len(plainTwin.versions) - behind
				for _, s := range []*stream{s, other} {
					s.vector[s.view.Cell()] = s.view.Restart(s.backlog(), behind)
				}
			}
			shown := plainTwin.at(plainTwin.received)
			for _, key := range keys() {
				cell := s.vocabulary.Object(key)
				got := s.vocabulary.Content(cell, s.view.Shown(s.backlog(), cell, s.vector[cell]))
				if got != shown[key] {
					t.Fatalf("under %s the view shows %v of %s, want %v", rule, got, key, shown[key])
				}
			}
			for _, s := range []*stream{s, other} {
				for _, key := range keys() {
					var versions []core.Content
					for _, value := range s.visible(key) {
						versions = append(versions, s.vocabulary.Content(s.vocabulary.Object(key), value))
					}
					slices.SortFunc(versions, func(a, b core.Content) int { return strings.Compare(a.Canonical(), b.Canonical()) })
					if want := plainTwin.visible(key); !slices.Equal(versions, want) {
						t.Fatalf("under %s the versions %v of %s may still be seen, want %v", rule, versions, key, want)
					}
				}
				if got, want := s.changed(), plainTwin.changed(); !slices.Equal(got, want) {
					t.Fatalf("under %s the objects %v are in the backlog, want %v", rule, got, want)
				}
				if got := s.view.Waiting(s.backlog()); rule != view.Relist() && got != plainTwin.waiting() {
					t.Fatalf("under %s %d changes are waiting, want %d", rule, got, plainTwin.waiting())
				}
			}
			identity, value := plainTwin.identity(), s.backlog()
			if known, met := valueOf[identity]; met && known != value {
				t.Fatalf("under %s the backlog %s has the values %d and %d", rule, identity, known, value)
			}
			if known, met := textOf[value]; met && known != identity {
				t.Fatalf("under %s the value %d stands for %s and for %s", rule, value, known, identity)
			}
			valueOf[identity], textOf[value] = value, identity
			print := s.vocabulary.Print(s.view.Cell(), value)
			if got := other.vocabulary.Print(other.view.Cell(), other.backlog()); got != print {
				t.Fatalf("under %s the print of %s depends on the order of interning", rule, identity)
			}
			for known := range textOf {
				if known != value && s.vocabulary.Print(s.view.Cell(), known) == print {
					t.Fatalf("under %s the backlogs %d and %d have the same print", rule, known, value)
				}
			}
		}
	})
}

func words() []string { return []string{"x", "y", "x!1", "x!2", "y!1"} }

// drawVersion draws a change of what is in the store.
func drawVersion(t *rapid.T, w *twin) version {
	key := rapid.SampledFrom(keys()).Draw(t, "key")
	now := w.at(len(w.versions))[key]
	var contents []core.Content
	if now != nil {
		contents = append(contents, nil)
	}
	for _, word := range words() {
		if now != text(word) {
			contents = append(contents, text(word))
		}
	}
	return version{key, rapid.SampledFrom(contents).Draw(t, "content")}
}

// TestRules shows what each rule does with four changes of one object, the second of
// which the owner of the view commits.
func TestRules(t *testing.T) {
	key := keys()[0]
	for _, test := range []struct {
		rule view.Rule
		// shown is what the view shows after each commit, then after each delivery.
		shown string
	}{
		{view.Fresh(), "1 2 3 4"},
		{view.Lag(1), "0 1 2 3 4"},
		{view.Lag(2), "0 0 1 2 3 4"},
		{view.OwnWrites(1), "0 2 2 3 4"},
		{view.OwnWrites(2), "0 2 2 2 3 4"},
		{view.Restart(2), "1 2 3 4"},
		{view.Relist(), "0 0 0 0 4"},
	} {
		s := newStream(test.rule, keys())
		s.vector[s.vocabulary.Object(key)] = s.vocabulary.Intern(s.vocabulary.Object(key), text("0"))
		var shown []string
		look := func() {
			cell := s.vocabulary.Object(key)
			content := s.vocabulary.Content(cell, s.view.Shown(s.backlog(), cell, s.vector[cell]))
			shown = append(shown, content.Canonical())
		}
		for i, word := range []string{"1", "2", "3", "4"} {
			s.commit(version{key, text(word)}, i == 1)
			look()
		}
		for len(s.view.Backlog(s.backlog()).Waiting) > 0 {
			s.deliver()
			look()
		}
		if got := strings.Join(shown, " "); got != test.shown {
			t.Errorf("under %s the view shows %s, want %s", test.rule, got, test.shown)
		}
	}
}

// TestKnownGroundIsOnlyRead checks that what was met once needs nobody to add to the view.
func TestKnownGroundIsOnlyRead(t *testing.T) {
	s := newStream(view.Lag(2), keys())
	cell := s.vocabulary.Object(keys()[0])
	change := view.Change{Cell: cell, To: s.vocabulary.Intern(cell, text("x"))}
	if _, known := s.view.Committed(0, change); known {
		t.Error("a change is known before it was ever committed")
	}
	want := s.view.Commit(0, change)
	if got, known := s.view.Committed(0, change); !known || got != want {
		t.Errorf("after a commit to %d, Committed = %d, %t", want, got, known)
	}
	if _, known := s.view.Restarted(want, 0); known {
		t.Error("a restart is known that never was")
	}
	restarted := s.view.Restart(want, 0)
	if got, known := s.view.Restarted(want, 0); !known || got != restarted {
		t.Errorf("after a restart to %d, Restarted = %d, %t", restarted, got, known)
	}
	if _, known := s.view.Restarted(want, 1); known {
		t.Error("a restart at another position is known")
	}
	normal := s.vocabulary.Normalize(cell, []state.Value{change.To}, nil)
	if _, known := s.view.Renamed(want, cell, normal); known {
		t.Error("a renaming is known that never was")
	}
	renamed := s.view.Rename(want, cell, normal)
	if got, known := s.view.Renamed(want, cell, normal); !known || got != renamed {
		t.Errorf("after a renaming to %d, Renamed = %d, %t", renamed, got, known)
	}
	if versions := s.view.AppendVersions(nil, 0, cell); len(versions) != 0 {
		t.Errorf("with nothing waiting the versions %d are seen", versions)
	}
	if changes, rest := s.view.Deliver(0); len(changes) != 0 || rest != 0 {
		t.Errorf("with nothing waiting a delivery brings %v and leads to %d", changes, rest)
	}
}

// TestRelist checks what one list shows of several changes.
func TestRelist(t *testing.T) {
	one, other := keys()[1], keys()[0]
	for _, test := range []struct {
		name    string
		commits []version
		want    []string
	}{
		{"came and went", []version{{one, text("x")}, {one, nil}}, nil},
		{"came, went and came again", []version{{one, text("x")}, {one, nil}, {one, text("y")}}, []string{event(one, nil, text("y"))}},
		{"changed twice", []version{{one, text("x")}, {one, text("y")}, {other, text("z")}, {one, text("x")}}, []string{event(one, nil, text("x")), event(other, nil, text("z"))}},
		{"in the order of keys", []version{{other, text("z")}, {one, text("x")}}, []string{event(one, nil, text("x")), event(other, nil, text("z"))}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStream(view.Relist(), keys())
			for _, v := range test.commits {
				if events := s.commit(v, true); len(events) > 0 {
					t.Fatalf("a commit delivered %v", events)
				}
			}
			if got := s.deliver(); !slices.Equal(got, test.want) {
				t.Errorf("the list brought %v, want %v", got, test.want)
			}
			if s.backlog() != 0 {
				t.Errorf("after the list the backlog is %d", s.backlog())
			}
		})
	}
	// What is as it was before is listed again: somebody wrote it in between.
	s := newStream(view.Relist(), keys())
	s.commit(version{one, text("x")}, false)
	s.deliver()
	s.commit(version{one, nil}, false)
	s.commit(version{one, text("x")}, false)
	if got, want := s.deliver(), []string{event(one, text("x"), text("x"))}; !slices.Equal(got, want) {
		t.Errorf("the list brought %v, want %v", got, want)
	}
}

package view_test

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// visible returns the values of an object that may still be seen, the one in the store included.
func (s *stream) visible(key core.Key) []state.Value {
	cell := s.vocabulary.Object(key)
	versions := s.view.AppendVersions([]state.Value{s.vector[cell]}, s.backlog(), cell)
	slices.Sort(versions)
	return slices.DeleteFunc(slices.Compact(versions), func(v state.Value) bool { return v == 0 })
}

// settle brings the versions of an object that may still be seen to their canonical forms, together.
func (s *stream) settle(key core.Key) {
	cell, versions := s.vocabulary.Object(key), s.visible(key)
	if len(versions) == 0 {
		return
	}
	normal := s.vocabulary.Normalize(cell, versions, nil)
	s.vector[cell] = normal.Of(s.vector[cell])
	s.vector[s.view.Cell()] = s.view.Rename(s.backlog(), cell, normal)
}

// changed returns the objects in the backlog.
func (s *stream) changed() []core.Key {
	var keys []core.Key
	for _, cell := range s.view.AppendCells(nil, s.backlog()) {
		key, _ := s.vocabulary.Key(cell)
		keys = append(keys, key)
	}
	slices.SortFunc(keys, core.Key.Compare)
	return slices.Compact(keys)
}

// TestSettlingKeepsVersionsApart shows what is settled of three versions with the same word, the first
// of which nobody can see any more.
func TestSettlingKeepsVersionsApart(t *testing.T) {
	key := keys()[0]
	for _, test := range []struct {
		rule   view.Rule
		stored string
		events []string
	}{
		{view.Fresh(), "x", nil},
		{view.Lag(1), "x!1", []string{event(key, text("x"), text("x!1"))}},
		{view.Lag(2), "x!2", []string{event(key, text("x"), text("x!1")), event(key, text("x!1"), text("x!2"))}},
		// What was delivered may be so again after a restart, so it still counts.
		{view.Restart(1), "x!1", nil},
		{view.Relist(), "x", []string{event(key, nil, text("x"))}},
	} {
		s := newStream(test.rule, keys())
		for _, word := range []string{"x!1", "x!3", "x!4"} {
			s.commit(version{key, text(word)}, false)
		}
		s.settle(key)
		cell := s.vocabulary.Object(key)
		if got := s.vocabulary.Content(cell, s.vector[cell]).Canonical(); got != test.stored {
			t.Errorf("under %s what is stored settles to %s, want %s", test.rule, got, test.stored)
		}
		var events []string
		for s.view.Waiting(s.backlog()) > 0 {
			events = append(events, s.deliver()...)
		}
		if !slices.Equal(events, test.events) {
			t.Errorf("under %s then come %v, want %v", test.rule, events, test.events)
		}
	}
}

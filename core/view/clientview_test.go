package view_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// TestGlanceIsConsistent checks that a seen shows the objects of a watched kind as
// they were at one position of the stream, single ones and lists alike, and everything
// else as it is.
func TestGlanceIsConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStream(view.Lag(3), keys())
		free := core.Key{Kind: "free", Name: "f"}
		freeCell := s.vocabulary.Object(free)
		item := s.vocabulary.Item(core.Item{Strategy: "c", Request: "r"})
		s.vector = append(s.vector, 0, 0)
		s.vector[freeCell] = s.vocabulary.Intern(freeCell, text("stored"))
		s.vector[item] = state.Queued
		plainTwin := &twin{rule: "lag", bound: 3}
		seen := view.NewClientView(s.vocabulary, &s.vector, []*view.View{s.view})

		for range rapid.IntRange(1, 12).Draw(t, "commits") {
			v := drawVersion(t, plainTwin)
			plainTwin.commit(v, false)
			s.commit(v, false)

			shown := plainTwin.at(plainTwin.received)
			for _, key := range keys() {
				cell := s.vocabulary.Object(key)
				if got := s.vocabulary.Content(cell, seen.Value(cell)); got != shown[key] {
					t.Fatalf("%s is shown as %v, want %v", key, got, shown[key])
				}
			}
			for _, namespace := range []string{"", "one", "two", "three"} {
				var want []byte
				var objects []core.Object
				for _, cell := range s.vocabulary.Kind(kind) {
					key, _ := s.vocabulary.Key(cell)
					if shown[key] != nil && (namespace == "" || namespace == key.Namespace) {
						want = binary.AppendUvarint(want, uint64(cell))
						want = binary.AppendUvarint(want, uint64(seen.Value(cell)))
						objects = append(objects, core.Object{Key: key, Content: shown[key]})
					}
				}
				if got := seen.List(kind, namespace, nil); !slices.Equal(got, objects) {
					t.Fatalf("the list of namespace %q is %v, want %v", namespace, got, objects)
				}
				if got, _ := seen.AppendSignature(nil, kind, namespace, nil); string(got) != string(want) {
					t.Fatalf("the list of namespace %q does not agree with its objects", namespace)
				}
			}
		}
		if got := seen.Value(freeCell); got != s.vector[freeCell] {
			t.Fatalf("a kind without a view is shown as %d, want %d", got, s.vector[freeCell])
		}
		if got := seen.Value(item); got != state.Queued {
			t.Fatalf("an item is shown as %d", got)
		}
		if got, _ := seen.AppendSignature(nil, free.Kind, "", nil); len(got) == 0 {
			t.Fatal("the list of a kind without a view is empty")
		}
		late := s.vocabulary.Object(core.Key{Kind: free.Kind, Name: "late"})
		if got := seen.Value(late); got != 0 {
			t.Fatalf("an object beyond the end of the vector is shown as %d", got)
		}
		s.vector = append(s.vector, s.vocabulary.Intern(late, text("late")))
		if got := seen.List(free.Kind, "", nil); len(got) != 2 || got[1].Content != text("late") {
			t.Fatalf("after another object came the list is %v", got)
		}
	})
}

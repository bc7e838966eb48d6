package store

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// TestParents adds parents in order, with a jump now and then, and changes some.
func TestParents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := []core.StateID{NoParent}
		step := rapid.OneOf(rapid.Just(-1), rapid.IntRange(0, 3), rapid.IntRange(jumped-2, jumped+2))
		for range rapid.IntRange(0, 200).Draw(t, "states") {
			parent := core.StateID(rapid.IntRange(0, len(list)-1).Draw(t, "parent"))
			if s := step.Draw(t, "step"); s >= 0 && list[len(list)-1] != NoParent {
				parent = list[len(list)-1] + core.StateID(s)
			}
			list = append(list, parent)
		}
		var p parents
		for _, parent := range list {
			p.add(parent)
		}
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			id := rapid.IntRange(0, len(list)-1).Draw(t, "changed")
			list[id] = core.StateID(rapid.IntRange(0, len(list)-1).Draw(t, "parent"))
			p.put(core.StateID(id), list[id])
			list = append(list, 7)
			p.add(7)
		}
		if p.len() != len(list) {
			t.Fatalf("there are %d parents, want %d", p.len(), len(list))
		}
		for id, want := range list {
			if got := p.at(core.StateID(id)); got != want {
				t.Fatalf("the parent of state %d is %d, want %d", id, got, want)
			}
		}
	})
}

// TestParentsInDisorder adds parents in no order: it is no longer than a plain list then.
func TestParentsInDisorder(t *testing.T) {
	var p parents
	at := func(id uint32) core.StateID { return core.StateID(id * 0x9e3779b1 >> 8) }
	for id := range uint32(10 * pageLen) {
		p.add(at(id))
	}
	if !p.isPlain || p.jumps != nil || p.deltas.Len() > 0 {
		t.Error("it did not become a plain list")
	}
	for id := range uint32(10 * pageLen) {
		if got := p.at(core.StateID(id)); got != at(id) {
			t.Fatalf("the parent of state %d is %d, want %d", id, got, at(id))
		}
	}
}

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

// TestParentsInOrder adds parents as a search by breadth does, of which one in five is a jump: each takes a byte, and a
// jump eight more.
func TestParentsInOrder(t *testing.T) {
	var p parents
	at := func(id int) core.StateID {
		if id%10 == 7 {
			return core.StateID(id / 3)
		}
		return core.StateID(id/2*254 + id/1000) // mostly 254 further on at most, which fits into a byte with the mark of a jump, and now and then 255
	}
	for id := range 100_000 {
		p.add(at(id))
	}
	if most := 100_000 / 5; p.isPlain || len(p.jumps) > most {
		t.Errorf("a plain list: %t; %d jumps, want %d at most", p.isPlain, len(p.jumps), most)
	}
	for id := range 100_000 {
		if got := p.at(core.StateID(id)); got != at(id) {
			t.Fatalf("the parent of state %d is %d, want %d", id, got, at(id))
		}
	}
	same := parents{}
	for range 1000 {
		same.add(3)
	}
	if len(same.jumps) > 0 || same.at(999) != 3 {
		t.Errorf("of equal parents %d are jumps, and one is %d", len(same.jumps), same.at(999))
	}
}

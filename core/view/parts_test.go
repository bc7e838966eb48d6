package view_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

func TestAllows(t *testing.T) {
	for rule, want := range map[view.Rule]string{
		view.Fresh(): "true false false false", view.Relist(): "true true true true", view.Lag(2): "true true true false", view.OwnWrites(1): "true true false false",
		view.CatchUp(2): "true true true false", view.CatchUp(0): "true false false false",
	} {
		var got []any
		for behind := range 4 {
			got = append(got, rule.Allows(behind))
		}
		if text := fmt.Sprintln(got...); text != want+"\n" {
			t.Errorf("%s allows 0, 1, 2 and 3 changes: %s", rule, text)
		}
	}
	if got := view.CatchUp(2).String(); got != "catch-up(2)" {
		t.Errorf("it is called %s", got)
	}
}

// whole is a selection of texts, and a projection that shows all of them.
type whole string

func (w whole) Identity() string                 { return string(w) }
func (w whole) Selects(o core.Object) bool       { return o.Content == text(w) }
func (whole) Project(o core.Object) core.Content { return o.Content }

// TestParts has lists of what is selected, and parts of objects, show what the views of a client do, as far as that is
// known.
func TestParts(t *testing.T) {
	v := state.NewVocabulary(func(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions })
	lagging := view.New(v, "c", "late", view.Lag(3))
	if lagging.Kind() != "late" || lagging.Rule() != view.Lag(3) {
		t.Errorf("it is a view of %s under %s", lagging.Kind(), lagging.Rule())
	}
	late, now := v.Object(core.Key{Kind: "late", Name: "a"}), v.Object(core.Key{Kind: "now", Name: "a"})
	vector := make(state.Vector, v.Cells())
	for _, c := range []state.Cell{late, now} {
		v.Intern(c, text("old"))
		vector[c] = v.Intern(c, text("new"))
	}
	vector[lagging.Cell()] = lagging.Commit(0, view.Change{Cell: late, From: 1, To: 2})
	seen := view.NewClientView(v, &vector, []*view.View{lagging})
	plain := view.NewClientView(v, &vector, nil)
	if got := plain.Value(late); got != 2 || plain.Value(lagging.Cell()) != vector[lagging.Cell()] {
		t.Errorf("without views, %d is shown", got)
	}
	for _, test := range []struct {
		kind  core.Kind
		c     state.Cell
		shows string
		value state.Value
	}{{"late", late, "old", 1}, {"now", now, "new", 2}} {
		p := v.Projection(test.kind, whole("all"))
		if shown, known := seen.Project(p, test.c); known || shown != 0 {
			t.Errorf("%s: what nobody looked at is shown as %d", test.kind, shown)
		}
		if want := v.Project(p, test.c, test.value); p.Content(want) != text(test.shows) {
			t.Errorf("%s: %d is shown", test.kind, want)
		}
		if shown, known := seen.Project(p, test.c); !known || p.Content(shown) != text(test.shows) {
			t.Errorf("%s: %d is shown, %t", test.kind, shown, known)
		}
		for _, selected := range []string{"old", "new"} {
			s := v.Selection(test.kind, "", whole(selected))
			if got, known := seen.AppendSignature([]byte("x"), test.kind, "", s); known || string(got) != "x" {
				t.Errorf("%s: what is selected is known before anybody looked: %q", test.kind, got)
			}
			objects := seen.List(test.kind, "", s)
			if is := selected == test.shows; (len(objects) == 1) != is || is && objects[0].Content != text(selected) {
				t.Errorf("%s: of what is %s, %v are shown", test.kind, selected, objects)
			}
			want := []byte("x")
			if selected == test.shows {
				want = state.AppendSigned(want, test.c, test.value)
			}
			if got, known := seen.AppendSignature([]byte("x"), test.kind, "", s); !known || string(got) != string(want) {
				t.Errorf("%s: of what is %s, the signature is %q, %t", test.kind, selected, got, known)
			}
		}
	}
}

// TestBacklogs has the values of a view be what they hold, and be found again.
func TestBacklogs(t *testing.T) {
	v := state.NewVocabulary(func(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions })
	back := view.New(v, "c", "kind", view.Restart(3))
	c := v.Object(core.Key{Kind: "kind", Name: "a"})
	one, two := v.Intern(c, text("1")), v.Intern(c, text("2"))
	first := back.Commit(0, view.Change{Cell: c, To: one})
	_, delivered := back.Deliver(first)
	second := back.Commit(delivered, view.Change{Cell: c, From: one, To: two})
	if back.Positions(0) != 1 || back.Positions(first) != 2 || back.Positions(second) != 3 {
		t.Errorf("it may start again at %d, %d and %d positions", back.Positions(0), back.Positions(first), back.Positions(second))
	}
	if _, known := back.Restarted(second, 2); known {
		t.Error("it is known where nobody has started again")
	}
	again := back.Restart(second, 2)
	if got, known := back.Restarted(second, 2); !known || got != again || back.Waiting(got) != 2 {
		t.Errorf("it starts again at %d, and it is known that this is %d, %t", again, got, known)
	}
	if got := back.AppendCells([]state.Cell{7}, 0); !slices.Equal(got, []state.Cell{7}) {
		t.Errorf("in an empty backlog are %v", got)
	}
	if got := back.AppendCells([]state.Cell{7}, second); !slices.Equal(got, []state.Cell{7, c, c}) {
		t.Errorf("in the backlog are %v", got)
	}
	// What tells backlogs apart is the same in every search.
	content := binary.LittleEndian.AppendUint64(nil, 1)
	for _, value := range []state.Value{0, one, one, two} {
		print := v.Print(c, value)
		content = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(content, print.Hi), print.Lo)
	}
	cell := "view\x00c\x00kind"
	sum := sha256.Sum256(slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(cell))), []byte(cell), content))
	if got, want := v.Print(back.Cell(), second), (state.Fingerprint{Hi: binary.LittleEndian.Uint64(sum[:]), Lo: binary.LittleEndian.Uint64(sum[8:])}); got != want {
		t.Errorf("its print is %s, want %s", got, want)
	}
}

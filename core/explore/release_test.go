package explore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// edition is a note that is numbered: each put makes a new one, above all that somebody may still refer to.
type edition struct {
	word   string
	number int
}

func (e edition) Canonical() string { return fmt.Sprintf("%s#%d", e.word, e.number) }
func (e edition) Fields() any       { return e.word }

// shown is an answer with an edition.
type shown struct{ object core.Object }

func (s shown) Identity() string        { return s.object.Content.Canonical() }
func (s shown) String() string          { return s.Identity() }
func (s shown) Versions() []core.Object { return []core.Object{s.object} }

func (s shown) Retagged(*core.Retagging) core.Response { return s }

// Earlier implements [core.Versioned]: it does not show ages.
func (s shown) Earlier(map[core.Key]map[string]int) core.Response { return s }

// editions is a board whose notes are editions.
type editions struct{ board }

func (editions) Answer(s core.Snapshot, c core.Call) (core.Answer, error) {
	var verb, name, word string
	if n, err := fmt.Sscan(c.Identity(), &verb, &name, &word); n < 2 {
		return core.Answer{}, err
	}
	key := noteKey(name)
	if verb == "get" {
		return core.Answer{Response: shown{core.Object{Key: key, Content: s.Get(key)}}}, nil
	}
	newest := 0
	for _, known := range append(s.Held(key), s.Get(key)) {
		newest = max(newest, known.(edition).number)
	}
	return core.Answer{Response: answer("ok"), Writes: []core.Write{{Key: key, Content: edition{word, newest + 1}}}}, nil
}

// Normalize numbers the editions in the order of their age, from 1.
func (editions) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content {
	normal := make([]core.Content, len(versions))
	for i, v := range versions {
		number := 1
		for _, other := range versions {
			if other.(edition).number < v.(edition).number {
				number++
			}
		}
		normal[i] = edition{v.(edition).word, number}
	}
	return normal
}

// TestVersionsAreForgottenWithTheRun: while a run in flight remembers the first edition, the second has another number
// than it has where nobody does. Once the run has ended, it is the same edition in every order of the steps.
func TestVersionsAreForgottenWithTheRun(t *testing.T) {
	system := boardWith(nil, writer{
		name: "reads", initial: []core.Request{"r"},
		reconcile: func(d do, _ core.Request) core.Result { d("get x"); return core.Result{} },
	}, writer{
		name: "writes", initial: []core.Request{"r"},
		reconcile: func(d do, _ core.Request) core.Result { d("put x b"); return core.Result{} },
	})
	system.Store = editions{}
	system.Initial[0].Objects = []core.Object{{Key: noteKey("x"), Content: edition{"a", 1}}}
	o := options(1)
	o.Conditions.Granularity = explore.PerCall
	space, err := explore.Search(context.Background(), system, o)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for id := range space.States() {
		seen = append(seen, space.State(core.StateID(id)).Get(noteKey("x")).Canonical())
	}
	slices.Sort(seen)
	if seen = slices.Compact(seen); !slices.Equal(seen, []string{"a#1", "b#1", "b#2"}) {
		t.Errorf("the editions that are stored are %v", seen)
	}
	if ends := space.Quiescent(); len(ends) != 1 || space.State(ends[0]).Get(noteKey("x")).Canonical() != "b#1" {
		t.Errorf("it ends in %d states", len(ends))
	}
}

package transition

import (
	"errors"
	"maps"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// TestSeeds has seeds be other ones for other controllers, requests, draws and memories, and for nothing else, and
// never be 0.
func TestSeeds(t *testing.T) {
	seen := map[uint64]string{}
	for _, strategy := range []string{"a", "b"} {
		for _, request := range []core.Request{"", "r", "s"} {
			for draw := range 3 {
				for _, since := range []*behavior.Memory{nil, {Identity: "m"}, {Identity: "n"}} {
					item := core.Item{Strategy: strategy, Request: request}
					seed := SeedOf(item, draw, since)
					if other, taken := seen[seed]; taken || seed == 0 {
						t.Errorf("%v, draw %d, since %v: the seed is %d, as of %s", item, draw, since, seed, other)
					}
					seen[seed] = item.String()
					if SeedOf(item, draw, since) != seed {
						t.Error("the seed is another one the second time")
					}
				}
			}
		}
	}
}

// TestDraws has the number of a draw go up once something was made of it, in the state, and be that of a run from its
// begin on.
func TestDraws(t *testing.T) {
	m, w := desk("web", "db")
	m.Conditions.Drawing = []string{"web"}
	it, plain := m.Item(m.Actors[0], "r"), m.Item(m.Actors[1], "r")
	if it.draws == nil || plain.draws != nil || len(m.Drawing()) != 1 || m.Drawing()[0] != "web" {
		t.Errorf("these draw: %v", m.Drawing())
	}
	w.fit()
	if seed := w.Seed(plain.Item); seed != 0 {
		t.Errorf("what does not draw has the seed %d", seed)
	}
	for _, nobody := range []core.Item{{Strategy: "web", Request: "s"}, {Strategy: "nobody", Request: "r"}} {
		if seed := w.Seed(nobody); seed != 0 {
			t.Errorf("%v has the seed %d", nobody, seed)
		}
	}
	if w.beginDraw(plain); w.drawing.item != plain || w.drawing.number != 0 {
		t.Errorf("it draws %+v", w.drawing)
	}
	w.beginDraw(it)
	if w.Seed(it.Item) != SeedOf(it.Item, 0, nil) || len(w.Drawn()) != 0 {
		t.Errorf("at first the seed is %d, and this was drawn: %v", w.Seed(it.Item), w.Drawn())
	}
	if err := w.useUp(); !errors.Is(err, ErrUnknown) || w.Value(it.draws.cell) != 0 {
		t.Errorf("a walker that may not learn uses up a draw of which nobody knows: %v", err)
	}
	w.Learn = &Learner{}
	for range 2 { // by two calls of the run
		if err := w.useUp(); err != nil || w.Value(it.draws.cell) != 1 {
			t.Errorf("the first draw was used up, and %d are: %v", w.Value(it.draws.cell), err)
		}
	}
	if w.Seed(it.Item) != SeedOf(it.Item, 1, nil) || !maps.Equal(w.Drawn(), map[string]int{"web": 1}) {
		t.Errorf("then the seed is %d, and this was drawn: %v", w.Seed(it.Item), w.Drawn())
	}
	w.Learn = nil
	w.Set(it.draws.cell, 0)
	if err := w.useUp(); err != nil || w.Value(it.draws.cell) != 1 {
		t.Errorf("what is known cannot be used up: %v", err)
	}
	w.Learn = &Learner{}
	w.Set(it.draws.cell, 0)
	if err := w.useUp(); err != nil || w.Value(it.draws.cell) != 1 || it.draws.known != 1 {
		t.Errorf("what is known is found out again: %d of %d, %v", w.Value(it.draws.cell), it.draws.known, err)
	}
	w.Learn = nil
	// The run of the second draw goes on with what was drawn where it began.
	if w.beginDraw(it); w.drawing.number != 1 {
		t.Errorf("the second run draws number %d", w.drawing.number)
	}
	drawn := &behavior.Node{Drawn: true, Draw: 0}
	if w.goOnDrawing(it, drawn); w.drawing.number != 0 {
		t.Errorf("a run of the first draw goes on with number %d", w.drawing.number)
	}
	if w.goOnDrawing(it, &behavior.Node{}); w.drawing.number != 1 {
		t.Errorf("a run that has not drawn yet goes on with number %d", w.drawing.number)
	}
	node := &behavior.Node{}
	if w.drawn(node) != node {
		t.Error("a run that does not draw goes on somewhere else")
	}
	variant := node.Vary(1)
	w.StepCache.Tracing = true
	if w.drawn(node) != variant || !state.Touches(w.StepCache.Trace, it.draws.cell) {
		t.Error("a run that draws does not go on with its draw, or does not depend on it")
	}
	if w.drawing.number = 0; w.drawn(node) != nil {
		t.Error("it is known where the run goes on with another draw")
	}
	// What is remembered may have been drawn.
	d := m.Actors[0].domain
	cell := keep(m, d, "m")
	d.memories = append(d.memories, &behavior.Memory{Identity: "m"})
	w.fit()
	w.Set(cell, 1)
	if w.Seed(it.Item) != SeedOf(it.Item, 1, d.memories[1]) {
		t.Error("the seed does not follow from what is remembered")
	}
	for name, test := range map[string]struct {
		a    behavior.Activation
		want bool
	}{
		"a request": {behavior.Activation{Request: "r"}, true}, "an event": {behavior.Activation{Event: &core.Event{}}, false},
		"by itself": {behavior.Activation{Own: behavior.Works}, false}, "set": {behavior.Activation{Seed: 1}, false},
	} {
		if got := settable(test.a); got != test.want {
			t.Errorf("%s: its values can be set: %t", name, got)
		}
	}
}

// TestSeedOfAnItem has the values of a run follow from nothing unless its item is known to draw.
func TestSeedOfAnItem(t *testing.T) {
	it := &Item{Item: core.Item{Strategy: "web", Request: "r"}, draws: &draws{}}
	if it.seed(state.Value(2), nil) != SeedOf(it.Item, 2, nil) || (&Item{Item: it.Item}).seed(2, nil) != 0 {
		t.Error("the seed of an item is not that of its draw")
	}
}

package explore

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// forgetful is an index that looks at a few bits of the tags, so that states are taken for others all the time.
type forgetful struct{ digests }

func forget(tag uint64) uint64 { return tag & 0x3f }

func (f *forgetful) find(tag uint64, row []byte) (ref, bool) { return f.digests.find(forget(tag), row) }

func (f *forgetful) add(tag uint64, r ref) { f.digests.add(forget(tag), r) }

func (f *forgetful) fetch([]arrival) {}

// remembering is a ledger that remembers all rows for the test.
type remembering struct {
	ledger
	all [][]byte
}

func (r *remembering) add(row []byte, parent core.StateID) (ref, bool) {
	r.all = append(r.all, bytes.Clone(row))
	return r.ledger.add(row, parent)
}

// TestMistakenStates has a compact search take states for others, and checks that each state is made again as it was stored, and that a
// run is told exactly if all of its steps lead to where it says.
func TestMistakenStates(t *testing.T) {
	model := plain.Model{Name: "counters"}
	var start []core.Object
	for i := range 6 {
		counter := plain.NewVar[int](fmt.Sprintf("c%d", i))
		start = append(start, counter.Is(0))
		model.Processes = append(model.Processes, plain.Process{
			Name:    fmt.Sprintf("p%d", i),
			Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) { counter.Set(w, (counter.Get(w)+1)%3) }}},
		})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	limits := behavior.Limits{Deadline: time.Second, Calls: 100}
	m, err := newMachine(system, Conditions{}, limits.Deadline)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	options := Options{Compact: true, Run: limits}
	space := newSpace(m, &learner{context: ctx, machine: m, limits: limits, relived: relived{}}, options)
	shelf := &remembering{}
	space.arena, space.visited = shelf, &forgetful{}
	s := &search{Space: space, context: ctx, options: options, frontier: newFrontier(options), batch: newBatch(0), ahead: newBatch(0), crew: newCrew(space, 1)}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	if err := s.loop(); err != nil {
		t.Fatal(err)
	}
	if n := space.States(); n < 10 || n > 64 {
		t.Fatalf("%d states are told apart by 6 bits", n)
	}
	real, mistaken := 0, 0
	for id := range core.StateID(space.States()) {
		if !bytes.Equal(space.row(id), shelf.all[id]) {
			t.Fatalf("state %d is made again as another one", id)
		}
		stem := space.ancestry(id)
		for _, e := range append([]core.Edge(nil), space.list(id, true)...) {
			w := space.scholar
			w.load(space.row(id))
			if _, err := w.choose(e.Step); err != nil {
				t.Fatal(err)
			}
			there := bytes.Equal(w.vector.AppendRow(nil), shelf.all[e.To])
			_, err := space.Tell(ctx, 0, append(stem[:len(stem):len(stem)], e), nil)
			if (err == nil) != there {
				t.Fatalf("the step %q from state %d leads to %d: %t; and it was told: %v", e.Step, id, e.To, there, err)
			}
			if there {
				real++
			} else {
				mistaken++
			}
		}
	}
	if real == 0 || mistaken == 0 {
		t.Errorf("%d steps were real and %d were not, so that not both were tested", real, mistaken)
	}
}

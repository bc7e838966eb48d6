package explore

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// forgetful is a compact store that looks at a few bits of the hashes, so that states are taken for others all the
// time. It remembers all encodings for the test.
type forgetful struct {
	*store.Compact
	all [][]byte
}

func forget(hash uint64) uint64 { return hash & 0x3f }

func (f *forgetful) Find(hash uint64, encoded []byte) (store.Ref, bool) {
	return f.Compact.Find(forget(hash), encoded)
}

func (f *forgetful) Insert(hash uint64, encoded []byte, parent core.StateID) (store.Ref, bool) {
	f.all = append(f.all, bytes.Clone(encoded))
	return f.Compact.Insert(forget(hash), encoded, parent)
}

func (f *forgetful) Prefetch([]store.Lookup) {}

// TestMistakenStates has a compact search take states for others, and checks that each state is made again as it was
// stored, and that a run is told exactly if all of its steps lead to where it says.
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
	ctx := context.Background()
	l, err := transition.NewLearner(ctx, system, transition.Conditions{}, limits, 0)
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Compact: true, Run: limits, Logger: hclog.NewNullLogger()}
	space := newSpace(l.Machine, l, &reduction.Reductions{}, options)
	forgetting := &forgetful{Compact: store.NewCompact()}
	space.store = forgetting
	s := &search{Space: space, context: ctx, options: options, frontier: newFrontier(options), batch: newBatch(0), ahead: newBatch(0), pool: newPool(t.Context(), space, 1)}
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
		if !bytes.Equal(space.row(id), forgetting.all[id]) {
			t.Fatalf("state %d is made again as another one", id)
		}
		stem := space.ancestry(id)
		for _, e := range append([]core.Edge(nil), space.list(id, reduction.Full)...) {
			w := space.executor
			w.Load(space.row(id))
			if _, err := w.Choose(e.Step); err != nil {
				t.Fatal(err)
			}
			there := bytes.Equal(w.Vector.AppendRow(nil), forgetting.all[e.To])
			_, err := space.Trace(ctx, 0, append(stem[:len(stem):len(stem)], e), nil)
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

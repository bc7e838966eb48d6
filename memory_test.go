package orrery_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// TestMemoryIsKept searches a system without an end within little memory, and checks that it is used but never
// exceeded, in a process that has had more.
func TestMemoryIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	names := []string{"a", "b", "c", "d"}
	model := plain.Model{Name: "endless"}
	var start []core.Object
	for _, name := range names {
		n := plain.NewVar[int](name)
		start = append(start, n.Is(0))
		model.Processes = append(model.Processes, plain.Process{Name: name, Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) { n.Set(w, n.Get(w)+1) }}}})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	const limit = 96 << 20
	garbage := make([][]byte, 4*limit>>20) // of somebody who was here before
	for i := range garbage {
		garbage[i] = make([]byte, 1<<20)
	}
	runtime.GC() // it is in use for the last time
	clear(garbage)
	before := debug.SetMemoryLimit(-1)
	var most int64
	states := 0
	result, err := orrery.Run(context.Background(), system, orrery.Options{
		Reduction: orrery.NoReduction,
		MaxMemory: limit,
		Progress:  func(p orrery.Progress) { most, states = max(most, p.MemoryBytes), p.States },
	})
	if err != nil {
		t.Fatal(err)
	}
	if after := debug.SetMemoryLimit(-1); after != before {
		t.Errorf("the limit of the process is %d afterwards, want %d", after, before)
	}
	if most > limit || most < limit/2 {
		t.Errorf("%d MiB were used, within a limit of %d MiB", most>>20, limit>>20)
	}
	if len(result.Report.Reasons) != 1 || !strings.Contains(result.Report.Reasons[0], "the search reached the memory limit (96 MiB)") {
		t.Errorf("the reasons are %q", result.Report.Reasons)
	}
	t.Logf("%d states, %d MiB at most", states, most>>20)
}

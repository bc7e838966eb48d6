package models

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
)

// increment is n threads that each read a shared number and write it back plus
// one, without a lock.
//
// By hand, n = 1: not read yet, read, written: 3 states. n = 2: nobody has read
// (1); one has read (2); both have read 0 (1), then one has written (2), then
// both have, and the sum is 1 (1); or one has written before the other read (2),
// the other has read 1 (2), both have written, and the sum is 2, where the two
// orders differ in who remembers a 1 (2): 13 states.
func increment() catalog.Entry {
	return catalog.Entry{
		Name:   "model/increment",
		Doc:    "n threads increment a shared number without a lock: with two threads or more, increments get lost.",
		Params: []catalog.Param{{Name: "n", Doc: "threads", Default: 2, Min: 1, Max: 8}},
		Build: func(v catalog.Values) (*core.System, error) {
			return incrementModel(v["n"]).System()
		},
	}
}

// thread is where a thread stands, and what it read.
type thread struct {
	At    string
	Local int
}

func incrementModel(n int) plain.Model {
	const (
		toRead  = "to read"
		toWrite = "to write"
		done    = "done"
	)
	shared := plain.NewVar[int]("shared")
	threads := plain.NewFamily[thread]("thread")

	start := []core.Object{shared.Is(0)}
	model := plain.Model{Name: "model/increment", Properties: incrementProperties(shared, threads, n, done)}
	for i := range n {
		me := threads.At(i + 1)
		start = append(start, me.Is(thread{At: toRead}))
		model.Processes = append(model.Processes, plain.Process{
			Name: fmt.Sprintf("thread%d", i+1),
			Actions: []plain.Action{
				{Name: "read", Do: func(w *plain.World) {
					w.Require(me.Get(w).At == toRead)
					me.Set(w, thread{toWrite, shared.Get(w)})
				}},
				{Name: "write", Do: func(w *plain.World) {
					my := me.Get(w)
					w.Require(my.At == toWrite)
					shared.Set(w, my.Local+1)
					me.Set(w, thread{done, my.Local})
				}},
			},
		})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	return model
}

// incrementProperties are about threads that have written once they are at one of
// the given places.
func incrementProperties(shared plain.Var[int], threads plain.Family[thread], n int, written ...string) []core.Property {
	return []core.Property{{
		Name: "no increment is lost",
		Doc:  "The shared number is the number of threads that have written it.",
		Invariant: func(s core.State) error {
			count := 0
			for i := range n {
				if slices.Contains(written, threads.At(i+1).Get(s).At) {
					count++
				}
			}
			if sum := shared.Get(s); sum != count {
				return fmt.Errorf("%d threads have incremented the shared number, but it is %d", count, sum)
			}
			return nil
		},
	}}
}

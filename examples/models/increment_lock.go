package models

import (
	"errors"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
)

// incrementLock is [increment] with a lock around reading and writing.
//
// By hand: the threads go one after the other, and each passes three states in
// which it holds the lock. For every ordered choice of j threads that are
// through there is one state in which nobody holds the lock, and three for each
// of the n-j that may hold it next: the sum over j of n!/(n-j)!·(1+3(n-j)).
// n = 1: 1·(1+3) + 1 = 5; n = 2: 1·7 + 2·4 + 2·1 = 17.
func incrementLock() catalog.Entry {
	return catalog.Entry{
		Name:   "model/increment-lock",
		Doc:    "n threads increment a shared number under a lock: nothing gets lost.",
		Params: []catalog.Param{{Name: "n", Doc: "threads", Default: 2, Min: 1, Max: 8}},
		Build: func(v catalog.Values) (*core.System, error) {
			return incrementLockModel(v["n"]).System()
		},
	}
}

func incrementLockModel(n int) plain.Model {
	const (
		toLock   = "to lock"
		toRead   = "to read"
		toWrite  = "to write"
		toUnlock = "to unlock"
		done     = "done"
	)
	shared := plain.NewVar[int]("shared")
	locked := plain.NewVar[bool]("locked")
	threads := plain.NewFamily[thread]("thread")

	start := []core.Object{shared.Is(0), locked.Is(false)}
	model := plain.Model{Name: "model/increment-lock"}
	for i := range n {
		me := threads.At(i + 1)
		start = append(start, me.Is(thread{At: toLock}))
		// move takes the thread from one place to the next.
		move := func(w *plain.World, from, to string, act func(local int) int) {
			my := me.Get(w)
			w.Require(my.At == from)
			me.Set(w, thread{to, act(my.Local)})
		}
		model.Processes = append(model.Processes, plain.Process{
			Name: fmt.Sprintf("thread%d", i+1),
			Actions: []plain.Action{
				{Name: "lock", Do: func(w *plain.World) {
					move(w, toLock, toRead, func(local int) int {
						w.Require(!locked.Get(w))
						locked.Set(w, true)
						return local
					})
				}},
				{Name: "read", Do: func(w *plain.World) {
					move(w, toRead, toWrite, func(int) int { return shared.Get(w) })
				}},
				{Name: "write", Do: func(w *plain.World) {
					move(w, toWrite, toUnlock, func(local int) int {
						shared.Set(w, local+1)
						return local
					})
				}},
				{Name: "unlock", Do: func(w *plain.World) {
					move(w, toUnlock, done, func(local int) int {
						locked.Set(w, false)
						return local
					})
				}},
			},
		})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	model.Properties = append(incrementProperties(shared, threads, n, toUnlock, done),
		incrementLockProperties(threads, n, toRead, toWrite, toUnlock)...)
	return model
}

func incrementLockProperties(threads plain.Family[thread], n int, locked ...string) []core.Property {
	return []core.Property{{
		Name: "mutual exclusion",
		Doc:  "At most one thread holds the lock.",
		Invariant: func(s core.State) error {
			holders := 0
			for i := range n {
				if slices.Contains(locked, threads.At(i+1).Get(s).At) {
					holders++
				}
			}
			if holders > 1 {
				return errors.New("two threads hold the lock at once")
			}
			return nil
		},
	}}
}

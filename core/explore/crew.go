package explore

// crew expands states, over what is known already: the searching goroutine with one scout, and one more goroutine for each
// further worker. While it works nobody learns, so it needs no locks: the machine is only read. States may be inserted and get their
// numbers meanwhile: see [store.Full.FindOrInsert].
type crew struct {
	workers []worker
	// done is rung by each worker who is done, and calls is how often in all that has to be.
	done  *bell
	calls uint64
}

// worker is one of the crew.
type worker struct {
	scout scout
	// bell calls its goroutine to do the work, or to go if there is none.
	bell *bell
	work func(worker int)
	// _ keeps workers from sharing a line of a cache.
	_ [128]byte
}

func newCrew(space *Space, workers int) *crew {
	c := &crew{workers: make([]worker, max(workers, 1)), done: newBell()}
	for i := range c.workers {
		w := &c.workers[i]
		w.scout = scout{space: space, walker: space.walker(nil)}
		w.scout.walker.ahead, w.scout.walker.mirror = true, space.mirror
		if table := space.table; table != nil {
			w.scout.table, w.scout.buffer = table, table.Buffer()
		}
		if i > 0 { // or else it is the searching goroutine
			w.bell = newBell()
			go w.attend(i, c.done)
		}
	}
	return c
}

// attend does the work of a worker whenever it is called.
func (w *worker) attend(number int, done *bell) {
	for calls := uint64(1); ; calls++ {
		w.bell.await(calls)
		if w.work == nil {
			return
		}
		w.work(number)
		done.ring()
	}
}

// dismiss ends the goroutines.
func (c *crew) dismiss() { c.call(len(c.workers), nil) }

// call has the first of the workers do something, but for the searching goroutine.
func (c *crew) call(workers int, work func(worker int)) {
	for i := 1; i < workers; i++ {
		c.workers[i].work = work
		c.workers[i].bell.ring()
		c.calls++
	}
}

// divide is the [store.Division] of a work among all of them, the searching goroutine too.
func (c *crew) divide(work func(part, of int)) {
	c.call(len(c.workers), func(i int) { work(i, len(c.workers)) })
	work(0, len(c.workers))
	c.done.await(c.calls)
}

// begin has the others expand a batch.
func (c *crew) begin(b *batch) {
	c.call(min(len(c.workers), b.filled()), func(i int) { b.labour(&c.workers[i].scout, len(c.workers)) })
}

// finish helps them, and returns when all is done.
func (c *crew) finish(b *batch) {
	b.labour(&c.workers[0].scout, len(c.workers))
	c.done.await(c.calls)
}

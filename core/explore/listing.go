package explore

import (
	"context"
	"slices"
	"sync"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// List implements [core.Graph]. Workers take the steps of a section of the states each, and one goroutine shows the
// sections in order. It numbers what it shows, so that the numbers do not depend on the workers.
func (s *Space) List(ctx context.Context, n int, show func(*core.Listed) error) error {
	n = min(n, s.States())
	workers := max(s.workers, 1)
	ahead := 2 * workers
	ctx, stop := context.WithCancel(ctx)
	todo := make(chan *section, ahead)
	var working sync.WaitGroup
	defer working.Wait()
	defer close(todo)
	defer stop()
	l := newListing(s, show)
	for number := range workers {
		w := &sectionWorker{space: s, walker: s.explorer(nil), cells: l.cells, number: number, plain: map[transition.Signature]int{}, steps: map[core.Edge]int{}}
		l.steps = append(l.steps, nil)
		working.Go(func() { w.work(ctx, todo) })
	}
	var next core.StateID
	var pending, idle []*section
	for int(next) < n || len(pending) > 0 {
		for int(next) < n && len(pending) < ahead {
			if len(idle) == 0 {
				idle = append(idle, &section{done: make(chan struct{}, 1)})
			}
			next = idle[0].fill(s, next, min(next+sectionLen, core.StateID(n)))
			todo <- idle[0]
			pending, idle = append(pending, idle[0]), idle[1:]
		}
		first := pending[0]
		<-first.done
		if err := l.show(ctx, first); err != nil {
			return err
		}
		pending, idle = pending[1:], append(idle, first)
	}
	return nil
}

// sectionLen is how many states are listed by a worker at once.
const sectionLen = 128

// section is some states that follow each other, as a worker lists them.
type section struct {
	first core.StateID
	rows  []byte
	// states say where the rows end, and the rest of what is listed of each.
	states []sectionState
	// values are what is in the cells of the states that are listed, objects before items.
	values []cellValue
	// steps are in the worker's numbers, and news what those stand for that it has not used before.
	steps  []core.ListedStep
	news   []core.Edge
	worker int
	err    error
	done   chan struct{}
}

// sectionState is where what is listed of a state ends.
type sectionState struct{ row, objects, items, steps int }

type cellValue struct {
	cell  state.Cell
	value state.Value
}

// fill begins a section with the rows of states. It returns the state after them.
func (c *section) fill(s *Space, from, to core.StateID) core.StateID {
	c.first, c.rows, c.states = from, c.rows[:0], c.states[:0]
	for id := from; id < to; id++ {
		c.rows = append(c.rows, s.row(id)...)
		c.states = append(c.states, sectionState{row: len(c.rows)})
	}
	return to
}

// listedCells are the cells that are listed: those of objects in the order of their keys, and those of items in theirs.
type listedCells struct{ objects, items []state.Cell }

func cellsOf(v *state.Vocabulary) listedCells {
	var cells listedCells
	for c := range state.Cell(v.Cells()) {
		if _, isObject := v.Key(c); isObject {
			cells.objects = append(cells.objects, c)
		} else if _, isItem := v.ItemAt(c); isItem {
			cells.items = append(cells.items, c)
		}
	}
	slices.SortFunc(cells.objects, func(a, b state.Cell) int {
		key, other := keyAt(v, a), keyAt(v, b)
		return key.Compare(other)
	})
	slices.SortFunc(cells.items, func(a, b state.Cell) int {
		item, _ := v.ItemAt(a)
		other, _ := v.ItemAt(b)
		return item.Compare(other)
	})
	return cells
}

func keyAt(v *state.Vocabulary, c state.Cell) core.Key {
	key, _ := v.Key(c)
	return key
}

// sectionWorker lists sections.
type sectionWorker struct {
	space  *Space
	walker *reduction.Explorer
	cells  listedCells
	number int
	// context ends the work, and section is the one at hand.
	context context.Context
	section *section
	// plain and steps number the steps.
	plain map[transition.Signature]int
	steps map[core.Edge]int
	// numbers and targets are what the steps of a state are, and where they lead.
	numbers []int
	targets targets
}

// work lists sections until there are no more.
func (w *sectionWorker) work(ctx context.Context, todo <-chan *section) {
	w.context = ctx
	for w.section = range todo {
		w.section.err = w.list()
		w.section.done <- struct{}{}
	}
}

// list lists the states of a section.
func (w *sectionWorker) list() error {
	c := w.section
	c.worker, c.values, c.steps, c.news = w.number, c.values[:0], c.steps[:0], c.news[:0]
	begin := 0
	for i := range c.states {
		at := &c.states[i]
		w.walker.Load(c.rows[begin:at.row])
		begin = at.row
		w.keep(w.cells.objects, ^state.Value(0))
		at.objects = len(c.values)
		w.keep(w.cells.items, state.Queued|state.Timed)
		at.items = len(c.values)
		if err := w.follow(c.first + core.StateID(i)); err != nil {
			return err
		}
		at.steps = len(c.steps)
	}
	return nil
}

// keep keeps what cells of the state hold, as far as it is wanted.
func (w *sectionWorker) keep(cells []state.Cell, wanted state.Value) {
	for _, cell := range cells {
		if value := w.walker.Value(cell) & wanted; value != 0 {
			w.section.values = append(w.section.values, cellValue{cell, value})
		}
	}
}

// follow lists the steps of the state that the walker is in.
func (w *sectionWorker) follow(id core.StateID) error {
	w.numbers = w.numbers[:0]
	w.targets.clear()
	if _, err := w.walker.Steps(w, followed(w.walker, w.space.extent(id))); err != nil {
		return err
	}
	for i, to := range w.targets.stored(w.space.store) {
		step := core.ListedStep{Step: w.numbers[i], To: to}
		w.section.steps = append(w.section.steps, step)
		for _, step.To = range w.space.orbits.of[step.To] {
			w.section.steps = append(w.section.steps, step)
		}
	}
	return nil
}

// Stopped implements [transition.Visitor]: what is not known is behind the cut.
func (w *sectionWorker) Stopped(*transition.Taken, error) error { return nil }

// Took implements [transition.Visitor].
func (w *sectionWorker) Took(t *transition.Taken) error {
	if err := w.context.Err(); err != nil {
		return err
	}
	if w.targets.add(w.walker) {
		w.numbers = append(w.numbers, w.step(t))
	}
	return nil
}

// step returns the number of a step.
func (w *sectionWorker) step(t *transition.Taken) int {
	signature, plain := w.walker.Signature(t)
	if plain {
		if number, known := w.plain[signature]; known {
			return number
		}
	}
	step := w.walker.Edge(0, t)
	number, known := w.steps[step]
	if !known {
		number = len(w.steps)
		w.steps[step] = number
		w.section.news = append(w.section.news, step)
	}
	if plain {
		w.plain[signature] = number
	}
	return number
}

// listing shows sections.
type listing struct {
	space              *Space
	to                 func(*core.Listed) error
	cells              listedCells
	initial, quiescent bitset.Set[core.StateID]
	listed             core.Listed
	// versions are the numbers of the versions of objects, by cell and value, and items those of items by cell: 0
	// without one, -1 for a version that does not matter to outcomes, or else the number plus 1.
	versions [][]int
	items    []int
	// steps are what each worker numbers, and numbers are those of all.
	steps   [][]numberedStep
	numbers map[core.Edge]int
	// versionCount and itemCount are how many have numbers.
	versionCount, itemCount int
}

// numberedStep is a step with its number plus 1, 0 before it is shown.
type numberedStep struct {
	step   core.Edge
	number int
}

func newListing(s *Space, show func(*core.Listed) error) *listing {
	v := s.machine.Vocabulary
	l := &listing{
		space: s, to: show, cells: cellsOf(v), numbers: map[core.Edge]int{},
		versions: make([][]int, v.Cells()), items: make([]int, v.Cells()),
	}
	for _, c := range l.cells.objects {
		l.versions[c] = make([]int, v.Values(c))
	}
	for _, id := range s.initial {
		l.initial.Add(id)
	}
	for _, id := range s.quiescent {
		l.quiescent.Add(id)
	}
	return l
}

// show shows the states of a section.
func (l *listing) show(ctx context.Context, c *section) error {
	var before sectionState
	for _, step := range c.news {
		l.steps[c.worker] = append(l.steps[c.worker], numberedStep{step: step})
	}
	for i, at := range c.states {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.err != nil {
			return c.err
		}
		id := c.first + core.StateID(i)
		s := &l.listed
		*s = core.Listed{
			ID: id, Initial: l.initial.Has(id), Quiescent: l.quiescent.Has(id), Cut: l.space.Cut(id),
			Objects: s.Objects[:0], Work: s.Work[:0], Timers: s.Timers[:0], Steps: s.Steps[:0],
			NewObjects: s.NewObjects[:0], NewItems: s.NewItems[:0], NewSteps: s.NewSteps[:0],
		}
		for _, v := range c.values[before.items:at.objects] {
			if number := l.version(v); number >= 0 {
				s.Objects = append(s.Objects, number)
			}
		}
		for _, v := range c.values[at.objects:at.items] {
			number := l.itemAt(v.cell)
			if v.value&state.Queued != 0 {
				s.Work = append(s.Work, number)
			}
			if v.value&state.Timed != 0 {
				s.Timers = append(s.Timers, number)
			}
		}
		for _, step := range c.steps[before.steps:at.steps] {
			of := &l.steps[c.worker][step.Step]
			if of.number == 0 {
				of.number = l.number(of.step) + 1
			}
			s.Steps = append(s.Steps, core.ListedStep{Step: of.number - 1, To: step.To})
		}
		if err := l.to(s); err != nil {
			return err
		}
		before = at
	}
	return nil
}

// version returns the number of a version of an object, -1 if it does not matter to outcomes.
func (l *listing) version(v cellValue) int {
	number := &l.versions[v.cell][v.value]
	if *number == 0 {
		vocabulary := l.space.machine.Vocabulary
		key := keyAt(vocabulary, v.cell)
		fields := l.space.machine.System.Store.Outcome(key, vocabulary.Content(v.cell, v.value))
		if fields == nil {
			*number = -1
			return -1
		}
		l.listed.NewObjects = append(l.listed.NewObjects, core.TraceObject{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Fields: fields})
		l.versionCount++
		*number = l.versionCount
	}
	return max(*number-1, -1)
}

// itemAt returns the number of the item of a cell.
func (l *listing) itemAt(c state.Cell) int {
	if l.items[c] == 0 {
		item, _ := l.space.machine.Vocabulary.ItemAt(c)
		l.listed.NewItems = append(l.listed.NewItems, item)
		l.itemCount++
		l.items[c] = l.itemCount
	}
	return l.items[c] - 1
}

// number returns the number of a step.
func (l *listing) number(step core.Edge) int {
	number, known := l.numbers[step]
	if !known {
		number = len(l.numbers)
		l.numbers[step] = number
		l.listed.NewSteps = append(l.listed.NewSteps, step)
	}
	return number
}

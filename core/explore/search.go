package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/internal/bitset"
	"github.com/orrery-dev/orrery/internal/iotrace"
	"github.com/orrery-dev/orrery/internal/lookup"
)

// Search explores a valid system from its initial states. When the context ends or a bound is hit, it
// returns what it has, with the reason. An error means that the system cannot be explored, and says
// what to change.
func Search(ctx context.Context, system *core.System, options Options) (*Space, error) {
	if options.Compact && options.Order != BreadthFirst {
		return nil, fmt.Errorf("a compact search must be breadth-first: use that order, or leave out Compact")
	}
	outer := ctx
	if limit := options.Bounds.Time; limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit-limit/judgingShare, errTime)
		defer stop()
	}
	if options.Logger == nil {
		options.Logger = hclog.NewNullLogger()
	}
	lookup.Prepare()
	defer iotrace.Still()()
	began := time.Now()
	if options.Memo == nil {
		options.Memo = NewMemo() // searches are begun again
	}
	if options.Progress != nil {
		h := &herald{progress: options.Progress, began: began, meter: meter{limit: options.Bounds.Memory}}
		options.Progress, options.ran = h.searched, h.ran
	}
	options.earlier = &earlier{}
	for again := false; ; again = true {
		options.growth = &growth{context: ctx, system: system, options: options, again: again}
		space, err := searchThrough(ctx, outer, system, options, began)
		known := options.Conditions
		if !options.Conditions.Expect(err) {
			return space, err
		}
		if now := options.Conditions; now.Ordered != known.Ordered || now.Noted != known.Noted || len(now.Counted) != len(known.Counted) {
			options.earlier.sightings = nil // as they may have come of the wrong order of versions, or of wrong numbers
		}
		options.earlier.givenUp(err.Error())
		options.Logger.Debug("the search begins again, as more is known of controllers", "reason", err)
	}
}

// searchThrough searches with what is known of controllers, and audits what it has found.
func searchThrough(ctx, outer context.Context, system *core.System, options Options, began time.Time) (*Space, error) {
	space, apart, err := searchOnce(ctx, system, options, began)
	if err == nil {
		err = space.idle()
	}
	if err != nil {
		return nil, err
	}
	// What was found can be looked at even if the search was interrupted.
	l := space.learner
	l.Context, l.Searching = context.WithoutCancel(outer), false
	space.FinishRecording()
	space.executor.EndVisit() // which holds what only the search needs
	if len(space.reasons) > 0 && (ctx.Err() == nil || options.growth.looked) {
		if space.growing = options.growth.look(); space.growing != nil {
			space.growing.Space.learner.Context = l.Context // who found it may have been a search that was given up
		}
	}
	if err := space.audit(ctx, options); err != nil {
		return nil, err
	}
	space.Stats.Executed, space.Stats.Behaviours = l.Executed, l.Behaviours
	space.apart = apart
	space.recall(ctx, options.earlier.sightings)
	return space, nil
}

// searchOnce searches with the views that are known. It says why states are not merged although that was asked for.
func searchOnce(ctx context.Context, system *core.System, options Options, began time.Time) (space *Space, apart string, err error) {
	if options.Merge {
		space, apart, err = merged(ctx, system, options, began)
		if apart != "" {
			options.Logger.Debug("states are not merged", "reason", apart)
		}
	}
	if err == nil && space == nil {
		space, err = unmerged(ctx, system, options, began)
	}
	return space, apart, err
}

// unmerged searches with no states merged.
func unmerged(ctx context.Context, system *core.System, options Options, began time.Time) (*Space, error) {
	l, err := options.learner(ctx, system)
	switch {
	case err != nil:
		return nil, err
	case options.Reducer == nil || options.Order.Walks():
		options.Reducer = nil
		r := &reduction.Reductions{}
		if err := options.growth.lookFirst(l, r, began); err != nil {
			return nil, err
		}
		space, err := explore(ctx, l.Machine, l, r, options, began, 0)
		options.earlier.collect(l, space)
		return space, err
	}
	return reduced(ctx, l.Machine, l, options, began)
}

// explore searches once, from the start to the end.
func explore(ctx context.Context, m *transition.Machine, l *transition.Learner, r *reduction.Reductions, options Options, began time.Time, patience int) (*Space, error) {
	l.Searching, l.Logger = true, options.Logger
	options.Logger.Debug("a search begins", "reduction", options.Reducer != nil, "merging", r.Symmetry != nil, "workers", options.Workers)
	space := newSpace(m, l, r, options)
	s := &search{
		Space:    space,
		context:  ctx,
		options:  options,
		frontier: newFrontier(options),
		began:    began,
		batch:    newBatch(options.Bounds.Depth),
		ahead:    newBatch(options.Bounds.Depth),
		grown:    r.Growth(),
		patience: patience,
		meter:    meter{limit: options.Bounds.Memory},
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	switch {
	case options.Order == inTurn:
		return space, s.probe()
	case options.Order.Walks():
		return space, s.walks()
	}
	if space.table != nil {
		defer space.table.DropUnassigned()
	}
	if err := options.Checkpoint.begin(s); err != nil {
		return space, err
	}
	s.pool = newPool(ctx, space, options.Workers)
	defer s.pool.dismiss()
	err := s.loop()
	options.Logger.Debug("the search ended", "states", space.States(), "transitions", space.Stats.Transitions, "depth", space.Stats.Depth,
		"begins again", s.givenUp, "reasons", space.reasons)
	return space, err
}

// search is the one search loop. Only the frontier differs between orders of search,
// and only the pool between numbers of workers.
type search struct {
	*Space
	context  context.Context
	options  Options
	frontier frontier
	pool     *pool
	// batch is what is stored, and ahead what is expanded meanwhile if the two overlap.
	batch, ahead *batch
	overlapping  bool
	began        time.Time
	meter        meter
	levels       levels
	// grown is what was learned of footprints before, and patience how many states are stored before it is asked
	// whether more than that makes a difference.
	grown, patience int
	// next is the first state that was not expanded yet.
	next core.StateID
	// arranged counts the ends of which all arrangements are stored, and unarranged is why no more can be.
	arranged   int
	unarranged error
	// cutShort tells that the search did not come to its end.
	cutShort bool
	// deep are the states that have steps beyond the bound on depth.
	deep bitset.Set[core.StateID]
}

// start stores the initial states.
func (s *search) start() error {
	for _, initial := range s.machine.System.Initial {
		s.learner.Where = transition.Provenance{}
		if err := s.executor.Start(initial); err != nil {
			if !s.stops(err) {
				return s.interrupted(err)
			}
			s.because("an event handler failed on the initial objects, so this initial state was not explored")
			continue
		}
		if s.checker != nil {
			s.checker.Starts = append(s.checker.Starts, s.executor.Vector.AppendRow(nil))
		}
		before := s.store.Len()
		id, err := s.insertCurrent(s.executor, store.NoParent, 0, nil)
		if err != nil {
			return s.interrupted(err)
		}
		if s.store.Len() > before {
			s.initial = append(s.initial, id)
			if s.rebuilder != nil {
				s.rebuilder.kept[id] = bytes.Clone(s.row(id))
			}
		}
	}
	if s.checker != nil {
		return s.checker.CheckStarts()
	}
	return nil
}

// loop expands states until there are none left or a bound is hit.
func (s *search) loop() error {
	for s.goesOn() {
		if reason := s.exhausted(); reason != "" {
			s.fellShort(reason)
			s.cutShort = true
			break
		}
		err := s.prepare()
		if err == nil {
			err = s.merge()
		}
		if err != nil {
			if err = s.interrupted(err); err != nil {
				return err
			}
			break
		}
		if s.givenUp = s.givesUp(); s.givenUp {
			return nil
		}
		grows, err := s.grows()
		if err != nil {
			return err
		}
		if grows != "" {
			s.because(grows)
			break
		}
		for s.expanded.Has(s.next) {
			s.next++
		}
		s.store.Expanded(s.next)
	}
	var err error
	if s.unarranged != nil {
		err = s.interrupted(s.unarranged)
	}
	s.options.Checkpoint.end(s.cutShort)
	if s.unarranged != nil {
		return err
	}
	s.cutRest()
	if !s.deep.Empty() {
		s.fellShort(fmt.Sprintf("the search reached the depth limit (%d steps): raise --max-depth (Options.MaxDepth), or make the system smaller", s.options.Bounds.Depth))
	}
	return nil
}

// grows looks for growth when a search has become large, and says why the search has no end because of it, if it has none
// or hardly any. The error says that the search has to be begun again.
func (s *search) grows() (why string, err error) {
	if s.States() < suspect && s.learner.Executed < suspectRuns {
		return "", nil
	}
	g, bounds := s.options.growth, s.options.Bounds
	if g.look() != nil && g.since.IsZero() {
		g.since = time.Now()
	}
	switch {
	case g.found == nil:
	case !g.found.Shown:
		why = "the system grows without end, so no search can be complete, and this one was stopped: fix that first"
	case bounds.Time > 0 && bounds.States == 0 && time.Since(g.since) > patience:
		why = "the system keeps growing, so the search was stopped before its time was over: fix that first; if controllers stop at some point, begin nearer to it, or say how many states to search with --max-states (Options.MaxStates)"
	}
	return why, g.unexpected
}

// expand takes the steps from a state that have to be followed, learning what is new about them.
func (s *search) expand(w waiting) error {
	id := w.id
	s.executor.Load(s.row(id))
	s.learner.Where = transition.Provenance{State: id}
	asleep, woken := s.sleeps.at(id), s.sleeps.takeWoken(id)
	reduced, only, err := s.executor.Follow(s.extent(id), asleep, woken)
	if err != nil && !s.stops(err) {
		return err
	}
	if s.executor.Disturbs {
		s.executor.Disturbs = false
		s.wakeAll()
	}
	x := &expander{search: s, from: id, depth: w.depth}
	x.asleep = slices.Clone(s.executor.Asleep)
	x.quiescent, err = s.executor.Steps(x, only)
	if err == nil && !x.cut && (reduced && x.steps+len(x.asleep) == 0 || s.executor.Retrying) {
		// All that were followed are blocked, which was not known, or lead nowhere.
		s.full.Add(id)
		reduced, s.executor.Wakeful = false, true
		x = &expander{search: s, from: id, depth: w.depth}
		x.quiescent, err = s.executor.Steps(x, nil)
	}
	switch {
	case errors.Is(err, errDeep):
		s.tooDeep(id)
		return nil
	case err != nil:
		return err
	}
	if x.cut {
		s.markCut(id)
	}
	if reduced {
		s.leftOut(id, s.executor.Level)
	}
	s.finish(id, w.depth, x.counts)
	return nil
}

// leftOut notes that not all agents are followed in a state, and whether that is because one may be followed alone.
func (s *Space) leftOut(id core.StateID, level bool) {
	s.partial.Add(id)
	if level {
		s.level.Add(id)
	}
}

// errDeep ends the expansion of a state whose steps lead beyond the bound on depth.
var errDeep = errors.New("the search reached the depth limit")

// expander stores where the steps of a state lead.
type expander struct {
	*search
	counts
	from  core.StateID
	depth uint32
	cut   bool
}

// counts is what an expansion of a state comes to.
type counts struct {
	// steps were taken, known of them without running code. Agents that are asleep took none.
	steps, known int
	asleep       []int
	quiescent    bool
}

// Took implements [transition.Visitor].
func (x *expander) Took(t *transition.Taken) error {
	if x.beyond(x.depth) {
		return errDeep
	}
	if err := x.context.Err(); err != nil {
		return err
	}
	x.steps++
	if !x.learner.Fresh && !slices.Contains(x.executor.Learned, t.Agent()) {
		x.known++
	}
	_, err := x.insertCurrent(x.executor, x.from, x.depth+1, x.executor.SleepersBehind(t))
	return err
}

// Stopped implements [transition.Visitor].
func (x *expander) Stopped(_ *transition.Taken, err error) error {
	if !x.stops(err) {
		return err
	}
	x.cut = true
	return nil
}

// tooDeep cuts a state that has steps beyond the bound on depth.
func (s *search) tooDeep(id core.StateID) {
	s.deep.Add(id)
	s.markCut(id)
}

// finish counts an expanded state.
func (s *search) finish(id core.StateID, depth uint32, v counts) {
	again := s.expanded.Has(id)
	if again && s.depths.needed {
		return
	}
	s.Stats.Transitions += v.steps
	s.Stats.FromTree += v.known
	if again {
		return
	}
	s.slept(id, depth, v.asleep)
	s.expanded.Add(id)
	if v.quiescent {
		s.quiescent = append(s.quiescent, id)
	}
	if v.steps+len(v.asleep) == 0 && !s.cut.Has(id) {
		s.Stats.Terminal++
	}
}

// cutRest cuts the states that were to be expanded.
func (s *search) cutRest() {
	if s.overlapping {
		s.cutAll(s.ahead.states)
	}
	for s.frontier.len() > 0 {
		s.batch.take(s.frontier)
		s.cutAll(s.batch.states)
	}
}

// cutAll cuts those of the states that were not expanded.
func (s *search) cutAll(states []waiting) {
	for _, w := range states {
		if !s.expanded.Has(w.id) {
			s.markCut(w.id)
		}
	}
}

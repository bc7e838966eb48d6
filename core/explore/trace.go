package explore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// Trace returns the trace of a run, step by step. Every step is run again for real, on fresh
// instances, before it is in the trace: an error means that it did not happen again. The
// run starts in the state start; the step after, if not nil, is tried at its end.
func (s *Space) Trace(ctx context.Context, start core.StateID, run core.Run, after *core.Step) (core.Trace, error) {
	trace := core.Trace{CycleStart: -1, Initial: s.Objects(start), Made: s.machine.Conditions.Made}
	steps, err := s.concretize(start, run)
	if err != nil {
		return core.Trace{}, err
	}
	if len(steps) > 0 {
		trace.Initial = s.objectsIn(steps[0].row)
	}
	t := newTraceBuilder(s.executor)
	if int(start) < s.States() {
		row := s.firstRow(steps, start)
		if trace.Events, err = s.startEvents(t, row); err != nil {
			return core.Trace{}, err
		}
		s.executor.Load(row)
		trace.Memory = s.machine.MemoryChanges(nil, s.executor.Recollection(), nil)
	}
	for i, edge := range run {
		traced, row, err := s.traceStep(ctx, t, steps[i].row, steps[i].step)
		if err != nil {
			return core.Trace{}, err
		}
		if !bytes.Equal(row, steps[i].to) {
			return core.Trace{}, fmt.Errorf("the step %q led to a different state when it ran again", edge.Step)
		}
		traced.From, traced.To = edge.From, edge.To
		trace.Steps = append(trace.Steps, traced)
	}
	if after != nil {
		at := run.End(start)
		traced, _, err := s.traceStep(ctx, t, bytes.Clone(s.row(at)), *after)
		if err != nil {
			return core.Trace{}, err
		}
		traced.From, traced.To = at, at
		trace.Steps = append(trace.Steps, traced)
	}
	if int(start) >= s.States() {
		return trace, nil // no start could be stored
	}
	return trace, s.relive(steps, s.firstRow(steps, start), after)
}

// startEvents returns what event handlers get at the start of a run, those of controllers that keep memory. There is
// nothing if the run does not begin in an initial state.
func (s *Space) startEvents(t *traceBuilder, row []byte) ([]core.TraceEvent, error) {
	if len(s.machine.MemoryCells()) == 0 {
		return nil, nil
	}
	initial := s.starting(row)
	if initial == nil {
		return nil, nil
	}
	w := s.executor
	w.Listener = t
	defer func() { w.Listener = nil }()
	err := w.Start(*initial)
	return t.events, err
}

// Objects returns the objects of a state, in the order of their keys.
func (s *Space) Objects(id core.StateID) []core.TraceObject {
	if int(id) >= s.States() {
		return []core.TraceObject{} // no start could be stored
	}
	return s.objectsIn(s.row(id))
}

func (s *Space) objectsIn(row []byte) []core.TraceObject {
	objects := []core.TraceObject{}
	for _, o := range s.look(row).Objects() {
		if s.machine.Matters(o) {
			objects = append(objects, traceObject(o))
		}
	}
	return objects
}

func traceObject(o core.Object) core.TraceObject {
	return core.TraceObject{Kind: o.Key.Kind, Namespace: o.Key.Namespace, Name: o.Key.Name, Fields: o.Content.Fields()}
}

// traceStep takes a step from a state, and returns it with the row it leads to,
// which is valid until the next step.
func (s *Space) traceStep(ctx context.Context, t *traceBuilder, from []byte, step core.Step) (core.TraceStep, []byte, error) {
	w := s.executor
	w.Load(from)
	traced, err := t.build(ctx, step)
	s.attend() // what was cut short is not what happens
	if err != nil {
		return core.TraceStep{}, nil, err
	}
	if err := t.again(ctx); err != nil {
		return core.TraceStep{}, nil, err
	}
	for i := range traced.Calls {
		traced.Calls[i].At = t.sites.Of(t.nodes[i])
	}
	if s.logs {
		if err := t.listen(ctx, &traced); err != nil {
			return core.TraceStep{}, nil, err
		}
	}
	w.Buffer = w.Vector.AppendRow(w.Buffer[:0])
	return traced, w.Buffer, nil
}

// traceBuilder listens to a walker, and builds the trace of a run from it, step by step.
type traceBuilder struct {
	walker *reduction.Explorer
	calls  []core.TraceCall
	nodes  []*behavior.Node // of the calls
	runs   []ranAs
	events []core.TraceEvent
	lags   lags
	feed   feed
	// sites says where the calls of nodes are made.
	sites *behavior.Sites
}

// newTraceBuilder returns a builder of the trace of a run from its first step on.
func newTraceBuilder(w *reduction.Explorer) *traceBuilder {
	return &traceBuilder{walker: w, lags: newLags(), feed: newFeed(), sites: behavior.NewSites(w.Machine.System.Libraries)}
}

// probed is the kind of a step that nothing asked for, see [core.TraceStep].
const probed = "probe"

// ranAs is a run of an actor within a step.
type ranAs struct {
	behavior.Run
	actor *transition.Actor
}

// Began implements [transition.Listener]: what was tried before is not what is traced.
func (t *traceBuilder) Began() {
	t.calls, t.nodes, t.runs, t.events = nil, nil, nil, nil
	t.lags.takeBack()
	t.feed.takeBack()
}

// Called implements [transition.Listener].
func (t *traceBuilder) Called(a *transition.Actor, activation behavior.Activation, call transition.CallEvent) {
	c := core.TraceCall{
		Call:     call.Node.Call.String(),
		Response: call.Response.String(),
		Wrote:    len(call.Writes) > 0,
		Behind:   t.lags.of(t.walker.Walker, a),
		Turn:     call.Node.Namesakes(),
		Creates:  created(t.walker, call.Writes),
	}
	if call.Fault != nil {
		c.Fault = call.Fault.Name
	}
	if activation.Event != nil {
		c.Handler = a.Name
		t.feed.called(a, activation.Event.Key.Kind, len(t.calls))
	}
	t.calls, t.nodes = append(t.calls, c), append(t.nodes, call.Node)
	t.feed.wrote(t.walker.Machine, call.Writes)
}

// Ended implements [transition.Listener].
func (t *traceBuilder) Ended(a *transition.Actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf) {
	if activation.Event != nil {
		if event := t.feed.event(a, *activation.Event, len(t.calls)); a.Remembers() {
			event.Result = leaf.Ending()
			t.events = append(t.events, event)
		}
	}
	if leaf.Failure == behavior.CutOff {
		leaf = nil
	}
	if activation.Parts != nil {
		for _, part := range activation.Parts {
			t.runs = append(t.runs, ranAs{actor: a, Run: part})
		}
		return
	}
	t.runs = append(t.runs, ranAs{actor: a, Run: behavior.Run{Activation: activation, Path: slices.Clone(path), Leaf: leaf}})
}

// Committed implements [transition.Listener].
func (t *traceBuilder) Committed(v *view.View) { t.lags.committed(v) }

// Refreshed implements [transition.Listener].
func (t *traceBuilder) Refreshed(v *view.View, changes []view.Change) {
	t.lags.refreshed(v)
	t.feed.refreshed(t.walker.Walker, v, t.lags.now[v].all, changes)
}

// build takes the step.
func (t *traceBuilder) build(ctx context.Context, step core.Step) (core.TraceStep, error) {
	w := t.walker
	w.Listener = t
	defer func() { w.Listener = nil }()
	t.lags.keep()
	t.feed.keep()
	traced := core.TraceStep{Kind: step.Kind.Name(), Controller: step.Item.Strategy, Request: step.Item.Request, Detail: step.Detail, Order: step.Order}
	before, remembered := queued(w), w.Recollection()
	var unseen []string
	if a, err := w.Machine.Actor(step.Item.Strategy); err == nil {
		unseen = unseenBy(w, a)
	}
	traced.Seed = w.Seed(step.Item)
	chosen, err := w.Choose(step)
	if err == nil && chosen == nil {
		// Nothing asks for it, but it can be tried.
		traced.Kind = probed
		chosen, err = w.Probe(step)
	}
	switch {
	case err != nil && !transition.Ends(err):
		return traced, err
	case err != nil && t.stuck():
		// Nothing of the step remains, but how it got stuck is worth telling.
		traced.Result = t.runs[len(t.runs)-1].Leaf.String()
	case err != nil:
		traced.Result = err.Error()
	case chosen == nil:
		return traced, impossible{step}
	case chosen.Leaf != nil:
		traced.Result = chosen.Leaf.Ending()
	case chosen.Kind == core.Ask:
		p := w.Flight(chosen.Item)
		t.runs = append(t.runs, ranAs{actor: chosen.Actor, Run: behavior.Run{Activation: w.Underway(chosen.Item), Path: p.Path}})
	}
	if chosen != nil {
		traced.Crashes = chosen.Crashes()
		if traced.Late = chosen.Late; traced.Late {
			traced.Unseen = unseen
		}
	}
	traced.Calls, traced.Events = t.calls, t.events
	for _, change := range w.Changes() {
		traced.Changes = append(traced.Changes, traceChange(change))
	}
	for _, item := range queued(w) {
		if !slices.Contains(before, item) {
			traced.Enqueued = append(traced.Enqueued, item)
		}
	}
	if chosen != nil && (chosen.Kind == core.Restart || chosen.Crashes()) {
		crashed, err := t.crashed(ctx, chosen, remembered)
		traced.Memory = w.Machine.MemoryChanges(remembered, w.Recollection(), crashed)
		return traced, err
	}
	for _, r := range t.runs {
		traced.Memory = append(traced.Memory, w.Machine.MemoryLeft(r.actor, r.Run)...)
	}
	return traced, nil
}

// impossible is the error of a step that is not possible any more.
type impossible struct{ step core.Step }

// Error implements error.
func (i impossible) Error() string { return fmt.Sprintf("the step %q is no longer possible", i.step) }

// crashed returns who crashes in a step with what in memory, nil if nobody knows.
func (t *traceBuilder) crashed(ctx context.Context, chosen *transition.Taken, before transition.Recollection) (transition.Crashed, error) {
	if chosen.Kind == core.Restart {
		return t.walker.Machine.Crash(chosen.Actor, before), nil
	}
	i := slices.IndexFunc(t.runs, func(r ranAs) bool { return r.actor == chosen.Actor && r.Leaf == nil })
	if i < 0 {
		return nil, nil
	}
	return t.walker.Learn.CrashIn(ctx, chosen.Actor, before, t.runs[i].Run)
}

// stuck reports whether the last run of the step never came back.
func (t *traceBuilder) stuck() bool {
	if len(t.runs) == 0 {
		return false
	}
	leaf := t.runs[len(t.runs)-1].Leaf
	return leaf != nil && leaf.Failure.Stuck()
}

// created returns the objects that are not there before the writes, in the order in which these create them.
func created(w *reduction.Explorer, writes []behavior.Write) []core.Key {
	var keys []core.Key
	for _, write := range writes {
		key, _ := w.Machine.Vocabulary.Key(write.Cell)
		if write.To != 0 && w.Value(write.Cell) == 0 && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// unseen says which changes an actor has not been told of.
func unseenBy(w *reduction.Explorer, a *transition.Actor) []string {
	var changes []string
	vocabulary := w.Machine.Vocabulary
	for _, v := range a.Process.Views {
		for _, c := range v.Backlog(w.Value(v.Cell())).Waiting {
			key, _ := vocabulary.Key(c.Cell)
			before, after := vocabulary.Content(c.Cell, c.From), vocabulary.Content(c.Cell, c.To)
			switch {
			case before == nil:
				changes = append(changes, fmt.Sprintf("%s was created", key))
			case after == nil:
				changes = append(changes, fmt.Sprintf("%s was deleted", key))
			default:
				paths := core.ChangedPaths(before.Fields(), after.Fields())
				if len(paths) > mostPaths {
					paths = append(paths[:mostPaths:mostPaths], "…")
				}
				changes = append(changes, strings.TrimSuffix(fmt.Sprintf("%s was changed: %s", key, strings.Join(paths, ", ")), ": "))
			}
		}
	}
	return changes
}

// mostPaths is how many changed fields of an object are named.
const mostPaths = 4

// again runs what was listened to for real, on fresh instances.
func (t *traceBuilder) again(ctx context.Context) error {
	l := t.walker.Learn
	for _, r := range t.runs {
		if r.Leaf != nil && r.Leaf.Failure.Stuck() {
			continue // running it again would only get stuck again
		}
		if l.Fickle(r.actor) {
			continue // that it may do something else is known; it did this once
		}
		divergence, err := l.Repeat(ctx, r.actor, r.Run, func(session *behavior.Session) { session.Locate(t.sites) })
		if err != nil {
			return err
		}
		if divergence != nil {
			return fmt.Errorf("controller %q behaved differently when the step ran again: first %q, then %q", r.actor.Name, divergence.Recorded, divergence.Observed)
		}
	}
	return nil
}

func traceChange(c core.Change) core.TraceChange {
	traced := core.TraceChange{Kind: c.Key.Kind, Namespace: c.Key.Namespace, Name: c.Key.Name}
	var before, after any
	switch {
	case c.Before == nil:
		traced.Verb = "created"
		after = c.After.Fields()
	case c.After == nil:
		traced.Verb = "deleted"
		return traced
	default:
		traced.Verb = "changed"
		before, after = c.Before.Fields(), c.After.Fields()
	}
	traced.Fields = core.DiffFields(before, after)
	return traced
}

// queued returns the items in work queues.
func queued(w *reduction.Explorer) []string {
	var items []string
	for _, it := range w.Machine.Items {
		if !it.Standing && !it.Actor.User && w.Value(it.Cell)&state.Queued != 0 {
			items = append(items, it.String())
		}
	}
	return items
}

// concreteStep is a step of a run as a trace shows it, between states in which names are as the steps before left them.
type concreteStep struct {
	row  []byte
	step core.Step
	to   []byte
}

// concretize returns a run without merged states: it begins as the system does, and goes on from where each step led.
func (s *Space) concretize(start core.StateID, run core.Run) ([]concreteStep, error) {
	if s.checker != nil {
		return s.concretizeMerged(start, run)
	}
	var steps []concreteStep
	at := start
	for _, edge := range run {
		steps = append(steps, concreteStep{row: bytes.Clone(s.row(at)), step: edge.Step, to: bytes.Clone(s.row(edge.To))})
		at = edge.To
	}
	return steps, nil
}

// concretizeMerged follows a run through stored states together with what becomes of the names: the state that the
// trace shows is always the stored one in some arrangement, and at the end the very state that the run leads to. It may
// begin in any arrangement, as the system does.
func (s *Space) concretizeMerged(start core.StateID, run core.Run) ([]concreteStep, error) {
	if len(run) == 0 {
		return nil, nil
	}
	w := s.executor
	arranged := s.Symmetry.Identity()
	arrangements := []state.Arrangement{arranged}
	for _, edge := range run {
		w.Load(bytes.Clone(s.row(edge.From)))
		switch chosen, err := w.Choose(edge.Step); {
		case err != nil:
			return nil, fmt.Errorf("the step %q: %w", edge.Step, err)
		case chosen == nil:
			return nil, fmt.Errorf("the step %q is no longer possible", edge.Step)
		}
		stored, _, err := w.Pack(nil)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(stored, s.row(s.orbits.representative(edge.To))) {
			return nil, fmt.Errorf("the step %q leads to a different state than before", edge.Step)
		}
		arranged = arranged.After(w.Arrangement.Inverse())
		arrangements = append(arrangements, arranged)
	}
	turn := arranged.Inverse()
	if end, known := s.orbits.by[run.End(start)]; known {
		turn = end.After(turn)
	}
	rows := make([][]byte, len(arrangements))
	for i := range arrangements {
		at := start
		if i > 0 {
			at = s.orbits.representative(run[i-1].To)
		}
		arrangements[i] = turn.After(arrangements[i])
		w.Load(bytes.Clone(s.row(at)))
		image, err := w.Image(w.Vector, arrangements[i])
		if err != nil {
			return nil, err
		}
		rows[i] = image.AppendRow(nil)
	}
	var steps []concreteStep
	for i, edge := range run {
		steps = append(steps, concreteStep{row: rows[i], step: s.renamed(edge.Step, arrangements[i]), to: rows[i+1]})
	}
	return steps, nil
}

// renamed returns a step with names exchanged.
func (s *Space) renamed(step core.Step, a state.Arrangement) core.Step {
	renaming := s.Symmetry.Renaming(a)
	step.Item.Strategy = renaming(step.Item.Strategy)
	step.Item.Request = core.Request(renaming(string(step.Item.Request)))
	return step
}

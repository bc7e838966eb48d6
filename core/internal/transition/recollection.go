package transition

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memories"
	"github.com/orrery-dev/orrery/core/state"
)

// Remembers reports whether what an actor does may depend on what is known to be kept in memory.
func (a *Actor) Remembers() bool { return a.domain.remembers() }

// unexpectedSharing is a process whose controllers share memory.
type unexpectedSharing struct{ Process string }

// Error implements error.
func (u *unexpectedSharing) Error() string {
	return "controllers of " + u.Process + " share memory"
}

func (u *unexpectedSharing) expect(c *Conditions) bool { return added(&c.Remembering, u.Process) }

// Recollection is what is kept in memory in a state, in the order in which the parts of memories came to be known.
type Recollection []state.Value

// Recollection returns what is kept in memory in the state of the walker.
func (w *Walker) Recollection() Recollection {
	var r Recollection
	for _, p := range w.Machine.parts {
		r = append(r, w.Value(p.cell))
	}
	return r
}

// of returns what was kept in a part, that of a fresh instance if the part was not known yet.
func (r Recollection) of(p *part) state.Value {
	if p.number >= len(r) {
		return 0
	}
	return r[p.number]
}

// Crashed is a process that crashes: what was different in the parts of its memories then from those of a fresh
// instance.
type Crashed map[*part]map[string]string

// MemoryChanges returns the difference between what is kept in memory in two states, where a process may have crashed
// in between. Without a state before, it is the difference from fresh instances.
func (m *Machine) MemoryChanges(before, after Recollection, crashed Crashed) []core.MemoryChange {
	var changes []core.MemoryChange
	for _, d := range m.remembering {
		var its []core.MemoryChange
		for _, p := range d.parts {
			its = append(its, d.changes(p.request, p.contents[before.of(p)], p.contents[after.of(p)], crashed[p])...)
		}
		// In which order the parts came to be known is not told.
		slices.SortStableFunc(its, func(a, b core.MemoryChange) int { return cmp.Compare(a.Field, b.Field) })
		changes = append(changes, its...)
	}
	return changes
}

// MemoryLeft returns the difference that a run of an actor made to what is kept in memory.
func (m *Machine) MemoryLeft(a *Actor, run behavior.Run) []core.MemoryChange {
	d := a.domain
	if !d.remembers() || run.Leaf == nil || run.Leaf.Failure.Stuck() {
		return nil
	}
	before := d.valueOf(run.Activation.Since)
	changes := d.changes(cmp.Or(d.owner(run.Leaf.Memory), d.owner(before)), d.contents[before], d.contents[run.Leaf.Memory], nil)
	if event := run.Activation.Event; event != nil {
		for i := range changes {
			changes[i].Event = event.Key.String()
		}
	}
	return changes
}

// changes returns the difference between two memories, of those for a request if there is one for each. What was lost
// is what there was when the process crashed in between.
func (d *domain) changes(request core.Request, before, after, lost map[string]string) []core.MemoryChange {
	paths := map[string]bool{}
	for _, contents := range []map[string]string{before, after, lost} {
		for path := range contents {
			paths[path] = true
		}
	}
	var changes []core.MemoryChange
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if d.manner.Active && behavior.Unsaid(path) {
			continue
		}
		change := core.MemoryChange{Controller: d.Name, Field: path, From: d.value(before, path), To: d.value(after, path)}
		if had := d.value(lost, path); lost != nil && !equalValues(had, change.To) {
			change.From, change.Lost = had, had != nil
		}
		if !equalValues(change.From, change.To) {
			changes = append(changes, change)
		}
	}
	// How much there is of something says no more than what there is of it.
	changes = slices.DeleteFunc(slices.Clone(changes), func(c core.MemoryChange) bool {
		return slices.ContainsFunc(changes, func(other core.MemoryChange) bool {
			return other.Field != c.Field && leadsThrough(other.Field, []string{c.Field})
		})
	})
	if d.byRequest {
		for i := range changes {
			changes[i].Field = behavior.PlaceFor(changes[i].Field, request)
		}
	}
	return changes
}

// value returns a value in a memory that differs so from that of a fresh instance, nil if there is none.
func (d *domain) value(contents map[string]string, path string) *string {
	value, differs := contents[path]
	if !differs {
		fresh, there := d.fresh[path]
		if !there {
			return nil
		}
		return brief(fresh)
	}
	if value == memories.Gone {
		return nil
	}
	return brief(value)
}

// brief returns what reports show of a value: of a call that waits, what it is about.
func brief(value string) *string {
	text, _, _ := strings.Cut(value, "\n")
	return &text
}

func equalValues(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Crash returns the process of an actor as it crashes between two runs, where it kept something before. It is nil if
// that process is not known to keep anything.
func (m *Machine) Crash(a *Actor, before Recollection) Crashed {
	var crashed Crashed
	for _, p := range m.parts {
		if p.Process != a.Process {
			continue
		}
		if crashed == nil {
			crashed = Crashed{}
		}
		if crashed[p] = p.contents[before.of(p)]; crashed[p] == nil {
			crashed[p] = map[string]string{}
		}
	}
	return crashed
}

// CrashIn returns the process of an actor as it crashes in a run, where the next call would have come, and what it kept
// before. It is nil if nobody knows.
func (l *Learner) CrashIn(ctx context.Context, a *Actor, before Recollection, run behavior.Run) (Crashed, error) {
	crashed := l.Machine.Crash(a, before)
	if !a.domain.remembers() || a.domain.fresh == nil {
		return crashed, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	its := a.domain.part(run.Activation.Request)
	delete(crashed, its)
	session, err := l.Open(a, run.Activation.Since)
	if err != nil {
		return nil, err
	}
	defer session.Abort()
	session.Begin(run.Activation)
	divergence, err := session.Replay(ctx, run.Path)
	if divergence != nil || err != nil {
		return nil, err
	}
	call, _, err := session.Next(ctx)
	if err != nil {
		return nil, err
	}
	if call == nil {
		return crashed, nil
	}
	// The run waits where it is. An instance that locks its memory meanwhile does not show it.
	found := make(chan map[string]string, 1)
	go func() { found <- session.Shown() }()
	watch := time.NewTimer(l.limits.Deadline)
	defer watch.Stop()
	select {
	case memory := <-found:
		contents := l.contents(a.domain, memory)
		// What goes on in the background is not to be seen in the midst of a run, and a lock that the run has taken is
		// nothing that it would have kept.
		kept := a.domain.contents[a.domain.valueOf(run.Activation.Since)]
		maps.DeleteFunc(contents, func(path, value string) bool {
			return value == memories.Gone && a.domain.manner.Active || (value == core.Locked || value == core.ReadLocked) && kept[path] != value
		})
		crashed[its] = contents
	case <-watch.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return crashed, nil
}

// mostKept is how much of what a controller keeps is named.
const mostKept = 4

// kept names what an actor keeps of runs: what is different in an instance that went through them, but not between two
// fresh ones. The last run is gone through as often as it is audited. It is nil if instances of the actor cannot be
// looked at.
func (l *Learner) kept(a *Actor, runs []behavior.Run) ([]string, error) {
	if a.domain.fresh == nil {
		return nil, nil
	}
	if since := runs[0].Activation.Since; since != nil {
		runs = slices.Concat(since.Histories[0], runs)
	}
	used, err := l.remembers(a, append(slices.Clone(runs), slices.Repeat(runs[len(runs)-1:], fair)...))
	if err != nil {
		return nil, err
	}
	changed := a.domain.changed(used)
	maps.DeleteFunc(changed, func(_, value string) bool { return value == memories.Gone })
	return firstOf(fieldsOf(changed)), nil
}

// firstOf returns the first names of fields, with a word for the rest.
func firstOf(fields map[string]bool) []string {
	names := slices.Sorted(maps.Keys(fields))
	if len(names) > mostKept {
		names = append(names[:mostKept], "and more")
	}
	return names
}

// sharedIn names what is held in a memory in the state of the walker.
func (w *Walker) sharedIn(d *domain) []string {
	fields := map[string]bool{}
	for _, p := range d.parts {
		maps.Copy(fields, fieldsOf(d.contents[w.Value(p.cell)]))
	}
	if len(fields) == 0 {
		return []string{"nothing of it is kept behind them"}
	}
	return firstOf(fields)
}

// remembers returns the memory of a fresh instance that went through runs, as far as it goes the same way.
func (l *Learner) remembers(a *Actor, runs []behavior.Run) (map[string]string, error) {
	session, err := l.fresh(a, 0)
	if err != nil {
		return nil, err
	}
	var divergence *behavior.Divergence
	for i := 0; i < len(runs) && divergence == nil && err == nil; i++ {
		divergence, err = l.again(session, runs[i], 1)
	}
	if a.domain.manner.Active {
		defer session.Abort()
		if err != nil || divergence != nil {
			return nil, err // nothing is to be seen of who was stopped on the way
		}
		return l.lookedAt(a.domain, session)
	}
	session.Abort() // nothing of it is at work when it is looked at
	return session.Shown(), err
}

// comparesMemory reports whether what a run leaves in memory is to be compared where the clock has moved. What is in
// the memory of an active process depends on what else happens then.
func (l *Learner) comparesMemory(a *Actor, run behavior.Run) bool {
	d := a.domain
	return run.Leaf != nil && d.fresh != nil && d.remembers() && !d.manner.Active && !run.Leaf.Failure.Stuck()
}

// renewsMemory returns how a run leaves another time in memory when the clock has moved far ahead, and does not where
// it has only moved a bit: it does not note the time in each run.
func (l *Learner) renewsMemory(a *Actor, run behavior.Run, later followed) (*behavior.Divergence, error) {
	d := a.domain
	if later.contents == nil {
		return nil, nil
	}
	was, left := d.contents[d.valueOf(run.Activation.Since)], d.contents[run.Leaf.Memory]
	renewed := func(path, here, there string) bool { return was[path] == here && behavior.SameButForTimes(here, there) }
	if keepsAt(run, left, later.contents, renewed) == nil {
		return nil, nil
	}
	soon, err := l.follow(a, run, shift{run: behavior.Tick})
	if err != nil || soon.contents == nil {
		return nil, err
	}
	return keepsAt(run, left, later.contents, func(path, here, there string) bool { return renewed(path, here, there) && soon.contents[path] == here }), nil
}

// keepsAt returns the first place of two memories behind a run at which they differ and something else holds, nil if
// there is none.
func keepsAt(run behavior.Run, left, later map[string]string, holds func(path, here, there string) bool) *behavior.Divergence {
	for _, path := range slices.Sorted(maps.Keys(left)) {
		if there, kept := later[path]; there != left[path] && holds(path, left[path], there) {
			observed := "forgets " + path
			if kept {
				observed = "changes " + path + " in memory"
			}
			return &behavior.Divergence{Recorded: "keeps " + path + " in memory", Observed: observed, After: len(run.Path), Left: later}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(later)) {
		if _, kept := left[path]; !kept && holds(path, "", later[path]) {
			return &behavior.Divergence{Recorded: "keeps no " + path + " in memory", Observed: "keeps one", After: len(run.Path), Left: later}
		}
	}
	return nil
}

// Remembered is what a memory holds. The zero value stands for whoever keeps nothing.
type Remembered struct {
	Memory state.Cell
	Value  state.Value
	kept   bool
}

// Remembered returns what is kept before the step of the walker, in the order in which their parts came to be known,
// behind the zero value.
func (w *Walker) Remembered(all []Remembered) []Remembered {
	all = append(all, Remembered{})
	for _, p := range w.Machine.parts {
		all = append(all, Remembered{p.cell, w.Previous(p.cell), true})
	}
	return all
}

// Begun is how a run for an item begins: what its controller remembers, and after how many long times.
type Begun struct {
	Remembered
	at moment
}

// Begun returns how the run begins that is under way for the item of the walker's step.
func (w *Walker) Begun() Begun {
	it := w.Current().Item
	if it == nil {
		return Begun{}
	}
	begun := Begun{at: w.moment(it)}
	if its := it.part(); its != nil {
		begun.Remembered = Remembered{its.cell, w.Previous(its.cell), true}
	}
	return begun
}

// Root returns the root of the runs of an item that begin so, nil if none is known.
func (m *Machine) Root(it *Item, begun Begun) *behavior.Node {
	return it.roots.at(m.root(begun.Value, begun.at))
}

// behindStart returns what of a history is behind the events of objects that are there at first, which come to an end.
func behindStart(history []behavior.Run) []behavior.Run {
	begun := slices.IndexFunc(history, func(run behavior.Run) bool {
		return run.Activation.Event == nil || run.Activation.Event.Old != nil
	})
	return history[max(0, begun):]
}

// strayed is a history that an instance did not go through again.
type strayed struct {
	runs       []behavior.Run
	clock      time.Duration
	divergence *behavior.Divergence
}

// by returns the member of a process that went another way in the last of the runs.
func (s *strayed) by(p *Process) *Actor { return p.of(s.runs[len(s.runs)-1].Activation) }

// isAhead reports whether that is because of the clock, see [Actor.isAhead].
func (s *strayed) isAhead(p *Process) bool {
	return s.by(p).isAhead(s.runs[len(s.runs)-1], s.clock, s.divergence)
}

// through takes the instance of a session through runs, one after the other, and returns where it goes another way, nil if it does not.
func (l *Learner) through(session *behavior.Session, runs []behavior.Run) (*strayed, error) {
	for i, run := range runs {
		clock := session.Elapsed()
		divergence, err := l.again(session, run, 1)
		if err != nil {
			return nil, err
		}
		if divergence != nil {
			return &strayed{runs[:i+1], clock, divergence}, nil
		}
	}
	return nil, nil
}

// Relive takes one instance of a process through what it did on a run, one activation after the other. It ends a search in which controllers share memory that
// were not known to: it has to be begun again.
func (l *Learner) Relive(p *Process, runs []behavior.Run) error {
	if runs = p.forward(runs); len(runs) < 2 || slices.ContainsFunc(p.Members, l.Fickle) || !l.relived.add(runs) {
		return nil
	}
	key := l.Memo.Digest(p.Members[0].Strategy, nil, runs...)
	if _, found := l.Memo.Histories.Get(key); found {
		return nil
	}
	session, err := l.openProcess(p)
	if err != nil {
		return err
	}
	defer session.Abort()
	strayed, err := l.through(session, runs)
	switch {
	case err != nil:
		return err
	case strayed == nil:
		l.Memo.Histories.Set(key, struct{}{})
		return nil
	case strayed.divergence.ByChance:
		return nil
	case p.divided() && l.Searching:
		return p.entwined()
	case strayed.isAhead(p):
		return nil // and chance was looked at for each path
	}
	if err := l.diagnose(strayed.by(p), strayed.runs, strayed.clock, strayed.divergence); !errors.Is(err, ErrStopped) {
		return err
	}
	return nil
}

// relived is what instances were taken through from their start on: the end of the first run, of the next one, and so on.
type relived map[*behavior.Leaf]relived

// add adds a history, and reports whether there was anything new in it.
func (r relived) add(runs []behavior.Run) bool {
	added := false
	for _, run := range runs {
		if r[run.Leaf] == nil {
			r[run.Leaf] = relived{}
			added = true
		}
		r = r[run.Leaf]
	}
	return added
}

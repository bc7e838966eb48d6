package transition

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/internal/tally"
	"github.com/orrery-dev/orrery/internal/iotrace"
)

// Code that ranges over a map, or waits for several channels, goes one way or another with the same responses: by chance, and not as a
// function of anything that a search could set. Each of a few ways comes up often, so that they are found by running it again and again,
// and each is a step of its own: what happens by chance may happen. Chance is fair: who comes by the same point of a run again and again
// takes each of its ways again and again.

// mostTaken is how often code is run to see what it does by chance at a point, and seldom how often it has to do a thing to be known to do
// it again. What is met once in sixteen times is seen so often but for one time in ten billions.
const (
	mostTaken = 8 * rare
	seldom    = 3
	// mostSurprises is how often a search begins again as code did something else by chance than all the times before.
	mostSurprises = 32
)

// forks reports whether it is searched what an actor does by chance in its reconciles: not where it keeps memory, works in between, or draws what can be set.
func (l *Learner) forks(a *Actor, activation behavior.Activation) bool {
	return l.Machine.forks(a) && l.mayFork(a, activation) && !l.Fickle(a)
}

// mayFork reports whether what an actor does by chance could be searched.
func (l *Learner) mayFork(a *Actor, activation behavior.Activation) bool {
	return activation.Event == nil && activation.Own == behavior.Asked && activation.Seed == 0 && !a.User && !a.connected && !a.domain.remembers() && !a.domain.manner.Active &&
		!slices.Contains(l.Machine.Conditions.strays, a.Strategy.Describe().Name)
}

// errForked ends a step in which code was found to do one thing or another by chance where it was known to do one: it is taken again.
var errForked = errors.New("the code does one thing or another by chance")

// leftToChance ends a search in which an actor was found to take two ways, for the first time, because of chance that can be searched: it has to be begun again.
// The run is the one that it parts from. What it did is an incident all the same if nobody finds several ways there: it may have done that but once.
func (l *Learner) leftToChance(a *Actor, run behavior.Run, d *behavior.Divergence) error {
	if l.Machine.forks(a) {
		return l.inOrder(a)
	}
	if err := l.drawsInAnyOrder(a, run, d); err != nil {
		return err
	}
	path := run.Path
	run.Path, run.Leaf = path[:min(d.After, len(path))], nil
	if err := l.draws(a, run); err != nil {
		return err
	}
	err := l.unforked(a, run.Activation)
	if known := len(l.Incidents); err != nil && !l.trying && (d.Call == nil || !l.Machine.Conditions.anyOrder() || !path[min(d.After, len(path)):].MayBegin(d.Call)) {
		if l.diverged(a, run.Activation, path, d, core.Chance, nil); len(l.Incidents) > known {
			l.Suspects[WrongOf(l.Incidents[known])] = l.Memo.Digest(a.Strategy, nil, run)
		}
	}
	return err
}

// Explained reports whether it was found that chance leads code several ways, where a search that was given up took that for an incident.
func (l *Learner) Explained(suspect memo.Digest) bool {
	_, known := l.Memo.Ways.Get(suspect)
	_, merged := l.Memo.Merged.Get(suspect)
	return known || merged
}

// unforked ends a search in which it was not known that what an actor does by chance can be searched: it has to be begun again.
func (l *Learner) unforked(a *Actor, activation behavior.Activation) error {
	forks := &unexpectedForks{a.Strategy.Describe().Name}
	switch {
	case l.Machine.forks(a), !l.mayFork(a, activation):
	case l.Searching, l.Following:
		return forks
	case l.trying:
		forks.expect(&l.Machine.Conditions) // in what is set aside, nothing was come by before
		return errForked
	}
	return nil
}

// goOn lets a run go on to what comes at a node behind a path, and begins it if there is none yet. Where that is one of several ways that chance may lead, it is run until chance leads there.
func (l *Learner) goOn(current *codeRun, a *Actor, activation behavior.Activation, path behavior.Path, node *behavior.Node) (*codeRun, core.Call, *behavior.Leaf, error) {
	for attempt, executed := 1, l.Executed; ; attempt++ {
		if current == nil {
			l.Executed = executed // how often it is run depends on chance
			session, divergence, err := l.resume(a, activation, path)
			if err != nil {
				return nil, nil, nil, err
			}
			if divergence != nil {
				if err := l.leftToChance(a, behavior.Run{Activation: activation, Path: path}, divergence); err != nil {
					return nil, nil, nil, err
				}
				l.diverged(a, activation, path, divergence, core.Chance, nil)
				return nil, nil, nil, ErrStopped
			}
			current = &codeRun{session}
			l.began = count{iotrace.Now()}
		}
		call, leaf, err := current.session.Next(l.Context)
		if err != nil || node.Chance == nil {
			return current, call, leaf, err
		}
		came, way := behavior.Way{Call: call, Leaf: leaf}, node.Chance.Ways[node.Chance.Of(node)]
		if came.Name() == way.Name() {
			return current, call, leaf, nil
		}
		current.stop()
		if current = nil; attempt == mostTaken {
			if err := l.inOrder(a); err != nil {
				return nil, nil, nil, err
			}
			l.diverged(a, activation, path, way.Parting(came, len(path)), core.Chance, nil)
			return nil, nil, nil, ErrStopped
		}
	}
}

// resume begins a run and takes it along a path that is known. Code that is known to depend on chance is run until it happens to go that
// way, as often as is reasonable, unless it is given up as it does something else each time. It returns where the run went another way if
// it does not.
func (l *Learner) resume(a *Actor, activation behavior.Activation, path behavior.Path) (*behavior.Session, *behavior.Divergence, error) {
	worded := false
	for attempt := 1; ; attempt++ {
		session, err := l.Open(a, activation.Since)
		if err != nil {
			return nil, nil, err
		}
		if attempt == 1 || !l.forks(a, activation) && !l.exchanges(a) {
			l.count(activation)
		}
		session.Begin(activation)
		divergence, err := session.Replay(l.Context, path)
		switch {
		case divergence == nil, err != nil, attempt == mostTaken:
			return session, divergence, err
		case l.forks(a, activation): // whatever it does instead is looked at once it has come to its end
		case divergence.Exchanged: // what comes behind the path has to go with the words as they are there
		case !worded && l.exchanges(a) && divergence.Call != nil: // until it is known what words are, nobody sees that they were exchanged
			if worded, err = l.saysWords(a, behavior.Run{Activation: activation, Path: path[:divergence.After+1]}); err != nil || !worded {
				return session, divergence, err
			}
		case attempt >= rare, !l.Fickle(a), a.givenUp() != nil:
			return session, divergence, err
		}
	}
}

// uncounted returns what takes back how much real code was run since then, where that does not follow from what is searched.
func (l *Learner) uncounted() (recount func()) {
	executed, fresh := l.Executed, l.Fresh
	return func() { l.Executed, l.Fresh = executed, fresh }
}

// attend runs code again along a new path that ends at a node, to see whether chance leads it there, and divides each node on the way where
// it does something else. Then it returns an error: the step has to be taken again, or the search if the node was come by before.
func (l *Learner) attend(a *Actor, run behavior.Run, end *behavior.Node) error {
	if !l.forks(a, run.Activation) {
		return nil
	}
	defer l.uncounted()() // how often that is depends on chance
	arrived := 0
	for attempt := 0; arrived < seldom || attempt < rare; attempt++ {
		if attempt == mostTaken {
			l.Machine.doubtFirst(a.Name+" seldom comes by chance to", "what was seen once, %s, so that it is not known whether it does something else then: sort what is taken out of a map", run.Activation)
			break
		}
		divergence, overtook, err := l.anewOnce(a, run, 1, 0)
		switch {
		case err != nil:
			return err
		case divergence == nil && overtook >= 0 && run.Path[overtook].From.Point().Chance == nil:
			return l.fork(a, run, overtook, end)
		case divergence == nil:
			arrived++
		case !divergence.ByChance:
			return l.fork(a, run, divergence.After, end)
		}
	}
	return nil
}

// fork finds out what the code of an actor does by chance behind so many calls of a run that ends at a node. It returns an error if that is
// more than one thing.
func (l *Learner) fork(a *Actor, run behavior.Run, after int, end *behavior.Node) error {
	node, first := end, behavior.Way{Leaf: run.Leaf}
	if after < len(run.Path) {
		node = run.Path[after].From.Point() // however the call is answered
		first = behavior.Way{Call: node.Call}
	}
	if node.Chance != nil || len(node.Turns) > 0 {
		return nil // the audits report it
	}
	behind := run.Path[after:]
	run.Path, run.Leaf = run.Path[:after], nil
	ways, err := l.sample(a, run, first)
	if err != nil || len(ways) == 1 {
		return err
	}
	if l.loose(a) {
		ways = inAnyOrder(ways, behind)
	}
	l.ways(a).Set(l.Memo.Digest(a.Strategy, nil, run), ways)
	if node.Passed {
		return &unexpectedWay{a.Name}
	}
	node.Divide(ways, ways[0].Name())
	return errForked
}

// ways are those that are known of what an actor does by chance.
func (l *Learner) ways(a *Actor) *memo.Table[[]behavior.Way] {
	if l.loose(a) {
		return &l.Memo.Merged
	}
	return &l.Memo.Ways
}

// Most of what is left to chance is the order in which code takes things out of a map. Where these have nothing to do
// with each other, all orders come to the same, and one of them stands for all: that which begins with the call of the
// least name. Runs that go another way are on the path all the same, see [behavior.Manner]. What others see between two
// calls is another thing in each order, so that this is not done where somebody may: where controllers crash, calls
// fail, or others act in between; nor where it matters in which order objects were written.

// anyOrder reports whether nobody sees in which order calls come that have nothing to do with each other.
func (c Conditions) anyOrder() bool {
	return c.Granularity == PerReconcile && c.Crashes+c.Failures+len(c.Doubles)+len(c.Apart) == 0 && !c.Ordered && !c.Noted
}

// reorders reports whether a controller does things in another order each time, and one stands for all.
func (c Conditions) reorders(controller string) bool {
	return c.anyOrder() && slices.Contains(c.Forking, controller) && !slices.Contains(c.inOrder, controller)
}

func (l *Learner) loose(a *Actor) bool {
	return l.Machine.Conditions.reorders(a.Strategy.Describe().Name)
}

// inOrder ends a search in which one order of calls may stand for all, as something else came of another one than is to
// be expected: it has to be begun again.
func (l *Learner) inOrder(a *Actor) error {
	if l.loose(a) && (l.Searching || l.Following) {
		return &unexpectedSequence{a.Strategy.Describe().Name}
	}
	return nil
}

// inAnyOrder returns ways with one in place of those that begin with a call which comes later along a path, or first, and
// may as well come now. How often it was seen is how often any of them was at least, as others may go on elsewhere.
func inAnyOrder(ways []behavior.Way, path behavior.Path) []behavior.Way {
	if len(path) == 0 {
		return ways
	}
	var others []behavior.Way
	var least *behavior.Way
	for _, w := range ways {
		switch {
		case w.Call == nil || !path.MayBegin(w.Call):
			others = append(others, w)
		case least == nil:
			least = &w
		default:
			all := w.Seen + least.Seen + least.Others
			w.Seen = min(w.Seen, least.Seen)
			if w.Others = all - w.Seen; least.Name() < w.Name() {
				w.Call = least.Call
			}
			least = &w
		}
	}
	return append([]behavior.Way{*least}, others...)
}

// divide divides a node behind a path where it was found out before what code does there by chance, and reports whether it
// is now that of another way than the one which code has just taken, as that stands for it.
func (l *Learner) divide(a *Actor, run behavior.Run, node *behavior.Node, first behavior.Way) (other bool) {
	ways, known := l.ways(a).Get(l.Memo.Digest(a.Strategy, nil, run))
	if slices.ContainsFunc(ways, func(w behavior.Way) bool { return w.Name() == first.Name() }) {
		node.Divide(ways, first.Name())
		return false
	}
	if known = known && ways[0].Others > 0; known {
		node.Divide(ways, ways[0].Name())
	}
	return known
}

// sample runs code again and again up to the end of a path, and returns what it does then. It ends a search if it cannot be said what the
// code does by chance.
func (l *Learner) sample(a *Actor, run behavior.Run, first behavior.Way) ([]behavior.Way, error) {
	ways, taken := []behavior.Way{first}, []int(nil)
	for attempt := 0; attempt < mostTaken; attempt++ {
		if len(taken) >= rare && tally.Often(taken, len(ways), seldom) && !tally.Regular(taken, len(ways)) {
			return ways, nil
		}
		arrival, err := l.arrive(a, run)
		switch {
		case err != nil:
			return nil, err
		case arrival == nil:
			continue
		case arrival.several:
			return ways[:1], nil
		}
		at := slices.IndexFunc(ways, func(w behavior.Way) bool { return w.Name() == arrival.Name() })
		if at < 0 {
			at, ways = len(ways), append(ways, arrival.Way)
		}
		ways[at].Seen++
		taken = append(taken, at)
	}
	if len(ways) == 1 || len(taken) > fair && tally.Often(taken, len(ways), seldom) && !tally.Regular(taken, len(ways)) {
		return ways, nil // chance seldom leads there
	}
	merged := func(e *behavior.Edge) bool { return e.From.Point().Chance.Merged() }
	if err := l.inOrder(a); err != nil && slices.ContainsFunc(run.Path, merged) {
		return nil, err
	}
	if l.Searching || l.Following {
		return nil, &unexpectedStray{a.Strategy.Describe().Name}
	}
	l.diverged(a, run.Activation, run.Path, first.Parting(ways[1], len(run.Path)), core.Chance, nil)
	return ways[:1], nil
}

// partings returns where a run is known to part so much later, and besides where it may do so then by chance.
func (l *Learner) partings(a *Actor, run behavior.Run, known *behavior.Divergence, by time.Duration, look func(by time.Duration) (*behavior.Divergence, *left, error)) ([]*behavior.Divergence, error) {
	all, executed := []*behavior.Divergence{known}, l.Executed
	if !l.forks(a, run.Activation) {
		return all, nil
	}
	defer func() { l.Executed = executed }()
	for range rare {
		parting, _, err := look(by)
		if err != nil {
			return nil, err
		}
		if parting != nil && !slices.ContainsFunc(all, func(way *behavior.Divergence) bool { return parting.Alike(way) }) {
			all = append(all, parting)
		}
	}
	return all, nil
}

// byChance returns where code does what it was seen to do by chance, whatever times it names.
func (f followed) byChance(run behavior.Run) *behavior.Divergence {
	if f.exchanged {
		return &behavior.Divergence{Exchanged: true}
	}
	for i, call := range f.calls {
		from := run.Path[i].From
		like := func(call, recorded core.Call) bool { return behavior.Undated(call) == behavior.Undated(recorded) }
		if !like(call, from.Call) && from.Chance.Has(call, nil, like) {
			return &behavior.Divergence{Recorded: from.Call.String(), Observed: call.String(), After: i, Call: call, ByChance: true}
		}
	}
	return f.parting
}

// goesOtherwise reports whether code goes another way along a path although nothing has moved, so that it is not because of the clock if it
// does. Code that is known to leave something to chance is given more of them.
func (l *Learner) goesOtherwise(a *Actor, run behavior.Run) (bool, error) {
	times := 1
	if l.Fickle(a) {
		times = fair
	}
	for range times {
		same, err := l.follow(a, run, shift{})
		if err != nil {
			return false, err
		}
		if again, written := same.shows(run); again != nil || written || l.keepsOther(a, run, same, shift{}) != nil {
			return true, nil
		}
	}
	return false, nil
}

// choice is where chance leads in a run.
type choice struct {
	// call is the number of the call that comes there, from 0.
	call int
	node *behavior.Node
}

// String says the choice in the user's words.
func (c choice) String() string {
	at, ways := c.node.Chance.Of(c.node), c.node.Chance.Ways
	text := "it ends"
	if ways[at].Call != nil {
		text = fmt.Sprintf("call %d is %q", c.call+1, ways[at].Call.String())
	} else if c.call > 0 {
		text = fmt.Sprintf("it ends after call %d (%s)", c.call, ways[at])
	}
	return fmt.Sprintf("%s%s, the %s of %d ways that it was seen to go there", core.ByChance, text, ordinal(at+1), len(ways))
}

// way returns where a run as planned goes on that has come to a node with the call of a number: by the first of several ways, if no other
// one is planned.
func (p plan) way(call int, node *behavior.Node) *behavior.Node {
	if node.Chance == nil {
		return node
	}
	for _, c := range p.ways {
		if c.call == call && c.node.Chance == node.Chance {
			return c.node
		}
	}
	return node.Chance.Ways[0].Node
}

// going returns what is planned up to a point, with another way there.
func (p plan) going(c choice) plan {
	q := p.upTo(c.call)
	q.ways = append(q.ways, c)
	return q
}

// mayGo adds the plans of the other ways that chance may lead in a run as planned, from the last one on that is planned.
func (w *Walker) mayGo(p plan) {
	planned := -1
	if n := len(p.ways); n > 0 {
		planned = p.ways[n-1].call
	}
	for _, c := range w.chosen {
		if c.call <= planned {
			continue
		}
		for _, way := range c.node.Chance.Ways {
			if way.Node != c.node {
				w.Reversed = append(w.Reversed, reversed{plan: p.going(choice{c.call, way.Node})})
			}
		}
	}
}

// unexpectedForks is a controller that does one thing or another by chance.
type unexpectedForks struct{ Controller string }

// Error implements error.
func (u *unexpectedForks) Error() string {
	return u.Controller + " does one thing or another by chance"
}

// expect implements [unexpected]. What such a controller draws at random decides what it does, so that it is left to chance.
func (u *unexpectedForks) expect(c *Conditions) bool {
	if slices.Contains(c.Drawing, u.Controller) {
		is := func(name string) bool { return name == u.Controller }
		c.Drawing, c.exchanging = slices.DeleteFunc(slices.Clone(c.Drawing), is), slices.DeleteFunc(slices.Clone(c.exchanging), is)
		added(&c.undrawn, u.Controller)
	}
	return added(&c.Forking, u.Controller)
}

// unexpectedStray is a controller whose chance is not of a sort that can be searched: what it does is new each time, or seldom, or follows
// from what it did before. What it draws can be set all the same.
type unexpectedStray struct{ Controller string }

// Error implements error.
func (u *unexpectedStray) Error() string { return u.Controller + " does something new by chance" }

// expect implements [unexpected].
func (u *unexpectedStray) expect(c *Conditions) bool {
	c.Forking = slices.DeleteFunc(slices.Clone(c.Forking), func(name string) bool { return name == u.Controller })
	if slices.Contains(c.undrawn, u.Controller) {
		added(&c.Drawing, u.Controller)
	}
	return added(&c.strays, u.Controller)
}

// unexpectedWay is a controller that was found to do something else by chance where a search had come by before.
type unexpectedWay struct{ Controller string }

// Error implements error.
func (u *unexpectedWay) Error() string { return u.Controller + " does something else by chance" }

func (u *unexpectedWay) expect(c *Conditions) bool {
	c.surprises++
	return c.surprises <= mostSurprises
}

// unexpectedSequence is a controller of which it makes a difference in which order it does what it does by chance.
type unexpectedSequence struct{ Controller string }

// Error implements error.
func (u *unexpectedSequence) Error() string {
	return u.Controller + " heeds in which order it does things by chance"
}

func (u *unexpectedSequence) expect(c *Conditions) bool { return added(&c.inOrder, u.Controller) }

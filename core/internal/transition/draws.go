package transition

import (
	"maps"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// Controllers draw random values, mostly to make up names. For those that are known to, they follow from a seed (see
// [core.Randomness]), which has to be another one where a value that was drawn may be known to somebody: two runs that
// draw the same name by accident would not create the two objects that real ones do. It has to be the same one where
// nothing was made of the values, or there would be no end to the states. So each request has a number of its draw in
// the state, which goes up with the first write in which something stands that its run has drawn, or when such a run
// leaves another memory. It outlives a crash. Seeds depend on nothing else of the state: names that told interleavings
// apart would keep states from being the same.

// draws are those of an item.
type draws struct {
	// cell holds the number of the draw.
	cell state.Cell
	// known is how many numbers there are.
	known state.Value
}

// drawing is what a run draws.
type drawing struct {
	item *Item
	// number is that of its draw.
	number state.Value
}

// newDraws returns those of a new item, nil if its actor is not known to draw.
func (m *Machine) newDraws(it *Item) *draws {
	if !slices.Contains(m.Conditions.Drawing, it.Actor.Strategy.Describe().Name) {
		return nil
	}
	return &draws{cell: m.Vocabulary.Note("draws of " + it.String())}
}

// Drawing names the controllers that are known to draw random values, in the order of the system.
func (m *Machine) Drawing() []string {
	return m.strategies(func(a *Actor) bool { return slices.Contains(m.Conditions.Drawing, a.Strategy.Describe().Name) })
}

// Gambling names the controllers that are known to decide by random values, in the order of the system.
func (m *Machine) Gambling() []string {
	return m.strategies(func(a *Actor) bool { return a.gambles })
}

// seed returns what the values of a draw follow from, 0 if nothing is drawn. What is remembered may have been drawn.
func (it *Item) seed(draw state.Value, since *behavior.Memory) uint64 {
	if it.draws == nil {
		return 0
	}
	return SeedOf(it.Item, int(draw), since)
}

// SeedOf returns what the values of a draw of an item follow from.
func SeedOf(item core.Item, draw int, since *behavior.Memory) uint64 {
	text := item.Strategy + "\x00" + string(item.Request) + "\x00" + strconv.Itoa(draw)
	if since != nil {
		text += "\x00" + since.Identity
	}
	return max(1, xxhash.Sum64String(text))
}

// Seed returns what the values follow from that a run for an item would draw in the state of the walker, 0 if it is not
// known to draw any.
func (w *Walker) Seed(of core.Item) uint64 {
	a, err := w.Machine.Actor(of.Strategy)
	if err != nil || a.items[of.Request] == nil {
		return 0
	}
	it := a.items[of.Request]
	if it.draws == nil {
		return 0
	}
	var since *behavior.Memory
	if its := it.part(); its != nil {
		since = its.memories[w.Value(its.cell)]
	}
	return it.seed(w.Value(it.draws.cell), since)
}

// Underway returns what the run of an item that is in flight is about.
func (w *Walker) Underway(it *Item) behavior.Activation {
	w.goOnDrawing(it, w.Flight(it).Node)
	return it.activation(nil, w.moment(it), w.drawing.number)
}

// Drawn returns how often values that a controller drew were written so far, in the state of the walker, by the names
// of controllers that have.
func (w *Walker) Drawn() map[string]int {
	drawn := map[string]int{}
	for _, it := range w.Machine.Items {
		if it.draws == nil {
			continue
		}
		if n := int(w.Value(it.draws.cell)); n > 0 {
			drawn[it.Actor.Name] += n
		}
	}
	return drawn
}

// beginDraw begins a run of an item.
func (w *Walker) beginDraw(it *Item) {
	if w.drawing = (drawing{item: it}); it.draws != nil {
		w.drawing.number = w.Value(it.draws.cell)
	}
}

// goOnDrawing goes on with a run of an item that has come to a node.
func (w *Walker) goOnDrawing(it *Item, node *behavior.Node) {
	if w.beginDraw(it); node.Drawn {
		w.drawing.number = node.Draw
	}
}

// drawn returns where the run goes on that has come to a node, nil if that is not known.
func (w *Walker) drawn(node *behavior.Node) *behavior.Node {
	if !node.Varies() {
		return node
	}
	if w.StepCache.Tracing {
		w.depend(w.drawing.item.draws.cell)
	}
	return node.Variant(w.drawing.number)
}

// spend uses up what a run has drawn if something of that stands in the call of a node, which has had an effect: a
// password that is drawn for a Secret which is there already is lost.
func (w *Walker) spend(a *Actor, activation behavior.Activation, node *behavior.Node) error {
	if !node.Weighed {
		if w.Learn == nil {
			return ErrUnknown
		}
		if err := w.Learn.weigh(a, behavior.Run{Activation: activation, Path: w.path[w.base:]}, node); err != nil {
			return err
		}
	}
	if !node.Spends {
		return nil
	}
	return w.useUp()
}

// weigh finds out whether the call of a node behind a run is another one as other values are drawn.
func (l *Learner) weigh(a *Actor, run behavior.Run, node *behavior.Node) error {
	for variation := 1; variation <= leastVaried && !node.Spends; variation++ {
		run.Activation.Variation = variation
		call, err := l.otherCall(a, run, node.Call)
		if err != nil {
			return err
		}
		node.Spends = call == nil || call.Identity() != node.Call.Identity()
	}
	node.Weighed = true
	return nil
}

// otherCall returns the call that comes behind a run which draws other values, in the place of a recorded one, nil if
// it does something else before that.
func (l *Learner) otherCall(a *Actor, run behavior.Run, recorded core.Call) (core.Call, error) {
	session, strayed, err := l.brought(a, run.Activation.Since, 0)
	if strayed != nil || err != nil {
		return nil, err
	}
	defer session.Abort()
	l.count(run.Activation)
	if _, parting, err := session.Vary(l.Context, run); parting != nil || err != nil {
		return nil, err
	}
	call, _, err := session.NextAs(l.Context, recorded)
	return call, err
}

// useUp notes that something was made of what a run has drawn: it is not drawn again.
func (w *Walker) useUp() error {
	it := w.drawing.item
	c, next := it.draws.cell, w.drawing.number+1
	switch {
	case w.Value(c) >= next:
		return nil // by an earlier call
	case next > it.draws.known && w.Learn == nil:
		return ErrUnknown
	case next > it.draws.known:
		it.draws.known = w.Machine.Vocabulary.Extend(c, strconv.Itoa(int(next)))
	}
	w.Set(c, next)
	return nil
}

// keptIn returns what the memory that a run leaves has in it, as texts.
func (d *domain) keptIn(leaf *behavior.Leaf) []string { return textsOf(d.contents[leaf.Memory]) }

func textsOf(contents map[string]string) []string {
	var texts []string
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		texts = append(texts, path, contents[path])
	}
	return texts
}

// draws ends a search in which an actor was found to take two ways because of random values that can be set: it has to
// be begun again. The run ends where the ways part. What they are for may be remembered.
func (l *Learner) draws(a *Actor, run behavior.Run) error {
	if l.limits.Randomness == nil || !l.Searching && !l.Following {
		return nil
	}
	if since := run.Activation.Since; since != nil {
		session, err := l.fresh(a, 0)
		if err != nil {
			return err
		}
		defer session.Abort()
		for _, before := range since.Histories[0] {
			if settable(before.Activation) {
				before.Activation.Seed = 1
			}
			_, divergence, err := session.Follow(l.Context, before)
			if err != nil {
				return err
			}
			if session.Drew() {
				return &unexpectedDraws{Controller: a.Process.of(before.Activation).Strategy.Describe().Name}
			}
			if divergence != nil {
				break
			}
		}
	}
	if a.User || !settable(run.Activation) {
		return nil
	}
	run.Activation.Seed = 1
	var first core.Call
	// Where something else is left to chance on the way, such as the order of a map, not every run gets there.
	for attempts, same := 0, 0; same < fair && (attempts < mostAttempts || same < leastVaried); attempts++ {
		arrival, err := l.arrive(a, run)
		switch {
		case err != nil:
			return err
		case arrival == nil && attempts < mostAttempts:
			continue
		case arrival == nil, !arrival.drew, same > 0 && (arrival.Call == nil) != (first == nil):
			return nil
		case same > 0 && first != nil && arrival.Call.Identity() != first.Identity():
			words, err := l.drawsWords(a, run)
			if err != nil || !words || !behavior.Exchanged(l.limits.Randomness, first, arrival.Call, nil) {
				return err
			}
			return &unexpectedDraws{a.Strategy.Describe().Name, true}
		}
		first = arrival.Call
		same++
	}
	return &unexpectedDraws{Controller: a.Strategy.Describe().Name}
}

// drawsWords reports whether code that has come to the end of a path, and draws, makes the same call there but for words
// whatever it draws: it may take out of a map what they are for, so that it is not the same call as it draws the same.
func (l *Learner) drawsWords(a *Actor, run behavior.Run) (bool, error) {
	return l.onlyWords(run, func(run behavior.Run) (drawn core.Drawn, same bool, err error) {
		arrival, err := l.arrive(a, run)
		if err != nil || arrival == nil || arrival.Call == nil {
			return drawn, false, err
		}
		return arrival.drawn, true, nil
	})
}

// saysWords reports whether code makes the same calls as along a path, but for words, whatever it draws. They are known
// from then on.
func (l *Learner) saysWords(a *Actor, run behavior.Run) (bool, error) {
	defer l.uncounted()() // how often that is depends on chance
	return l.onlyWords(run, func(run behavior.Run) (core.Drawn, bool, error) {
		_, drawn, divergence, err := l.varied(a, run)
		return drawn, divergence == nil, err
	})
}

// drawsInAnyOrder ends a search in which it was known that an actor draws, and not that it puts that to use in another
// order each time: it has to be begun again. It is where another run parts from one.
func (l *Learner) drawsInAnyOrder(a *Actor, run behavior.Run, d *behavior.Divergence) error {
	if run.Activation.Seed == 0 || d.Call == nil || l.exchanges(a) || !l.Searching && !l.Following {
		return nil
	}
	upTo := run
	upTo.Path, upTo.Leaf = run.Path[:min(d.After+1, len(run.Path))], nil
	if words, err := l.saysWords(a, upTo); err != nil || !words || !d.Exchanges(run, l.limits.Randomness) {
		return err
	}
	return &unexpectedDraws{a.Strategy.Describe().Name, true}
}

// onlyWords compares what comes of a run as other values are drawn, and reports whether it differs in nothing but words.
// There is nothing to compare where a run does not come to the same.
func (l *Learner) onlyWords(run behavior.Run, drawn func(behavior.Run) (core.Drawn, bool, error)) (bool, error) {
	var runs []core.Drawn
	for run.Activation.Variation = 0; run.Activation.Variation <= rare; run.Activation.Variation++ {
		other, same, err := drawn(run)
		if err != nil || !same {
			return false, err
		}
		runs = append(runs, other)
	}
	_, text := l.limits.Randomness.Compare(runs, false)
	return text < 0, nil
}

// mostAttempts is how often code is taken along a way where something is left to chance: what happens once in eight
// times happens [leastVaried] times then.
const mostAttempts = 4 * rare

// settable reports whether the random values of a run can be set, and are left to chance so far.
func settable(a behavior.Activation) bool {
	return a.Event == nil && a.Own == behavior.Asked && a.Seed == 0
}

// arrival is what code does where a path ends: it goes a way there.
type arrival struct {
	behavior.Way
	// several tells that it makes several calls at a time, and drew that it has drawn random values.
	several, drew bool
	// drawn is what it comes to with its call.
	drawn core.Drawn
}

// arrive goes along a run, and returns what the code does at the end of that, nil if it does not come there.
func (l *Learner) arrive(a *Actor, run behavior.Run) (*arrival, error) {
	session, err := l.Open(a, run.Activation.Since)
	if err != nil {
		return nil, err
	}
	defer session.Abort()
	l.count(run.Activation)
	session.Begin(run.Activation)
	if divergence, err := session.Replay(l.Context, run.Path); divergence != nil || err != nil {
		return nil, err
	}
	call, leaf, err := session.Next(l.Context)
	if err != nil {
		return nil, err
	}
	arrived := &arrival{Way: behavior.Way{Call: call, Leaf: leaf}, several: call != nil && len(session.Pending()) > 1, drew: session.Drew()}
	if call != nil && arrived.drew {
		arrived.drawn = session.Drawn(append(run.Path.Asked(), call), nil)
	}
	return arrived, nil
}

// leastVaried is how often values are drawn anew at least, so that a choice among a few is not taken for words.
const leastVaried = 3

// drawn returns what a run of a session comes to that may have drawn values, nothing where nobody is known to draw any.
func (l *Learner) drawn(session *behavior.Session, a *Actor, run behavior.Run) core.Drawn {
	if len(l.Machine.Conditions.Drawing) == 0 {
		return core.Drawn{}
	}
	return session.Drawn(run.Path.Asked(), a.domain.keptIn(run.Leaf))
}

// redraw goes through a new path again as other values are drawn, by its run and by what that was given, and reports
// whether the code decides by what it was given.
func (l *Learner) redraw(a *Actor, run behavior.Run, drawn core.Drawn, times int) (decides bool, err error) {
	if l.limits.Randomness == nil || len(l.Machine.Conditions.Drawing) == 0 || l.Fickle(a) {
		return false, nil
	}
	if run.Leaf.Drawn {
		if err := l.vary(a, run, drawn, times); err != nil || l.Fickle(a) {
			return false, err
		}
	}
	return l.derive(a, run, drawn)
}

// vary notes that a run depends on the values that it draws, if it does.
func (l *Learner) vary(a *Actor, run behavior.Run, drawn core.Drawn, times int) error {
	divergence, err := l.redrawn(a, run, drawn, times)
	if divergence == nil || err != nil {
		return err
	}
	return l.varies(a, run, divergence)
}

// redrawn goes through a new path again, drawing other values: but for the words that stand in calls, and in memory,
// they must not matter, or it is chance what the code does, or what it remembers. It returns where they do.
func (l *Learner) redrawn(a *Actor, run behavior.Run, drawn core.Drawn, times int) (*behavior.Divergence, error) {
	runs, asked := []core.Drawn{drawn}, [][]core.Call{nil}
	for len(runs) <= max(times, leastVaried) {
		varied := run
		varied.Activation.Variation = len(runs)
		calls, other, divergence, err := l.varied(a, varied)
		if divergence != nil || err != nil {
			return divergence, err
		}
		runs, asked = append(runs, other), append(asked, calls)
	}
	keeps := a.domain.remembers() && !a.domain.manner.Active
	calls := len(drawn.Texts) - len(a.domain.keptIn(run.Leaf))
	for i := range runs {
		if !keeps {
			runs[i].Texts = runs[i].Texts[:calls]
		} else if len(runs[i].Texts) != len(drawn.Texts) {
			return run.Path.Parting(asked[i], len(drawn.Texts)), nil
		}
	}
	if odd, text := l.limits.Randomness.Compare(runs, false); text >= 0 {
		return run.Path.Parting(asked[odd], text), nil
	}
	return nil, nil
}

// findWords finds out which words a new path draws, where that is another thing each time as they are put to use in
// another order: until they are known, that is not seen.
func (l *Learner) findWords(session *behavior.Session, a *Actor, run behavior.Run) error {
	if !l.exchanges(a) || !run.Leaf.Drawn {
		return nil
	}
	_, err := l.redrawn(a, run, l.drawn(session, a, run), leastVaried)
	return err
}

// Exchanges reports whether somebody is known to put the words that he draws to use in another order each time.
func (m *Machine) Exchanges() bool { return len(m.Conditions.exchanging) > 0 }

// exchanges reports whether an actor is known to put the words that it draws to use in another order each time.
func (l *Learner) exchanges(a *Actor) bool {
	return slices.Contains(l.Machine.Conditions.exchanging, a.Strategy.Describe().Name)
}

// varies notes that a run depends on the values that it draws in more than words.
func (l *Learner) varies(a *Actor, run behavior.Run, divergence *behavior.Divergence) error {
	undrawn := run.Activation
	undrawn.Seed = 0
	if err := l.unforked(a, undrawn); err != nil {
		return err
	}
	l.diverged(a, run.Activation, run.Path, divergence, core.Chance, nil)
	return a.givenUp()
}

// varied takes a fresh instance along a run, drawing other values, and returns what comes of it, and where it makes
// another number of calls or ends in another way.
func (l *Learner) varied(a *Actor, run behavior.Run) ([]core.Call, core.Drawn, *behavior.Divergence, error) {
	return l.taken(a, run, func(session *behavior.Session) ([]core.Call, *behavior.Divergence, error) {
		return session.Vary(l.Context, run)
	})
}

// taken has a function take a fresh instance along a run, drawing other values, and returns what comes of it, and where
// it parts from the run.
func (l *Learner) taken(a *Actor, run behavior.Run, takes func(*behavior.Session) ([]core.Call, *behavior.Divergence, error)) ([]core.Call, core.Drawn, *behavior.Divergence, error) {
	session, divergence, err := l.brought(a, run.Activation.Since, 0)
	if divergence != nil || err != nil {
		return nil, core.Drawn{}, divergence, err
	}
	defer session.Abort()
	l.count(run.Activation)
	calls, divergence, err := takes(session)
	if divergence != nil || err != nil {
		return nil, core.Drawn{}, divergence, err
	}
	var kept []string
	if a.domain.fresh != nil && run.Leaf != nil {
		kept = textsOf(l.contents(a.domain, session.Memory()))
	}
	return calls, session.Drawn(calls, kept), nil, nil
}

// unexpectedDraws is a controller that draws random values, and may put them to use in another order each time.
type unexpectedDraws struct {
	Controller string
	exchanges  bool
}

// Error implements error.
func (u *unexpectedDraws) Error() string { return u.Controller + " draws random values" }

func (u *unexpectedDraws) expect(c *Conditions) bool {
	exchanges := u.exchanges && added(&c.exchanging, u.Controller)
	return added(&c.Drawing, u.Controller) || exchanges
}

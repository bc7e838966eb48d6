package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/inventory"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/internal/wording"
)

// A system in which there are more and more objects has no end of states, so that no search of it is ever complete. What makes the objects can be seen on a single
// run on which everybody has a turn: it goes around in laps that are alike but for the objects that each of them adds, or for what it adds to an object, or to a
// number in one, or for a value that it replaces by one that was never there.

// Growth is a run on which there is more and more. No controller crashes on it, and no call fails without a reason.
type Growth struct {
	// Space is what was stored of the run.
	Space *Space
	// Run begins in an initial state. It ends with the first of as many laps as there are, of so many steps each.
	Run       core.Run
	Lap, Laps int
	// Adds is what each lap adds, in the order of kinds, and Last an object that the last lap of the run has added or added to. There is
	// nothing if it only replaces random values by others that are drawn anew: then Drawing names the controllers that do.
	Adds    []Addition
	Last    core.Key
	Drawing []string
	// Shown tells that in each lap the controllers are shown more than in the one before, so that some time they may stop. If not, their
	// code is given the same as before in each lap, up to names that are new in it, and does the same again.
	Shown bool
}

// Addition is how much of a kind is added: objects, or else values in fields of objects, or what is added to a number in a field.
type Addition struct {
	Kind            core.Kind
	Objects, Values int
	// Field is that of the number, and By how much is added to it. If that is 0, the field has another value each time that it never had
	// before.
	Field string
	By    int
}

// Growth returns a run on which there is more and more, nil if none was found. It is looked for if the search is not complete.
func (s *Space) Growth() *Growth { return s.growing }

// Renews reports whether nothing becomes more, and a field has another value each time that it never had before.
func (g *Growth) Renews() bool { return len(g.Adds) > 0 && g.Adds[0].Field != "" && g.Adds[0].By == 0 }

// Controllers returns whose steps make up a lap, in order.
func (g *Growth) Controllers() []string {
	var names []string
	for _, e := range g.Run[len(g.Run)-g.Lap:] {
		names = append(names, e.Step.Item.Strategy)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

const (
	// suspect is after how many states a search looks for growth, suspectRuns after how many runs of real code, of which
	// there may be many for each state. Most searches are over by then.
	suspect, suspectRuns = 1_000, 5_000
	// mostProbes is from how many starts it looks, which are spread over all of them if there are more.
	mostProbes = 4
	// longestProbe is how many steps a run is followed to find growth, longestLap how many a lap may have.
	longestProbe = 1 << 8
	longestLap   = 40
	// alike is how many laps are compared.
	alike = 4
	// striking is how many laps in a row are told although controllers may stop some time.
	striking = 8
	// patience is how long a search that has a limit of time goes on once growth is known which controllers may stop some time.
	patience = 10 * time.Second
)

// growth looks for growth once, however often a search is begun again.
type growth struct {
	context context.Context
	system  *core.System
	options Options
	// again tells that the search is begun again: then it looks first, as a single run meets the most of what else is not known, long before a search does.
	again  bool
	looked bool
	found  *Growth
	since  time.Time // when it was found
	// unexpected is the error of a run that met something which was not known of controllers: a search would come to it later, and have to be begun again.
	unexpected error
}

// look returns the growth of the system, nil if none is found. What goes wrong on the way is for the search to find.
func (g *growth) look() *Growth {
	if g.looked {
		return g.found
	}
	g.looked = true
	o := g.options.followed()
	o.Conditions.Crashes, o.Conditions.Failures, o.Conditions.FaultsIn = 0, 0, nil
	l, err := o.learner(g.context, g.system)
	if err != nil {
		return nil
	}
	l.Hasty = true
	_, err = g.follow(l, &reduction.Reductions{}, o, time.Now())
	if known := g.options.Conditions; known.Expect(err) {
		g.unexpected = err
	}
	l.Context = context.WithoutCancel(g.context) // what was found can be told even if the search is interrupted
	return g.found
}

// lookFirst looks before a search that is begun again does anything else, on its machine: so the search knows what was learned. Where there may be faults, of which
// such a run has none, that is another machine. An error is one of the search, or says that it has to be begun again.
func (g *growth) lookFirst(l *transition.Learner, r *reduction.Reductions, began time.Time) error {
	c := g.options.Conditions
	if !g.again || g.looked {
		return nil
	}
	if c.Crashes > 0 || c.Failures > 0 {
		g.look()
		return g.unexpected
	}
	g.looked = true
	space, err := g.follow(l, r, g.options.followed(), began)
	g.options.earlier.collect(l, space)
	return err
}

// follow looks for growth on the runs from a few starts, and returns what was stored of them.
func (g *growth) follow(l *transition.Learner, r *reduction.Reductions, o Options, began time.Time) (*Space, error) {
	space, err := explore(g.context, l.Machine, l, r, o, began, 0)
	if err == nil {
		g.found = space.growing
	}
	return space, err
}

// probe follows one run from each of a few starts on which all that can be done is done in turn, until growth is found.
func (s *search) probe() error {
	for i := range min(len(s.initial), mostProbes) {
		p := &probe{search: s, since: map[int]int{}, counts: map[int]map[counted]int{}}
		if err := p.follow(s.initial[i*len(s.initial)/min(len(s.initial), mostProbes)]); err != nil {
			return s.interrupted(err)
		}
		if s.growing != nil {
			return nil
		}
	}
	return nil
}

// probe is a run that is looked at for growth.
type probe struct {
	*search
	run core.Run
	// counts are how much there is before steps of the run or behind the last one, as far as it was looked at.
	counts map[int]map[counted]int
	// since is from which step on each agent could have taken one. The one that has waited for the longest time is next.
	since map[int]int
	steps []turn
	grain grain
	stock inventory.Stock
	had   inventory.History
}

// grain is how closely a probe looks, from coarse to fine: the next one is tried where nothing grows by the one before.
type grain int

const (
	// amounts are those of objects, of the values in their fields, and of random values that were drawn.
	amounts grain = iota
	// numbers are also what numbers in fields come to: some are others in each lap that mean nothing.
	numbers
	// renewals are fields that get values which they never had on the run, besides the amounts.
	renewals
)

// counted is what is counted: the objects of a kind, or the values in their fields; what a number comes to in a field of an object; how
// often another field got a value that it never had; or how often random values were drawn by a controller and written.
type counted struct {
	kind    core.Kind
	values  bool
	of      core.Key
	number  string
	renewed string
	drawing string
}

// turn is a step that a probe may go on with.
type turn struct {
	agent int
	edge  core.Edge
}

// follow takes the run. Laps that controllers may leave some time are told if they go on to its end.
func (p *probe) follow(at core.StateID) error {
	visits := map[core.StateID]int{}
	for visits[at] < alike {
		visits[at]++
		if n := len(p.run); n >= alike && n&(n-1) == 0 { // not at every step, as it takes time
			lap, laps := p.laps()
			if shown := laps == 0 || p.grain == numbers || !p.same(lap); !shown || n == longestProbe && laps >= striking {
				p.report(lap, laps, shown)
				return nil
			}
			if n == longestProbe {
				return nil
			}
		}
		if err := p.cross(at); err != nil {
			return err
		}
		if len(p.steps) == 0 {
			return nil
		}
		next := p.next()
		p.run = append(p.run, next.edge)
		at = next.edge.To
	}
	return nil
}

// count returns how much there is before a step of the run, or behind the last one.
func (p *probe) count(step int) map[counted]int {
	if counts, known := p.counts[step]; known {
		return counts
	}
	id := p.before(step)
	counts := map[counted]int{}
	for key, size := range p.sizesIn(id) {
		counts[counted{kind: key.Kind}]++
		counts[counted{kind: key.Kind, values: true}] += size.Values
		for field, number := range size.Numbers {
			counts[counted{kind: key.Kind, of: key, number: field}] = number
		}
	}
	p.executor.Load(p.row(id))
	for controller, n := range p.executor.Drawn() {
		counts[counted{drawing: controller}] = n
	}
	p.counts[step] = counts
	return counts
}

// before returns the state before a step of the run, or behind the last one.
func (p *probe) before(step int) core.StateID {
	if step == 0 {
		return p.run[0].From
	}
	return p.run[step-1].To
}

// sizesIn returns what there is, of what matters, in the objects of a state.
func (p *probe) sizesIn(id core.StateID) map[core.Key]inventory.Size {
	if p.stock.Outcome == nil {
		p.stock.Outcome = p.machine.System.Store.Outcome
	}
	return p.stock.Of(p.look(p.row(id)).Objects())
}

// cross takes the steps from a state.
func (p *probe) cross(id core.StateID) error {
	if err := p.context.Err(); err != nil {
		return err
	}
	p.executor.Load(p.row(id))
	p.learner.Where = transition.Provenance{State: id}
	p.steps = p.steps[:0]
	_, err := p.executor.Steps(&proposer{expander{search: p.search, from: id}, p}, nil)
	return err
}

// proposer notes the steps from a state for a probe, and stores where they lead.
type proposer struct {
	expander
	probe *probe
}

// Took implements [transition.Visitor].
func (p *proposer) Took(t *transition.Taken) error {
	to, err := p.insertCurrent(p.executor, p.from, 0, nil)
	if err != nil {
		return err
	}
	edge := p.executor.Edge(p.from, t)
	edge.To = to
	p.probe.steps = append(p.probe.steps, turn{agent: t.Agent(), edge: edge})
	return nil
}

// next returns the step of the agent that has waited for the longest time.
func (p *probe) next() turn {
	waiting := map[int]int{}
	chosen := -1
	for i, s := range p.steps {
		since, known := p.since[s.agent]
		if !known {
			since = len(p.run)
		}
		waiting[s.agent] = since
		if chosen < 0 || since < waiting[p.steps[chosen].agent] {
			chosen = i
		}
	}
	next := p.steps[chosen]
	delete(waiting, next.agent)
	p.since = waiting
	return next
}

// report notes that the run ends with laps. The first of them report enough.
func (p *probe) report(lap, laps int, shown bool) {
	n := len(p.run) - (laps-alike)*lap
	g := &Growth{Space: p.Space, Run: p.run[:n], Lap: lap, Laps: laps, Shown: shown}
	more := p.difference(n-lap, n)
	for what, count := range more {
		switch objects := more[counted{kind: what.kind}]; {
		case what.drawing != "":
			g.Drawing = append(g.Drawing, what.drawing)
		case what.number != "":
			g.Adds = append(g.Adds, Addition{Kind: what.kind, Field: what.number, By: count})
		case what.renewed != "":
			g.Adds = append(g.Adds, Addition{Kind: what.kind, Field: what.renewed})
		case !what.values:
			g.Adds = append(g.Adds, Addition{Kind: what.kind, Objects: count})
		case objects == 0:
			g.Adds = append(g.Adds, Addition{Kind: what.kind, Values: count})
		}
	}
	slices.SortFunc(g.Adds, func(a, b Addition) int {
		return cmp.Or(cmp.Compare(a.By, b.By), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Field, b.Field))
	})
	if len(g.Adds) == 0 {
		slices.Sort(g.Drawing)
		p.growing = g
		return
	}
	// The last one is of the first kind.
	before, after := p.sizesIn(p.run[n-lap].From), p.sizesIn(p.run[n-1].To)
	for _, key := range slices.SortedFunc(maps.Keys(after), core.Key.Compare) {
		first, was, is := g.Adds[0], before[key], after[key]
		if key.Kind == first.Kind && (is.Grew(was, first.Field) || first.By == 0 && is.Texts[first.Field] != was.Texts[first.Field]) {
			g.Last = key
		}
	}
	p.growing = g
}

// laps returns how many steps the laps have with which the run ends, and how many laps there are. It returns 0 if there are none: a lap
// adds as much as the one before, and somebody is bound to take its steps.
func (p *probe) laps() (lap, laps int) {
	for p.grain = range renewals + 1 {
		if lap, laps = p.countedLaps(); laps > 0 {
			break
		}
	}
	return lap, laps
}

func (p *probe) countedLaps() (lap, laps int) {
	n := len(p.run)
	for lap := 1; lap <= min(longestLap, n/alike); lap++ {
		if !p.more(n-lap, n) || slices.ContainsFunc(p.run[n-lap:], func(e core.Edge) bool { return !p.Fair(e.Step) || e.Step.Chance() }) {
			continue
		}
		laps := 1
		for from := n - 2*lap; from >= 0 && p.repeats(from, from+lap, lap); from -= lap {
			laps++
		}
		if laps >= alike {
			return lap, laps
		}
	}
	return 0, 0
}

// more reports whether there is more at one point of the run than at an earlier one, and less of nothing.
func (p *probe) more(earlier, later int) (more bool) {
	for _, count := range p.difference(earlier, later) {
		if count < 0 {
			return false
		}
		more = true
	}
	return more
}

// repeats reports whether one lap looks like another one: the same controllers do something of the same kind, and as much is added.
func (p *probe) repeats(a, b, lap int) bool {
	for i := range lap {
		one, other := p.run[a+i], p.run[b+i]
		if one.Step.Kind != other.Step.Kind || one.Step.Item.Strategy != other.Step.Item.Strategy {
			return false
		}
	}
	return maps.Equal(p.difference(a, a+lap), p.difference(b, b+lap))
}

// difference returns how much more there is, at one point of the run than at an earlier one, of what there is more or less of.
func (p *probe) difference(earlier, later int) map[counted]int {
	d := maps.Clone(p.count(later))
	for what, count := range p.count(earlier) {
		if d[what] -= count; d[what] == 0 {
			delete(d, what)
		}
	}
	maps.DeleteFunc(d, func(what counted, _ int) bool { return what.number != "" && p.grain != numbers })
	if p.grain == renewals {
		for step := earlier + 1; step <= later; step++ {
			for _, field := range p.had.Renewed(step, func(at int) map[core.Key]inventory.Size { return p.sizesIn(p.before(at)) }) {
				d[counted{kind: field.Of.Kind, of: field.Of, renewed: field.Path}]++
			}
		}
	}
	return d
}

// same reports whether the code is given the same and does the same in the last laps of the run, up to names. A name that stands in a lap
// for another one of the lap before has to be newer than that lap, and the other one newer than the lap before: otherwise it may be one of
// many that were there, and of which there are none left some time.
func (p *probe) same(lap int) bool {
	n := len(p.run)
	for i := range 2 {
		a, b := n-(3-i)*lap, n-(2-i)*lap
		one, err := p.transcript(a, lap)
		if err != nil {
			return false
		}
		other, err := p.transcript(b, lap)
		if err != nil || !wording.AlikeButFor(p.words(a-lap), p.words(a), one, other) {
			return false
		}
	}
	return true
}

// transcript returns all that code was given and did in a lap.
func (p *probe) transcript(from, lap int) (string, error) {
	script := &transcript{}
	w := p.executor
	w.Listener = script
	defer func() { w.Listener = nil }()
	for _, edge := range p.run[from : from+lap] {
		w.Load(p.row(edge.From))
		chosen, err := w.Choose(edge.Step)
		if err != nil {
			return "", err
		}
		if chosen == nil {
			return "", fmt.Errorf("the step %q is no longer possible", edge.Step)
		}
		script.text.WriteString(script.step.String())
	}
	return script.text.String(), nil
}

// words returns all words of a state before a step of the run.
func (p *probe) words(step int) map[string]bool {
	words := map[string]bool{}
	look := p.look(p.row(p.run[step].From))
	note := func(text string) {
		for _, word := range wording.Words(text) {
			words[word] = true
		}
	}
	for _, o := range look.Objects() {
		note(o.Key.String())
		note(o.Content.Canonical())
	}
	for _, item := range slices.Concat(look.Work(), look.InFlight(), look.Timers()) {
		note(string(item.Request))
	}
	return words
}

// transcript listens to a walker and writes down what code is given and does.
type transcript struct {
	transition.Inattentive
	text, step strings.Builder
}

// Began implements [transition.Listener]: what was tried before is not what is told.
func (t *transcript) Began() { t.step.Reset() }

// Called implements [transition.Listener].
func (t *transcript) Called(a *transition.Actor, activation behavior.Activation, call transition.CallEvent) {
	fmt.Fprintf(&t.step, "%s %s: %s → %s\n", a.Name, activation, behavior.Plain(call.Node.Call), call.Response.Identity())
}

// Ended implements [transition.Listener].
func (t *transcript) Ended(a *transition.Actor, activation behavior.Activation, _ behavior.Path, leaf *behavior.Leaf) {
	fmt.Fprintf(&t.step, "%s %s %s\n", a.Name, activation, leaf)
}

package explore

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

const (
	// WalkCount is how many walks there are if nobody says.
	WalkCount = 1000
	// WalkLength is how many steps a walk has at most if nobody says.
	WalkLength = 1000
)

// walks visits states by walks from the start, each of which ends where nothing can happen, or after so many steps. In
// each state on its way a walk takes all steps, so that what is wrong right beside it is seen, too, and then chooses
// the one to go on with. So the states that were visited are those of any search, and what lies beyond is cut.
func (s *search) walks() error {
	w := &randomWalker{search: s, length: s.options.Bounds.Depth}
	if w.length == 0 {
		w.length = WalkLength
	}
	count := s.options.Bounds.Walks
	if count == 0 && s.options.Bounds.Time == 0 {
		count = WalkCount
	}
	for s.frontier.len() > 0 && (count == 0 || w.walked < count) {
		reason, err := w.walk()
		if err != nil {
			if err = s.interrupted(err); err != nil {
				return err
			}
			break
		}
		if reason != "" {
			s.because(reason)
			break
		}
	}
	for id := range core.StateID(s.States()) {
		if !s.expanded.Has(id) {
			s.markCut(id)
		}
	}
	if s.frontier.len() > 0 {
		s.because(w.shortfall())
	}
	return nil
}

// randomWalker takes walks.
type randomWalker struct {
	*search
	coverage coverage
	// length is how many steps a walk has at most, walked how many walks were begun, and longest how many steps the
	// longest had.
	length, walked, longest int
	steps                   []branch
}

// branch is a step that a walk may go on with.
type branch struct {
	agent int
	to    core.StateID
	// visited tells that all steps were taken already from where it leads.
	visited bool
}

// scheduler chooses the steps of a walk.
type scheduler interface {
	// choose returns which of the steps is taken. There is at least one.
	choose(steps []branch) int
	// returned tells it that the step led to where the walk had been before.
	returned(step branch)
}

// walk takes one walk. It returns the bound that ended it, if any did.
func (w *randomWalker) walk() (reason string, err error) {
	chance := rand.New(rand.NewPCG(uint64(w.options.Seed), uint64(w.walked)))
	schedule := w.scheduler(chance)
	w.walked++
	at := w.initial[chance.IntN(len(w.initial))]
	for step := range w.length {
		if reason := w.exhausted(); reason != "" {
			return reason, nil
		}
		w.coverage.visit(at, w.walked)
		if err := w.cross(at); err != nil {
			return "", err
		}
		if len(w.steps) == 0 {
			return "", nil
		}
		chosen := w.steps[schedule.choose(w.steps)]
		if at = chosen.to; w.coverage.visitedIn(at, w.walked) {
			schedule.returned(chosen)
		}
		w.longest = max(w.longest, step+1)
	}
	return "", nil
}

// scheduler returns what chooses the steps of the next walk.
func (w *randomWalker) scheduler(chance *rand.Rand) scheduler {
	switch w.order {
	case PriorityWalks:
		return newPriorities(chance, w.options.ChangePoints, w.longest)
	case SwarmWalks:
		return w.swarmScheduler(chance)
	}
	return &uniform{chance}
}

// swarmScheduler returns the next of the kinds of schedulers: searches that differ find more than the same one that
// goes on for longer (Holzmann, Joshi and Groce, Swarm verification techniques, IEEE Transactions on Software
// Engineering 37, 2011).
func (w *randomWalker) swarmScheduler(chance *rand.Rand) scheduler {
	switch w.walked % 5 {
	case 1:
		return newPriorities(chance, 0, w.longest)
	case 2:
		return &preferUnvisited{chance: chance}
	case 3:
		return newPriorities(chance, 1+chance.IntN(4), w.longest)
	case 4:
		return newPriorities(chance, 8, w.longest)
	}
	return &uniform{chance}
}

// cross takes all steps from a state and stores where they lead.
func (w *randomWalker) cross(id core.StateID) error {
	if err := w.context.Err(); err != nil {
		return err
	}
	s := w.search
	s.executor.Load(s.row(id))
	s.learner.Where = transition.Provenance{State: id}
	w.steps = w.steps[:0]
	c := &crossing{expander: expander{search: s, from: id, depth: s.depths.of.At(int(id))}, walker: w}
	var err error
	if c.quiescent, err = s.executor.Steps(c, nil); err != nil {
		return err
	}
	if c.cut {
		s.markCut(id)
	}
	if !s.expanded.Has(id) {
		s.frontier.(*unordered).count--
	}
	s.finish(id, c.depth, c.counts)
	return nil
}

// crossing stores where the steps of a state lead, and notes them for the scheduler.
type crossing struct {
	expander
	walker *randomWalker
}

// Took implements [transition.Visitor].
func (c *crossing) Took(t *transition.Taken) error {
	if err := c.context.Err(); err != nil {
		return err
	}
	c.steps++
	if !c.learner.Fresh {
		c.known++
	}
	to, err := c.insertCurrent(c.executor, c.from, c.depth+1, nil)
	if err != nil {
		return err
	}
	w := c.walker
	w.steps = append(w.steps, branch{agent: t.Agent(), to: to, visited: c.expanded.Has(to)})
	return nil
}

// shortfall says what the walks have seen, and what they have not.
func (w *randomWalker) shortfall() string {
	visited := w.States() - w.frontier.len()
	remedy := "raise --walks (Options.Walks)"
	if w.longest == w.length {
		remedy += ", or --max-depth (Options.MaxDepth), since walks stop after " + fmt.Sprint(w.length) + " steps"
	}
	reason := fmt.Sprintf("random walks do not visit every state: %d walks (seed %d) visited %d states, and saw %d more next to them; to visit more, %s",
		w.walked, w.options.Seed, visited, w.frontier.len(), remedy)
	estimate := w.coverage.estimate()
	if w.order == SwarmWalks { // these are not all made in the same way
		estimate = w.coverage.lately()
	}
	if estimate != "" {
		reason += "; " + estimate
	}
	return reason
}

// uniform takes each step with the same chance.
type uniform struct{ chance *rand.Rand }

// choose implements [scheduler].
func (e *uniform) choose(steps []branch) int { return e.chance.IntN(len(steps)) }

// returned implements [scheduler].
func (e *uniform) returned(branch) {}

// preferUnvisited prefers states that no walk has come to.
type preferUnvisited struct {
	chance *rand.Rand
	unseen []int
}

// choose implements [scheduler].
func (n *preferUnvisited) choose(steps []branch) int {
	n.unseen = n.unseen[:0]
	for i, step := range steps {
		if !step.visited {
			n.unseen = append(n.unseen, i)
		}
	}
	if len(n.unseen) == 0 {
		return n.chance.IntN(len(steps))
	}
	return n.unseen[n.chance.IntN(len(n.unseen))]
}

// returned implements [scheduler].
func (n *preferUnvisited) returned(branch) {}

// priorities gives every agent a priority at random, and lets the one go first that has the highest. At so many points
// of a walk, chosen at random, whoever would go next falls behind all others. With n agents and runs of k steps, a walk
// with d-1 points shows something wrong that needs d things to happen in a certain order with a chance of at least 1/(n
// k^(d-1)) (Burckhardt, Kothari, Musuvathi and Nagarakatte, A randomized scheduler with probabilistic guarantees of
// finding bugs, ASPLOS 2010).
type priorities struct {
	chance *rand.Rand
	of     map[int]int64
	// points are the steps before which a priority changes.
	points []int
	// step counts the steps of the walk, and lowest is below all priorities.
	step   int
	lowest int64
}

// shortestWalk is how long a walk is taken to be as long as no longer one was seen.
const shortestWalk = 16

func newPriorities(chance *rand.Rand, points, length int) *priorities {
	p := &priorities{chance: chance, of: map[int]int64{}}
	for range points {
		p.points = append(p.points, chance.IntN(max(length, shortestWalk)))
	}
	return p
}

// choose implements [scheduler].
func (p *priorities) choose(steps []branch) int {
	for _, s := range steps {
		if _, known := p.of[s.agent]; !known {
			p.of[s.agent] = p.chance.Int64()
		}
	}
	agent := p.first(steps)
	for _, point := range p.points {
		if point == p.step {
			p.lower(agent)
			agent = p.first(steps)
		}
	}
	p.step++
	var own []int
	for i, s := range steps {
		if s.agent == agent {
			own = append(own, i)
		}
	}
	return own[p.chance.IntN(len(own))]
}

// first returns which of the agents with these steps has the highest priority.
func (p *priorities) first(steps []branch) int {
	return slices.MaxFunc(steps, func(a, b branch) int { return cmp.Compare(p.of[a.agent], p.of[b.agent]) }).agent
}

// lower puts an agent behind all others.
func (p *priorities) lower(agent int) {
	p.lowest--
	p.of[agent] = p.lowest
}

// returned implements [scheduler]: an agent that leads back is one that waits for others, as by asking
// again and again, and goes behind all of them. Otherwise it could go first for ever.
func (p *priorities) returned(step branch) { p.lower(step.agent) }

// coverage tells how much of what walks can come to they have come to.
//
// If all walks are made in the same way, each by itself, then what one more would find that is new is known from those
// there were: as much as one of them found on average that no other one did. This is the estimate of Turing, published
// by Good (The population frequencies of species and the estimation of population parameters, Biometrika 40, 1953); for
// tests of programs see Böhme (STADS: Software testing as species discovery, ACM TOSEM 27, 2018).
type coverage struct {
	// walks are how many walks came to each state, and which the last was.
	walks store.Pages[visits]
	// once counts the states that exactly one walk came to.
	once int
	// found are what each walk came to.
	found []harvest
}

// harvest counts the states that a walk came to, and those of them that none had come to before.
type harvest struct{ all, fresh int }

// visits are the walks that came to a state.
type visits struct {
	last  uint32
	count uint32
}

// visit notes that a walk came to a state. Walks are numbered from 1.
func (c *coverage) visit(id core.StateID, walk int) {
	for c.walks.Len() <= int(id) {
		c.walks.Add(visits{})
	}
	v := c.walks.At(int(id))
	if v.last == uint32(walk) {
		return
	}
	for len(c.found) < walk {
		c.found = append(c.found, harvest{})
	}
	h := &c.found[walk-1]
	h.all++
	switch v.count {
	case 0:
		h.fresh++
		c.once++
	case 1:
		c.once--
	}
	c.walks.Put(int(id), visits{last: uint32(walk), count: v.count + 1})
}

// visitedIn reports whether a walk has come to a state.
func (c *coverage) visitedIn(id core.StateID, walk int) bool {
	return int(id) < c.walks.Len() && c.walks.At(int(id)).last == uint32(walk)
}

// fewWalks is how many walks there must be to tell anything.
const fewWalks = 20

// estimate says which share of the states of one more walk would be new, nothing if there were too few walks.
func (c *coverage) estimate() string {
	if len(c.found) < fewWalks {
		return ""
	}
	return fmt.Sprintf("about %s of the states that one more walk visits would be new (Good-Turing estimate)", percent(c.once, c.sum(0).all))
}

// lately says which share of the states of the last tenth of the walks was new, nothing if there were too few walks.
func (c *coverage) lately() string {
	last := len(c.found) / 10
	if last < fewWalks/10 {
		return ""
	}
	h := c.sum(len(c.found) - last)
	return fmt.Sprintf("of the states that the last %d walks visited, %s were new", last, percent(h.fresh, h.all))
}

// sum adds up what the walks from one on came to.
func (c *coverage) sum(from int) harvest {
	var sum harvest
	for _, h := range c.found[from:] {
		sum.all += h.all
		sum.fresh += h.fresh
	}
	return sum
}

func percent(part, of int) string { return fmt.Sprintf("%.2g%%", 100*float64(part)/float64(of)) }

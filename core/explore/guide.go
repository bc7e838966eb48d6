package explore

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// evenly takes each step with the same chance.
type evenly struct{ chance *rand.Rand }

// choose implements [guide].
func (e *evenly) choose(steps []branch) int { return e.chance.IntN(len(steps)) }

// returned implements [guide].
func (e *evenly) returned(branch) {}

// newcomer prefers states that no walk has come to.
type newcomer struct {
	chance *rand.Rand
	unseen []int
}

// choose implements [guide].
func (n *newcomer) choose(steps []branch) int {
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

// returned implements [guide].
func (n *newcomer) returned(branch) {}

// priorities gives every agent a priority at random, and lets the one go first that has the highest. At so many points of a walk, chosen at
// random, whoever would go next falls behind all others. With n agents and runs of k steps, a walk with d-1 points shows something
// wrong that needs d things to happen in a certain order with a chance of at least 1/(n k^(d-1))
// (Burckhardt, Kothari, Musuvathi and Nagarakatte, A randomized scheduler with probabilistic guarantees of finding bugs, ASPLOS 2010).
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

// choose implements [guide].
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

// returned implements [guide]: an agent that leads back is one that waits for others, as by asking
// again and again, and goes behind all of them. Otherwise it could go first for ever.
func (p *priorities) returned(step branch) { p.lower(step.agent) }

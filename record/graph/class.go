package graph

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// Class is all states from which the same ends can be reached. From one class to another leads no way back.
type Class struct {
	// Outcomes are the numbers of the outcomes that can still be reached, from 0. Those after the first MostOutcomes
	// count as one, of the number MostOutcomes.
	Outcomes []int
	// Open tells that states can be reached whose steps are not recorded, and Trapped that states can be from which no
	// end can.
	Open, Trapped bool
	// States counts the states, and First is the one with the smallest number. Initial tells that initial states are
	// among them.
	States  int
	First   core.StateID
	Initial bool
	// Exits are the ways to other classes, in the order of their numbers.
	Exits []Exit
}

// Exit are the steps from one class to another.
type Exit struct {
	To int
	// Steps are the numbers of these steps, see [record.States.Steps], in their order, and Froms states in which each
	// can be taken.
	Steps []int
	Froms []core.StateID
}

// MostOutcomes is how many outcomes are told apart.
const MostOutcomes = 60

// The marks of what can be reached: one for each outcome, and these.
const (
	openMark    uint64 = 1 << 62
	trappedMark uint64 = 1 << 63
)

// Classes returns the classes in the order of their first states.
func (g *Graph) Classes() []Class { return g.classes }

// ClassOf returns the number of the class of a state.
func (g *Graph) ClassOf(id core.StateID) int { return int(g.classOf[id]) }

// classify finds the classes.
func (g *Graph) classify(ctx context.Context) error {
	reach, err := g.ends(ctx)
	if err != nil {
		return err
	}
	g.spread(reach)
	var trapped []core.StateID
	for id := range reach {
		if reach[id] == 0 {
			reach[id] = trappedMark
			trapped = append(trapped, core.StateID(id))
		}
	}
	g.spreadFrom(reach, trappedMark, trapped)
	numbers := map[uint64]uint32{}
	g.classOf = make([]uint32, g.Len())
	for id, marks := range reach {
		number, known := numbers[marks]
		if !known {
			number = uint32(len(g.classes))
			numbers[marks] = number
			class := Class{Open: marks&openMark != 0, Trapped: marks&trappedMark != 0, First: core.StateID(id)}
			for outcome := range MostOutcomes + 1 {
				if marks&(1<<outcome) != 0 {
					class.Outcomes = append(class.Outcomes, outcome)
				}
			}
			g.classes = append(g.classes, class)
		}
		g.classes[number].States++
		g.classOf[id] = number
	}
	return g.findExits(ctx)
}

// ends returns marks of the states themselves.
func (g *Graph) ends(ctx context.Context) ([]uint64, error) {
	outcomes := map[string]int{}
	var numbers record.Numbers
	for i, outcome := range g.record.Report.OutcomeList {
		if int(outcome.State) < g.Len() {
			g.record.States.Unpack(outcome.State, &numbers)
			outcomes[objectsOf(&numbers)] = i
		}
	}
	reach := make([]uint64, g.Len())
	err := g.each(ctx, func(id core.StateID, numbers *record.Numbers) {
		if numbers.Quiescent {
			if outcome, known := outcomes[objectsOf(numbers)]; known {
				reach[id] |= 1 << min(outcome, MostOutcomes)
			}
		}
		if numbers.Cut || slices.ContainsFunc(numbers.Steps, func(s core.ListedStep) bool { return int(s.To) >= g.Len() }) {
			reach[id] |= openMark
		}
	})
	return reach, err
}

// objectsOf returns what two states share if their objects are the same.
func objectsOf(numbers *record.Numbers) string {
	text := make([]byte, 0, 4*len(numbers.Objects))
	for _, n := range numbers.Objects {
		text = append(text, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return string(text)
}

// spread marks what leads to what is marked.
func (g *Graph) spread(reach []uint64) {
	begins := map[uint64][]core.StateID{}
	for id, marks := range reach {
		for mark := uint64(1); marks != 0; mark <<= 1 {
			if marks&mark != 0 {
				begins[mark] = append(begins[mark], core.StateID(id))
				marks &^= mark
			}
		}
	}
	for mark, states := range begins {
		g.spreadFrom(reach, mark, states)
	}
}

// spreadFrom marks what leads to states that have a mark.
func (g *Graph) spreadFrom(reach []uint64, mark uint64, todo []core.StateID) {
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, before := range g.Before(id) {
			if reach[before]&mark == 0 {
				reach[before] |= mark
				todo = append(todo, before)
			}
		}
	}
}

// findExits finds the steps between classes, each once.
func (g *Graph) findExits(ctx context.Context) error {
	type exit struct{ from, to, step int }
	known := map[exit]core.StateID{}
	err := g.each(ctx, func(id core.StateID, numbers *record.Numbers) {
		from := g.ClassOf(id)
		g.classes[from].Initial = g.classes[from].Initial || numbers.Initial
		for _, step := range numbers.Steps {
			if int(step.To) >= g.Len() || g.ClassOf(step.To) == from {
				continue
			}
			e := exit{from, g.ClassOf(step.To), step.Step}
			if _, found := known[e]; !found {
				known[e] = id
			}
		}
	})
	if err != nil {
		return err
	}
	all := make([]exit, 0, len(known))
	for e := range known {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b exit) int {
		return slices.Compare([]int{a.from, a.to, a.step}, []int{b.from, b.to, b.step})
	})
	for _, e := range all {
		exits := &g.classes[e.from].Exits
		if len(*exits) == 0 || (*exits)[len(*exits)-1].To != e.to {
			*exits = append(*exits, Exit{To: e.to})
		}
		last := &(*exits)[len(*exits)-1]
		last.Steps, last.Froms = append(last.Steps, e.step), append(last.Froms, known[e])
	}
	return nil
}

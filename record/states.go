package record

import (
	"iter"

	"github.com/orrery-dev/orrery/core"
)

// States are the states of a record, numbered from 0. They are kept packed, as they are in a file, so that a million of
// them takes some tens of megabytes. What is asked for is unpacked.
type States struct {
	packed []byte
	// ends are where the states end.
	ends []int
	// objects is how many objects there are, and items and steps what states refer to.
	objects int
	items   []Item
	steps   []Step
	// itemNumbers and stepNumbers are the numbers of items and steps, where the record has none: in the first version.
	itemNumbers map[Item]int
	stepNumbers map[Step]int
}

// Len returns how many states there are.
func (s *States) Len() int { return len(s.ends) }

// At returns a state.
func (s *States) At(id core.StateID) State {
	var numbers Numbers
	s.Unpack(id, &numbers)
	return numbers.state(id, s.items, s.steps)
}

// All returns the states in the order of their numbers.
func (s *States) All() iter.Seq[State] {
	return func(yield func(State) bool) {
		for id := range core.StateID(s.Len()) {
			if !yield(s.At(id)) {
				return
			}
		}
	}
}

// Unpack sets a state in numbers, of which it uses the memory again.
func (s *States) Unpack(id core.StateID, to *Numbers) {
	begin := 0
	if id > 0 {
		begin = s.ends[id-1]
	}
	if err := to.unpack(s.packed[begin:s.ends[id]], id, s.objects, len(s.items), len(s.steps)); err != nil {
		panic("record: " + err.Error()) // it was accepted when it was read
	}
}

// Items are the items that states refer to by numbers.
func (s *States) Items() []Item { return s.items }

// Steps are the steps that states refer to by numbers, without where they lead.
func (s *States) Steps() []Step { return s.steps }

// add adds the next state, of the second version.
func (s *States) add(state packed) {
	s.packed = append(s.packed, state...)
	s.ends = append(s.ends, len(s.packed))
}

// addFirst adds the next state, of the first version.
func (s *States) addFirst(state State) {
	numbers := Numbers{Initial: state.Initial, Cut: state.Cut, Quiescent: state.Quiescent, Objects: state.Objects}
	if s.itemNumbers == nil {
		s.itemNumbers, s.stepNumbers = map[Item]int{}, map[Step]int{}
	}
	for _, item := range state.Work {
		numbers.Work = append(numbers.Work, numberOf(item, s.itemNumbers, &s.items))
	}
	for _, item := range state.Timers {
		numbers.Timers = append(numbers.Timers, numberOf(item, s.itemNumbers, &s.items))
	}
	for _, step := range state.Steps {
		to := step.To
		step.To = 0
		numbers.Steps = append(numbers.Steps, core.ListedStep{Step: numberOf(step, s.stepNumbers, &s.steps), To: to})
	}
	s.add(appendPacked(nil, state.ID, &numbers))
}

// numberOf returns the number of what is among others, or is added to them.
func numberOf[E comparable](e E, numbers map[E]int, all *[]E) int {
	number, known := numbers[e]
	if !known {
		number = len(*all)
		numbers[e] = number
		*all = append(*all, e)
	}
	return number
}

package reduction

// Reducer leaves out orders of steps that cannot matter. It knows neither controllers nor objects, only
// agents and what they may touch.
//
// An agent is something that takes steps one after the other: a work item of a controller, the delivery to a view,
// the restarts of a controller.
type Reducer interface {
	// Learn is told what is known of all agents, by number, and which places are looked at by what is
	// checked. It returns what makes a chooser for each goroutine that searches.
	Learn(footprints []Footprint, visible []Place) func() Chooser
}

// Chooser chooses which agents have to be followed in a state. It is used by one goroutine at a time.
type Chooser interface {
	// Choose returns what has to be followed in a state. It must be a function of its argument, which it must not keep.
	// The choice is valid until the next call.
	Choose(enabled []Enabled) Choice
	// Alone reports whether an agent may be followed alone if this is how its step may go. It is asked about all ways
	// in which it may, one after the other. It must be a function of its argument, which it must not keep.
	Alone(*Way) bool
	// Commute reports whether the steps of two agents that are followed in the state of the last choice lead to the
	// same state in either order, and whoever goes second is followed behind the step of the first, unless agents like
	// that are put off somewhere.
	Commute(agent, other int) bool
	// Group returns the number of the group of an agent, negative if too little is known of it. Whether agents of one
	// group can take steps, what these do, and whether properties see it has nothing to do with those of other groups,
	// and those that a choice follows are of one.
	Group(agent int) int
}

// Choice is what has to be followed in a state.
type Choice struct {
	// Follow are the numbers of agents, in order; nil stands for all that are enabled.
	Follow []int
	// PutOff are enabled agents that are not followed, although they may have been before a step of one that is: what
	// an order of steps that was followed becomes if they are swapped is not followed then.
	PutOff []int
}

// Place numbers something that steps may touch: an object, the objects of a kind in a namespace, a view, a budget.
type Place uint32

// Footprint is what an agent may touch, now or later, as far as it is known.
type Footprint struct {
	// Known tells that the agent has taken a step. What others may touch is open.
	Known bool
	// Everything tells that the agent may touch whatever there is.
	Everything bool
	// Takes tells that the agent takes out of a queue what others put there.
	Takes bool
	// Reads and Writes are the places it looks at and changes, each once and in order.
	Reads, Writes []Place
	// Alters are the lists that what it writes may be in: it matters to who reads such a list, but not to who alters
	// it, too.
	Alters []Place
	// Wakes are the agents that it may enable by putting work into a queue, or by setting a timer for it, in order.
	Wakes []int
	// Gates are the places that may keep it from taking a step, in order.
	Gates []Place
	// Missed are the places it looks at of which somebody else may change what it sees without putting its work into a
	// queue, in order; MissedInViews are those of them that it sees through a view which may lag behind, and are not
	// among the others.
	Missed, MissedInViews []Place
}

// Way is how the step of an agent that takes its work out of a queue goes in a state.
type Way struct {
	Agent int
	// Faulty tells that calls fail on the way.
	Faulty bool
	// Changes tells that more is different behind the step than the agent's own work and how many calls may yet fail,
	// and Wakes that it puts other work into queues, or sets timers for it, be it there already or not.
	Changes, Wakes bool
	// Again tells that the agent's work is in the queue behind it, and Timed that there is a timer for it that was not
	// there before.
	Again, Timed bool
	// Looks are the places that it looks at, as the agent sees them.
	Looks []Place
	// Lasting tells that it does nothing, and that it would do as little whatever it may see in those of them that are
	// missed.
	Lasting bool
}

// Enabled is an agent that can take a step in a state.
type Enabled struct {
	Agent int
	// Due tells that it takes the step sooner or later, unless others keep it from it: not what users do, nor those of
	// whom no fairness is assumed.
	Due bool
	// Now is what the step itself may touch, nil for all that the agent may.
	Now *Footprint
}

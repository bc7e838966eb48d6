// Package periodic finds out of a search in which a long time passes a few times whether it would find anything new if
// that went on for ever.
package periodic

// Rest is what is known of a state in which nothing is to be done but to let a long time pass.
type Rest struct {
	// Is tells that it is such a state, and Open that time passes from there in the search, as often as it may pass
	// from the start.
	Is, Open bool
	// Class is the same for states of which each is as the other one but for the time that has passed: all times in it
	// are as long ago.
	Class int
	// Shows is the same for states whose objects differ in nothing but times, rests or not.
	Shows int
}

// What may come of a state: no rest, those of several classes, or those of one, which is the number of the class.
const (
	never   = -1
	several = -2
)

// Recurs reports whether each state in which time does not pass any more has a twin in which it does, from which the
// next rest is like that twin again, whatever is done until then, and nothing but times is another one in between. Then
// all that would be done is what is done at the twin, and it comes to nothing new, however often time passes. Next
// returns where controllers may go from a state, and from a rest where time may get to. What fails or what users do is
// left out, as that is bounded: as often as it may still happen is a part of the state, and what comes of it has twins
// of its own.
func Recurs(rests []Rest, next func(state int) []int) bool {
	comes := make([]int, len(rests))
	before := make([][]int, len(rests))
	var changed []int
	for state, rest := range rests {
		if comes[state] = never; rest.Is {
			comes[state] = rest.Class
			changed = append(changed, state)
			continue
		}
		for _, to := range next(state) {
			before[to] = append(before[to], state)
		}
	}
	// over is what may come of a step to a state: what changes objects on the way comes around only with that.
	over := func(from, to int) int {
		if rests[from].Shows != rests[to].Shows {
			return several
		}
		return comes[to]
	}
	for len(changed) > 0 {
		state := changed[len(changed)-1]
		changed = changed[:len(changed)-1]
		for _, from := range before[state] {
			if joined := join(comes[from], over(from, state)); joined != comes[from] {
				comes[from] = joined
				changed = append(changed, from)
			}
		}
	}
	stays := map[int]bool{}
	for state, rest := range rests {
		if !rest.Is || !rest.Open {
			continue
		}
		comesNext := never
		for _, to := range next(state) {
			comesNext = join(comesNext, over(state, to))
		}
		known, before := stays[rest.Class]
		stays[rest.Class] = comesNext == rest.Class && (known || !before)
	}
	ends := false
	for _, rest := range rests {
		if rest.Is && !rest.Open {
			if ends = true; !stays[rest.Class] {
				return false
			}
		}
	}
	return ends
}

// join returns what may come of a state if either of two things may.
func join(one, other int) int {
	switch {
	case one == never:
		return other
	case other == never || one == other:
		return one
	}
	return several
}

// Package fair judges which runs are fair, and finds those that go on for ever.
//
// A run is fair if each step that stays possible from some point on is taken (weak fairness), and if some steps are
// taken whenever they are possible again and again (strong fairness): timers always, as one that is set stays set until
// it fires, and all where strong fairness is assumed. Which steps count as possible in a state, although the graph does
// not show them, [Waiting] says.
//
// What goes on for ever stays in a strongly connected component of places, in the end. [Search] finds the parts of one
// in which a fair run can pass through every place again and again: with weak fairness of a step it is all of it or
// nothing, as a step that is possible everywhere and never taken inside is so in every part. A step of which strong
// fairness is assumed and that is never taken inside must never be possible, so the places in which it is are left out,
// and what remains is searched (Emerson and Lei, Modalities for model checking, 1987). [Cycle] tells of such a run: a
// short cycle that is fair.
//
// Places are states, or states together with those of an automaton, as a [Space] has them.
package fair

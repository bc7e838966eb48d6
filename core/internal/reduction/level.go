package reduction

import (
	"errors"

	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// level is the part of an explorer that finds an agent which may be followed alone, as its step does nothing and
// whatever changes what it looked at wakes it: see [Chooser.Alone].
type level struct {
	// Level tells that one was found in the state for which agents were chosen last.
	Level bool
	// Learned are the agents that code was run of to find out.
	Learned []int
	// way is how a step may go, and fits tells that the agent may be followed alone as far as it was asked.
	way  Way
	fits bool
}

// errUnfit ends the visit of the ways in which a step may go.
var errUnfit = errors.New("the agent cannot be followed alone")

// alone finds an agent that may be followed alone in the state of the walker.
func (w *Explorer) alone() (agent int, found bool, err error) {
	if w.Machine.Conditions.Granularity != transition.PerReconcile {
		return 0, false, nil
	}
	for _, it := range w.Machine.Items {
		// If nobody forces the one that is followed to act, as nobody forces users, a run seems to end where others are
		// left out that are forced to.
		if it.Actor.Atomic || it.Actor.Unfair {
			continue
		}
		w.fits = false
		if err := w.StepsOf(fitting{w}, it); err != nil && !errors.Is(err, errUnfit) {
			return 0, false, err
		}
		if w.fits {
			return it.Agent, true, nil
		}
	}
	return 0, false, nil
}

// fitting asks about the ways in which the step of an agent may go.
type fitting struct{ *Explorer }

// Took implements [transition.Visitor].
func (w fitting) Took(t *transition.Taken) error {
	if w.Learn != nil && w.Learn.Fresh {
		w.Learned = append(w.Learned, t.Agent())
	}
	if err := w.describe(t); err != nil {
		return err
	}
	if w.fits = w.chooser.Alone(&w.way); !w.fits {
		return errUnfit
	}
	return nil
}

// Stopped implements [transition.Visitor]. Who cannot be followed to the end of a step is not followed alone.
func (w fitting) Stopped(_ *transition.Taken, err error) error {
	w.fits = false
	if transition.Ends(err) {
		return errUnfit
	}
	return err
}

// describe describes the step that the walker has taken.
func (w *Explorer) describe(t *transition.Taken) (err error) {
	way := &w.way
	*way = Way{Agent: t.Agent(), Faulty: t.Faulty(), Changes: w.Wrote, Wakes: len(w.wakes.woken)+len(w.wakes.timed) > 0, Looks: way.Looks[:0]}
	for _, touched := range w.Touched {
		way.Changes = way.Changes || touched.Cell != w.Machine.Failures && touched.Cell != t.Item.Cell
	}
	now, was := w.Value(t.Item.Cell), w.Previous(t.Item.Cell)
	way.Again = now&state.Queued != 0
	way.Timed = now&^was&state.Timed != 0
	way.Changes = way.Changes || (now^was)&state.Behind != 0 || now.Long() != was.Long() // its next run may see another time
	for _, answered := range w.Asked {
		way.Looks = append(way.Looks, w.Footprints.looks[answered].places...)
	}
	for _, c := range w.Recalled {
		way.Looks = append(way.Looks, w.Footprints.places[memoryPlace(w, c)])
	}
	if !way.Faulty && !way.Changes && !way.Wakes && !way.Again && !way.Timed {
		way.Lasting, err = w.Footprints.lasts(w, t.Item, way.Looks)
	}
	return err
}

package naive

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// restless is a strategy whose process may work between activations.
type restless interface {
	Remembering

	// Restless reports whether the process works between activations, and Lanes how many calls it may have wait then.
	Restless() bool
	Lanes() int
}

// background is an instance whose process works between activations.
type background interface {
	core.Instance
	mindful

	// Waiting returns how many calls wait, and Work goes on with one of them, up to the end.
	Waiting() int
	Work(turn int, recorder core.EffectRecorder)
	// Alarmed reports whether time will bring anything, and Ring is what.
	Alarmed() bool
	Ring()
}

// restless returns the one of a crew that tells what its process does between activations, nil if it does nothing.
func (c crew) restless() restless {
	for _, p := range c {
		if r, ok := p.strategy.(restless); ok && r.Restless() {
			return r
		}
	}
	return nil
}

// worker is what the process of a restless strategy does between activations, as a strategy with an action.
type worker struct{ restless }

// Apart implements [apart].
func (w worker) Apart() string {
	if a, ok := w.restless.(apart); ok {
		return a.Apart()
	}
	return ""
}

// Remember implements [Remembering].
func (w worker) Remember(memory string) core.Instance {
	return working{w.restless.Remember(memory).(background)}
}

// working is the background of a process at work.
type working struct{ background }

// Reconcile implements [core.Instance].
func (w working) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	turn, err := strconv.Atoi(string(request))
	if err != nil {
		panic(err)
	}
	if turn > w.Waiting() {
		return core.Result{Blocked: true}
	}
	w.Work(turn-1, recorder)
	return core.Result{}
}

// withBackground returns a crew with what its process does between activations, if it does anything.
func (c crew) withBackground(conditions Conditions) crew {
	r := c.restless()
	if r == nil {
		return c
	}
	b := c.background(r)
	b.mortal = slices.ContainsFunc(c, conditions.faulty)
	return append(c, b)
}

// background returns what a process does between activations.
func (c crew) background(r restless) player {
	var lanes []core.Request
	for lane := range r.Lanes() {
		lanes = append(lanes, core.Request(strconv.Itoa(lane+1)))
	}
	return player{
		Description: core.Description{Name: core.Background(c.name()), Process: c.name(), Standing: lanes},
		strategy:    worker{r}, background: true,
	}
}

// elapse returns what the time makes of a state in which nothing else is to be done, and false if it does nothing to a
// crew.
func (s State) elapse(c crew) (State, bool) {
	r := c.restless()
	if r == nil {
		return s, false
	}
	memory := c.background(r).memory()
	before, _, _ := strings.Cut(s.memories[memory], later)
	instance := r.Remember(before).(background)
	if !instance.Alarmed() {
		return s, false
	}
	instance.Ring()
	s.memories = maps.Clone(s.memories)
	if s.memories[memory] = since(instance.Remembers(), 0); instance.Remembers() == "" {
		delete(s.memories, memory)
	}
	return s, true
}

package transition

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// leads is a step of a state, and the row of where it leads.
type leads struct {
	step Taken
	row  []byte
}

// steps is a visitor that keeps all steps.
type steps struct {
	walker *Walker
	all    []leads
}

func (s *steps) Took(t *Taken) error {
	s.all = append(s.all, leads{*t, s.walker.AppendRow(nil)})
	return nil
}

func (*steps) Stopped(_ *Taken, err error) error { return err }

// of returns the steps that meet a condition, by names.
func (s *steps) of(is func(t *Taken) bool) []string {
	var names []string
	for _, l := range s.all {
		if is(&l.step) {
			names = append(names, l.step.Step().String()+" to "+string(l.row))
		}
	}
	slices.Sort(names)
	return names
}

// ways has the steps of a state be the same however they are taken: all of them, those of one agent or of one item, one
// that is chosen by its name, or one that is taken by itself.
func (f *found) ways(t *testing.T) {
	t.Helper()
	w := NewWalker(f.learner.Machine, f.learner)
	every := func(*Taken) bool { return true }
	for _, row := range f.rows[:min(len(f.rows), 40)] {
		w.Load(row)
		all := &steps{walker: w}
		quiescent, err := w.Steps(all, nil)
		if err != nil {
			return // some cannot be taken to their ends
		}
		due := slices.ContainsFunc(all.all, func(l leads) bool { return l.step.due() })
		if quiescent == due {
			t.Errorf("it is quiescent: %t, and controllers have steps: %t", quiescent, due)
		}
		atOnce := func(step *Taken) bool {
			return !step.Kind.Timed() && step.Kind != core.Restart
		}
		for agent := range w.Machine.Agents {
			only := make([]bool, w.Machine.Agents)
			only[agent] = true
			some := &steps{walker: w}
			quiescent, err := w.Steps(some, only)
			own := all.of(func(step *Taken) bool { return step.Agent() == agent && atOnce(step) })
			if got := some.of(every); err != nil || quiescent || !slices.Equal(got, own) {
				t.Errorf("agent %d alone takes %q, want %q, %v", agent, got, own, err)
			}
		}
		for _, it := range w.Machine.Items {
			some := &steps{walker: w}
			err := w.StepsOf(some, it)
			own := all.of(func(step *Taken) bool { return step.Item == it && atOnce(step) })
			if got := some.of(every); err != nil || !slices.Equal(got, own) {
				t.Errorf("for %s there are the steps %q, want %q, %v", it, got, own, err)
			}
		}
		for n := range all.all {
			few := &looking{ends: n + 1}
			if got, err := w.Steps(few, nil); !errors.Is(err, errEnough) || len(few.steps) != n+1 {
				t.Errorf("the visit goes on behind step %d of %d: %q, %t, %v", n+1, len(all.all), few.steps, got, err)
			}
			w.undo()
		}
		for _, l := range all.all {
			one := &steps{walker: w}
			if err := w.Try(one, l.step); err != nil || len(one.all) != 1 || !bytes.Equal(one.all[0].row, l.row) {
				t.Errorf("%s, taken by itself, leads to %v, %v", l.step.Step(), one.all, err)
			}
			if !bytes.Equal(w.AppendRow(nil), row) {
				t.Fatal("the walker is somewhere else")
			}
			chosen, err := w.Choose(l.step.Step())
			if err != nil || chosen == nil || chosen.Step() != l.step.Step() || !bytes.Equal(w.AppendRow(nil), l.row) {
				t.Errorf("%s, chosen, is %v, %v", l.step.Step(), chosen, err)
			}
			w.Load(row)
			if l.step.Kind != core.Reconcile || l.step.Faulty() {
				continue
			}
			if probed, err := w.Probe(l.step.Step()); err != nil || probed == nil || probed.Step() != l.step.Step() || !bytes.Equal(w.AppendRow(nil), l.row) {
				t.Errorf("%s, tried, is %v, %v", l.step.Step(), probed, err)
			}
			w.Load(row)
		}
		if chosen, err := w.Choose(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "nobody"}}); chosen != nil || err != nil {
			t.Errorf("a step that there is not is chosen: %v, %v", chosen, err)
		}
		w.Load(row)
	}
}

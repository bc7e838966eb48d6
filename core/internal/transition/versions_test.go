package transition

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/internal/random"
)

// raw is a store whose versions are their own canonical forms.
type raw struct{ core.Store }

func (raw) Normalize(_ core.Key, versions []core.Content) []core.Content { return versions }

// unversioned returns texts without the names of versions, each once.
func unversioned(texts []string) []string {
	var all []string
	for _, text := range texts {
		parts := strings.Split(text, "@")
		for i := 1; i < len(parts); i++ {
			parts[i] = strings.TrimLeft(parts[i], "0123456789")
		}
		all = append(all, strings.Join(parts, "@"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// normal has all states be in their canonical forms: whatever a step has to do with, nothing is named afresh any more.
func (f *found) normal(t *testing.T) {
	t.Helper()
	w := NewWalker(f.learner.Machine, f.learner)
	for i, row := range f.rows {
		w.Load(row)
		for c, value := range slices.Clone(w.Vector) {
			w.Set(state.Cell(c), 0)
			w.Set(state.Cell(c), value)
		}
		if err := w.normalize(); err != nil || string(w.AppendRow(nil)) != string(row) {
			t.Errorf("a state is not in its canonical form: %s, %v", f.states[i], err)
		}
	}
}

// TestVersions compares systems with versions of objects with the same ones in which versions are never named afresh: but for the names of versions, the states and the steps
// are the same, and there are fewer where versions matter that somebody has held.
func TestVersions(t *testing.T) {
	for _, family := range []struct {
		generate     func(uint64) (*core.System, error)
		seeds, fewer []uint64
	}{{random.Loose, []uint64{82, 91, 139}, []uint64{196, 234}}, {random.Narrow, []uint64{12, 15, 60, 154, 178, 257}, []uint64{19}}} {
		for _, seed := range slices.Concat(family.fewer, family.seeds) {
			system, err := family.generate(seed)
			if err != nil {
				t.Fatal(err)
			}
			c, _ := conditionsOf(rand.New(rand.NewPCG(seed, 1)), system)
			f := explored(t, system, c)
			f.known(t)
			f.normal(t)
			plain := *system
			plain.Store = raw{system.Store}
			g := explored(t, &plain, c)
			if !slices.Equal(unversioned(f.states), unversioned(g.states)) || !slices.Equal(unversioned(f.steps), unversioned(g.steps)) {
				t.Errorf("seed %d: there are %d states and %d steps, and %d and %d where versions are not named afresh", seed, len(f.states), len(f.steps), len(g.states), len(g.steps))
			}
			if fewer := slices.Contains(family.fewer, seed); fewer != (len(f.states) < len(g.states)) {
				t.Errorf("seed %d: there are %d states, and %d where versions are not named afresh", seed, len(f.states), len(g.states))
			}
		}
	}
}

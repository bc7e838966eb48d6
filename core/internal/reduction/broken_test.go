package reduction

import (
	"errors"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// breaking is a store that cannot answer from some call on, or rename from some time on.
type breaking struct {
	core.Store
	calls, names *int
}

func (b breaking) Answer(s core.Snapshot, call core.Call) (core.Answer, error) {
	if *b.calls--; *b.calls < 0 {
		return core.Answer{}, errBroken
	}
	return b.Store.Answer(s, call)
}

// Rename implements [core.Renamer].
func (b breaking) Rename(o core.Object, renaming core.Renaming) core.Object {
	if *b.names--; *b.names < 0 {
		return core.Object{Key: core.Key{Kind: "lost", Name: o.Key.Name}, Content: o.Content}
	}
	return b.Store.(core.Renamer).Rename(o, renaming)
}

// TestChecksThatBreak has a store break at each call, and lose objects at each renaming: whoever merges states must be told.
func TestChecksThatBreak(t *testing.T) {
	c := newColors()
	const many = 1 << 20
	// try goes through all that is done with names, and returns how much the store was asked for, and the errors.
	try := func(t *testing.T, calls, names int) (int, int, error) {
		system := c.system(t, paints(func(w *plain.World, name string) core.Result { c.at.Named(name).Set(w, 1); return core.Result{} }))
		b := breaking{system.Store, &calls, &names}
		system.Store = b
		w := merging(t, system)
		row := w.AppendRow(nil)
		for _, do := range []func() error{
			func() error {
				_, err := w.Steps(visiting(func(*transition.Taken) error {
					_, _, err := w.Pack(nil)
					return err
				}), nil)
				return err
			},
			w.Checker.CheckStarts,
			func() error { return w.Checker.Show(0, row, func(s core.State) { c.at.All(s) }) },
		} {
			if err := do(); err != nil {
				return calls, names, err
			}
		}
		return calls, names, nil
	}
	calls, names, err := try(t, many, many)
	if err != nil {
		t.Fatal(err)
	}
	for n := range many - calls {
		if _, _, err := try(t, n, many); !errors.Is(err, errBroken) {
			t.Errorf("the store breaks at call %d of %d: %v", n+1, many-calls, err)
		}
	}
	// An object that becomes another one is noticed when it is renamed back, if not before. Nothing is renamed after that.
	for n := 0; n < many-names; n++ {
		var apart Apart
		if _, left, err := try(t, many, n); left < 0 && !errors.As(err, &apart) || left < -5 {
			t.Errorf("objects are lost from renaming %d of %d on, and %d more are renamed: %v", n+1, many-names, -left, err)
		}
	}
}

package reduction

import (
	"errors"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
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

// TestChecksThatBreak has a store break at each call, and lose objects at each renaming: whoever merges states must be
// told at once.
func TestChecksThatBreak(t *testing.T) {
	c := newColors()
	const many = 1 << 20
	for name, do := range map[string]func(w *Explorer, row []byte) error{
		"steps": func(w *Explorer, _ []byte) error {
			_, err := w.Steps(visiting(func(*transition.Taken) error {
				_, _, err := w.Pack(nil)
				return err
			}), nil)
			return err
		},
		"packing": func(w *Explorer, _ []byte) error { _, _, err := w.Pack(nil); return err },
		"starts":  func(w *Explorer, _ []byte) error { return w.Checker.CheckStarts() },
		"predicates": func(w *Explorer, row []byte) error {
			return w.Checker.Show(0, row, func(s core.State) { c.at.All(s); s.Get(core.Key{Kind: c.at.Kind(), Name: "a-never"}) })
		},
		"checks": func(w *Explorer, _ []byte) error { return w.Checker.check(w.Machine.Items[0], w.Vector) },
	} {
		// try returns how often the store can still be asked after that, and the error.
		try := func(calls, names int) (int, int, error) {
			system := c.system(t, paints(func(w *plain.World, name string) core.Result {
				c.at.Named("never-" + name).Lookup(w) // what is not there is renamed as well
				c.at.Named(name).Set(w, 1)
				return core.Result{}
			}))
			system.Store = breaking{system.Store, &calls, &names}
			w := merging(t, system)
			err := do(w, w.AppendRow(nil))
			return calls, names, err
		}
		calls, names, err := try(many, many)
		if err != nil || names == many {
			t.Fatalf("%s: %d renamings, %v", name, many-names, err)
		}
		for n := range many - calls {
			if _, _, err := try(n, many); !errors.Is(err, errBroken) {
				t.Errorf("%s: the store breaks at call %d of %d: %v", name, n+1, many-calls, err)
			}
		}
		// An object that becomes another one is noticed when it is renamed back, if not before. Hardly anything is
		// renamed after that. That names are only looked for does no harm.
		for n := range many - names {
			var apart Apart
			if _, left, err := try(many, n); !errors.As(err, &apart) && (err != nil || left < -2) || left < -6 {
				t.Errorf("%s: objects are lost from renaming %d of %d on, and %d more are renamed: %v", name, n+1, many-names, -left, err)
			}
		}
	}
}

// misnaming is a store that calls things by what they hold: what holds the name a is 1, and what holds b is 2. Anything
// else keeps its name.
type misnaming struct{ core.Store }

// Rename implements [core.Renamer].
func (misnaming) Rename(o core.Object, renaming core.Renaming) core.Object {
	held, isText := o.Content.(text)
	if !isText {
		return o
	}
	held = text(renaming(string(held)))
	if name, known := map[text]string{"a": "1", "b": "2"}[held]; known {
		o.Key.Name = name
	}
	return core.Object{Key: o.Key, Content: held}
}

// TestTwoThatBecomeOne has no state be merged in which two objects become the same one: one of them holds a name, and
// so moves to where the other one is that held one once.
func TestTwoThatBecomeOne(t *testing.T) {
	system := newColors().system(t, paints(func(*plain.World, string) core.Result { return core.Result{} }))
	system.Store = misnaming{system.Store}
	w := merging(t, system)
	v := w.Machine.Vocabulary
	one, two := v.Object(core.Key{Kind: "held", Name: "1"}), v.Object(core.Key{Kind: "held", Name: "2"})
	a, b, other := v.Intern(one, text("a")), v.Intern(two, text("b")), v.Intern(two, text("z"))
	swap := w.Symmetry.Identity()
	swap[0], swap[1] = 1, 0
	for _, test := range []struct {
		name      string
		one, two  state.Value
		wantOne   state.Value
		wantTwo   state.Value
		wantApart bool
	}{
		{"both hold names", a, b, a, b, false},
		{"one is there, and moves", a, 0, 0, b, false},
		{"one moves to where another one stays", a, other, 0, 0, true},
	} {
		w.Load(w.AppendRow(nil))
		w.Set(one, test.one)
		w.Set(two, test.two)
		image, err := w.Image(w.Vector, swap)
		var apart Apart
		if errors.As(err, &apart) != test.wantApart || !test.wantApart && err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if err == nil && (image.Value(one) != test.wantOne || image.Value(two) != test.wantTwo) {
			t.Errorf("%s: they become %v", test.name, image)
		}
	}
}

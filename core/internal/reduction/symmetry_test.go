package reduction

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// merging returns an explorer of a system that merges states and checks that names are treated alike, at the start.
func merging(t *testing.T, system *core.System) *Explorer {
	t.Helper()
	w := exploring(t, system, transition.Conditions{}, nil)
	row := w.AppendRow(nil)
	x := Interchange(w.Machine)
	if x == nil {
		t.Fatal("the store cannot rename")
	}
	w = NewExplorer(w.Machine, w.Learn, &Reductions{Symmetry: x})
	checker := NewExplorer(w.Machine, w.Learn, &Reductions{Symmetry: x})
	w.Checker = NewChecker(checker, func(err error) bool { return errors.Is(err, transition.ErrStopped) })
	w.Checker.Starts = [][]byte{row}
	w.Load(row)
	return w
}

// colors are those of three things whose names are interchangeable, and a number that is not about them.
type colors struct {
	at    plain.Family[int]
	other plain.Var[int]
	best  plain.Var[string]
}

func newColors() colors {
	return colors{plain.NewFamily[int]("at"), plain.NewVar[int]("other"), plain.NewVar[string]("best")}
}

// system returns a system with controllers of the things, which start with the color 0.
func (c colors) system(t *testing.T, controllers ...plain.Controller) *core.System {
	t.Helper()
	start := plain.Start(c.at.Named("a").Is(0), c.at.Named("b").Is(0), c.at.Named("c").Is(0), c.other.Is(0), c.best.Is(""))
	return made(t, plain.Model{Initial: []core.Initial{start}, Controllers: controllers, Interchangeable: [][]string{{"a", "b", "c"}}})
}

// paints is a controller that has a request for each thing.
func paints(do func(*plain.World, string) core.Result) plain.Controller {
	return plain.Controller{
		Name: "paints", Requests: []core.Request{"a", "b", "c"},
		Reconcile: func(w *plain.World, r core.Request) core.Result { return do(w, string(r)) },
	}
}

// TestPack has one row stand for all states that are equal up to names, and different rows for all others. Each of
// three things has one of two colors, and work to do or not; one of them is the best, or none. Up to names, there are
// 20 states in which none is, as so many multisets of three have members of four sorts, and 4×10 in which one is.
func TestPack(t *testing.T) {
	c := newColors()
	w := merging(t, c.system(t, paints(func(*plain.World, string) core.Result { return core.Result{} })))
	v := w.Machine.Vocabulary
	names := []string{"a", "b", "c"}
	var cells, items []state.Cell
	values := make([]state.Value, 2)
	for _, name := range names {
		cell, _ := v.Lookup(c.at.Named(name).Key())
		cells = append(cells, cell)
		for color := range values {
			values[color] = v.Intern(cell, c.at.Named(name).Is(color).Content)
		}
		items = append(items, item(t, w, "paints", core.Request(name)).Cell)
	}
	best, _ := v.Lookup(c.best.Key())
	// There is something that was once known of one of them.
	was := v.Object(plain.NewFamily[int]("was").Named("a").Key())
	v.Intern(was, c.at.Named("a").Is(1).Content)
	cellsBefore := 0
	bests := map[string]state.Value{}
	for _, name := range append([]string{""}, names...) {
		bests[name] = v.Intern(best, c.best.Is(name).Content)
	}
	// same names what all states have in common that are equal up to names: the sorted list of what is true of each.
	rows, classes := map[string]string{}, map[string]string{}
	for n := range 64 * 4 {
		w.Load(w.AppendRow(nil))
		var each []string
		chosen := append([]string{""}, names...)[n%4]
		w.Set(best, bests[chosen])
		for i, name := range names {
			code := n / 4 >> (2 * i) & 3
			w.Set(cells[i], values[code&1])
			w.Set(items[i], state.Value(code>>1)*state.Queued)
			each = append(each, fmt.Sprint(code, name == chosen))
		}
		w.Forget()
		slices.Sort(each)
		class := strings.Join(each, " ")
		if n == 4 {
			cellsBefore = v.Cells()
		}
		row, tag, err := w.Pack([]byte("before "))
		if err != nil {
			t.Fatal(err)
		}
		row, whole := bytes.CutPrefix(row, []byte("before "))
		if !whole {
			t.Fatalf("the row is not appended: %q", row)
		}
		if before, known := classes[class]; known && before != string(row) {
			t.Fatalf("the state %d has another row than one that is equal up to names", n)
		}
		if before, known := rows[string(row)]; known && before != class {
			t.Fatalf("the state %d has the row of one that is another: %s, %s", n, class, before)
		}
		classes[class], rows[string(row)] = string(row), class
		var vector state.Vector
		vector, fingerprint, _ := v.Unpack(row, vector)
		if fingerprint.Lo != tag || fingerprint != v.Fingerprint(vector) {
			t.Fatalf("the row of the state %d has another tag", n)
		}
		if again, other, known := w.PackKnown(nil); !known || !bytes.Equal(again, row) || other != tag {
			t.Fatalf("the state %d has another row the second time", n)
		}
		// The row is that of the image by the arrangement that was found.
		image, err := w.Image(w.Vector, w.Arrangement)
		if err != nil || !bytes.Equal(image.AppendRow(nil), row) {
			t.Fatalf("the image of the state %d is %v: %v", n, image, err)
		}
	}
	if v.Cells() != cellsBefore {
		t.Errorf("%d things are made up of which there are none", v.Cells()-cellsBefore)
	}
	if len(rows) != 20+40 {
		t.Errorf("there are %d states up to names, want 20 without a best one and 4×10 with one", len(rows))
	}
	// Without names that are interchangeable, a row is that of the state.
	plainly := NewExplorer(w.Machine, w.Learn, &Reductions{})
	plainly.Load(w.AppendRow(nil))
	if row, tag, known := plainly.PackKnown(nil); !known || !bytes.Equal(row, w.AppendRow(nil)) || tag != w.Fingerprint.Lo {
		t.Error("a state has another row although nothing is merged")
	}
}

// TestPackKnown has one that may not learn pack only states of which it is known what they say about names, and what
// becomes of them.
func TestPackKnown(t *testing.T) {
	c := newColors()
	w := merging(t, c.system(t, paints(func(*plain.World, string) core.Result { return core.Result{} })))
	reader := NewExplorer(w.Machine, nil, w.Reductions)
	row := w.AppendRow(nil)
	reader.Load(row)
	if _, _, known := reader.PackKnown(nil); known {
		t.Error("a state is packed of which nothing is known")
	}
	turned := w.Symmetry.Identity()
	turned[0], turned[1], turned[2] = 2, 0, 1
	if _, err := reader.Image(reader.Vector, turned); !errors.Is(err, transition.ErrUnknown) {
		t.Errorf("what becomes of a state is known of which nothing is: %v", err)
	}
	for _, name := range []string{"a", "b", "c"} { // one of them is not in its place
		cell, _ := w.Machine.Vocabulary.Lookup(c.at.Named(name).Key())
		w.Load(row)
		w.Set(cell, w.Machine.Vocabulary.Intern(cell, c.at.Named(name).Is(1).Content))
		w.Forget()
		if err := w.arrange(); err != nil {
			t.Fatal(err)
		}
		if w.Arrangement.Moves() {
			break
		}
	}
	reader.Load(w.AppendRow(nil))
	if got, _, known := reader.PackKnown(nil); known {
		t.Errorf("a state is packed of which it is not known what becomes of it: %v", got)
	}
	want, tag, err := w.Pack(nil)
	if err != nil {
		t.Fatal(err)
	}
	reader.Load(w.AppendRow(nil))
	if got, other, known := reader.PackKnown(nil); !known || !bytes.Equal(got, want) || other != tag {
		t.Error("a state is not packed of which all is known")
	}
	a := w.Symmetry.Identity()
	a[0], a[1], a[2] = 1, 2, 0
	if _, err := reader.Image(reader.Vector, a); err == nil || !errors.Is(err, transition.ErrUnknown) {
		t.Errorf("what becomes of a state is known that was never found out: %v", err)
	}
	if _, err := w.Image(w.Vector, a); err != nil {
		t.Error(err)
	}
	if _, err := reader.Image(reader.Vector, a); err != nil {
		t.Errorf("what becomes of a state is not known after it was found out: %v", err)
	}
}

// TestAlike has the steps of a controller be checked: all that it may do to a thing, it must do to each.
func TestAlike(t *testing.T) {
	c := newColors()
	nothing := core.Result{}
	for _, test := range []struct {
		name string
		do   func(w *plain.World, name string) core.Result
		says string // why it is not alike, empty if it is
	}{
		{"nothing", func(*plain.World, string) core.Result { return nothing }, ""},
		{"it paints the thing", func(w *plain.World, name string) core.Result { c.at.Named(name).Set(w, 1); return nothing }, ""},
		{"it paints all", func(w *plain.World, _ string) core.Result {
			for _, m := range c.at.All(w) {
				c.at.Named(m.Name).Set(w, 1)
			}
			return nothing
		}, ""},
		{"the first is the best", func(w *plain.World, name string) core.Result {
			if c.best.Get(w) == "" {
				c.best.Set(w, name)
			}
			return nothing
		}, ""},
		{"it goes on", func(*plain.World, string) core.Result { return core.Result{Requeue: true} }, ""},
		{"one is another color", func(w *plain.World, name string) core.Result {
			if name == "b" {
				c.at.Named(name).Set(w, 1)
			}
			return nothing
		}, "do not change"},
		{"one is always the best", func(w *plain.World, _ string) core.Result { c.best.Set(w, "c"); return nothing }, "do not change"},
		{"one goes on", func(_ *plain.World, name string) core.Result { return core.Result{Requeue: name == "a"} }, "do not change"},
		{"one that is painted is left alone", func(w *plain.World, name string) core.Result {
			if c.at.Named("c").Get(w) == 0 {
				c.at.Named(name).Set(w, 1)
			}
			return nothing
		}, "do not change"},
		{"one is blocked", func(w *plain.World, name string) core.Result { w.Require(name != "b"); return nothing }, "do not have the same possible steps"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := merging(t, c.system(t, paints(test.do)))
			row := w.AppendRow(nil)
			// All states to which the controller comes are gone through.
			var wrong error
			rows, seen := [][]byte{row}, map[string]bool{string(row): true}
			for i := 0; i < len(rows) && wrong == nil; i++ {
				w.Load(rows[i])
				_, wrong = w.Steps(visiting(func(*transition.Taken) error {
					row, _, err := w.Pack(nil)
					if err == nil && !seen[string(row)] {
						seen[string(row)] = true
						rows = append(rows, row)
					}
					return err
				}), nil)
			}
			var apart Apart
			if test.says == "" && wrong != nil || test.says != "" && (!errors.As(wrong, &apart) || !strings.Contains(wrong.Error(), test.says)) {
				t.Errorf("after %d states: %v", len(rows), wrong)
			}
			if test.says != "" && !strings.HasPrefix(wrong.Error(), "interchangeable names are not treated alike: ") {
				t.Errorf("it says %q", wrong)
			}
		})
	}
}

// visiting is a visitor that calls a function with each step.
type visiting func(*transition.Taken) error

func (v visiting) Took(t *transition.Taken) error { return v(t) }

func (visiting) Stopped(_ *transition.Taken, err error) error { return err }

// TestChecksOnce has a step be checked once for all states that it cannot tell apart, up to names, and again for
// others.
func TestChecksOnce(t *testing.T) {
	c := newColors()
	w := merging(t, c.system(t, paints(func(w *plain.World, name string) core.Result {
		if c.at.Named(name).Get(w) == 1 {
			c.at.Named(name).Set(w, 0)
		}
		return core.Result{}
	})))
	m := w.Checker
	v := w.Machine.Vocabulary
	cell := func(key core.Key) state.Cell { cell, _ := v.Lookup(key); return cell }
	it := item(t, w, "paints", "a")
	set := func(key core.Key, o core.Object) { w.Set(cell(key), v.Intern(cell(key), o.Content)); w.Forget() }
	if m.knows(it, w.Vector) {
		t.Error("a step is known that was never checked")
	}
	if err := m.check(it, w.Vector); err != nil || !m.knows(it, w.Vector) {
		t.Errorf("a step is not known that was checked: %v", err)
	}
	set(c.other.Key(), c.other.Is(1))
	if !m.knows(it, w.Vector) {
		t.Error("a step is not known in a state that differs in what it does not look at")
	}
	set(c.at.Named("b").Key(), c.at.Named("b").Is(1))
	if !m.knows(it, w.Vector) {
		t.Error("what is done to one thing depends on another one")
	}
	set(c.at.Named("a").Key(), c.at.Named("a").Is(1))
	if m.knows(it, w.Vector) {
		t.Error("a step is known in a state that differs in what it looks at")
	}
	before := slices.Clone(w.Vector)
	if err := m.check(it, w.Vector); err != nil || !m.knows(it, w.Vector) || !slices.Equal(w.Vector, before) {
		t.Errorf("a step is not known that was checked, or the state is another one: %v", err)
	}
	if m.knows(item(t, w, "paints", "b"), w.Vector) {
		t.Error("the step of another one is known")
	}
	// Who may not learn stops where something is to be checked.
	reader := NewExplorer(w.Machine, nil, w.Reductions)
	reader.Checker = m
	reader.Load(w.AppendRow(nil))
	for _, kind := range []core.StepKind{core.Reconcile, core.Act, core.Fire, core.Deliver} {
		checks := kind == core.Reconcile || kind == core.Act
		s := &transition.Taken{Kind: kind, Actor: it.Actor, Item: item(t, w, "paints", "b")}
		if err := reader.Before(s); errors.Is(err, transition.ErrUnknown) != checks {
			t.Errorf("before a step %s: %v", kind.Name(), err)
		}
		s.Item = it
		if err := reader.Before(s); err != nil {
			t.Errorf("before a step %s that was checked: %v", kind.Name(), err)
		}
	}
	for _, other := range []int{0, 1} {
		set(c.at.Named("b").Key(), c.at.Named("b").Is(other))
		set(c.at.Named("a").Key(), c.at.Named("a").Is(other))
		if err := m.check(it, w.Vector); err != nil || !m.knows(it, w.Vector) {
			t.Fatal(err)
		}
	}
	// What was checked is forgotten once there is something that was never seen: lists may show it.
	v.Object(c.at.Named("d").Key())
	w.Load(w.AppendRow(nil))
	if m.knows(it, w.Vector) {
		t.Error("a step is known although there may be another thing")
	}
	if err := m.check(it, w.Vector); err != nil || !m.knows(it, w.Vector) {
		t.Errorf("it is not known after it was checked again: %v", err)
	}
	if set(c.at.Named("a").Key(), c.at.Named("a").Is(0)); m.knows(it, w.Vector) {
		t.Error("a step is known in another state in which it was not checked again")
	}
}

// TestShow has a predicate be shown each state in all arrangements of the names, once for all states that it cannot
// tell apart.
func TestShow(t *testing.T) {
	c := newColors()
	w := merging(t, c.system(t, paints(func(*plain.World, string) core.Result { return core.Result{} })))
	m, v := w.Checker, w.Machine.Vocabulary
	cell := func(key core.Key) state.Cell { cell, _ := v.Lookup(key); return cell }
	set := func(key core.Key, o core.Object) []byte {
		w.Set(cell(key), v.Intern(cell(key), o.Content))
		w.Forget()
		return w.AppendRow(nil)
	}
	start := w.AppendRow(nil)
	painted := set(c.at.Named("a").Key(), c.at.Named("a").Is(1))
	repainted := set(c.at.Named("b").Key(), c.at.Named("b").Is(1))
	elsewhere := set(c.other.Key(), c.other.Is(1))
	var shown []string
	look := func(s core.State) {
		shown = append(shown, fmt.Sprint(c.at.Named("a").Get(s)))
	}
	show := func(predicate int, row []byte) string {
		shown = nil
		if err := m.Show(predicate, row, look); err != nil {
			t.Fatal(err)
		}
		slices.Sort(shown)
		return strings.Join(shown, "")
	}
	for _, test := range []struct {
		name      string
		predicate int
		row       []byte
		want      string
	}{
		{"the start", 0, start, "000000"},
		{"the start again", 0, start, ""},
		{"the start, by another predicate", 1, start, "000000"},
		{"one is painted", 0, painted, "000011"},
		{"one is painted, again", 0, painted, ""},
		{"two are painted", 0, repainted, "001111"},
		{"something else is different", 0, elsewhere, ""},
	} {
		if got := show(test.predicate, test.row); got != test.want {
			t.Errorf("%s: it is shown that a is %q, want %q", test.name, got, test.want)
		}
	}
	// A predicate that looks for what was never there is shown the state again, as lists are longer then.
	calls := 0
	if err := m.Show(2, start, func(s core.State) { calls++; c.at.Named("z").Lookup(s) }); err != nil || calls != 12 {
		t.Errorf("it is shown %d states: %v", calls, err)
	}
}

// TestStarts has the start be the same with names exchanged, or one of several.
func TestStarts(t *testing.T) {
	c := newColors()
	w := merging(t, c.system(t, paints(func(*plain.World, string) core.Result { return core.Result{} })))
	v := w.Machine.Vocabulary
	start := w.AppendRow(nil)
	if err := w.Checker.CheckStarts(); err != nil {
		t.Errorf("the start is not the same with names exchanged: %v", err)
	}
	var painted [][]byte
	for _, name := range []string{"a", "b", "c"} {
		w.Load(start)
		key := c.at.Named(name).Key()
		cell, _ := v.Lookup(key)
		w.Set(cell, v.Intern(cell, c.at.Named(name).Is(1).Content))
		painted = append(painted, w.AppendRow(nil))
	}
	var apart Apart
	for n := 1; n <= 3; n++ {
		w.Checker.Starts = append([][]byte{start}, painted[:n]...)
		if err := w.Checker.CheckStarts(); (err == nil) != (n == 3) || n < 3 && !errors.As(err, &apart) {
			t.Errorf("where one of %d is painted at the start: %v", n, err)
		}
	}
}

// TestNamesOfControllers has names of controllers and of what they do be exchanged, where there are such controllers
// that work alike.
func TestNamesOfControllers(t *testing.T) {
	x := plain.NewVar[int]("x")
	look := func(w *plain.World, _ core.Request) core.Result { x.Get(w); return core.Result{} }
	loop := func(w *plain.World, _ core.Request) core.Result {
		for {
			x.Get(w)
		}
	}
	controller := func(name string, do func(*plain.World, core.Request) core.Result) plain.Controller {
		return plain.Controller{Name: name, Requests: []core.Request{"r"}, Reconcile: do}
	}
	acts := func(process, action string) plain.Process {
		return plain.Process{Name: process, Actions: []plain.Action{{Name: action, Do: func(w *plain.World) { x.Get(w) }}}}
	}
	receives := func(process string, messages ...core.Request) plain.Process {
		return plain.Process{Name: process, Messages: messages, Receive: func(*plain.World, core.Request) {}}
	}
	for _, test := range []struct {
		name  string
		model plain.Model
		says  string
	}{
		{"both look", plain.Model{Controllers: []plain.Controller{controller("a", look), controller("b", look)}}, ""},
		{"both never come back", plain.Model{Controllers: []plain.Controller{controller("a", loop), controller("b", loop)}}, ""},
		{"one never comes back", plain.Model{Controllers: []plain.Controller{controller("a", look), controller("b", loop)}}, "do not have the same possible steps"},
		{"there is only one", plain.Model{Controllers: []plain.Controller{controller("a", look)}}, "no controller"},
		{"only one acts", plain.Model{Processes: []plain.Process{acts("a", "go")}}, "no controller"},
		{"both act", plain.Model{Processes: []plain.Process{acts("a", "go"), acts("b", "go")}}, ""},
		{"one acts and is sent the same", plain.Model{Processes: []plain.Process{acts("a", "go"), receives("b")}}, "always in the work queue"},
		{"one is sent what the other does", plain.Model{Processes: []plain.Process{acts("a", "go"), receives("b", "go")}}, "is a message here and a guarded action there"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.model.Initial, test.model.Interchangeable = []core.Initial{plain.Start(x.Is(0))}, [][]string{{"a", "b"}}
			w := merging(t, made(t, test.model))
			_, _, wrong := w.Pack(nil)
			for _, it := range slices.Clone(w.Machine.Items) {
				if wrong == nil {
					wrong = w.Checker.check(it, w.Vector)
				}
			}
			var apart Apart
			if test.says == "" && wrong != nil || test.says != "" && (!errors.As(wrong, &apart) || !strings.Contains(wrong.Error(), test.says)) {
				t.Errorf("%v", wrong)
			}
		})
	}
	plainly := made(t, plain.Model{Initial: []core.Initial{plain.Start(x.Is(0))}, Controllers: []plain.Controller{controller("a", look)}})
	plainly.Store = failing(plainly).Store // which renames nothing
	if w := exploring(t, plainly, transition.Conditions{}, nil); Interchange(w.Machine) != nil {
		t.Error("a store renames that cannot")
	}
}

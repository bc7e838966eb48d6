package transition

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// runOf takes the step of a controller and returns the last run of it.
func runOf(t *testing.T, w *Walker) behavior.Run {
	t.Helper()
	var heard lastRun
	w.Listener = &heard
	defer func() { w.Listener = nil }()
	if _, err := w.Choose(core.Step{Item: core.Item{Strategy: "c", Request: "go"}}); err != nil {
		t.Fatal(err)
	}
	w.Forget()
	return heard.run
}

// lastRun is a listener that keeps the last run.
type lastRun struct {
	Inattentive
	run behavior.Run
}

func (l *lastRun) Ended(_ *Actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf) {
	l.run = behavior.Run{Activation: activation, Path: slices.Clone(path), Leaf: leaf}
}

// odd reports whether a word that was drawn is odd.
func odd(word string) bool {
	return strings.HasSuffix(word, "1") || strings.HasSuffix(word, "3") || strings.HasSuffix(word, "5") || strings.HasSuffix(word, "7") || strings.HasSuffix(word, "9")
}

// TestDrawsThatDecide has a controller do more than to write other words where other values are drawn: it makes another
// number of calls, another first call, or keeps something else or more. That is put down to chance, and once there was
// too much of it, nobody goes on behind its runs.
func TestDrawsThatDecide(t *testing.T) {
	for name, does := range map[string]func(w world, word string, kept map[string]string){
		"how many calls": func(w world, word string, _ map[string]string) {
			if odd(word) {
				w.put("odd", "yes")
			}
		},
		"which call": func(w world, word string, _ map[string]string) { w.put(strconv.FormatBool(odd(word)), "yes") },
		"what it keeps": func(w world, word string, kept map[string]string) {
			w.create("name", word)
			kept["odd"] = strconv.FormatBool(odd(word))
		},
		"how much it keeps": func(w world, word string, kept map[string]string) {
			w.create("name", word)
			if kept["drew"] = "yes"; odd(word) {
				kept["odd"] = "yes"
			}
		},
	} {
		w := begin(t, drawingBy(func(d *dice) core.Instance {
			kept := map[string]string{}
			return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
				does(w, d.draw(), kept)
				return core.Result{}
			}}, func() map[string]string { return maps.Clone(kept) }}
		}), Conditions{Drawing: []string{"c"}, Remembering: []string{"c"}})
		run, l, a := runOf(t, w), w.Learn, w.Machine.Actors[0]
		_, drawn, divergence, err := l.varied(a, run)
		if divergence != nil || err != nil {
			t.Fatal(name, divergence, err)
		}
		for _, divergences := range []int{0, maxDivergences} {
			l.Incidents, l.Seen, a.divergences = nil, map[Wrong]bool{}, divergences
			err := l.vary(a, run, drawn, 20)
			if len(l.Incidents) != 1 || l.Incidents[0].Cause != core.Chance || errors.Is(err, ErrStopped) != (divergences > 0) || err != nil && divergences == 0 {
				t.Errorf("%s, behind %d others: %+v, %v", name, divergences, l.Incidents, err)
			}

		}
	}
}

// TestTimesOfActiveProcesses has an active process that writes other times be put down to its clock, which its history
// has brought to where it is.
func TestTimesOfActiveProcesses(t *testing.T) {
	for _, active := range []bool{true, false} {
		c := Conditions{Remembering: []string{"c"}}
		if active {
			c.Active = []string{"c"}
		}
		w := begin(t, alone(controller("c", func() core.Instance {
			return tireless{mind{hand{reconcile: func(w world, _ core.Request) core.Result {
				w.put("at", time.Now().UTC().Format(time.RFC3339))
				return core.Result{}
			}}, func() map[string]string { return map[string]string{} }}, func(world) []func() { return nil }, func() {}}
		})), c)
		run, l, a := runOf(t, w), w.Learn, w.Machine.Actors[0]
		l.Seen, l.Incidents = map[Wrong]bool{}, nil
		other := errand{verb: "put", name: "at", text: "2001-01-01T00:00:00Z"}
		divergence := &behavior.Divergence{Recorded: run.Path[0].From.Call.String(), Observed: other.String(), Call: other}
		if err := l.diagnose(a, []behavior.Run{run}, 0, divergence); err != nil || len(l.Incidents) > 0 == active {
			t.Errorf("active %t: %v, and these are wrong: %+v", active, err, l.Incidents)
		}
	}
}

// TestDrawsOfActiveProcesses has a controller that also works between its runs keep something else where other values
// are drawn: what it keeps is not compared, as it may be anywhere on its way.
func TestDrawsOfActiveProcesses(t *testing.T) {
	d := &dice{}
	system := alone(controller("c", func() core.Instance {
		kept := map[string]string{}
		return tireless{mind{hand{reconcile: func(w world, _ core.Request) core.Result {
			word := d.draw()
			kept["odd"] = strconv.FormatBool(odd(word))
			w.create("name", word)
			return core.Result{}
		}}, func() map[string]string { return maps.Clone(kept) }}, func(world) []func() { return nil }, func() {}}
	}))
	system.Randomness = d
	w := begin(t, system, Conditions{Drawing: []string{"c"}, Remembering: []string{"c"}, Active: []string{"c"}})
	run, l, a := runOf(t, w), w.Learn, w.Machine.Actors[0]
	_, drawn, divergence, err := l.varied(a, run)
	if divergence != nil || err != nil || !a.domain.manner.Active || len(a.domain.keptIn(run.Leaf)) == 0 {
		t.Fatal(divergence, err, a.domain.keptIn(run.Leaf))
	}
	if err := l.vary(a, run, drawn, 20); err != nil || len(l.Incidents) > 0 {
		t.Errorf("%+v: %v", l.Incidents, err)
	}
}

// TestWhoDraws finds out whether it is because of values that can be set that a run takes two ways.
func TestWhoDraws(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	tosses := 0
	w := begin(t, drawingBy(func(d *dice) core.Instance {
		kept := map[string]string{}
		return mind{hand{
			reconcile: func(w world, _ core.Request) core.Result {
				switch kept["run"] {
				case "": // the first one draws nothing
					kept["run"] = "1"
					w.put("begun", "yes")
					return core.Result{Requeue: true}
				case "1": // and the third one neither
					kept["run"] = "2"
					w.create("name", d.draw())
					return core.Result{Requeue: true}
				}
				tosses++
				w.put("toss", strconv.Itoa(tosses))
				return core.Result{}
			},
			handle: func(w world, e core.Event) []core.Request {
				w.create("handled", d.draw())
				return nil
			},
		}, func() map[string]string { return maps.Clone(kept) }}
	}), Conditions{Drawing: []string{"c"}, Remembering: []string{"c"}})
	l, a := w.Learn, w.Machine.Actors[0]
	first, second := runOf(t, w), runOf(t, w)
	between, behind := a.domain.memories[first.Leaf.Memory], a.domain.memories[second.Leaf.Memory]
	activation := func(since *behavior.Memory) behavior.Activation { return a.reconciling("go", since, moment{}) }
	// A history that begins otherwise than code does.
	strange := first
	strange.Path = second.Path
	broken := &behavior.Memory{Identity: "m", Histories: [][]behavior.Run{{strange, second}}}
	user := *a
	user.User = true
	for _, test := range []struct {
		name  string
		actor *Actor
		ctx   context.Context
		run   behavior.Run
		draws bool
		fails bool
		runs  int
	}{
		{"it draws, and a call comes", a, t.Context(), behavior.Run{Activation: activation(between)}, true, false, 2 * fair},                                     // with what comes before
		{"it draws something else then", a, t.Context(), behavior.Run{Activation: activation(between), Path: second.Path}, false, false, 2 * (mostAttempts + 1)}, // it may have gone that way by chance
		{"it draws nothing", a, t.Context(), behavior.Run{Activation: activation(nil)}, false, false, 1},
		{"it goes another way", a, t.Context(), behavior.Run{Activation: activation(between), Path: first.Path}, false, false, 2 * (mostAttempts + 1)},
		{"an earlier run draws", a, t.Context(), behavior.Run{Activation: activation(behind)}, true, false, 0},
		{"nobody knows what came before", a, t.Context(), behavior.Run{Activation: activation(broken)}, false, true, 0},
		{"it handles an event", a, t.Context(), behavior.Run{Activation: a.handling(&core.Event{Key: key("a"), New: content("1")}, nil, moment{})}, false, false, 0},
		{"a user", &user, t.Context(), behavior.Run{Activation: activation(between)}, false, false, 0},
		{"there is no time", a, ended, behavior.Run{Activation: activation(nil)}, false, true, 0},
	} {
		before := l.Executed
		in := *l
		in.Context = test.ctx
		err := in.draws(test.actor, test.run)
		var draws *unexpectedDraws
		if errors.As(err, &draws) != test.draws || test.draws && draws.Controller != "c" || (err != nil) != (test.draws || test.fails) {
			t.Errorf("%s: %v", test.name, err)
		}
		if n := in.Executed - before; test.runs > 0 && n != test.runs {
			t.Errorf("%s: %d runs are counted, want %d", test.name, n, test.runs)
		}
	}
	// Who comes to other calls with the same values draws what cannot be set.
	n := 0
	w = begin(t, drawingBy(func(d *dice) core.Instance {
		return hand{reconcile: func(w world, _ core.Request) core.Result {
			n++
			w.put("name", fmt.Sprint(d.draw(), n))
			return core.Result{}
		}}
	}), Conditions{})
	if err := w.Learn.draws(w.Machine.Actors[0], behavior.Run{Activation: w.Machine.Actors[0].reconciling("go", nil, moment{})}); err != nil {
		t.Errorf("what cannot be set: %v", err)
	}
	// A run may end behind what it draws.
	w = begin(t, drawingBy(func(d *dice) core.Instance {
		return hand{reconcile: func(world, core.Request) core.Result {
			d.draw()
			return core.Result{}
		}}
	}), Conditions{})
	var draws *unexpectedDraws
	if err := w.Learn.draws(w.Machine.Actors[0], behavior.Run{Activation: w.Machine.Actors[0].reconciling("go", nil, moment{})}); !errors.As(err, &draws) {
		t.Errorf("it ends behind what it draws: %v", err)
	}
}

// equalLengths are dice that want as many texts of all runs.
type equalLengths struct {
	*casino
	t *testing.T
}

func (e equalLengths) Compare(runs []core.Drawn, given bool) (run, text int) {
	for _, run := range runs[1:] {
		if len(run.Texts) != len(runs[0].Texts) {
			e.t.Errorf("%d and %d texts are compared", len(runs[0].Texts), len(run.Texts))
		}
	}
	return e.casino.Compare(runs, given)
}

// reads is a system in which a controller does something with a word that it reads, and keeps that it did, and another
// one may draw.
func reads(t *testing.T, does func(w world, word string)) *core.System {
	source := &casino{dice: &dice{}, knows: true}
	reader := sequential(controller("c", func() core.Instance {
		kept := map[string]string{}
		return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
			kept["read"] = "yes"
			does(w, w.get("word"))
			return core.Result{}
		}}, func() map[string]string { return maps.Clone(kept) }}
	}))
	system := lab([]core.Strategy{reader, simple("other", func(w world, _ core.Request) core.Result {
		w.create("name", source.draw())
		return core.Result{}
	})}, "word 123450")
	system.Randomness = equalLengths{source, t}
	return system
}

// TestRareWordsDecide has a controller read a word, and decide by it in a way that only the third other word shows: as
// many are tried. It keeps something, which is not compared.
func TestRareWordsDecide(t *testing.T) {
	for rare, want := range map[string]bool{"456783": true, "987654": false} {
		w := begin(t, reads(t, func(w world, word string) {
			if word == rare {
				w.put("rare", "yes")
			} else {
				w.put("copy", word)
			}
		}), Conditions{Drawing: []string{"other"}, Remembering: []string{"c"}})
		runOf(t, w)
		if got := strings.Contains(strings.Join(w.Machine.Doubts, ""), "c decides by random values"); got != want {
			t.Errorf("where it decides by %s, it is said that %q", rare, w.Machine.Doubts)
		}
	}
}

// TestRedrawsEnd has a path not be gone through again with other values where nobody can set them, or it is known that
// chance decides; and end with an error where there is no time.
func TestRedrawsEnd(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	w := begin(t, reads(t, func(w world, word string) { w.put("copy", word) }), Conditions{Drawing: []string{"c", "other"}, Remembering: []string{"c"}})
	run, l, a := runOf(t, w), w.Learn, w.Machine.Actors[0]
	_, drawn, _, err := l.varied(a, run)
	if err != nil {
		t.Fatal(err)
	}
	l.Context = ended
	if decides, err := l.derive(a, run, drawn); err == nil || decides {
		t.Errorf("there is no time: %t, %v", decides, err)
	}
	l.Context = t.Context()
	before := l.Executed
	l.Incidents = []core.Incident{{Kind: core.Nondeterministic, Strategy: "c"}}
	if decides, err := l.redraw(a, run, drawn, 9); decides || err != nil || l.Executed != before {
		t.Errorf("it is known that chance decides: %t, %v, behind %d runs", decides, err, l.Executed-before)
	}
	l.Incidents, l.limits.Randomness = nil, nil
	if decides, err := l.redraw(a, run, drawn, 9); decides || err != nil || l.Executed != before {
		t.Errorf("nobody can set values: %t, %v, behind %d runs", decides, err, l.Executed-before)
	}
	// Whose history code does not go along again goes another way there.
	strange := run
	strange.Path = run.Path[1:]
	strayed := run
	strayed.Activation.Since = &behavior.Memory{Identity: "m", Histories: [][]behavior.Run{{strange}}}
	if _, _, divergence, err := l.varied(a, strayed); divergence == nil || err != nil {
		t.Errorf("it goes along a history that there is not: %v", err)
	}
}

// TestChanceEndsRedraws has a run that is found to be decided by chance, as other values are drawn, not be looked at
// any further.
func TestChanceEndsRedraws(t *testing.T) {
	source := &casino{dice: &dice{}, knows: true}
	system := alone(simple("c", func(w world, _ core.Request) core.Result {
		w.get("word")
		w.put(strconv.FormatBool(odd(source.draw())), "yes")
		return core.Result{}
	}), "word 123450")
	system.Randomness = source
	w := begin(t, system, Conditions{Drawing: []string{"c"}, strays: []string{"c"}})
	run, l, a := runOf(t, w), w.Learn, w.Machine.Actors[0]
	_, drawn, _, err := l.varied(a, run)
	if err != nil || !run.Leaf.Drawn {
		t.Fatal(run.Leaf, err)
	}
	counts := func(redraw func() error) int {
		l.Incidents, l.Seen, a.divergences = nil, map[Wrong]bool{}, 0
		before := l.Executed
		if err := redraw(); err != nil || len(l.Incidents) != 1 {
			t.Errorf("%+v: %v", l.Incidents, err)
		}
		return l.Executed - before
	}
	varied := counts(func() error { return l.vary(a, run, drawn, 9) })
	redrawn := counts(func() error { _, err := l.redraw(a, run, drawn, 9); return err })
	if varied == 0 || varied != redrawn {
		t.Errorf("code is run %d times, and %d times to find out by what it decides", varied, redrawn)
	}
}

// TestDrawsUnderway has what is under way draw as it began, whoever has taken steps before.
func TestDrawsUnderway(t *testing.T) {
	w := begin(t, drawers()[0].system(), Conditions{Granularity: PerCall, Drawing: []string{"c"}})
	item := w.Machine.Item(w.Machine.Actors[0], "go")
	if _, err := w.Choose(core.Step{Kind: core.Begin, Item: item.Item}); err != nil || w.Flight(item) == nil {
		t.Fatal("it is not under way", err)
	}
	w.drawing = drawing{item: item, number: 7}
	if got := w.Underway(item); got.Seed != SeedOf(item.Item, 0, nil) {
		t.Errorf("what is under way draws from %d", got.Seed)
	}
}

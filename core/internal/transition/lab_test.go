package transition

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/internal/iotrace"
	"github.com/orrery-dev/orrery/internal/random"
)

// The lab has real code run in small systems: notes with texts, and controllers that are made of functions. A system is
// searched in the simplest way.

// errand is a call that reads or writes a note, or the list of all of them, or puts a request into a work queue.
type errand struct {
	verb, name, text string
	cached           bool
}

func (e errand) Identity() string { return e.verb + " " + e.name + "\n" + e.text }
func (e errand) String() string   { return e.verb + " " + e.name }
func (e errand) Aim() string      { return e.verb + " " + e.name }
func (e errand) Contents() string { return e.text }
func (e errand) Source() core.Source {
	if e.cached {
		return core.Cached
	}
	return core.Live
}

// notes is the store of the lab. Calls that write may fail before or behind what they do, if it may.
type notes struct{ fails bool }

// key is that of a note, or of another kind, as in "kind/name".
func key(name string) core.Key {
	if kind, name, other := strings.Cut(name, "/"); other {
		return core.Key{Kind: core.Kind(kind), Name: name}
	}
	return core.Key{Kind: "note", Name: name}
}

func (notes) Answer(s core.Snapshot, call core.Call) (core.Answer, error) {
	e := call.(errand)
	switch e.verb {
	case "get":
		text, _ := s.Get(key(e.name)).(content)
		return core.Answer{Response: reply(text)}, nil
	case "list":
		return core.Answer{Response: reply(fmt.Sprint(s.List("note", "")))}, nil
	case "put":
		if s.Get(key(e.name)) == core.Content(content(e.text)) {
			return core.Answer{Response: reply("done")}, nil
		}
		return core.Answer{Response: reply("done"), Writes: []core.Write{{Key: key(e.name), Content: content(e.text)}}}, nil
	case "drop":
		return core.Answer{Response: reply("done"), Writes: []core.Write{{Key: key(e.name)}}}, nil
	case "make": // which is refused if it is there
		if s.Get(key(e.name)) != nil {
			return core.Answer{Response: reply("is there")}, nil
		}
		return core.Answer{Response: reply("done"), Writes: []core.Write{{Key: key(e.name), Content: content(e.text)}}}, nil
	case "tell": // which puts a note and tells d of it
		var all []core.Write
		if s.Get(key(e.name)) != core.Content(content(e.text)) {
			all = []core.Write{{Key: key(e.name), Content: content(e.text)}}
		}
		return core.Answer{Response: reply("done"), Writes: all, Enqueue: []core.Item{{Strategy: "d", Request: core.Request(e.name)}}}, nil
	case "send":
		return core.Answer{Response: reply("done"), Enqueue: []core.Item{{Strategy: e.name, Request: core.Request(e.text)}}}, nil
	}
	return core.Answer{}, &core.Unsupported{Call: e.verb}
}

func (notes) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions }
func (notes) Outcome(_ core.Key, c core.Content) any                                 { return c.Fields() }
func (notes) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

func (n notes) Faults(call core.Call) []core.Fault {
	if !n.fails || call.(errand).verb == "get" {
		return nil
	}
	return []core.Fault{{Name: "refused", Response: reply("refused")}, {Name: "lost", Response: reply("lost"), Commits: true}}
}

// world is what code of the lab does to the world.
type world struct{ core.EffectRecorder }

func (w world) ask(e errand) string { return w.Do(e).String() }

func (w world) get(name string) string  { return w.ask(errand{verb: "get", name: name}) }
func (w world) look(name string) string { return w.ask(errand{verb: "get", name: name, cached: true}) }
func (w world) put(name, text string) string {
	return w.ask(errand{verb: "put", name: name, text: text})
}
func (w world) create(name, text string) string {
	return w.ask(errand{verb: "make", name: name, text: text})
}

// hand is an instance that does what its functions say.
type hand struct {
	reconcile func(w world, r core.Request) core.Result
	handle    func(w world, e core.Event) []core.Request
}

func (h hand) Reconcile(r core.EffectRecorder, request core.Request) core.Result {
	return h.reconcile(world{r}, request)
}

func (h hand) Handle(r core.EffectRecorder, e core.Event) []core.Request {
	if h.handle == nil {
		return []core.Request{"go"}
	}
	return h.handle(world{r}, e)
}

// mind is one that shows what it keeps.
type mind struct {
	hand
	memory func() map[string]string
}

func (m mind) Memory() map[string]string { return m.memory() }

// tireless is one that also works between activations.
type tireless struct {
	mind
	start func(w world) []func()
	stop  func()
}

func (t tireless) Start(r core.EffectRecorder) []func() { return t.start(world{r}) }
func (t tireless) Stop()                                { t.stop() }

// trade is a strategy with what makes its instances.
type trade struct {
	core.Description
	hire func() core.Instance
}

func (t *trade) Describe() core.Description { return t.Description }

func (t *trade) New() (core.Instance, error) { return t.hire(), nil }

// controller is a strategy of the lab with one request, "go", at the start.
func controller(name string, hire func() core.Instance) *trade {
	return &trade{Description: core.Description{Name: name, Initial: []core.Request{"go"}}, hire: hire}
}

// simple is a sequential one whose instances have no memory.
func simple(name string, reconcile func(w world, r core.Request) core.Result) *trade {
	t := controller(name, func() core.Instance { return hand{reconcile: reconcile} })
	t.Sequential = true
	return t
}

// lab is a system of the lab with some notes at the start, each as "name text".
func lab(strategies []core.Strategy, start ...string) *core.System {
	system := &core.System{Name: "lab", Store: notes{}, Strategies: strategies, Initial: []core.Initial{{}}}
	for _, text := range start {
		name, text, _ := strings.Cut(text, " ")
		system.Initial[0].Objects = append(system.Initial[0].Objects, core.Object{Key: key(name), Content: content(text)})
	}
	return system
}

// alone is a system of the lab with one strategy.
func alone(s core.Strategy, start ...string) *core.System { return lab([]core.Strategy{s}, start...) }

// found is what a search of the lab came to.
type found struct {
	conditions Conditions
	learner    *Learner
	// states are the texts of all states, steps those of all steps between them, and rests the objects of the states in
	// which nothing is left to be done.
	states, steps, rests []string
	// rows are the states, and histories what each process has run on a way there since it was started.
	rows      [][]byte
	histories []map[*Process][]behavior.Run
	// stopped are the steps that could not be taken to their ends.
	stopped []string
	// ends are those that nobody can take to their ends, which somebody who only reads does not know.
	ends []string
	// executed is how often code was run for that.
	executed int
}

// roam searches a system as often as it takes until what controllers do is expected.
func roam(ctx context.Context, system *core.System, c Conditions) (found, error) {
	defer iotrace.Still()()
	memo := memo.New()
	for {
		l, err := NewLearner(ctx, system, c, behavior.Limits{Deadline: 10 * time.Second, Calls: 50}, 0)
		f := found{learner: l}
		if err == nil {
			l.Seen, l.Searching, l.Memo = map[Wrong]bool{}, true, memo
			l.audits.paths = few // what is rare is not looked for
			if err = f.wander(NewWalker(l.Machine, l)); err == nil {
				f.executed = l.Executed
				err = f.relive()
			}
		}
		if c.Expect(err) {
			continue
		}
		f.conditions = c
		return f, err
	}
}

// explored is what comes of a search that has to come to its end, and to leave nothing behind.
func explored(t *testing.T, system *core.System, c Conditions) found {
	t.Helper()
	before := goleak.IgnoreCurrent()
	f, err := roam(t.Context(), system, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := goleak.Find(before); err != nil {
		t.Errorf("something is left of the search: %v", err)
	}
	return f
}

// mostStates is how many states a system of the lab has at most.
const mostStates = 300

// wander goes through all states that can be reached, nearest first.
func (f *found) wander(w *Walker) error {
	known := map[string]bool{}
	come := func(before map[*Process][]behavior.Run, ran ran, t *Taken) {
		if row := w.AppendRow(nil); !known[string(row)] {
			known[string(row)] = true
			f.rows, f.states, f.histories = append(f.rows, row), append(f.states, textOf(w.Look())), append(f.histories, ran.after(before, t))
		}
	}
	for _, initial := range w.Machine.System.Initial {
		var ran ran
		w.Listener = &ran
		if err := w.Start(initial); err != nil {
			return err
		}
		w.Listener = nil
		w.Forget()
		come(nil, ran, nil)
	}
	for i := 0; i < len(f.rows); i++ {
		if i == mostStates {
			return fmt.Errorf("more than %d states", mostStates)
		}
		early, rests := f.early(i)
		before, rested := len(f.steps), len(f.rests)
		if err := f.visit(w, i, come); err != nil {
			return err
		}
		if wrong := less(early, f.steps[before:]); len(wrong) > 0 || rests && len(f.rests) == rested {
			return fmt.Errorf("who did not know all yet took the steps %q, and found nothing left to be done: %t", wrong, rests)
		}
	}
	slices.Sort(f.rests)
	f.rests = slices.Compact(f.rests)
	return nil
}

// visit takes all steps from a state, and comes to where each one leads.
func (f *found) visit(w *Walker, at int, come func(before map[*Process][]behavior.Run, ran ran, t *Taken)) error {
	w.Load(f.rows[at])
	v := &wanderer{found: f, walker: w, from: textOf(w.Look())}
	if w.Learn != nil {
		w.Listener = &v.ran
	}
	v.come = func(t *Taken) { come(f.histories[at], v.ran, t) }
	quiescent, err := w.Steps(v, nil)
	if quiescent {
		f.rests = append(f.rests, objectsOf(w.Look()))
	}
	return err
}

// early takes the steps from a state that are known already, with a walker that is ahead of the one that learns, and
// reports whether it finds nothing left to be done.
func (f *found) early(at int) (steps []string, rests bool) {
	w := NewWalker(f.learner.Machine, nil)
	w.Ahead = true
	w.Load(f.rows[at])
	v := &hasty{walker: w, from: textOf(w.Look())}
	known := size(w.Machine)
	rests, err := w.Steps(v, nil)
	if size(w.Machine) != known {
		return []string{"it makes the machine grow"}, rests
	}
	if err != nil || string(w.AppendRow(nil)) != string(f.rows[at]) {
		return []string{fmt.Sprintf("it is somewhere else, %v", err)}, rests
	}
	return v.steps, rests && !v.unknown // which is to be found out then
}

// size counts what a machine knows, which only who learns may make more.
func size(m *Machine) int {
	n := m.Vocabulary.Cells() + len(m.Items) + len(m.Histories) + m.changes + m.Agents
	for _, it := range m.Items {
		n += len(it.parked) + len(it.roots)
	}
	return n
}

// hasty is the visitor of a walker that does not know all steps.
type hasty struct {
	found
	walker  *Walker
	from    string
	unknown bool
}

func (v *hasty) Took(t *Taken) error {
	v.steps = append(v.steps, stepText(v.from, textOf(v.walker.Look()), v.walker.Edge(0, t)))
	return nil
}

func (v *hasty) Stopped(t *Taken, err error) error {
	if v.unknown = v.unknown || errors.Is(err, ErrUnknown); !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrStopped) {
		v.steps = append(v.steps, t.Step().String()+": "+err.Error())
	}
	return nil
}

// relive has an instance of each process go through what it has run on the ways that were found.
func (f *found) relive() error {
	f.learner.Searching, f.learner.Where = false, Provenance{}
	for _, history := range f.histories {
		for _, p := range f.learner.Machine.Processes {
			if err := f.learner.Relive(p, history[p]); err != nil {
				return err
			}
		}
	}
	return nil
}

// ran listens to what runs in a step.
type ran struct {
	Inattentive
	runs []begun
}

// Began implements [Listener].
func (r *ran) Began() { r.runs = nil }

// Ended implements [Listener].
func (r *ran) Ended(a *Actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf) {
	r.runs = append(r.runs, begun{a, behavior.Run{Activation: activation, Path: slices.Clone(path), Leaf: leaf}})
}

// after returns the histories behind a step, or a start.
func (r *ran) after(before map[*Process][]behavior.Run, t *Taken) map[*Process][]behavior.Run {
	history := maps.Clone(before)
	if history == nil {
		history = map[*Process][]behavior.Run{}
	}
	if t != nil && (t.Kind == core.Restart || t.Crashes()) {
		delete(history, t.Actor.Process)
	}
	for _, run := range r.runs {
		if p := run.actor.Process; run.Leaf.Failure == behavior.CutOff {
			delete(history, p)
		} else if !run.actor.User && !run.Leaf.Failure.Stuck() {
			history[p] = append(slices.Clip(history[p]), run.Run)
		}
	}
	return history
}

// wanderer is the visitor of a search of the lab.
type wanderer struct {
	*found
	walker *Walker
	from   string
	come   func(t *Taken)
	ran    ran
}

func (v *wanderer) Took(t *Taken) error {
	v.steps = append(v.steps, stepText(v.from, textOf(v.walker.Look()), v.walker.Edge(0, t)))
	v.come(t)
	return nil
}

func (v *wanderer) Stopped(t *Taken, err error) error {
	if cut := slices.Contains(v.ends, t.Step().String()); !errors.Is(err, ErrStopped) && (!cut || !errors.Is(err, ErrUnknown)) {
		return err
	}
	v.stopped = append(v.stopped, t.Step().String())
	return nil
}

// known takes the steps from all states again with a walker that only knows what was learned: they are the same.
func (f *found) known(t *testing.T) {
	t.Helper()
	if slices.ContainsFunc(f.learner.Machine.Actors, func(a *Actor) bool { return a.divergences > maxDivergences }) {
		return // it was stopped where it may be known what comes
	}
	for _, d := range f.learner.Machine.remembering {
		for _, m := range d.memories[1:] {
			if n := len(m.Histories); n < 1 || n > mostWays {
				t.Errorf("%d histories lead to a memory of %s", n, d.Name)
			}
		}
	}
	again := found{rows: f.rows, histories: f.histories, ends: f.stopped}
	w := NewWalker(f.learner.Machine, nil)
	for at := range f.rows {
		if err := again.visit(w, at, func(map[*Process][]behavior.Run, ran, *Taken) {}); err != nil {
			t.Errorf("a walker that only reads: %v", err)
		}
	}
	if got, want := less(again.steps, f.steps), less(f.steps, again.steps); len(got)+len(want) > 0 || !slices.Equal(again.stopped, f.stopped) {
		t.Errorf("a walker that only reads takes besides:\n\t%s\nand does not take:\n\t%s\nand stops at %q", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"), again.stopped)
	}
}

// textOf says all that there is to say of a state but of what is hidden in it, and stepText of a step, however the
// crashes in it came about.
func textOf(s core.State) string {
	return fmt.Sprintf("%s; work %v in flight %v timers %v", objectsOf(s), s.Work(), s.InFlight(), s.Timers())
}

func stepText(from, to string, e core.Edge) string {
	kind, crash := e.Step.Kind, strings.Contains(e.Step.Detail, "crash")
	if kind == core.Act || kind == core.Work {
		kind = core.Reconcile
	}
	if kind != core.Reconcile {
		crash = false
	}
	if crash {
		e.Failed, e.Requeued = "", false
	}
	return fmt.Sprintf("%s | %s %s crash=%t wrote=%t failed=%q again=%t | %s", from, kind.Name(), e.Step.Item, crash, e.Wrote && kind != core.Restart && !crash, e.Failed, e.Requeued, to)
}

// objectsOf are the notes in a state, and the objects of random systems.
func objectsOf(s core.State) string {
	var all []string
	for _, kind := range append(random.Kinds(), "note") {
		for _, o := range s.List(kind, "") {
			all = append(all, o.Key.Name+" "+o.Content.Canonical())
		}
	}
	return strings.Join(all, ", ")
}

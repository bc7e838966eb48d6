package explore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/random"
)

// chronicle is a world that never forgets: it answers calls as a store does, and knows what was there after each change
// of a kind. It knows nothing of views but how far they are said to be behind.
type chronicle struct {
	store core.Store
	past  map[core.Kind][]map[core.Key]core.Content
}

func newChronicle(system *core.System, objects []core.TraceObject) *chronicle {
	c := &chronicle{store: system.Store, past: map[core.Kind][]map[core.Key]core.Content{}}
	for _, kind := range random.Kinds() {
		c.past[kind] = []map[core.Key]core.Content{{}}
	}
	start := slices.IndexFunc(system.Initial, func(initial core.Initial) bool {
		return len(initial.Objects) == len(objects) && !slices.ContainsFunc(initial.Objects, func(o core.Object) bool {
			return !slices.ContainsFunc(objects, func(told core.TraceObject) bool {
				return told.Key() == o.Key && reflect.DeepEqual(told.Fields, o.Content.Fields())
			})
		})
	})
	for _, o := range system.Initial[start].Objects {
		c.past[o.Key.Kind][0][o.Key] = o.Content
	}
	return c
}

// then is the world as it was a number of changes ago, for some kinds.
type then struct {
	*chronicle
	ago map[core.Kind]int
}

func (s then) of(kind core.Kind) map[core.Key]core.Content {
	past := s.past[kind]
	return past[len(past)-1-s.ago[kind]]
}

func (s then) Get(key core.Key) core.Content { return s.of(key.Kind)[key] }

func (s then) List(kind core.Kind, namespace string) []core.Object {
	var objects []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(s.of(kind)), core.Key.Compare) {
		if namespace == "" || key.Namespace == namespace {
			objects = append(objects, core.Object{Key: key, Content: s.Get(key)})
		}
	}
	return objects
}

func (s then) Held(core.Key) []core.Content { return nil }

func (c *chronicle) Do(_ context.Context, call core.Call, recorded core.RecordedCall) (core.Response, error) {
	seen := then{c, map[core.Kind]int{}}
	if call.Source() == core.Cached {
		for _, lag := range recorded.Behind {
			seen.ago[lag.Kind] = lag.Changes
			if changes := len(c.past[lag.Kind]) - 1; changes != lag.Of {
				return nil, core.DeviationError(fmt.Sprintf("there were %d changes of %s and not %d", changes, lag.Kind, lag.Of))
			}
		}
	}
	answer, err := c.store.Answer(seen, call)
	if err != nil {
		return nil, err
	}
	var created []core.Key
	for _, write := range answer.Writes {
		now := maps.Clone(then{chronicle: c}.of(write.Key.Kind))
		if write.Content == nil {
			delete(now, write.Key)
		} else {
			if now[write.Key] == nil {
				created = append(created, write.Key)
			}
			now[write.Key] = write.Content
		}
		c.past[write.Key.Kind] = append(c.past[write.Key.Kind], now)
	}
	if !slices.Equal(created, recorded.Creates) {
		return nil, core.DeviationError(fmt.Sprintf("it creates %v and not %v", created, recorded.Creates))
	}
	return answer.Response, nil
}

func (c *chronicle) Event(_ context.Context, e core.TraceEvent) (core.Event, error) {
	past := c.past[e.Kind]
	if len(past)-1 != e.Of {
		return core.Event{}, core.DeviationError(fmt.Sprintf("there were %d changes of %s and not %d", len(past)-1, e.Kind, e.Of))
	}
	event := core.Event{Key: e.Key(), New: past[e.To][e.Key()], Missed: e.Missed, Initial: e.Initial}
	if !e.Initial {
		event.Old = past[e.From][e.Key()]
	}
	return event, nil
}

func (c *chronicle) Shows(_ context.Context, change core.TraceChange) (string, error) {
	content := then{chronicle: c}.Get(change.Key())
	if (content == nil) != (change.Verb == "deleted") {
		return fmt.Sprintf("%s is %v and not %s", change.Key(), content, change.Verb), nil
	}
	for _, field := range change.Fields {
		found := content.Fields()
		if field.Path != "" {
			found = found.(map[string]any)[field.Path]
		}
		if fmt.Sprint(found) != fmt.Sprint(field.To) {
			return fmt.Sprintf("%s is %v", change.Key(), content), nil
		}
	}
	return "", nil
}

// disturbances returns random conditions for random systems, with failures and second instances.
func disturbances(r *rand.Rand, system *core.System) explore.Conditions {
	c := explore.Conditions{Crashes: r.IntN(2), Failures: r.IntN(2), Granularity: explore.Granularity(r.IntN(2))}
	for _, strategy := range system.Strategies {
		d := strategy.Describe()
		if !d.Messages && len(d.Standing) == 0 && r.IntN(5) == 0 {
			c.Doubles = append(c.Doubles, d.Name)
		}
		for _, kind := range slices.Concat(d.Watches, d.Caches) {
			rules := []view.Rule{view.Fresh(), view.Lag(1), view.Lag(3), view.OwnWrites(2), view.Restart(2), view.Relist(), view.Relist()}
			c.Staleness = append(c.Staleness, explore.Staleness{Controller: d.Name, Kind: kind, Rule: rules[r.IntN(len(rules))]})
		}
	}
	return c
}

// TestToldRunsCanBeEnacted enacts random runs in a world that has only what is told to go by.
func TestToldRunsCanBeEnacted(t *testing.T) {
	n := 2 * *systems
	if testing.Short() {
		n /= 16
	}
	met := map[string]int{}
	for seed := *firstSeed; n > 0; seed++ {
		compose, draws := random.Loose, seed%4 == 0
		if draws {
			compose = random.Drawing
		}
		system, err := compose(seed)
		if err != nil {
			t.Fatal(err)
		}
		if !draws && !strings.HasPrefix(fmt.Sprintf("%+v", system.Store), "{versioned:false") {
			continue // the names of versions say who holds which
		}
		n--
		r := rand.New(rand.NewPCG(seed, 3))
		o := options(1)
		o.Conditions = disturbances(r, system)
		o.Bounds.States = 300
		space := search(t, system, o)
		if slices.ContainsFunc(space.Incidents(), func(i core.Incident) bool { return i.Kind == core.Nondeterministic }) {
			continue // it does not do so again
		}
		for range 10 {
			goal := core.StateID(r.IntN(space.States()))
			run, found := space.Shortest(func(id core.StateID) bool { return id == goal })
			if !found {
				t.Fatalf("seed %d: there is no run to state %d", seed, goal)
			}
			trace, err := space.Trace(context.Background(), start(run, goal), run, nil)
			if err != nil {
				t.Fatalf("seed %d: the run to state %d: %v", seed, goal, err)
			}
			meet(met, o.Conditions, trace)
			if slices.ContainsFunc(trace.Steps, func(step core.TraceStep) bool { return step.Seed != 0 && len(step.Changes) > 0 }) {
				met["draw"]++
			}
			world := newChronicle(system, trace.Initial)
			parting, err := behavior.Enact(context.Background(), system, reread(t, trace), world, o.Run)
			if err != nil || parting != nil {
				t.Fatalf("seed %d, conditions %+v: the run to state %d parts: %+v, %v\nagain with -run TestToldRunsCanBeEnacted -systems 3 -first-seed %d", seed, o.Conditions, goal, parting, err, seed)
			}
		}
	}
	for _, what := range []string{"behind", "relisted", "fault", "crash", "creates", "deliver", "restart", "user", "begin", "call", "return", "act", "draw"} {
		if met[what] == 0 && !testing.Short() {
			t.Errorf("no run had %q in it: %v", what, met)
		}
	}
}

// TestRememberedRunsCanBeEnacted enacts random runs of controllers with memory in a world that has only what is told to
// go by. They have to get the very events that they got, when they got them, and to lose their memory where they did.
func TestRememberedRunsCanBeEnacted(t *testing.T) {
	n := 2 * *systems
	if testing.Short() {
		n /= 16
	}
	met := map[string]int{}
	for seed := *firstSeed; n > 0; seed, n = seed+1, n-1 {
		generate := random.Mindful
		switch seed % 6 {
		case 0:
			generate = random.Ledgers
		case 3:
			generate = random.Errands
		}
		system, err := generate(seed)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 6))
		o := options(1)
		o.Conditions = disturbances(r, system)
		o.Bounds.States = 300
		space := search(t, system, o)
		for range 10 {
			goal := core.StateID(r.IntN(space.States()))
			run, found := space.Shortest(func(id core.StateID) bool { return id == goal })
			if !found {
				t.Fatalf("seed %d: there is no run to state %d", seed, goal)
			}
			trace, err := space.Trace(context.Background(), start(run, goal), run, nil)
			if err != nil {
				t.Fatalf("seed %d: the run to state %d: %v", seed, goal, err)
			}
			meetMemory(met, trace)
			world := newChronicle(system, trace.Initial)
			parting, err := behavior.Enact(context.Background(), system, reread(t, trace), world, o.Run)
			if err != nil || parting != nil {
				t.Fatalf("seed %d, conditions %+v: the run to state %d parts: %+v, %v\nagain with -run TestRememberedRunsCanBeEnacted -systems 3 -first-seed %d", seed, o.Conditions, goal, parting, err, seed)
			}
		}
	}
	t.Logf("there were %v", met)
	for _, what := range []string{"at the start", "by a reconcile", "by an event", "lost", "stale", "missed", "again", "at the end", "shared"} {
		if met[what] == 0 && !testing.Short() {
			t.Errorf("no run had memory or events %q in it: %v", what, met)
		}
	}
}

// meetMemory counts what there is of memory in a trace.
func meetMemory(met map[string]int, trace core.Trace) {
	count := func(what string, is bool) {
		if is {
			met[what]++
		}
	}
	count("at the start", len(trace.Memory) > 0)
	for _, step := range trace.Steps {
		for _, c := range step.Memory {
			count("lost", c.Lost)
			count("shared", c.Controller == "shared")
			count("by a reconcile", c.Event == "")
			count("by an event", c.Event != "")
		}
		for _, e := range step.Events {
			count("stale", e.To < e.Of)
			count("missed", e.Missed)
			count("again", e.Initial)
			count("at the end", e.Calls > 0 && e.Calls == len(step.Calls))
		}
	}
}

// reread returns a trace as it is read from a record.
func reread(t *testing.T, trace core.Trace) core.Trace {
	t.Helper()
	text, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	var read core.Trace
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// TestRecordsOfWordsReplay replays runs of which nothing was told but words.
func TestRecordsOfWordsReplay(t *testing.T) {
	met := map[string]int{}
	for seed := range uint64(12) {
		system, err := random.Loose(seed)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 4))
		o := options(1)
		o.Conditions = disturbances(r, system)
		o.Bounds.States = 200
		space := search(t, system, o)
		goal := core.StateID(space.States() - 1)
		run, _ := space.Shortest(func(id core.StateID) bool { return id == goal })
		trace, err := space.Trace(context.Background(), start(run, goal), run, nil)
		if err != nil {
			t.Fatal(err)
		}
		meet(met, o.Conditions, trace)
		for i := range trace.Steps {
			trace.Steps[i].Crashes = false
			for j := range trace.Steps[i].Calls {
				call := &trace.Steps[i].Calls[j]
				call.Behind, call.Fault, call.Creates = nil, "", nil
			}
		}
		if d, err := explore.Replay(context.Background(), system, o.Conditions, trace, o.Run, nil); d != nil || err != nil {
			t.Errorf("seed %d: %+v, %v", seed, d, err)
		}
	}
	if met["behind"]+met["fault"]+met["crash"] == 0 || met["creates"] == 0 {
		t.Errorf("there was nothing to leave out: %v", met)
	}
}

// meet counts what there is in a trace.
func meet(met map[string]int, c explore.Conditions, trace core.Trace) {
	relists := func(controller string, kind core.Kind) bool {
		return slices.Contains(c.Staleness, explore.Staleness{Controller: controller, Kind: kind, Rule: view.Relist()})
	}
	for _, step := range trace.Steps {
		met[step.Kind]++
		if step.Crashes {
			met["crash"]++
		}
		for _, call := range step.Calls {
			if call.Fault != "" {
				met["fault"]++
			}
			if len(call.Creates) > 0 {
				met["creates"]++
			}
			for _, lag := range call.Behind {
				met["behind"]++
				if lag.Changes > 1 && relists(step.Controller, lag.Kind) {
					met["relisted"]++
				}
			}
		}
	}
}

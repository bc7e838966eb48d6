package explore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/naive"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestTwinWithMemory compares searches of systems whose controllers keep memory, under random conditions, with the
// twin.
func TestTwinWithMemory(t *testing.T) { twinWithMemory(t, random.Mindful) }

// TestTwinWithLedgers does so for systems whose controllers keep something for each request.
func TestTwinWithLedgers(t *testing.T) { twinWithMemory(t, random.Ledgers) }

// TestTwinWithErrands does so for systems whose controllers leave some of that to goroutines.
func TestTwinWithErrands(t *testing.T) { twinWithMemory(t, random.Errands) }

// TestTwinWithBackground does so for systems whose controllers also work between activations.
func TestTwinWithBackground(t *testing.T) { twinWithMemory(t, random.Restless) }

func twinWithMemory(t *testing.T, generate func(seed uint64) (*core.System, error)) {
	remembering, byRequest, worked, elapsed := 0, 0, 0, 0
	background := map[bool]int{}
	large := eachUnder(t, *systems, generate, conditionsOf, func(seed uint64, system *core.System, c explore.Conditions, want *naive.Graph) {
		for workers := 1; workers <= 2; workers++ {
			o := options(workers)
			o.Conditions = c
			if seed%4 == 0 {
				o.Order = explore.DepthFirst
			}
			space := search(t, system, o)
			if slices.ContainsFunc(space.Reasons(), func(reason string) bool { return strings.Contains(reason, "crashes in those cases were not searched") }) {
				continue // what is blocked in one case only cannot be said to be under way
			}
			for _, incident := range space.Incidents() {
				if incident.Kind == core.Nondeterministic {
					t.Errorf("%s: %v", incident.Message, incident.Details)
				}
			}
			if d := differ(summaryUnder(space), summaryOfTwinUnder(want)); d != "" {
				t.Fatalf("%d workers, conditions %+v: %s\nagain with -run %s -systems 1 -first-seed %d", workers, c, d, t.Name(), seed)
			}
			if memory := space.Memory(); workers == 1 && len(memory) > 0 {
				remembering++
				if slices.ContainsFunc(memory, func(m core.MemoryReport) bool { return m.ByRequest }) {
					byRequest++
				}
				for _, m := range memory {
					if m.Background {
						background[m.ByRequest]++
					}
				}
			}
			for id := range space.States() {
				for _, e := range space.Edges(core.StateID(id)) {
					switch e.Step.Kind {
					case core.Work:
						worked++
					case core.Elapse:
						elapsed++
					}
				}
			}
		}
	})
	t.Logf("%d systems were too large; memory was found in %d, by request in %d; %d work in the background by request and %d do not; %d steps in the background, and %d of the time",
		large, remembering, byRequest, background[true], background[false], worked, elapsed)
}

// TestRunsWithMemoryReplay replays runs of controllers that are found to keep memory on the way.
func TestRunsWithMemoryReplay(t *testing.T) {
	remembering, told, worked, elapsed := 0, 0, 0, 0
	share := 2
	if testing.Short() {
		share = 8
	}
	for seed := uint64(0); seed < 160; seed += uint64(share) {
		generate := random.Mindful
		switch {
		case seed >= 120:
			generate = random.Errands
		case seed >= 80:
			generate = random.Ledgers
		case seed >= 60:
			generate = random.Patient
		case seed >= 40:
			generate = random.Restless
		}
		system, err := generate(seed)
		if err != nil {
			t.Fatal(err)
		}
		o := options(1)
		o.Conditions = disturbances(rand.New(rand.NewPCG(seed, 5)), system)
		if seed >= 60 {
			o.Conditions.Deadlines = 1
		}
		o.Bounds.States = 200
		space := search(t, system, o)
		if len(space.Memory()) > 0 {
			remembering++
		}
		if o.Conditions.Granularity == explore.PerCall || seed >= 60 { // which steps there are depends on who is known to keep memory
			for _, m := range space.Memory() {
				o.Conditions.Remembering = append(o.Conditions.Remembering, m.Controller)
			}
		}
		o.Conditions.Awaiting = space.Awaiting()
		goal := core.StateID(space.States() - 1)
		run, _ := space.Shortest(func(id core.StateID) bool { return id == goal })
		trace, err := space.Trace(context.Background(), start(run, goal), run, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range trace.Steps {
			switch step.Kind {
			case core.Work.Name():
				worked++
			case core.Elapse.Name():
				elapsed++
			}
		}
		if d, err := explore.Replay(context.Background(), system, o.Conditions, trace, o.Run, nil); d != nil || err != nil {
			t.Errorf("seed %d: %+v, %v", seed, d, err)
		}
		if why := unconnected(trace); why != "" {
			t.Errorf("seed %d: %s", seed, why)
		}
		if at := slices.IndexFunc(trace.Steps, func(s core.TraceStep) bool { return len(s.Memory) > 0 }); at >= 0 {
			told++
			replaysOther(t, system, o, trace, at)
		}
	}
	if remembering < 10/share || told < 10/share || worked < 10/share || elapsed < 1/share {
		t.Errorf("only %d systems keep memory, and %d runs change it; %d steps are in the background, and %d of the time", remembering, told, worked, elapsed)
	}
}

// unconnected says where a trace says of a value in memory that it was another one than it was last said to be, empty
// if it does not.
func unconnected(trace core.Trace) string {
	type place struct{ controller, field string }
	now := map[place]string{}
	for i, step := range append([]core.TraceStep{{Memory: trace.Memory}}, trace.Steps...) {
		for _, c := range step.Memory {
			at := place{c.Controller, c.Field}
			if was, known := now[at]; known && !c.Lost && (c.From == nil || was != *c.From) {
				return fmt.Sprintf("step %d says that %s was %v, and it was %s", i, c.Field, c.From, was)
			}
			if c.From != nil && c.To != nil && *c.From == *c.To {
				return fmt.Sprintf("step %d says that %s is what it was", i, c.Field)
			}
			delete(now, at)
			if c.To != nil {
				now[at] = *c.To
			}
		}
	}
	return ""
}

// replaysOther replays a trace that says something else of memory in a step: the step and the field are named. A trace
// that says nothing of memory, as older ones, is replayed, and the field is named if it deviates for another reason.
func replaysOther(t *testing.T, system *core.System, o explore.Options, trace core.Trace, at int) {
	t.Helper()
	replay := func(change func(steps []core.TraceStep)) *core.Deviation {
		other := trace
		other.Steps = slices.Clone(trace.Steps)
		change(other.Steps)
		d, err := explore.Replay(context.Background(), system, o.Conditions, other, o.Run, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	wrong, field := "7", trace.Steps[at].Memory[0].Field
	wants := func(d *core.Deviation, step int, said ...string) {
		t.Helper()
		if d == nil || d.Step != step || slices.ContainsFunc(said, func(part string) bool { return !strings.Contains(d.Reason, part) }) {
			t.Errorf("%s: it deviates at %+v, want step %d, and %q", system.Name, d, step, said)
		}
	}
	wants(replay(func(steps []core.TraceStep) {
		steps[at].Memory = slices.Clone(steps[at].Memory)
		steps[at].Memory[0].To = &wrong
	}), at+1, "the memory of "+trace.Steps[at].Memory[0].Controller+" is different", field, wrong)
	wants(replay(func(steps []core.TraceStep) {
		steps[at].Memory = append(slices.Clone(steps[at].Memory), core.MemoryChange{Controller: "c", Field: "more", To: &wrong})
	}), at+1, `the memory of c no longer changes: it was "more = 7"`)
	forget := func(steps []core.TraceStep) {
		for i := range steps {
			steps[i].Memory = nil
		}
	}
	if len(trace.Memory) > 0 {
		wants(replay(forget), at+1, "now changes", field)
		return
	}
	if d := replay(forget); d != nil {
		t.Errorf("%s: a trace without memory deviates: %+v", system.Name, d)
	}
	said := []string{"it ended with \"another\""}
	if at+1 < len(trace.Steps) {
		// Such a record does not say, either, whether calls that wait are numbered for each request.
		said = append(said, strings.TrimSuffix(field, "]"), "of which the record says nothing")
	}
	wants(replay(func(steps []core.TraceStep) {
		forget(steps)
		steps[len(steps)-1].Result = "another"
	}), len(trace.Steps), said...)
}

// careless is a strategy that the twin takes for one with memory, and makes a mistake with it.
type careless struct {
	naive.Remembering
	mistake func(memory string) string
}

// Restless reports whether the process of the strategy works between activations.
func (c careless) Restless() bool {
	restless, ok := c.Remembering.(interface{ Restless() bool })
	return ok && restless.Restless()
}

// Remember implements [naive.Remembering].
func (c careless) Remember(memory string) core.Instance {
	return c.Remembering.Remember(c.mistake(memory))
}

// lonely is a strategy that the twin takes for one that shares its process with nobody.
type lonely struct{ naive.Remembering }

// Describe implements [core.Strategy].
func (l lonely) Describe() core.Description {
	d := l.Remembering.Describe()
	d.Process = ""
	return d
}

// without returns a memory of a random controller without what is in the way: its bits, whether time will change it,
// its deadline, since when it takes the time and how long it took, and what it leaves to the background.
func without(memory string, change func(parts []string) []string) string {
	if memory == "" {
		return ""
	}
	return strings.Join(change(strings.Split(memory, " ")), " ")
}

// TestMistakesWithMemoryShow checks that random systems tell right from wrong: memory that is lost between runs, of
// which a part is lost, that outlives a crash, or that is not shared, an identity that forgets a field, and work of the
// background and of the time that gets lost.
func TestMistakesWithMemoryShow(t *testing.T) {
	type searched struct {
		states   int
		awaiting []string
		summary  summary
	}
	found := map[string]*searched{}
	for name, test := range map[string]struct {
		mistake  func(string) string
		ignored  []string
		immortal bool
		alone    bool
		restless bool
		patient  bool
	}{
		"memory is lost": {mistake: func(string) string { return "" }},
		"a bit is lost": {mistake: func(memory string) string {
			return without(memory, func(parts []string) []string {
				parts[0] = map[string]string{"0": "0", "1": "1", "2": "0", "3": "1"}[parts[0]]
				return parts
			})
		}},
		"an identity forgets":     {ignored: []string{"high"}},
		"an identity is the one":  {ignored: []string{"high", "low"}},
		"memory outlives a crash": {immortal: true},
		"processes are not there": {alone: true},
		"work is lost": {restless: true, mistake: func(memory string) string {
			return without(memory, func(parts []string) []string { return parts[:5] })
		}},
		"work is done in another order": {restless: true, mistake: func(memory string) string {
			return without(memory, func(parts []string) []string {
				slices.Reverse(parts[5:])
				return parts
			})
		}},
		"time does not pass": {restless: true, mistake: func(memory string) string {
			return without(memory, func(parts []string) []string {
				parts[1] = "quiet"
				return parts
			})
		}},
		"an identity forgets work": {restless: true, ignored: []string{"todo", "background"}},
		"work outlives a crash":    {restless: true, immortal: true},
		"a deadline is lost": {patient: true, mistake: func(memory string) string {
			return without(memory, func(parts []string) []string {
				parts[2] = "none"
				return parts
			})
		}},
		"an identity forgets a deadline": {patient: true, ignored: []string{"deadline"}},
		"a deadline outlives a crash":    {patient: true, immortal: true},
	} {
		t.Run(name, func(t *testing.T) {
			shown := false
			for seed := uint64(1); seed < 200 && !shown; seed++ {
				generate, family := random.Mindful, "mindful"
				switch {
				case test.restless:
					generate, family = random.Restless, "restless"
				case test.patient:
					generate, family = random.Patient, "patient"
				}
				system, err := generate(seed)
				if err != nil {
					t.Fatal(err)
				}
				told := *system
				told.Strategies = slices.Clone(system.Strategies)
				for i, strategy := range told.Strategies {
					switch r, ok := strategy.(naive.Remembering); {
					case ok && test.mistake != nil:
						told.Strategies[i] = careless{r, test.mistake}
					case ok && test.alone:
						told.Strategies[i] = lonely{r}
					}
				}
				crashes := int(seed % 2)
				if test.immortal {
					crashes = 1
				}
				o := options(1)
				o.Conditions = explore.Conditions{Crashes: crashes, IgnoredMemory: test.ignored}
				if test.patient {
					o.Conditions.Deadlines = 1
				}
				o.Bounds.States = largest
				key := fmt.Sprint(family, seed, crashes, test.ignored)
				if found[key] == nil { // the mistake is the twin's
					space := search(t, system, o)
					found[key] = &searched{states: space.States(), awaiting: space.Awaiting(), summary: summaryUnder(space)}
				}
				if found[key].states >= largest {
					continue
				}
				want, err := naive.ExploreUnder(&told, naive.Conditions{
					Crashes: crashes, Immortal: test.immortal, Deadlines: o.Conditions.Deadlines, Awaiting: found[key].awaiting,
				}, largest)
				if err != nil {
					continue // too large
				}
				shown = differ(found[key].summary, summaryOfTwinUnder(want)) != ""
			}
			if !shown {
				t.Error("no system shows it")
			}
		})
	}
}

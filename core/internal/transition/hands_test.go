package transition

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// What instances of the lab do.

// countingUp keeps a number that its reconciles count up, and writes it.
func countingUp(shows bool) func() core.Instance {
	return func() core.Instance {
		n := 0
		h := hand{reconcile: func(w world, _ core.Request) core.Result {
			n = min(n+1, 3)
			w.put("n", strconv.Itoa(n))
			return core.Result{Requeue: n < 3}
		}}
		if !shows {
			return h
		}
		return mind{h, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(n)} }}
	}
}

// sequential declares that code starts no goroutines and looks at no clock.
func sequential(t *trade) *trade {
	t.Sequential = true
	return t
}

// since writes down when it has seen a note first, and that it is late an hour later.
func since() core.Instance {
	return hand{reconcile: func(w world, _ core.Request) core.Result {
		at, err := time.Parse(time.RFC3339, w.get("since"))
		if err != nil {
			w.create("since", time.Now().Format(time.RFC3339))
			return core.Result{RequeueAfter: time.Hour}
		}
		if time.Since(at) < time.Hour {
			return core.Result{RequeueAfter: time.Hour}
		}
		w.put("late", "yes")
		return core.Result{}
	}}
}

// sinceInMemory does so in its memory.
func sinceInMemory() core.Instance {
	var at time.Time
	h := hand{reconcile: func(w world, _ core.Request) core.Result {
		switch {
		case at.IsZero():
			at = time.Now()
		case time.Since(at) >= time.Hour:
			w.put("late", "yes")
			return core.Result{}
		}
		return core.Result{RequeueAfter: time.Hour}
	}}
	return mind{h, func() map[string]string {
		if at.IsZero() {
			return map[string]string{}
		}
		return map[string]string{"R.at": at.String()}
	}}
}

// handing hands its requests on to a goroutine, which puts them on notes.
func handing() core.Instance {
	queue, end := make(chan string, 4), make(chan struct{})
	h := hand{reconcile: func(w world, r core.Request) core.Result {
		if w.get(string(r)) == "" {
			queue <- string(r)
		}
		return core.Result{}
	}}
	return tireless{
		mind{h, func() map[string]string { return map[string]string{"R.queue": strconv.Itoa(len(queue))} }},
		func(w world) []func() {
			return []func(){func() {
				for {
					select {
					case name := <-queue:
						w.put(name, "by hand")
					case <-end:
						return
					}
				}
			}}
		},
		func() { close(end) },
	}
}

// ticking is woken each minute, and does something after so many times.
func ticking(times int) func() core.Instance {
	return func() core.Instance {
		end := make(chan struct{})
		h := hand{reconcile: func(world, core.Request) core.Result { return core.Result{} }}
		return tireless{
			mind{h, func() map[string]string { return map[string]string{} }},
			func(w world) []func() {
				return []func(){func() {
					ticker := time.NewTicker(time.Minute)
					defer ticker.Stop()
					for n := 1; ; n++ {
						select {
						case <-ticker.C:
							w.get("poll")
							if n == times {
								w.put("tired", "yes")
							}
						case <-end:
							return
						}
					}
				}}
			},
			func() { close(end) },
		}
	}
}

// late leaves something to be done behind its end.
func late() core.Instance {
	return hand{reconcile: func(w world, _ core.Request) core.Result {
		go w.put("late", "yes")
		return core.Result{}
	}}
}

// twoAtOnce makes two calls at the same time.
func twoAtOnce(w world, _ core.Request) core.Result {
	var all sync.WaitGroup
	for _, text := range []string{"1", "2"} {
		all.Go(func() { w.put("n", text) })
	}
	all.Wait()
	return core.Result{}
}

// lends tells that it has changed a cache.
type lends struct{ hand }

func (lends) Mutated() string { return "note a: x → y" }

// does is a controller with code that may look at the clock and start goroutines, and no memory.
func does(reconcile func(w world, r core.Request) core.Result) *trade {
	return controller("c", func() core.Instance { return hand{reconcile: reconcile} })
}

// both are strategies of one process, and pair an instance of one of them, with what each does and what is shown of
// each.
type both struct {
	*trade
	divided bool
	members func() []mind
	names   []string
}

type pair struct {
	mind
	all   []mind
	names []string
}

func (b *both) Describe() core.Description {
	d := b.trade.Describe()
	d.Process, d.Divided = "both", b.divided
	return d
}

func (b *both) New() (core.Instance, error) {
	all := b.members()
	return pair{all[slices.Index(b.names, b.Name)], all, b.names}, nil
}

func (p pair) Of(name string) core.Instance {
	if i := slices.Index(p.names, name); i >= 0 {
		return pair{p.all[i], p.all, p.names}
	}
	return nil
}

func (p pair) Memory() map[string]string {
	memory := map[string]string{}
	for i, name := range p.names {
		for path, value := range p.all[i].memory() {
			memory[name+"/"+path] = value
		}
	}
	return memory
}

func (p pair) MemoryOf(name string) map[string]string {
	return p.all[slices.Index(p.names, name)].memory()
}

// process is a system with a process of two controllers, a and b.
func process(divided bool, members func() []mind) *core.System {
	system := lab(nil)
	for _, name := range []string{"a", "b"} {
		system.Strategies = append(system.Strategies, &both{sequential(controller(name, nil)), divided, members, []string{"a", "b"}})
	}
	return system
}

// tallies are two controllers that count what they do up to two, in the counters of which they have the numbers, and
// put the counter of which they have the other number on a note. They show some.
func tallies(counts, tells [2]int, shows [2][]int) func() []mind {
	return func() []mind {
		var counters [2]int
		var all []mind
		for i, name := range []string{"a", "b"} {
			all = append(all, mind{hand{reconcile: func(w world, _ core.Request) core.Result {
				w.put(name, strconv.Itoa(counters[tells[i]]))
				counters[counts[i]] = min(2, counters[counts[i]]+1)
				return core.Result{Requeue: counters[counts[i]] < 2}
			}}, func() map[string]string {
				memory := map[string]string{}
				for _, n := range shows[i] {
					memory[fmt.Sprintf("counter[%d]", n)] = strconv.Itoa(counters[n])
				}
				return memory
			}})
		}
		return all
	}
}

// dice draw words that can be set.
type dice struct {
	mu  sync.Mutex // as a run that is given up may still be on its way
	set *rand.Rand
	of  *throw
}
type throw struct {
	dice  *dice
	drawn []string
}

func (d *dice) draw() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 100_000
	if d.set == nil {
		n += rand.IntN(900_000)
	} else {
		n += d.set.IntN(900_000)
		d.of.drawn = append(d.of.drawn, strconv.Itoa(n))
	}
	return strconv.Itoa(n)
}

func (*dice) Release() {}

func (d *dice) Set(seed uint64, before int) core.Draw {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set, d.of = rand.New(rand.NewPCG(seed, uint64(before))), &throw{dice: d}
	return d.of
}

func (t *throw) End() bool {
	t.dice.mu.Lock()
	defer t.dice.mu.Unlock()
	if t.dice.of == t {
		t.dice.set = nil
	}
	return len(t.drawn) > 0
}

func (d *dice) Compare(runs []core.Drawn, _ bool) (run, text int) {
	for text := range runs[0].Texts {
		for run := range runs {
			if unnamed(runs[run]).Replace(runs[run].Texts[text]) != unnamed(runs[0]).Replace(runs[0].Texts[text]) {
				return run, text
			}
		}
	}
	return 0, -1
}

// unnamed replaces the words that a run has drawn by their numbers.
func unnamed(run core.Drawn) *strings.Replacer {
	var pairs []string
	for i, word := range run.Words {
		pairs = append(pairs, word, fmt.Sprint("word ", i))
	}
	return strings.NewReplacer(pairs...)
}

func (*dice) Other(answer core.Response, _ int, _ ...string) (core.Response, bool) {
	return answer, true
}

func (*dice) Texts(core.Response) []string { return nil }

func (*dice) Derived(_, _ core.Drawn, _ [][]string) []string { return nil }

func (*dice) Exchanged(_, _ core.Drawn, _ [][]string) bool { return false }

func (*dice) Follow(map[string][]string) {}

func (*dice) Echo(answer core.Response, _, _ []string) core.Response { return answer }

func (*dice) Renamed(text string, _ int) (string, bool) { return text, true }

func (*dice) Has(string) bool { return false }

func (t *throw) Words(texts []string) []string {
	t.dice.mu.Lock()
	defer t.dice.mu.Unlock()
	all := strings.Join(texts, "\n")
	return slices.DeleteFunc(slices.Clone(t.drawn), func(word string) bool { return !strings.Contains(all, word) })
}

// drawing is a system with a controller that draws.
func drawingBy(hire func(d *dice) core.Instance) *core.System {
	d := &dice{}
	system := alone(sequential(controller("c", func() core.Instance { return hire(d) })))
	system.Randomness = d
	return system
}

// stopwatch keeps how long it took from one run to the next one, and may put that it was long on a note in the third.
func stopwatch(heeds bool) func() core.Instance {
	return func() core.Instance {
		var began time.Time
		var took time.Duration
		runs := 0
		return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
			switch runs++; runs {
			case 1:
				began = time.Now()
				return core.Result{Requeue: true}
			case 2:
				took = time.Since(began)
				return core.Result{Requeue: true}
			}
			runs = 3
			if heeds && took > time.Hour {
				w.put("slow", "yes")
			}
			return core.Result{}
		}}, func() map[string]string {
			return map[string]string{"R.runs": strconv.Itoa(runs), "R.began": began.String(), "R.took": took.String()}
		}}
	}
}

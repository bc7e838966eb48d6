package orrery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// slate is a store of words, for strategies with instances of their own: its calls are "get NAME" and "put NAME WORD".
type slate struct{}

type word string

func (w word) Canonical() string { return string(w) }
func (w word) Fields() any       { return map[string]any{"word": string(w)} }

type request string

func (r request) Identity() string    { return string(r) }
func (r request) String() string      { return string(r) }
func (r request) Source() core.Source { return core.Live }

type response string

func (r response) Identity() string { return string(r) }
func (r response) String() string   { return string(r) }

func (slate) Answer(s core.Snapshot, c core.Call) (core.Answer, error) {
	words := strings.Fields(c.Identity())
	key := core.Key{Kind: "word", Name: words[1]}
	if words[0] == "get" {
		return core.Answer{Response: response(fmt.Sprint(s.Get(key)))}, nil
	}
	if words[0] == "claim" && s.Get(key) != nil {
		return core.Answer{Response: response("taken")}, nil
	}
	done := core.Answer{Response: response("ok")}
	if s.Get(key) != word(words[2]) {
		done.Writes = []core.Write{{Key: key, Content: word(words[2])}}
	}
	return done, nil
}

func (slate) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions }
func (slate) Outcome(_ core.Key, c core.Content) any                                 { return c.Fields() }
func (slate) Faults(core.Call) []core.Fault                                          { return nil }
func (slate) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

// ask makes a call and returns the answer.
type ask func(format string, args ...any) string

// hand is a controller on a slate. It is set up anew for each instance.
type hand struct {
	name     string
	initial  []core.Request
	bubbled  bool
	reaction func() (handle func(core.Event) []core.Request, reconcile func(ask, core.Request) core.Result)
}

func (h hand) Describe() core.Description {
	return core.Description{Name: h.name, Initial: h.initial, Watches: []core.Kind{"word"}, Sequential: !h.bubbled}
}

func (h hand) New() (core.Instance, error) {
	handle, reconcile := h.reaction()
	return finger{handle, reconcile}, nil
}

type finger struct {
	handle    func(core.Event) []core.Request
	reconcile func(ask, core.Request) core.Result
}

func (f finger) Handle(_ core.EffectRecorder, e core.Event) []core.Request {
	if f.handle == nil {
		return nil
	}
	return f.handle(e)
}

func (f finger) Reconcile(r core.EffectRecorder, item core.Request) core.Result {
	return f.reconcile(func(format string, args ...any) string {
		return r.Do(request(fmt.Sprintf(format, args...))).String()
	}, item)
}

// stateless is a hand without handlers and memory.
func stateless(name string, reconcile func(ask, core.Request) core.Result) hand {
	return hand{name: name, initial: []core.Request{"r"}, reaction: func() (func(core.Event) []core.Request, func(ask, core.Request) core.Result) {
		return nil, reconcile
	}}
}

// heeding is as a stateless hand, and reconciles whenever something changes.
func heeding(name string, reconcile func(ask, core.Request) core.Result) hand {
	return hand{name: name, initial: []core.Request{"r"}, reaction: func() (func(core.Event) []core.Request, func(ask, core.Request) core.Result) {
		return func(core.Event) []core.Request { return []core.Request{"r"} }, reconcile
	}}
}

func onSlate(words map[string]string, hands ...hand) *core.System {
	s := &core.System{Name: "slate", Store: slate{}, Properties: []core.Property{
		properties.StableConvergence(), properties.SameOutcome(), properties.Fixpoint(),
	}}
	var start core.Initial
	for name, text := range words {
		start.Objects = append(start.Objects, core.Object{Key: core.Key{Kind: "word", Name: name}, Content: word(text)})
	}
	s.Initial = []core.Initial{start}
	for _, h := range hands {
		s.Strategies = append(s.Strategies, h)
	}
	return s
}

// inAllWays checks a system with each reduction, with one worker and with two, and in both granularities.
func inAllWays(t *testing.T, system func() *core.System, judge func(*testing.T, core.Report)) {
	t.Helper()
	for _, options := range []orrery.Options{
		{}, {Workers: 2}, {Reduction: orrery.NoReduction}, {Granularity: orrery.PerCall}, {Search: orrery.DepthFirst, Reduction: orrery.NoReduction},
	} {
		t.Run(fmt.Sprintf("%s %s %s %d", options.Reduction, options.Granularity, options.Search, options.Workers), func(t *testing.T) {
			result, err := orrery.Run(context.Background(), system(), options)
			if err != nil {
				t.Fatal(err)
			}
			judge(t, result.Report)
		})
	}
}

// inconclusive wants no finding but warnings, and a reason with all of these words.
func inconclusive(words ...string) func(*testing.T, core.Report) {
	return func(t *testing.T, r core.Report) {
		t.Helper()
		if r.Verdict != core.Inconclusive {
			t.Errorf("the verdict is %s, want inconclusive; reasons %q", r.Verdict, r.Reasons)
		}
		for _, f := range r.Findings {
			if !f.Warning {
				t.Errorf("it is said that %s", f.Summary)
			}
		}
		uncertain(t, r, words...)
	}
}

// uncertain wants a reason with all of these words.
func uncertain(t *testing.T, r core.Report, words ...string) {
	t.Helper()
	for _, w := range words {
		if !slices.ContainsFunc(r.Reasons, func(reason string) bool { return strings.Contains(reason, w) }) {
			t.Errorf("no reason says %q: %q", w, r.Reasons)
		}
	}
}

// TestChance reconciles by map order of two keys. One check in a thousand may miss it; a hundred paths do not.
func TestChance(t *testing.T) {
	inAllWays(t, func() *core.System {
		return onSlate(map[string]string{"x": "none"}, stateless("picker", func(do ask, _ core.Request) core.Result {
			if do("get x") == "none" {
				for name := range map[string]bool{"left": true, "right": true} {
					do("put x %s", name)
					break
				}
			}
			return core.Result{}
		}))
	}, inconclusive("picker is not deterministic", "reconciling r", "map order", "put x left", "put x right"))
}

// TestChanceIsNoOrder has two controllers of which one is random: that ends differ is not put down to their order.
func TestChanceIsNoOrder(t *testing.T) {
	inAllWays(t, func() *core.System {
		return onSlate(map[string]string{"x": "none", "y": "none"},
			stateless("picker", func(do ask, _ core.Request) core.Result {
				if do("get x") == "none" {
					for name := range map[string]bool{"left": true, "right": true, "up": true} {
						do("put x %s", name)
						break
					}
				}
				return core.Result{}
			}),
			stateless("other", func(do ask, _ core.Request) core.Result {
				do("put y %s", do("get x"))
				return core.Result{}
			}))
	}, inconclusive("picker is not deterministic"))
}

// either returns code that looks at two things in an order that is another one every third time, as by chance.
func either() func(ask) {
	times := 0
	return func(do ask) {
		names := []string{"left", "right"}
		if times++; times%3 == 0 {
			slices.Reverse(names)
		}
		for _, name := range names {
			do("get %s", name)
		}
	}
}

// TestReducedBesideChance has controllers that have nothing to do with each other be searched one after the other,
// although one of them is random.
func TestReducedBesideChance(t *testing.T) {
	states := map[orrery.Reduction]int{}
	for _, reduction := range []orrery.Reduction{orrery.NoReduction, orrery.ByPartialOrder} {
		look := either()
		hands := []hand{stateless("picker", func(do ask, _ core.Request) core.Result {
			look(do)
			do("put picked yes")
			return core.Result{}
		})}
		for i := range 6 {
			hands = append(hands, stateless(fmt.Sprint("other ", i), func(do ask, _ core.Request) core.Result {
				do("put x%d yes", i)
				return core.Result{}
			}))
		}
		result, err := orrery.Run(t.Context(), onSlate(nil, hands...), orrery.Options{Reduction: reduction})
		if err != nil {
			t.Fatal(err)
		}
		inconclusive("picker is not deterministic")(t, result.Report)
		if result.Report.TerminalStates != 1 {
			t.Errorf("%s ends in %d states, want one", reduction, result.Report.TerminalStates)
		}
		states[reduction] = result.Report.States
	}
	if states[orrery.ByPartialOrder]*10 > states[orrery.NoReduction] {
		t.Errorf("of %d states %d are searched", states[orrery.NoReduction], states[orrery.ByPartialOrder])
	}
}

// TestBehindChance has all be searched that a controller does with what it reads behind a choice by chance: its code is
// run until it takes the way again that is known.
func TestBehindChance(t *testing.T) {
	const last = 20
	for _, granularity := range []orrery.Granularity{orrery.PerReconcile, orrery.PerCall} {
		look := either()
		system := onSlate(map[string]string{"x": "0"},
			stateless("picker", func(do ask, _ core.Request) core.Result {
				look(do)
				do("put y %s", do("get x"))
				return core.Result{}
			}),
			heeding("other", func(do ask, _ core.Request) core.Result {
				if n, err := strconv.Atoi(do("get x")); err == nil && n < last {
					do("put x %d", n+1)
				}
				return core.Result{}
			}))
		seen := map[string]bool{}
		system.Properties = append(system.Properties, properties.Always("looks", func(s core.State) bool {
			if y := s.Get(core.Key{Kind: "word", Name: "y"}); y != nil {
				seen[y.Canonical()] = true
			}
			return true
		}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{Granularity: granularity, Reduction: orrery.NoReduction})
		if err != nil {
			t.Fatal(err)
		}
		inconclusive("picker is not deterministic")(t, result.Report)
		if len(seen) != last+1 {
			t.Errorf("of %d words it has written %d: %v", last+1, len(seen), seen)
		}
	}
}

// TestLateMemory does something else from the fourth run on.
func TestLateMemory(t *testing.T) {
	inAllWays(t, func() *core.System {
		return onSlate(map[string]string{"x": "none"}, hand{name: "counter", initial: []core.Request{"r"},
			reaction: func() (func(core.Event) []core.Request, func(ask, core.Request) core.Result) {
				runs := 0
				return nil, func(do ask, _ core.Request) core.Result {
					if runs++; runs >= 4 {
						do("put x late")
					}
					return core.Result{}
				}
			}})
	}, inconclusive("counter is not deterministic", "it keeps memory between runs", "put x late"))
}

// fed is a controller whose event handlers remember what its reconciles look up. With a memory it is right.
func fed(name string, bubbled bool) hand {
	return hand{name: name, bubbled: bubbled,
		reaction: func() (func(core.Event) []core.Request, func(ask, core.Request) core.Result) {
			known := map[core.Request]string{}
			return func(e core.Event) []core.Request {
					if e.New != nil {
						known[core.Request(e.Key.Name)] = e.New.Canonical()
					}
					return []core.Request{core.Request(e.Key.Name)}
				}, func(do ask, r core.Request) core.Result {
					if _, found := known[r]; !found {
						return core.Result{Err: fmt.Errorf("%s was never seen", r)}
					}
					do("put seen yes")
					return core.Result{}
				}
		}}
}

// TestEventFedMemory looks up what event handlers remember: a fresh instance fails for ever, and a real one does not.
func TestEventFedMemory(t *testing.T) {
	for _, bubbled := range []bool{false, true} {
		inAllWays(t, func() *core.System { return onSlate(map[string]string{"x": "none"}, fed("indexer", bubbled)) },
			inconclusive("indexer is not deterministic", "memory", "was never seen"))
	}
}

// TestEventFedMemoryOfAnother remembers what another controller wrote after the first reconcile, which is not run again
// with other responses.
func TestEventFedMemoryOfAnother(t *testing.T) {
	inAllWays(t, func() *core.System {
		reader := hand{name: "reader", initial: []core.Request{"r"},
			reaction: func() (func(core.Event) []core.Request, func(ask, core.Request) core.Result) {
				ready := false
				return func(e core.Event) []core.Request {
						ready = ready || e.Key.Name == "go"
						return []core.Request{"r"}
					}, func(do ask, _ core.Request) core.Result {
						if ready {
							do("put done yes")
						}
						return core.Result{}
					}
			}}
		return onSlate(nil, reader, stateless("starter", func(do ask, _ core.Request) core.Result {
			do("put go now")
			return core.Result{}
		}))
	}, inconclusive("reader is not deterministic", "put done yes"))
}

// TestDelayedWork leaves work running, which is found and searched. What makes no call is nobody's business.
func TestDelayedWork(t *testing.T) {
	neverEnds(t)
	for _, test := range []struct {
		name  string
		leave func(ask)
		late  bool
	}{
		{"a function after a time", func(do ask) { time.AfterFunc(time.Minute, func() { do("put x late") }) }, true},
		{"a goroutine that sleeps", func(do ask) {
			go func() { time.Sleep(10 * time.Hour); do("put x late") }()
		}, true},
		{"a ticker", func(do ask) {
			ticker := time.NewTicker(time.Hour)
			go func() {
				for range 3 {
					<-ticker.C
				}
				do("put x late")
			}()
		}, true},
		{"a function after weeks", func(do ask) { time.AfterFunc(5*7*24*time.Hour, func() { do("put x late") }) }, true},
		{"a goroutine that sleeps for years and does nothing", func(ask) { go time.Sleep(10 * 365 * 24 * time.Hour) }, false},
		{"a timeout that nobody waits for", func(ask) {
			_, drop := context.WithTimeout(context.Background(), time.Hour)
			_ = drop
		}, false},
		{"a timer", func(ask) { time.NewTimer(time.Hour) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inAllWays(t, func() *core.System {
				h := stateless("debtor", func(do ask, _ core.Request) core.Result {
					if do("get x") == "none" {
						test.leave(do)
					}
					return core.Result{}
				})
				h.bubbled = true
				s := onSlate(map[string]string{"x": "none"}, h)
				s.Properties = append(s.Properties, core.Property{Name: "in time", Invariant: func(s core.State) error {
					if fmt.Sprint(s.Get(core.Key{Kind: "word", Name: "x"})) == "late" {
						return errors.New("x is late")
					}
					return nil
				}})
				return s
			}, func(t *testing.T, r core.Report) {
				found := slices.ContainsFunc(r.Findings, func(f core.Finding) bool { return f.Property == "in time" })
				if found != test.late {
					t.Errorf("it is late: %v, want %v; %s: %q", found, test.late, r.Verdict, r.Reasons)
				}
				if !test.late && r.Verdict != core.Holds {
					t.Errorf("the verdict is %s: %q", r.Verdict, r.Reasons)
				}
			})
		})
	}
}

// TestLoopsAreFollowed wants a loop that a controller leaves after some rounds, by what it keeps where it cannot be
// seen, to be no finding.
func TestLoopsAreFollowed(t *testing.T) {
	for _, rounds := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(rounds), func(t *testing.T) {
			inAllWays(t, func() *core.System {
				return onSlate(nil, hand{name: "alternating", initial: []core.Request{"a", "b"}, reaction: func() (func(core.Event) []core.Request, func(ask, core.Request) core.Result) {
					changes, last := 0, core.Request("")
					return nil, func(do ask, item core.Request) core.Result {
						do("get %s", item)
						if item != last {
							changes, last = changes+1, item
						}
						return core.Result{Requeue: changes <= 2*rounds}
					}
				}})
			}, inconclusive("alternating is not deterministic"))
		})
	}
}

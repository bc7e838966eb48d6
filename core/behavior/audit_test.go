package behavior_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// learn runs the code once and returns the path and the leaf of its run.
func learn(t *testing.T, code instance) (behavior.Path, *behavior.Leaf) {
	t.Helper()
	return record(t, start(false, code))
}

// record returns the path and the leaf of the run of a session.
func record(t *testing.T, s *behavior.Session) (behavior.Path, *behavior.Leaf) {
	t.Helper()
	node := &behavior.Node{}
	var path behavior.Path
	for {
		call, leaf, err := s.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if leaf != nil {
			return path, leaf
		}
		node.Call = call
		edge := node.Respond(reply(call.Identity()))
		s.Answer(edge.Response)
		path = append(path, edge)
		node = edge.To
	}
}

func TestAudit(t *testing.T) {
	first := "" // the word that came first in the run before
	words := map[string]bool{}
	for i := range 100 {
		words[strconv.Itoa(i)] = true
	}
	for _, test := range []struct {
		name string
		// code returns fresh code; what it remembers outside of itself is kept.
		code func() instance
		// used tells to audit on the instance that was learned from.
		used bool
		want string // what the recorded run did, empty if the audit finds nothing
	}{
		{
			"calls and returns", func() instance {
				return func(r core.EffectRecorder) core.Result { r.Do(ask("a")); return core.Result{Requeue: true} }
			}, true, "",
		},
		{
			"order of a map", func() instance {
				return func(r core.EffectRecorder) core.Result {
					order := slices.Collect(maps.Keys(words))
					for order[0] == first { // by chance it is the same now and then
						order = slices.Collect(maps.Keys(words))
					}
					first = order[0]
					for _, word := range order {
						r.Do(ask(word))
					}
					return core.Result{}
				}
			}, false, "ask ",
		},
		{
			"random numbers", func() instance {
				return func(r core.EffectRecorder) core.Result {
					r.Do(ask(strconv.FormatUint(rand.Uint64(), 16)))
					return core.Result{}
				}
			}, false, "ask ",
		},
		{
			"the clock stands still", func() instance {
				return func(r core.EffectRecorder) core.Result {
					r.Do(ask(time.Now().Format(time.RFC3339Nano)))
					return core.Result{}
				}
			}, false, "",
		},
		{
			"memory of an instance, on the same one", remembers, true, "ask 1",
		},
		{
			"memory of an instance, on a fresh one", remembers, false, "",
		},
		{
			"memory of the process", func() func() instance {
				runs := 0
				return func() instance {
					return func(core.EffectRecorder) core.Result {
						runs++
						return core.Result{Requeue: runs == 1}
					}
				}
			}(), false, "asks to be run again",
		},
		{
			"fewer calls", func() func() instance {
				runs := 0
				return func() instance {
					return func(r core.EffectRecorder) core.Result {
						if runs++; runs == 1 {
							r.Do(ask("once"))
						}
						return core.Result{}
					}
				}
			}(), false, "ask once",
		},
		{
			"more calls", func() func() instance {
				runs := 0
				return func() instance {
					return func(r core.EffectRecorder) core.Result {
						if runs++; runs > 1 {
							r.Do(ask("more"))
						}
						return core.Result{}
					}
				}
			}(), false, "returns",
		},
		{
			"another wait", func() func() instance {
				runs := time.Duration(0)
				return func() instance {
					return func(core.EffectRecorder) core.Result {
						runs++
						return core.Result{RequeueAfter: runs}
					}
				}
			}(), false, "",
		},
		{
			"another wording of an error", func() func() instance {
				runs := 0
				return func() instance {
					return func(core.EffectRecorder) core.Result {
						runs++
						return core.Result{Err: errors.New(strconv.Itoa(runs))}
					}
				}
			}(), false, "",
		},
		{
			"an error or none", func() func() instance {
				runs := 0
				return func() instance {
					return func(core.EffectRecorder) core.Result {
						runs++
						if runs == 1 {
							return core.Result{Err: errors.New("once")}
						}
						return core.Result{}
					}
				}
			}(), false, "returns the error: once",
		},
		{
			"a wait or none", func() func() instance {
				runs := 0
				return func() instance {
					return func(core.EffectRecorder) core.Result {
						if runs++; runs > 1 {
							return core.Result{}
						}
						return core.Result{RequeueAfter: time.Minute}
					}
				}
			}(), false, "asks to be run again in 1m0s",
		},
		{
			"another call of the same words", func() func() instance {
				runs := 0
				return func() instance {
					return func(r core.EffectRecorder) core.Result {
						runs++
						r.Do(sealed{ask("letter"), strconv.Itoa(runs)})
						return core.Result{}
					}
				}
			}(), false, `ask letter with "letter 1"`,
		},
		{
			"another field of what is written", func() func() instance {
				runs := 0
				return func() instance {
					return func(r core.EffectRecorder) core.Result {
						runs++
						r.Do(written{ask("letter"), fmt.Sprintf(`{"kind":"letter","from":{"name":"ann-%d","age":7}}`, runs)})
						return core.Result{}
					}
				}
			}(), false, `ask letter with "name":"ann-1"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			code := test.code()
			path, leaf := learn(t, code)
			if !test.used {
				code = test.code()
			}
			session := opened(t, code)
			defer session.Abort()
			divergence, err := session.Audit(context.Background(), runOf(path, leaf), 1)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case test.want == "" && divergence != nil:
				t.Errorf("it goes another way: %+v", divergence)
			case test.want != "" && divergence == nil:
				t.Error("that it goes another way is not found")
			case test.want != "" && (!strings.HasPrefix(divergence.Recorded, test.want) || divergence.Observed == divergence.Recorded):
				t.Errorf("the runs part with %q and %q, want %q first", divergence.Recorded, divergence.Observed, test.want)
			}
		})
	}
}

// sealed is a call whose words do not tell all of it.
type sealed struct {
	ask
	content string
}

func (s sealed) Identity() string { return string(s.ask) + " " + s.content }

// written is a call that says what it writes.
type written struct {
	ask
	text string
}

// Identity implements [core.Call].
func (w written) Identity() string { return base64.StdEncoding.EncodeToString([]byte(w.text)) }

// Aim implements [core.Aimed].
func (w written) Aim() string { return string(w.ask) }

// Contents implements [core.Aimed].
func (w written) Contents() string { return w.text }

// opened opens a session of code.
func opened(t *testing.T, code core.Instance) *behavior.Session {
	t.Helper()
	session, _, err := behavior.OpenFresh(t.Context(), setUp(func() (core.Instance, error) { return code, nil }), behavior.Manner{}, limits())
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// runOf returns the run of the request of [start].
func runOf(path behavior.Path, leaf *behavior.Leaf) behavior.Run {
	return behavior.Run{Activation: behavior.Activation{Request: "r"}, Path: path, Leaf: leaf}
}

// TestConditions audits a path under conditions that only some code notices.
func TestConditions(t *testing.T) {
	type condition struct {
		times int
		clock time.Duration
	}
	used, often, later := condition{times: 2}, condition{times: 5}, condition{times: 1, clock: time.Hour}
	for _, test := range []struct {
		name      string
		code      func() instance
		condition condition
		differs   bool
	}{
		{"keeps nothing, used", calls, used, false},
		{"keeps nothing, often", calls, often, false},
		{"keeps nothing, later", calls, later, false},
		{"keeps a channel", func() instance {
			var kept chan int
			return func(core.EffectRecorder) core.Result {
				if kept == nil {
					kept = make(chan int, 1)
				}
				kept <- 1
				<-kept
				return core.Result{}
			}
		}, used, false},
		{"keeps a count, used", remembers, used, true},
		{"keeps a count, often", remembers, often, true},
		{"keeps a count, later", remembers, later, false},
		{"minds the fourth run, used", fourth, used, false},
		{"minds the fourth run, often", fourth, often, true},
		{"looks at the clock, used", clockwise, used, false},
		{"looks at the clock, later", clockwise, later, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, leaf := learn(t, test.code())
			run := runOf(path, leaf)
			session := opened(t, test.code())
			run.Activation.Clock = test.condition.clock
			divergence, err := session.Audit(context.Background(), run, test.condition.times)
			if err != nil {
				t.Fatal(err)
			}
			if got := divergence != nil; got != test.differs {
				t.Fatalf("under the condition it diverges so: %+v", divergence)
			}
			if end := session.Close(leaf); divergence == nil && end != leaf {
				t.Errorf("the session ended with %v", end)
			}
		})
	}
}

// calls returns code that keeps nothing.
func calls() instance {
	return func(r core.EffectRecorder) core.Result {
		r.Do(ask("a"))
		return core.Result{}
	}
}

// fourth returns code that does something else in its fourth run.
func fourth() instance {
	runs := 0
	return func(r core.EffectRecorder) core.Result {
		runs++
		return core.Result{Requeue: runs == 4}
	}
}

// clockwise returns code that asks for the time.
func clockwise() instance {
	return func(r core.EffectRecorder) core.Result {
		r.Do(ask(time.Now().String()))
		return core.Result{}
	}
}

// remembers returns code that counts its runs.
func remembers() instance {
	runs := 0
	return func(r core.EffectRecorder) core.Result {
		runs++
		r.Do(ask(strconv.Itoa(runs)))
		return core.Result{}
	}
}

func TestRetriedAndLater(t *testing.T) {
	failed := errors.New("failed")
	for _, test := range []struct {
		leaf           behavior.Leaf
		retried, later bool
		text           string
	}{
		{behavior.Leaf{}, false, false, "returns"},
		{behavior.Leaf{Result: core.Result{Err: failed}}, true, false, "returns the error: failed"},
		{behavior.Leaf{Result: core.Result{Err: failed, RequeueAfter: 1}}, true, false, "returns the error: failed"},
		{behavior.Leaf{Result: core.Result{Requeue: true}}, true, false, "asks to be run again"},
		{behavior.Leaf{Result: core.Result{RequeueAfter: time.Hour}}, false, true, "asks to be run again in 1h0m0s"},
		{behavior.Leaf{Result: core.Result{RequeueAfter: -1}}, false, false, "returns"},
		{behavior.Leaf{Result: core.Result{Blocked: true}}, false, false, "is blocked"},
		{behavior.Leaf{Failure: behavior.Panicked, Message: "m"}, true, false, "panics: m"},
		{behavior.Leaf{Failure: behavior.Deadlock, Message: "m"}, false, false, "m"},
		{behavior.Leaf{Requests: []core.Request{"r"}}, false, false, "enqueues [r]"},
	} {
		if got := test.leaf.Retried(); got != test.retried {
			t.Errorf("%v: retried %t, want %t", test.leaf, got, test.retried)
		}
		if got := test.leaf.Later(); got != test.later {
			t.Errorf("%v: later %t, want %t", test.leaf, got, test.later)
		}
		if got := test.leaf.String(); got != test.text {
			t.Errorf("it is said as %q, want %q", got, test.text)
		}
	}
}

// TestReplayInAnyOrder takes code along a path that makes its calls in another order: it stays on the path as long as
// calls that change places have nothing to do with each other.
func TestReplayInAnyOrder(t *testing.T) {
	var path behavior.Path
	node := &behavior.Node{}
	for cell, word := range []string{"write a", "write b", "read b", "list", "read c"} {
		node.Call = ask(word)
		edge := node.Respond(reply(word))
		reads, answered := []behavior.Read{{Cell: state.Cell(cell)}}, &behavior.Answered{Edge: edge}
		switch word {
		case "write a", "write b":
			answered.Writes = []behavior.Write{{Cell: state.Cell(cell), Key: core.Key{Kind: core.Kind(word), Name: "o"}}}
		case "read b":
			reads[0].Cell = 1
		case "list":
			reads = append(reads, behavior.Read{Listed: true, Kind: "write a", Signature: "s"})
		}
		if err := node.Remember(reads, answered); err != nil {
			t.Fatal(err)
		}
		path, node = append(path, edge), edge.To
	}
	run := behavior.Run{Activation: behavior.Activation{Request: "r"}, Path: path, Leaf: &behavior.Leaf{}}
	for _, test := range []struct {
		asks []string
		// overtook is the first call that another one came before, and parts what the code does where it leaves the path.
		overtook int
		parts    string
	}{
		{[]string{"write a", "write b", "read b", "list", "read c"}, -1, ""},
		{[]string{"write b", "write a", "read b", "list", "read c"}, 0, ""},
		{[]string{"read c", "write b", "read b", "write a", "list"}, 0, ""},
		{[]string{"write a", "write b", "list", "read c", "read b"}, 2, ""},
		{[]string{"read b", "write a", "write b", "list", "read c"}, -1, "ask read b"},
		{[]string{"write b", "list", "write a", "read b", "read c"}, 0, "ask list"},
		{[]string{"write b", "write b", "write a", "read b", "list"}, 0, "ask write b"},
		{[]string{"write b", "read c"}, 0, "returns"},
		{[]string{"write b", "write a", "read b", "list", "read c", "more"}, 0, "ask more"},
	} {
		for _, reorders := range []bool{true, false} {
			strategy := controller{name: "c", work: func(r core.EffectRecorder, _ core.Request) core.Result {
				for _, word := range test.asks {
					r.Do(ask(word))
				}
				return core.Result{}
			}}
			session, _, err := behavior.OpenFresh(t.Context(), strategy, behavior.Manner{Reorders: reorders}, limits())
			if err != nil {
				t.Fatal(err)
			}
			divergence, err := session.Repeat(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			parts := ""
			if divergence != nil {
				parts = divergence.Observed
			}
			if reorders && (parts != test.parts || session.Overtook() != test.overtook) {
				t.Errorf("%q: it parts with %q and comes before %d, want %q, %d", test.asks, parts, session.Overtook(), test.parts, test.overtook)
			}
			if same := test.overtook < 0 && test.parts == ""; !reorders && (parts == "") != same {
				t.Errorf("%q: it parts with %q, though orders count", test.asks, parts)
			}
			session.Abort()
		}
	}
}

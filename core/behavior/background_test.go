package behavior_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// worker is a controller that leaves its requests to a goroutine, which takes them one by one, and looks at the world
// each hour, up to three times.
type worker struct {
	queue  chan core.Request
	end    chan struct{}
	hours  int
	inside core.EffectRecorder
	// stubborn tells that it does not end when it is told to.
	stubborn bool
}

func (w *worker) Describe() core.Description { return core.Description{Name: "worker", Active: true} }

func (w *worker) New() (core.Instance, error) {
	return &worker{queue: make(chan core.Request, 8), end: make(chan struct{}), stubborn: w.stubborn}, nil
}

func (w *worker) Start(r core.EffectRecorder) []func() {
	w.inside = r
	return []func(){
		func() {
			for {
				select {
				case request := <-w.queue:
					if request == "panic" {
						panic("a bad request")
					}
					r.Do(ask("work on " + request))
					r.Do(ask("finish " + request))
				case <-w.end:
					if !w.stubborn {
						return
					}
					w.end = nil
				}
			}
		},
		func() {
			for range 3 {
				select {
				case <-time.After(time.Hour):
				case <-w.end:
					return
				}
				w.hours++
				r.Do(ask("hour"))
			}
		},
	}
}

func (w *worker) Stop() { close(w.end) }

func (w *worker) Handle(core.EffectRecorder, core.Event) []core.Request { return nil }

func (w *worker) Reconcile(r core.EffectRecorder, request core.Request) core.Result {
	r.Do(ask("look at " + request))
	w.queue <- request
	return core.Result{}
}

func (w *worker) Memory() map[string]string {
	return map[string]string{"hours": strconv.Itoa(w.hours), "queued": strconv.Itoa(len(w.queue))}
}

// activate plays activations on one instance, and returns what they do.
func activate(t *testing.T, w *worker, activations ...behavior.Activation) (*behavior.Session, []string) {
	t.Helper()
	s, _, err := behavior.OpenFresh(context.Background(), w, behavior.Manner{Active: true}, limits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Abort)
	var all []string
	for _, a := range activations {
		s.Begin(a)
		calls, leaf := play(t, s)
		all = append(append(all, calls...), leaf.String())
	}
	return s, all
}

func TestBackgroundWaitsForItsTurn(t *testing.T) {
	works, waits := behavior.Activation{Own: behavior.Works}, behavior.Activation{Own: behavior.Waits}
	second := behavior.Activation{Own: behavior.Works, Turn: 1}
	a, b := behavior.Activation{Request: "a"}, behavior.Activation{Request: "b"}
	for _, test := range []struct {
		name        string
		activations []behavior.Activation
		want        []string
		memory      map[string]string
	}{
		{"nothing was done", nil, nil, map[string]string{"hours": "0", "queued": "0", "time[1]": "background[1]=ask hour"}},
		{"what a reconcile leaves", []behavior.Activation{a}, []string{"look at a", "returns"}, map[string]string{"background[1]": "ask work on a", "time[1]": "background[1]=ask hour"}},
		{"a reconcile goes on meanwhile", []behavior.Activation{a, b}, []string{"look at a", "returns", "look at b", "returns"}, map[string]string{"background[1]": "ask work on a", "queued": "1"}},
		{"it is worked on", []behavior.Activation{a, works, works}, []string{"look at a", "returns", "work on a", "finish a", "returns", "is blocked"}, map[string]string{"queued": "0"}},
		{"one after the other", []behavior.Activation{a, b, works}, []string{"look at a", "returns", "look at b", "returns", "work on a", "finish a", "work on b", "finish b", "returns"}, map[string]string{"queued": "0"}},
		{"there is no second one", []behavior.Activation{a, second}, []string{"look at a", "returns", "is blocked"}, nil},
		{"an hour passes", []behavior.Activation{waits}, []string{"returns"}, map[string]string{"background[1]": "ask hour", "hours": "1"}},
		{"the second one", []behavior.Activation{waits, a, second}, []string{"returns", "look at a", "returns", "work on a", "finish a", "returns"}, map[string]string{"background[1]": "ask hour"}},
		{"hours pass", []behavior.Activation{waits, works, waits, works, waits, works, waits}, []string{"returns", "hour", "returns", "returns", "hour", "returns", "returns", "hour", "returns", "is blocked"}, map[string]string{"hours": "3"}},
		{"it panics", []behavior.Activation{{Request: "panic"}}, []string{"look at panic", "panics"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, got := activate(t, &worker{}, test.activations...)
			for i := range got {
				got[i], _, _ = strings.Cut(got[i], ":")
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("it does %q, want %q", got, test.want)
			}
			memory := s.Memory()
			for path, want := range test.memory {
				if got := strings.TrimSpace(memory[path]); !strings.HasPrefix(got, want) {
					t.Errorf("%s is %q, want %q; all is %q", path, got, want, memory)
				}
			}
			rest := behavior.RestIn(memory)
			if want := len(slices.DeleteFunc(slices.Collect(maps.Keys(memory)), func(path string) bool { return !strings.HasPrefix(path, "background[") })); len(rest.Calls) != want {
				t.Errorf("%q wait, want %d", rest.Calls, want)
			}
			if want := memory["hours"] != "3" && !strings.HasPrefix(memory["background[1]"], "ask hour"); rest.Time != want {
				t.Errorf("time brings something: %t, want %t; %q", rest.Time, want, memory)
			}
		})
	}
}

// TestBackgroundIsTheSame shows the same of what was done in the same order, and in another one.
func TestBackgroundIsTheSame(t *testing.T) {
	see := func(activations ...behavior.Activation) map[string]string {
		s, _ := activate(t, &worker{}, activations...)
		return s.Memory()
	}
	works := behavior.Activation{Own: behavior.Works}
	a, b := behavior.Activation{Request: "a"}, behavior.Activation{Request: "b"}
	if one, other := see(a, works, b, works), see(b, works, a, works); !maps.Equal(one, other) {
		t.Errorf("%q and %q", one, other)
	}
	if one, other := see(a, b), see(b, a); maps.Equal(one, other) {
		t.Errorf("%q is the same", one)
	}
}

// TestStubbornBackgroundEndsNoTest closes sessions of goroutines that do not end.
func TestStubbornBackgroundEndsNoTest(t *testing.T) {
	for range 10 {
		s, _ := activate(t, &worker{stubborn: true}, behavior.Activation{Request: "a"})
		s.Close(&behavior.Leaf{})
	}
}

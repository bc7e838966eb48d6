package behavior_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// errTripped is how something fails that is to fail once.
var errTripped = errors.New("tripped")

// trips fails the n-th time that it is asked, counted from 1, and only then.
type trips struct{ at, asked int }

func (t *trips) next() error {
	if t.asked++; t.asked == t.at {
		return errTripped
	}
	return nil
}

// tripping is a world that fails once.
type tripping struct {
	stage
	trips
}

func (w *tripping) Do(ctx context.Context, call core.Call, recorded core.RecordedCall) (core.Response, error) {
	if err := w.next(); err != nil {
		return nil, err
	}
	return w.stage.Do(ctx, call, recorded)
}

func (w *tripping) Event(ctx context.Context, e core.TraceEvent) (core.Event, error) {
	if err := w.next(); err != nil {
		return core.Event{}, err
	}
	return w.stage.Event(ctx, e)
}

func (w *tripping) Shows(ctx context.Context, change core.TraceChange) (string, error) {
	if err := w.next(); err != nil {
		return "", err
	}
	return w.stage.Shows(ctx, change)
}

// brittle is a controller of which one instance cannot be made.
type brittle struct {
	core.Strategy
	*trips
}

func (b brittle) New() (core.Instance, error) {
	if err := b.next(); err != nil {
		return nil, err
	}
	return b.Strategy.New()
}

// eventful is a recorded run in which all happens that a world or a controller can fail in: there are two controllers,
// of which one keeps memory. Its first run is cut off by a crash, and the second one is fed by an event whose handler
// makes a call. A run of the other one goes on for several steps, and a call of it fails that has an effect.
func eventful() core.Trace {
	cutOff := gets(crashing(keeping(recorded("reconcile", "counter", "twice", "1 after 1"))), "counter", "quiet", 1, "")
	handles := gets(keeping(recorded("reconcile", "counter", "r", "1 after 1")), "counter", "asked", 1, "")
	handles.Calls = append(handles.Calls, core.TraceCall{Call: "ask event 2", Response: "event 2", Handler: "counter"})
	handles.Changes = []core.TraceChange{{Kind: "Lamp", Name: "a"}}
	return core.Trace{
		Events: gets(core.TraceStep{}, "counter", "quiet", 0, "").Events,
		Steps: []core.TraceStep{
			cutOff, handles, recorded("begin", "reader", "r"), failing(recorded("call", "reader", "r", "a for r"), "lost", "gone"), recorded("restart", "counter", ""),
			keeping(recorded("reconcile", "counter", "r", "1 after 0")), recorded("call", "reader", "r", "b for r"), recorded("return", "reader", "r"),
		},
	}
}

// TestEnactTrips has what goes wrong once be told, wherever it does: in the world, or where an instance is made.
func TestEnactTrips(t *testing.T) {
	enact := func(world, setUps int) (int, int, error) {
		w, made := &tripping{trips: trips{at: world}}, &trips{at: setUps}
		s := system(brittle{tallier{name: "counter", sequential: true}, made}, brittle{reader(true), made})
		s.Store = shaky{}
		deviation, err := behavior.Enact(t.Context(), s, eventful(), w, limits())
		if deviation != nil {
			t.Errorf("it parts at %+v", deviation)
		}
		return w.trips.asked, made.asked, err
	}
	world, setUps, err := enact(0, 0)
	if err != nil || world != 10 || setUps != 4 {
		t.Fatalf("the world is asked %d times, and %d instances are made: %v", world, setUps, err)
	}
	for n := range world {
		if _, _, err := enact(n+1, 0); !errors.Is(err, errTripped) {
			t.Errorf("when the world fails at call %d, the error is %v", n+1, err)
		}
	}
	for n := range setUps {
		if _, _, err := enact(0, n+1); !errors.Is(err, errTripped) {
			t.Errorf("when instance %d cannot be made, the error is %v", n+1, err)
		}
	}
}

// TestEnactMakesNoneInVain has one instance of a controller be made that keeps several things in memory, and none be
// left when it is over.
func TestEnactMakesNoneInVain(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		made := &trips{}
		trace := eventful()
		trace.Memory = slices.Repeat([]core.MemoryChange{{Controller: "counter"}}, 3)
		s := system(brittle{tallier{name: "counter", sequential: true}, made}, reader(true))
		s.Store = shaky{}
		guard := new(watchdog)
		l := limits()
		l.Guard = guard
		if deviation, err := behavior.Enact(t.Context(), s, trace, &stage{}, l); deviation != nil || err != nil {
			t.Fatal(deviation, err)
		}
		for _, who := range []string{"counter, reconciling r", "counter, reconciling twice", "counter, handling an event of Lamp asked", "reader, reconciling r"} {
			if !slices.Contains(guard.words, who) {
				t.Errorf("the guard does not get %s: %q", who, guard.words)
			}
		}
		if made.asked != 3 { // at the start, and behind a crash and a restart
			t.Fatalf("%d instances are made", made.asked)
		}
	}
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

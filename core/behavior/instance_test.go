package behavior_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// setUp is a strategy as the function that makes its instances.
type setUp func() (core.Instance, error)

func (setUp) Describe() core.Description    { return core.Description{Name: "widgets"} }
func (s setUp) New() (core.Instance, error) { return s() }

// fresh opens a session of an instance that is given so much time to be made.
func fresh(ctx context.Context, strategy core.Strategy, deadline time.Duration) (*behavior.Session, core.Instance, error) {
	allowed := limits()
	allowed.Deadline = deadline
	return behavior.OpenFresh(ctx, strategy, behavior.Manner{}, allowed)
}

// TestFailedSetUpsLeaveNothing has an instance that works by itself and cannot be set up leave no goroutines.
func TestFailedSetUpsLeaveNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		broken := &doer{start: func(*doer, core.EffectRecorder) []func() { return []func(){func() { panic("oops") }} }}
		if _, _, err := behavior.OpenFresh(t.Context(), broken, behavior.Manner{Active: true}, limits()); err == nil {
			t.Fatal("it is set up")
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

func TestOpenFresh(t *testing.T) {
	idle := instance(func(core.EffectRecorder) core.Result { return core.Result{} })
	failed := errors.New("no scheme")
	end := make(chan struct{})
	defer close(end)
	for _, test := range []struct {
		name  string
		setUp setUp
		want  string // of the error, empty if there is none
	}{
		{"sets up", func() (core.Instance, error) { return idle, nil }, ""},
		{"fails", func() (core.Instance, error) { return nil, failed }, "no scheme"},
		{"panics", func() (core.Instance, error) { panic("at once") }, "panicked: at once (at "},
		{"exits", func() (core.Instance, error) { runtime.Goexit(); return nil, nil }, "ended its goroutine"},
		{"returns nothing", func() (core.Instance, error) { return nil, nil }, "neither an instance nor an error"},
		{"never returns", func() (core.Instance, error) { <-end; return nil, nil }, "did not finish within 100ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			session, made, err := fresh(t.Context(), test.setUp, 100*time.Millisecond)
			if test.want == "" {
				if err != nil || made == nil {
					t.Fatalf("got %v, %v", made, err)
				}
				session.Abort()
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `controller "widgets"`) {
				t.Errorf("got the error %v, want one that names the controller, with %q", err, test.want)
			}
		})
	}
	if _, _, err := fresh(t.Context(), setUp(func() (core.Instance, error) { return nil, failed }), time.Second); !errors.Is(err, failed) {
		t.Errorf("the error %v does not wrap the strategy's own", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, _, err := fresh(ctx, setUp(func() (core.Instance, error) { <-end; return nil, nil }), time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, and the context has ended", err)
	}
}

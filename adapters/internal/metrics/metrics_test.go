package metrics_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orrery-dev/orrery/adapters/internal/metrics"
)

func counter(name string) prometheus.Collector {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: "It counts."})
}

// shared returns what a registry is replaced with.
func shared(base metrics.Base) *metrics.Registry {
	return metrics.Replace(func() metrics.Base { return base }, func(r *metrics.Registry) { base = r })
}

// mute describes nothing of what it collects.
type mute struct{ prometheus.Collector }

func (mute) Describe(chan<- *prometheus.Desc) {}

func names(t *testing.T, from prometheus.Gatherer) []string {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, family := range families {
		all = append(all, family.GetName())
	}
	return all
}

// TestRegistry has instances register the same collectors, each for itself, beside those of the process.
func TestRegistry(t *testing.T) {
	base := prometheus.NewRegistry()
	r := shared(base)
	r.MustRegister(counter("early"))
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			instance := metrics.New(r)
			defer runtime.KeepAlive(instance)
			own := counter("own")
			r.MustRegister(own, mute{counter("mute")})
			var twice prometheus.AlreadyRegisteredError
			for _, name := range []string{"own", "early"} {
				if err := r.Register(counter(name)); !errors.As(err, &twice) {
					t.Errorf("%s is registered twice: %v", name, err)
				}
			}
			if got := names(t, r); !slices.Equal(got, []string{"early", "mute", "own"}) {
				t.Errorf("an instance has %v", got)
			}
			if !r.Unregister(own) || r.Unregister(counter("late")) {
				t.Error("it unregisters what is not there, or not what is")
			}
			if err := r.Register(own); err != nil {
				t.Error(err)
			}
		})
	}
	if got := names(t, r); !slices.Equal(got, []string{"early"}) {
		t.Errorf("the process has %v", got)
	}
	r.MustRegister(counter("own"))
	if got := names(t, base); !slices.Equal(got, []string{"early", "own"}) {
		t.Errorf("the registry has %v", got)
	}
}

// TestGoroutines has instances outside of bubbles register side by side, each on a goroutine of its own.
func TestGoroutines(t *testing.T) {
	r := shared(prometheus.NewRegistry())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			defer runtime.KeepAlive(metrics.New(r))
			for _, name := range []string{"a", "b", "c"} {
				if err := r.Register(counter(name)); err != nil {
					t.Error(err)
				}
			}
			if err := r.Register(counter("b")); err == nil {
				t.Error("b is registered twice")
			}
		})
	}
	all.Wait()
	if got := names(t, r); len(got) > 0 {
		t.Errorf("the process has %v", got)
	}
}

// TestRuns has an instance register collectors in a bubble that it was not set up in.
func TestRuns(t *testing.T) {
	r := shared(prometheus.NewRegistry())
	instance := metrics.New(r)
	r.MustRegister(counter("a"))
	synctest.Test(t, func(*testing.T) {
		instance.Run()
		instance.Run()
		if err := r.Register(counter("a")); err == nil {
			t.Error("a is registered twice")
		}
		r.MustRegister(counter("b"))
	})
	if got := names(t, r); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("it has %v", got)
	}
}

// TestDefault has the registry of Prometheus know instances.
func TestDefault(t *testing.T) {
	if r := metrics.Default(); r != metrics.Default() || shared(r) != r {
		t.Error("it is replaced again")
	}
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			defer runtime.KeepAlive(metrics.New(nil, metrics.Default()))
			prometheus.MustRegister(counter("by_default"))
			if got := names(t, prometheus.DefaultGatherer); !slices.Contains(got, "by_default") {
				t.Errorf("it has %v", got)
			}
		})
	}
}

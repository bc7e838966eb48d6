// Package metrics keeps apart what instances of controllers register with the registries of Prometheus, which are one
// for the whole process. A program registers each of its collectors once, and panics where it does so twice. A check
// sets the same program up thousands of times: each time is the first one.
package metrics

import (
	"runtime"
	"sync"
	"weak"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/orrery-dev/orrery/internal/goroutine"
)

// Base is a registry.
type Base interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// Registry is a registry of a process. It has what belongs to no instance, such as the collectors that packages
// register when they are initialized, and for the code of each instance what that has registered besides.
type Registry struct {
	mu   sync.Mutex
	base Base
	// instances are those whose code runs at some place. The last one counts that was there.
	instances map[place]weak.Pointer[Instance]
}

// shared returns a registry that has the collectors of another one. It is that if it knows instances already.
func shared(base Base) *Registry {
	if r, ok := base.(*Registry); ok {
		return r
	}
	return &Registry{base: base, instances: map[place]weak.Pointer[Instance]{}}
}

// replacing guards the registries that a process has one of.
var replacing sync.Mutex

// Replace has a registry of the process know instances from here on, and returns it. It is given how to get the one
// that is there, and how to put another one in its place. It is nil if there is none.
func Replace(get func() Base, set func(*Registry)) *Registry {
	replacing.Lock()
	defer replacing.Unlock()
	base := get()
	if base == nil {
		return nil
	}
	r := shared(base)
	if base != Base(r) {
		set(r)
	}
	return r
}

// Default is [Replace] for the registry of programs that name none. It is nil if somebody has put another one there
// that cannot be read.
func Default() *Registry {
	return Replace(func() Base {
		base, _ := prometheus.DefaultRegisterer.(Base)
		return base
	}, func(r *Registry) { prometheus.DefaultRegisterer, prometheus.DefaultGatherer = r, r })
}

// Instance is what the code of one instance registers.
type Instance struct {
	runs sync.Once
	// own are the collectors of the instance, by the registry that they are meant for.
	own map[*Registry]*prometheus.Registry
}

// New returns an instance. What is registered with some registries in the bubble of the caller, or by its goroutine if
// it is in none, belongs to that from here on, for as long as it is kept.
func New(with ...*Registry) *Instance {
	i := &Instance{own: map[*Registry]*prometheus.Registry{}}
	for _, r := range with {
		if r != nil {
			i.own[r] = prometheus.NewRegistry()
		}
	}
	i.enter()
	return i
}

// Run notes that a run of the instance begins. All of them are in one place, which may be another one than that of the
// set-up.
func (i *Instance) Run() { i.runs.Do(i.enter) }

// enter has what is registered in this place belong to the instance.
func (i *Instance) enter() {
	at := here()
	for r := range i.own {
		r.enter(i, at)
	}
}

// place is where code runs: in a bubble of virtual time, or on a goroutine outside of all.
type place struct{ goroutine, bubble uint64 }

func here() place {
	number, bubble := goroutine.Current()
	if bubble != 0 {
		return place{bubble: bubble}
	}
	return place{goroutine: number}
}

func (r *Registry) enter(i *Instance, at place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.instances[at].Value() == i {
		return
	}
	r.instances[at] = weak.Make(i)
	runtime.AddCleanup(i, r.forget, at)
}

// forget forgets a place whose instance is gone.
func (r *Registry) forget(at place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.instances[at].Value() == nil {
		delete(r.instances, at)
	}
}

// own returns what the instance has registered whose code calls, nil if it is that of none.
func (r *Registry) own() *prometheus.Registry {
	at := here()
	r.mu.Lock()
	i := r.instances[at].Value()
	r.mu.Unlock()
	if i == nil {
		return nil
	}
	return i.own[r]
}

// Register implements [prometheus.Registerer].
func (r *Registry) Register(c prometheus.Collector) error {
	own := r.own()
	if own == nil {
		return r.base.Register(c)
	}
	if err := r.vacant(c); err != nil {
		return err
	}
	return own.Register(c)
}

// vacant returns an error if a collector cannot be registered beside those that belong to no instance. Those that
// describe nothing always can, and would stay.
func (r *Registry) vacant(c prometheus.Collector) error {
	if !describes(c) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.base.Register(c); err != nil {
		return err
	}
	r.base.Unregister(c)
	return nil
}

// describes reports whether a collector says what it collects.
func describes(c prometheus.Collector) bool {
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		c.Describe(described)
	}()
	found := false
	for range described {
		found = true
	}
	return found
}

// MustRegister implements [prometheus.Registerer]. As any other, it panics if a collector cannot be registered.
func (r *Registry) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if err := r.Register(c); err != nil {
			panic(err)
		}
	}
}

// Unregister implements [prometheus.Registerer].
func (r *Registry) Unregister(c prometheus.Collector) bool {
	if own := r.own(); own != nil && own.Unregister(c) {
		return true
	}
	return r.base.Unregister(c)
}

// Gather implements [prometheus.Gatherer].
func (r *Registry) Gather() (families []*dto.MetricFamily, err error) {
	if own := r.own(); own != nil {
		return prometheus.Gatherers{r.base, own}.Gather()
	}
	return r.base.Gather()
}

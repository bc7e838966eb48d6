package clientgo

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// New returns the system that the options describe: controllers, the API server they act on, and the objects that are
// there at the start. The scheme has the Go types of all kinds that informers are made for. The error joins all
// mistakes that were found, and says what to change.
func New(scheme *runtime.Scheme, options ...Option) (*core.System, error) {
	d := system.Define()
	part(d)
	for _, option := range options {
		option.Join(d)
	}
	if scheme == nil {
		d.Fail("the scheme is nil: pass one with the Go types of all kinds that informers are made for")
	}
	if d.SetUps() == 0 {
		d.Fail("there are no controllers: add a Setup")
	}
	return d.New(scheme)
}

var _ system.Library = (*definition)(nil)

// Adapter implements [system.Library].
func (d *definition) Adapter() string { return "clientgo" }

// SetUps implements [system.Library].
func (d *definition) SetUps() int { return len(d.setups) }

// Survey implements [system.Library].
func (d *definition) Survey(scheme *runtime.Scheme, server *kube.Server) (system.Found, error) {
	b := &blueprint{server: server, decoder: informer.NewDecoder(scheme), types: typesOf(server), loggers: d.Loggers(system.SettleGlobals), instances: new(transport.Instances)}
	if d.Mixed() {
		b.groups = 1
	}
	notes := &system.Notes{}
	indexes := informer.Indexes{}
	var controllers []core.Strategy
	uncounted := false
	for i, setup := range d.setups {
		p := &process{blueprint: b, number: i, setup: setup}
		found, err := p.survey(notes, indexes)
		if err != nil {
			return system.Found{}, fmt.Errorf("set-up number %d: %w", i+1, err)
		}
		if len(found.controllers) == 0 {
			return system.Found{}, fmt.Errorf("set-up number %d registers no controllers: call clientgo.Sync or clientgo.Run in it", i+1)
		}
		uncounted = uncounted || slices.ContainsFunc(found.controllers, func(c *Controller) bool { return c.queue.counted() == nil })
		controllers = append(controllers, p.strategies(found)...)
	}
	if uncounted {
		notes.Assume("The work queues of controllers do not count how often an item was tried: a controller that gives up after a number of retries has not come to that number.")
	}
	return system.Found{Notes: notes, Indexes: indexes, Register: func(server *kube.Server) ([]core.Strategy, []kube.Webhook, error) {
		b.server = server
		return controllers, nil, nil
	}}, nil
}

// Test is the part of a testing.TB that [ForTest] needs.
type Test interface {
	Helper()
	Fatalf(format string, args ...any)
}

// ForTest returns what [New] returns, and ends the test if that is an error.
func ForTest(t Test, scheme *runtime.Scheme, options ...Option) *core.System {
	t.Helper()
	made, err := New(scheme, options...)
	if err != nil {
		t.Fatalf("the system cannot be checked: %v", err)
	}
	return made
}

// blueprint is what all instances of all controllers share. Nothing in it changes once the system is made.
type blueprint struct {
	server *kube.Server
	// decoder reads what informers show.
	decoder *informer.Decoder
	// types are the Go types that generated factories may be asked for.
	types []servedType
	// groups is the number of the first factory: indexes of other libraries have no number.
	groups    int
	loggers   system.Loggers
	instances *transport.Instances
	// broadcasters finds those of events.
	broadcasters broadcasters
}

// process is a set-up with what it is run in.
type process struct {
	*blueprint
	number int
	setup  func(*Environment) error
	// besides are what the controllers that are run do besides their work on items, by their names.
	besides sync.Map
}

// errEnded is that of a set-up that never returned.
var errEnded = errors.New("it ended its goroutine: do not call FailNow, Fatal or Skip of a test in it, but return an error")

package controllerruntime

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/pins"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// New returns the system that the options describe: controllers, the API server
// they act on, and the objects that are there at the start. The scheme is the one
// that main.go gives to its manager. The error joins all mistakes that were found,
// and says what to change.
func New(scheme *runtime.Scheme, options ...Option) (*core.System, error) {
	d := system.Define()
	part(d)
	for _, option := range options {
		option.Join(d)
	}
	if scheme == nil {
		d.Fail("the scheme is nil: pass the one that main.go gives to its manager")
	}
	if d.SetUps() == 0 {
		d.Fail("there are no controllers: add a Setup or a Reconciler")
	}
	return d.New(scheme)
}

var _ system.Library = (*definition)(nil)

// Adapter implements [system.Library].
func (d *definition) Adapter() string { return "controllerruntime" }

// SetUps implements [system.Library].
func (d *definition) SetUps() int { return len(d.setups) }

// Survey implements [system.Library].
func (d *definition) Survey(scheme *runtime.Scheme, server *kube.Server) (system.Found, error) {
	configurations, err := d.Configurations()
	if err != nil {
		return system.Found{}, err
	}
	holds, err := newHoldings(d.manager.Cache, server)
	if err != nil {
		return system.Found{}, err
	}
	b := &blueprint{
		scheme:         scheme,
		server:         server,
		decoder:        informer.NewDecoder(scheme),
		client:         d.manager.Client,
		newClient:      d.manager.NewClient,
		controller:     d.manager.Controller,
		base:           d.manager.BaseContext,
		basesWebhooks:  pins.AtLeast("sigs.k8s.io/controller-runtime", "v0.24.0"),
		holds:          holds,
		setups:         d.setups,
		configurations: configurations,
		mirrors:        d.mirrors,
		leavesOut:      d.LeavesOut,
		loggers:        d.Loggers(logGlobally),
		instances:      new(transport.Instances),
	}
	found, err := b.survey()
	if err != nil {
		return system.Found{}, err
	}
	// A program beside controllers of another library may have nothing but webhooks.
	if len(d.setups) > 0 && len(found.controllers) == 0 && (len(found.hooks) == 0 || !d.Mixed()) {
		return system.Found{}, errors.New("the set-up registers no controllers: call SetupWithManager of the reconcilers in it")
	}
	if period := d.manager.Cache.SyncPeriod; period != nil {
		found.Assume("The manager's cache is not resynced each %s: what only a resync would bring about counts as not done. Return RequeueAfter where something is to be looked at again, or leave the property fixpoint out.", *period)
	}
	b.indexes = found.cache.indexes
	return system.Found{Notes: &found.Notes, Indexes: found.cache.indexes, Register: func(server *kube.Server) ([]core.Strategy, []kube.Webhook, error) {
		b.server = server
		if err := b.checkMirrors(found); err != nil {
			return nil, nil, err
		}
		webhooks, err := b.webhooks(found)
		if err != nil {
			return nil, nil, err
		}
		return b.strategies(found), webhooks, nil
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
	system, err := New(scheme, options...)
	if err != nil {
		t.Fatalf("the system cannot be checked: %v", err)
	}
	return system
}

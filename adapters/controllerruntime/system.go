package controllerruntime

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/core"
)

// New returns the system that the options describe: controllers, the API server
// they act on, and the objects that are there at the start. The scheme is the one
// that main.go gives to its manager. The error joins all mistakes that were found,
// and says what to change.
func New(scheme *runtime.Scheme, options ...Option) (*core.System, error) {
	d := &definition{Definition: system.Define("controllerruntime")}
	for _, option := range options {
		option(d)
	}
	if scheme == nil {
		d.Fail("the scheme is nil: pass the one that main.go gives to its manager")
	}
	if len(d.setups) == 0 {
		d.Fail("there are no controllers: add a Setup or a Reconciler")
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	server, err := d.Server(scheme)
	if err != nil {
		return nil, err
	}
	configurations, err := d.Configurations()
	if err != nil {
		return nil, err
	}
	logger := d.Bridge()
	logGlobally(logger)
	b := &blueprint{
		scheme:         scheme,
		server:         server,
		decoder:        informer.NewDecoder(scheme),
		client:         d.manager.Client,
		newClient:      d.manager.NewClient,
		controller:     d.manager.Controller,
		lends:          ptr.Deref(d.manager.Cache.DefaultUnsafeDisableDeepCopy, false),
		setups:         d.setups,
		configurations: configurations,
		mirrors:        d.mirrors,
		leavesOut:      d.LeavesOut,
		logger:         logger,
	}
	found, err := b.survey()
	if err != nil {
		return nil, err
	}
	if len(found.controllers) == 0 {
		return nil, errors.New("the set-up registers no controllers: call SetupWithManager of the reconcilers in it")
	}
	if b.server, err = server.WithFieldIndexes(found.cache.indexes.ForServer(scheme)...); err != nil {
		return nil, err
	}
	if err := b.checkMirrors(found); err != nil {
		return nil, err
	}
	// From here on the API server asks the webhooks; they themselves read past it.
	webhooks, err := b.webhooks(found)
	if err != nil {
		return nil, err
	}
	if server, err = b.server.WithWebhooks(webhooks...); err != nil {
		return nil, err
	}
	return d.System(server, b.strategies(found), &found.Notes)
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

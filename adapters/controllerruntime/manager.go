package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/orrery-dev/orrery/adapters/internal/metrics"
	"github.com/orrery-dev/orrery/adapters/internal/system"
)

// registry returns the registry of controller-runtime, which knows instances from here on.
func registry() *metrics.Registry {
	return metrics.Replace(func() metrics.Base { return ctrlmetrics.Registry }, func(r *metrics.Registry) { ctrlmetrics.Registry = r })
}

// disconnected is a real manager that is never started. What it makes runs through
// the cache, the transport and the webhook server that it was made with; what is
// added to it is collected; the rest of it works as ever.
//
// R is the type of the event recorders of the controller-runtime at hand.
type disconnected[R any] struct {
	ctrl.Manager
	recorder R
	elected  chan struct{}
	add      func(manager.Runnable) error
}

// disconnect wraps a manager. add is given what the set-up adds.
func disconnect(real ctrl.Manager, add func(manager.Runnable) error) (ctrl.Manager, error) {
	return disconnectWith(real, add, anyManager.GetEventRecorder)
}

// anyManager is a manager of any version. Those before v0.23 have no recorder of the events.k8s.io API: what is
// embedded less deeply counts, where it is there.
type anyManager struct {
	ctrl.Manager
	olderManager //nolint:unused // it is used with versions before v0.23
}

type olderManager struct{ recorders } //nolint:unused // see above

type recorders struct{} //nolint:unused // see above

// GetEventRecorder returns a recorder that drops events.
//
//nolint:unused // see above
func (recorders) GetEventRecorder(string) events.EventRecorder { return droppedEvents{} }

// disconnectWith infers the type of event recorders from the method that returns
// them: it differs from version to version.
func disconnectWith[R any](real ctrl.Manager, add func(manager.Runnable) error, _ func(anyManager, string) R) (ctrl.Manager, error) {
	recorder, ok := any(droppedEvents{}).(R)
	if !ok {
		return nil, fmt.Errorf("this version of controller-runtime has event recorders of an unknown kind %T: use a version that is supported", *new(R))
	}
	elected := make(chan struct{})
	close(elected)
	wrapped, ok := any(&disconnected[R]{Manager: real, recorder: recorder, elected: elected, add: add}).(ctrl.Manager)
	if !ok {
		panic("controllerruntime: a wrapped manager is no manager")
	}
	return wrapped, nil
}

// Add collects the runnable instead of keeping it to be started.
func (m *disconnected[R]) Add(runnable manager.Runnable) error { return m.add(runnable) }

// Elected is closed: controllers run only on the leader.
func (m *disconnected[R]) Elected() <-chan struct{} { return m.elected }

// Start refuses to start.
func (m *disconnected[R]) Start(context.Context) error {
	return errors.New("a manager under check cannot be started: leave mgr.Start out of the set-up")
}

// GetEventRecorder returns a recorder that drops events.
func (m *disconnected[R]) GetEventRecorder(string) R { return m.recorder }

// GetEventRecorderFor returns a recorder that drops events.
func (m *disconnected[R]) GetEventRecorderFor(string) record.EventRecorder {
	return droppedCoreEvents{}
}

// droppedEvents is the event recorder of the events.k8s.io API. Events are for
// people to read: nothing that is checked depends on them.
type droppedEvents struct{}

var _ events.EventRecorder = droppedEvents{}

// Eventf implements [events.EventRecorder].
func (droppedEvents) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}

// AnnotatedEventf is what later versions of client-go ask for besides.
func (droppedEvents) AnnotatedEventf(_, _ runtime.Object, _ map[string]string, _, _, _, _ string, _ ...any) {
}

// droppedCoreEvents is the event recorder of the older events API.
type droppedCoreEvents struct{}

var _ record.EventRecorder = droppedCoreEvents{}

// Event implements [record.EventRecorder].
func (droppedCoreEvents) Event(runtime.Object, string, string, string) {}

// Eventf implements [record.EventRecorder].
func (droppedCoreEvents) Eventf(runtime.Object, string, string, string, ...any) {}

// AnnotatedEventf implements [record.EventRecorder].
func (droppedCoreEvents) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {
}

// setGlobal guards the global logger of controller-runtime, which can be set only
// once in a process.
var setGlobal sync.Once

// logGlobally makes the logger the global one of controller-runtime, unless it has
// one, and returns the one that it has. Without one it keeps a promise for every logger that is derived from it and
// complains after half a minute.
func logGlobally(logger logr.Logger) logr.Logger {
	setGlobal.Do(func() { ctrllog.SetLogger(logger) })
	own := ctrllog.Log.WithValues() // what it hands out leads to the logger itself
	system.SettleGlobals(own)
	return own
}

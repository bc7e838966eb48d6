package controllerruntime

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

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

package kube

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// GarbageCollectorName is the name of the strategy that plays the garbage collector.
const GarbageCollectorName = "garbage-collector"

// Collecting returns the server as part of a system in which the garbage collector looks after the given kinds, and no other. A request
// after which an object of another kind waits for the collector is not modelled there: nobody would ever let it go.
func (s *Server) Collecting(kinds ...core.Kind) *Server {
	with := *s
	with.collected = map[core.Kind]bool{}
	for _, kind := range kinds {
		with.collected[kind] = true
	}
	return &with
}

// Uncollected returns an error that says what to change if an object waits for the garbage collector, as after a foreground or an
// orphaning deletion, and the collector does not look after its kind. A server that was not told what the collector looks after knows of no such
// object.
func (s *Server) Uncollected(key core.Key, content core.Content) error {
	object, ok := content.(*storage.Object)
	if !ok || s.collected == nil || s.collected[key.Kind] {
		return nil
	}
	for _, finalizer := range []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents} {
		if storage.Waits(object.Meta(), finalizer) {
			return fmt.Errorf("%s waits for the garbage collector (finalizer %s), which does not look after %s: add the option GarbageCollection with an object of that kind, "+
				"or a stand-in called %s that watches it", key, finalizer, key.Kind, GarbageCollectorName)
		}
	}
	return nil
}

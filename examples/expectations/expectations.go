package expectations

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Expectations are the Pods that were created and not seen since, counted for each ReplicaSet. Reconciles and event handlers share them.
type Expectations struct {
	mu      sync.Mutex
	pending map[types.NamespacedName]int
}

// NewExpectations returns expectations of nothing.
func NewExpectations() *Expectations {
	return &Expectations{pending: map[types.NamespacedName]int{}}
}

// Expect adds a number of Pods that are about to be created.
func (e *Expectations) Expect(set types.NamespacedName, pods int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending[set] += pods
}

// Lower takes away Pods that were seen, or that could not be created.
func (e *Expectations) Lower(set types.NamespacedName, pods int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pending[set] > pods {
		e.pending[set] -= pods
	} else {
		delete(e.pending, set)
	}
}

// Forget takes away all that is expected for a ReplicaSet.
func (e *Expectations) Forget(set types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.pending, set)
}

// Met reports whether all Pods were seen.
func (e *Expectations) Met(set types.NamespacedName) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.pending[set] == 0
}

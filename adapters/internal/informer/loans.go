package informer

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/core"
)

// Loans are the objects of its caches that a controller has been handed without a copy, in one run. Who changes one of
// them changes the cache, for everybody who reads it. As in a real cache, one version of an object is the same pointer
// each time. The zero value has none.
type Loans struct {
	mu    sync.Mutex
	known map[loan]client.Object
	lent  []lent
}

// loan names a version of an object in a cache.
type loan struct {
	cache   any
	key     types.NamespacedName
	uid     types.UID
	version string
}

// lent is an object that was handed out, and a copy from before.
type lent struct {
	kind         core.Kind
	object, then client.Object
}

// Begin starts a run, of which nothing has been handed out yet.
func (l *Loans) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.lent = map[loan]client.Object{}, nil
}

// Lend returns what a cache hands out for an object that was read from it: the same for the same version, throughout a
// run. A cache is named by anything that can be compared.
func (l *Loans) Lend(cache any, kind core.Kind, object client.Object) client.Object {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := loan{cache, client.ObjectKeyFromObject(object), object.GetUID(), object.GetResourceVersion()}
	if known, ok := l.known[name]; ok {
		return known
	}
	if l.known == nil {
		return object // nothing runs yet
	}
	l.known[name] = object
	if then := copied(object); then != nil {
		l.lent = append(l.lent, lent{kind, object, then})
	}
	return object
}

// Changed returns the first of the objects lent that has changed since, with the first field that is not what it was;
// empty if none has.
func (l *Loans) Changed() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.lent {
		if reflect.DeepEqual(o.object, o.then) {
			continue
		}
		was, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.then)
		if err != nil {
			continue
		}
		is, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.object)
		if err != nil {
			continue
		}
		// What cannot be seen of an object, such as the text that a quantity keeps of itself, is no change.
		if changes := core.DiffFields(was, is); len(changes) > 0 {
			key := client.ObjectKeyFromObject(o.then).String()
			return fmt.Sprintf("%s %s: %s", o.kind, strings.TrimPrefix(key, "/"), changes[0])
		}
	}
	return ""
}

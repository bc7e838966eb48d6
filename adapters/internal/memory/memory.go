// Package memory reads what an instance of a controller keeps in memory between its runs.
//
// A report that says "the controller remembers something" is of little use without the field. [Of] looks from what an adapter knows of an instance
// (its reconciler, its sources) into every field, map and list that can be reached, exported or not, and writes down each value that
// has no parts, under the way to it: "Reconciler.seen[default/a]". The engine compares what it finds before and after a run. It does not look into
// clients, loggers and other infrastructure, which are large and keep nothing of the controller's; nor further than two
// dozen steps.
package memory

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/orrery-dev/orrery/core"
)

// Named is a root that belongs to one of several controllers: the ways from it begin with the name of the controller, and a slash.
type Named struct {
	Controller string
	Root       any
}

// Requeues is a root: how often each item of a work queue was put back.
type Requeues map[string]int

// Of returns the values that can be reached from the roots, by the way to them, which begins with the type of the root, and its number if there are
// several of the type. What functions have captured cannot be seen.
func Of(roots ...any) map[string]string {
	m := &memory{values: map[string]string{}, seen: map[sighted]string{}, skipped: map[string]bool{}}
	m.from(roots)
	return m.values
}

// Find returns the way to a value that can be reached from the roots and is what is looked for, empty if there is none. Values of infrastructure are
// looked at, too, but not what is behind them.
func Find(is func(reflect.Value) bool, roots ...any) string {
	m := &memory{values: map[string]string{}, seen: map[sighted]string{}, skipped: map[string]bool{}, is: is}
	m.from(roots)
	return m.found
}

// from looks from roots.
func (m *memory) from(roots []any) {
	defer func() { _ = recover() }() // whatever cannot be read, the rest of it is still worth telling
	times := map[string]int{}
	for _, root := range roots {
		prefix := ""
		if named, ok := root.(Named); ok {
			prefix, root = named.Controller+"/", named.Root
		}
		name := prefix + ownName(reflect.ValueOf(root))
		if times[name]++; times[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, times[name])
		}
		m.look(name, reflect.ValueOf(root), 0)
	}
}

// ownName returns the name of a type without its package.
func ownName(v reflect.Value) string {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "nil"
		}
		v = v.Elem()
	}
	name, _, _ := strings.Cut(v.Type().Name(), "[")
	return name
}

// memory is what is found in the memory of an instance, by the way to it.
type memory struct {
	values map[string]string
	// seen are the ways to what was seen first.
	seen map[sighted]string
	// skipped tells of the packages that were met whether they are not looked into.
	skipped map[string]bool
	// is reports whether a value is what is looked for, nil if nothing is, and found is the way to the first one that is.
	is    func(reflect.Value) bool
	found string
}

// sighted is what a pointer points to.
type sighted struct {
	at unsafe.Pointer
	as reflect.Type
}

// How far is looked: what is kept between runs is near, and clients are large.
const (
	deepest = 24
	most    = 1 << 15
)

// infrastructure are packages whose values are no memory of the controller's, with those below them.
var infrastructure = []string{
	"context", "crypto", "html/template", "log", "net", "os", "reflect", "regexp", "runtime", "testing", "text/template",
	"github.com/go-logr", "github.com/hashicorp/go-hclog",
	"github.com/orrery-dev/orrery/adapters/clientgo", "github.com/orrery-dev/orrery/adapters/controllerruntime", "github.com/orrery-dev/orrery/adapters/external", "github.com/orrery-dev/orrery/adapters/internal/informer", "github.com/orrery-dev/orrery/adapters/internal/system",
	"github.com/orrery-dev/orrery/adapters/internal/webhook", "github.com/orrery-dev/orrery/adapters/kube",
	"github.com/prometheus", "go.opentelemetry.io", "go.uber.org/zap",
	"k8s.io/apimachinery/pkg/api/meta", "k8s.io/apimachinery/pkg/runtime", "k8s.io/client-go/discovery", "k8s.io/client-go/dynamic",
	"k8s.io/client-go/informers", "k8s.io/client-go/kubernetes", "k8s.io/client-go/listers", "k8s.io/client-go/rest",
	"k8s.io/client-go/metadata", "k8s.io/client-go/tools", "k8s.io/client-go/util/workqueue", "k8s.io/klog",
	"sigs.k8s.io/controller-runtime/pkg/cache", "sigs.k8s.io/controller-runtime/pkg/client",
	"sigs.k8s.io/controller-runtime/pkg/cluster", "sigs.k8s.io/controller-runtime/pkg/manager",
}

// keeps reports whether a type of infrastructure keeps what its owner puts in, such as a store of client-go: controllers note in one what they expect. What
// stores keep by index follows from the rest.
func keeps(t reflect.Type) bool {
	if t.PkgPath() != "k8s.io/client-go/tools/cache" {
		return false
	}
	switch t.Name() {
	case "cache", "threadSafeMap", "ExpirationCache", "TimestampedEntry", "mutationCache", "Heap", "heapData", "heapItem", "FIFO":
		return true
	}
	return false
}

// look notes what is found in a value, and in what it refers to.
func (m *memory) look(path string, v reflect.Value, depth int) {
	if depth > deepest || len(m.values) >= most || !v.IsValid() || m.found != "" {
		return
	}
	if m.is != nil && m.is(v) {
		m.found = path
		return
	}
	// What is behind an interface may be of another package.
	if v.Kind() != reflect.Interface && m.ends(v.Type()) {
		return
	}
	if v.CanAddr() { // what is not exported can be read, too
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			m.values[path] = "nil"
			return
		}
		at := sighted{v.UnsafePointer(), v.Type()}
		if first, seen := m.seen[at]; seen {
			if !m.ends(v.Type().Elem()) { // what is nothing to be seen the first time is nothing the second time
				m.values[path] = "that of " + first
			}
			return
		}
		m.seen[at] = path
		m.look(path, v.Elem(), depth+1)
	case reflect.Interface:
		if e := v.Elem(); e.Kind() == reflect.Pointer && !e.IsNil() && e.Elem().IsZero() {
			m.values[path] = "zero" // as the objects that sources are made with, which are large
			return
		}
		m.look(path, v.Elem(), depth+1)
	case reflect.Struct:
		m.inside(path, v, depth)
	case reflect.Map:
		m.values[path] = fmt.Sprint(v.Len())
		// In order, so that what is too much is the same each time.
		entries := map[string]reflect.Value{}
		for each := v.MapRange(); each.Next(); {
			entries[plainly(each.Key())] = each.Value()
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			before := len(m.values)
			m.look(path+"["+key+"]", entries[key], depth+1)
			if len(m.values) == before && before < most { // as in a set
				m.values[path+"["+key+"]"] = "set"
			}
		}
	case reflect.Slice, reflect.Array:
		m.values[path] = fmt.Sprint(v.Len())
		for i := range v.Len() {
			m.look(fmt.Sprintf("%s[%d]", path, i), v.Index(i), depth+1)
		}
	case reflect.Chan:
		m.values[path] = fmt.Sprint(v.Len())
		if v.Len() == 0 || !seesChannels() {
			return
		}
		for i, waits := range waitingIn(v) {
			m.look(fmt.Sprintf("%s[%d]", path, i), waits, depth+1)
		}
	case reflect.Func, reflect.UnsafePointer:
	default:
		m.values[path] = plainly(v)
	}
}

// ends reports whether values of a type are not looked into.
func (m *memory) ends(t reflect.Type) bool { return m.skips(t.PkgPath()) && !keeps(t) }

// skips reports whether a package is not looked into.
func (m *memory) skips(at string) bool {
	skips, known := m.skipped[at]
	if !known {
		skips = slices.ContainsFunc(infrastructure, func(p string) bool {
			below, within := strings.CutPrefix(at, p)
			return within && (below == "" || below[0] == '/')
		})
		m.skipped[at] = skips
	}
	return skips
}

// inside looks into a struct.
func (m *memory) inside(path string, v reflect.Value, depth int) {
	if !v.CanAddr() && v.CanInterface() { // as the values of maps and what is in interfaces
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		v = copied
	}
	if v.CanAddr() {
		switch at := v.Addr().Interface().(type) {
		case *time.Time:
			m.values[path] = at.Round(0).String() // as it is on the clock on the wall
			return
		case *sync.Map:
			at.Range(func(key, value any) bool {
				m.look(path+"["+plainly(reflect.ValueOf(key))+"]", reflect.ValueOf(value), depth+1)
				return true
			})
			return
		case *sync.Mutex:
			m.held(path, at)
			return
		case *sync.RWMutex:
			if held := m.held(path, at); held && at.TryRLock() {
				at.RUnlock()
				m.values[path] = core.ReadLocked
			}
			return
		case *sync.Once, *sync.Pool, *sync.WaitGroup, *sync.Cond:
			return
		}
	}
	if t := v.Type(); t.PkgPath() == "sync/atomic" && strings.HasPrefix(t.Name(), "Pointer[") && v.CanAddr() {
		m.look(path, v.Addr().MethodByName("Load").Call(nil)[0], depth+1)
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		at := path + "." + field.Name
		if field.Anonymous {
			at = path
		}
		m.look(at, v.Field(i), depth+1)
	}
}

// held notes that a lock is held, and reports whether it is. Nobody runs while memory is read, so a lock that is held then stays so: whoever takes it next waits for ever.
func (m *memory) held(path string, lock interface {
	TryLock() bool
	Unlock()
}) bool {
	if lock.TryLock() {
		lock.Unlock()
		return false
	}
	m.values[path] = core.Locked
	return true
}

// plainly writes a value that has no parts to look into one by one.
func plainly(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Struct:
		var parts []string
		for i := range v.NumField() {
			parts = append(parts, plainly(v.Field(i)))
		}
		return strings.Join(parts, "/")
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return plainly(v.Elem())
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return v.Kind().String() // an address says nothing
	}
	return fmt.Sprint(v)
}

// Package memory reads what an instance of a controller keeps in memory between its runs.
//
// A report that says "the controller remembers something" is of little use without the field. [Of] looks from what an
// adapter knows of an instance (its reconciler, its sources) into every field, map and list that can be reached,
// exported or not, and writes down each value that has no parts, under the way to it: "Reconciler.seen[default/a]". The
// engine compares what it finds before and after a run. It does not look into clients, loggers and other
// infrastructure, which are large and keep nothing of the controller's; nor further than two dozen steps.
package memory

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/orrery-dev/orrery/core"
)

// Named is a root that belongs to one of several controllers: the ways from it begin with the name of the controller,
// and a slash.
type Named struct {
	Controller string
	Root       any
}

// Requeues is a root: how often each item of a work queue was put back.
type Requeues map[string]int

// Of returns the values that can be reached from the roots, by the way to them, which begins with the type of the root,
// and its number if there are several of the type. What functions have captured cannot be seen.
func Of(roots ...any) map[string]string {
	m := newMemory()
	m.from(roots)
	return m.values
}

// Find returns the way to a value that can be reached from the roots and is what is looked for, empty if there is none.
// Values of infrastructure are looked at, too, but not what is behind them.
func Find(is func(reflect.Value) bool, roots ...any) string {
	m := newMemory()
	m.is = is
	m.from(roots)
	return m.found
}

// newMemory returns a memory in which nothing was found yet.
func newMemory() *memory {
	return &memory{values: map[string]string{}, seen: map[sighted]string{}, skipped: map[string]bool{}}
}

// from looks from roots, and reports whether all of it could be read.
func (m *memory) from(roots []any) (whole bool) {
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
	return true
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
	// is reports whether a value is what is looked for, nil if nothing is, and found is the way to the first one that
	// is.
	is    func(reflect.Value) bool
	found string
	// sights, if set, get what is read.
	sights *sights
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
	"github.com/orrery-dev/orrery/adapters/clientgo", "github.com/orrery-dev/orrery/adapters/controllerruntime", "github.com/orrery-dev/orrery/adapters/external", "github.com/orrery-dev/orrery/adapters/internal/informer", "github.com/orrery-dev/orrery/adapters/internal/metrics", "github.com/orrery-dev/orrery/adapters/internal/system",
	"github.com/orrery-dev/orrery/adapters/internal/webhook", "github.com/orrery-dev/orrery/adapters/kube",
	"github.com/prometheus", "go.opentelemetry.io", "go.uber.org/zap",
	"k8s.io/apimachinery/pkg/api/meta", "k8s.io/apimachinery/pkg/runtime", "k8s.io/client-go/discovery", "k8s.io/client-go/dynamic",
	"k8s.io/client-go/informers", "k8s.io/client-go/kubernetes", "k8s.io/client-go/listers", "k8s.io/client-go/rest",
	"k8s.io/client-go/metadata", "k8s.io/client-go/tools", "k8s.io/client-go/util/workqueue", "k8s.io/klog",
	"sigs.k8s.io/controller-runtime/pkg/cache", "sigs.k8s.io/controller-runtime/pkg/client",
	"sigs.k8s.io/controller-runtime/pkg/cluster", "sigs.k8s.io/controller-runtime/pkg/manager",
}

// keeps reports whether a type of infrastructure keeps what its owner puts in, such as a store of client-go:
// controllers note in one what they expect. What stores keep by index follows from the rest.
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
		if !m.ends(v.Type().Elem()) {
			m.sights.look(v.UnsafePointer(), v.Type().Elem())
		}
		m.look(path, v.Elem(), depth+1)
	case reflect.Interface:
		if e := v.Elem(); e.Kind() == reflect.Pointer && !e.IsNil() && m.sights.isZero(e.Elem()) {
			m.values[path] = "zero" // as the objects that sources are made with, which are large
			return
		}
		m.look(path, v.Elem(), depth+1)
	case reflect.Struct:
		m.inside(path, v, depth)
	case reflect.Map:
		m.values[path] = fmt.Sprint(v.Len())
		m.sights.lookInto(v)
		var all []entry
		for each := v.MapRange(); each.Next(); {
			all = append(all, entryOf(each.Key(), each.Value()))
		}
		m.entries(path, all, depth)
	case reflect.Slice, reflect.Array:
		m.values[path] = fmt.Sprint(v.Len())
		if v.Kind() == reflect.Slice {
			m.sights.lookAlong(v)
		}
		m.elements(path, v, depth)
	case reflect.Chan:
		m.values[path] = fmt.Sprint(v.Len())
		m.sights.wait(v)
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

// elements notes what is found in a list. Elements of several types are named by their types, and not by where they
// are, which is a value of its own: a set-up that fills a list from a map leaves to chance which comes first.
func (m *memory) elements(path string, list reflect.Value, depth int) {
	order := typesIn(list)
	types := slices.Compact(slices.Sorted(slices.Values(order)))
	if len(types) < 2 {
		for i := range list.Len() {
			m.look(fmt.Sprintf("%s[%d]", path, i), list.Index(i), depth+1)
		}
		return
	}
	m.values[path+"[]"] = strings.Join(order, " ")
	for _, of := range types {
		at, same := path+"["+of+"]", 0
		for i, other := range order {
			if other != of {
				continue
			}
			if same++; same > 1 {
				at = fmt.Sprintf("%s[%s]#%d", path, of, same)
			}
			m.look(at, list.Index(i), depth+1)
		}
	}
}

// typesIn returns the types of the elements of a list of interfaces, none for other lists.
func typesIn(list reflect.Value) []string {
	if list.Type().Elem().Kind() != reflect.Interface {
		return nil
	}
	var types []string
	for i := range list.Len() {
		types = append(types, typeOf(list.Index(i)))
	}
	return types
}

// typeOf names the type of what is behind an interface.
func typeOf(v reflect.Value) string {
	if v.IsNil() {
		return "nil"
	}
	return strings.TrimLeft(v.Elem().Type().String(), "*")
}

// entry is one of a map: what its key comes to, the type of that, and what is behind it.
type entry struct {
	key, kind string
	value     reflect.Value
}

func entryOf(key, value reflect.Value) entry {
	if key.Kind() == reflect.Interface && !key.IsNil() {
		key = key.Elem()
	}
	return entry{plainly(key), key.Type().String(), value}
}

// entries notes what is found in a map: in order, so that what is too much is the same each time. Keys that come to the
// same text are numbered.
func (m *memory) entries(path string, all []entry, depth int) {
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.kind, b.kind)) })
	same := 0
	for i, e := range all {
		at := path + "[" + e.key + "]"
		if same++; i == 0 || all[i-1].key != e.key {
			same = 1
		}
		if same > 1 {
			at = fmt.Sprintf("%s#%d", at, same)
		}
		before := len(m.values)
		m.look(at, e.value, depth+1)
		if len(m.values) == before && before < most { // as in a set
			m.values[at] = "set"
		}
	}
}

// ends reports whether values of a type are not looked into.
func (m *memory) ends(t reflect.Type) bool { return m.skips(t.PkgPath()) && !keeps(t) && !isData(t) }

// isData reports whether a type of infrastructure is nothing but data, which controllers remember as they do texts.
func isData(t reflect.Type) bool {
	switch t.PkgPath() + "." + t.Name() {
	case "net.IP", "net.IPMask", "net.IPNet", "net.TCPAddr", "net.UDPAddr", "net/url.URL", "net/url.Userinfo", "net/url.Values", "net/http.Header",
		"net/netip.Addr", "net/netip.AddrPort", "net/netip.Prefix", "net/netip.uint128", "regexp.Regexp", "k8s.io/apimachinery/pkg/runtime.RawExtension":
		return true
	}
	return false
}

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
			m.sights.lookIntoSynced(at)
			var all []entry
			at.Range(func(key, value any) bool {
				all = append(all, entryOf(reflect.ValueOf(key), reflect.ValueOf(value)))
				return true
			})
			m.entries(path, all, depth)
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
		case *sync.Once:
			if done := v.FieldByName("done"); done.Kind() == reflect.Struct && !done.IsZero() {
				m.values[path] = "done"
			}
			return
		case *sync.Pool, *sync.WaitGroup, *sync.Cond:
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

// held notes that a lock is held, and reports whether it is. Nobody runs while memory is read, so a lock that is held
// then stays so: whoever takes it next waits for ever.
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
func plainly(v reflect.Value) string { return plainlyBehind(v, nil) }

// plainlyBehind is as plainly, for a value behind pointers, to which it may lead back.
func plainlyBehind(v reflect.Value, before []unsafe.Pointer) string {
	var parts []string
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Struct:
		for i := range v.NumField() {
			parts = append(parts, plainlyBehind(v.Field(i), before))
		}
	case reflect.Array, reflect.Slice: // a key cannot be a slice, but may lead to one
		for i := range v.Len() {
			parts = append(parts, plainlyBehind(v.Index(i), before))
		}
	case reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		return plainlyBehind(v.Elem(), before)
	case reflect.Pointer:
		switch at := v.UnsafePointer(); {
		case at == nil:
			return "nil"
		case slices.Contains(before, at), len(before) == deepest:
			return "pointer"
		default:
			return plainlyBehind(v.Elem(), append(slices.Clip(before), at))
		}
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return v.Kind().String() // an address says nothing
	default:
		return fmt.Sprint(v)
	}
	return strings.Join(parts, "/")
}

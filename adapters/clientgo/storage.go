package clientgo

import (
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// storageBehind is what a store that client-go has made keeps its objects in after its informer was taken over: the
// store of the informer behind that one.
type storageBehind struct {
	// ThreadSafeStore has what later versions of client-go ask besides.
	cache.ThreadSafeStore
	view *viewStore
}

var _ cache.ThreadSafeStore = storageBehind{}

// Add implements [cache.ThreadSafeStore].
func (s storageBehind) Add(_ string, object any) { _ = s.view.put(object) }

// Update implements [cache.ThreadSafeStore].
func (s storageBehind) Update(_ string, object any) { _ = s.view.put(object) }

// Delete implements [cache.ThreadSafeStore].
func (s storageBehind) Delete(string) { _ = s.view.refuse() }

// DeleteWithObject implements the method of later versions of [cache.ThreadSafeStore] by which their stores delete.
func (s storageBehind) DeleteWithObject(string, any) { _ = s.view.refuse() }

// Bookmark implements the method of later versions of [cache.ThreadSafeStore].
func (s storageBehind) Bookmark(rv string) { s.view.Bookmark(rv) }

// LastStoreSyncResourceVersion implements the method of later versions of [cache.ThreadSafeStore].
func (s storageBehind) LastStoreSyncResourceVersion() string {
	return s.view.LastStoreSyncResourceVersion()
}

// Replace implements [cache.ThreadSafeStore].
func (s storageBehind) Replace(map[string]any, string) { _ = s.view.refuse() }

// Get implements [cache.ThreadSafeStore].
func (s storageBehind) Get(key string) (item any, exists bool) {
	item, exists, _ = s.view.GetByKey(key)
	return item, exists
}

// List implements [cache.ThreadSafeStore].
func (s storageBehind) List() []any { return s.view.List() }

// ListKeys implements [cache.ThreadSafeStore].
func (s storageBehind) ListKeys() []string { return s.view.ListKeys() }

// Index implements [cache.ThreadSafeStore].
func (s storageBehind) Index(name string, object any) ([]any, error) {
	return s.view.Index(name, object)
}

// IndexKeys implements [cache.ThreadSafeStore].
func (s storageBehind) IndexKeys(name, value string) ([]string, error) {
	return s.view.IndexKeys(name, value)
}

// ListIndexFuncValues implements [cache.ThreadSafeStore].
func (s storageBehind) ListIndexFuncValues(name string) []string {
	return s.view.ListIndexFuncValues(name)
}

// ByIndex implements [cache.ThreadSafeStore].
func (s storageBehind) ByIndex(name, value string) ([]any, error) { return s.view.ByIndex(name, value) }

// GetIndexers implements [cache.ThreadSafeStore].
func (s storageBehind) GetIndexers() cache.Indexers { return s.view.GetIndexers() }

// AddIndexers implements [cache.ThreadSafeStore].
func (s storageBehind) AddIndexers(indexers cache.Indexers) error {
	return s.view.AddIndexers(indexers)
}

// Resync implements [cache.ThreadSafeStore].
func (s storageBehind) Resync() error { return nil }

// showsView reports whether an informer or a store of client-go shows what the process's view has, because the informer
// was taken over.
func showsView(v reflect.Value) bool {
	for _, name := range []string{"indexer", "cacheStorage"} {
		v = unwrapped(v)
		if v.Kind() != reflect.Struct {
			break
		}
		if field := v.FieldByName(name); field.IsValid() {
			v = field
		}
	}
	v = unwrapped(v)
	return v.IsValid() && v.Type() == reflect.TypeFor[storageBehind]()
}

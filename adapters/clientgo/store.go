package clientgo

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
)

// viewStore is the store of an informer. It holds nothing: what is read from it is asked of the process's view, and
// lent by the cache.
type viewStore struct {
	// Indexer has what later versions of client-go ask of a store besides.
	cache.Indexer
	informer *sharedInformer
	indexers cache.Indexers
}

// List implements [cache.Store].
func (s *viewStore) List() []any { return s.list("", "") }

// list returns what the view shows of a namespace, empty for all, with an entry of an index, empty for none.
func (s *viewStore) list(namespace, indexed string) []any {
	i := s.informer
	if !i.environment.runs() {
		i.environment.tooEarly(i.form)
		return nil
	}
	which, some := i.scope.Select(informer.Selection{Namespace: namespace, Indexes: indexed})
	if !some {
		return nil
	}
	if err := i.refused(); err != nil {
		s.failed(err)
		return nil
	}
	objects, err := i.environment.view.List(context.Background(), i.form, which)
	if err != nil {
		s.failed(err)
		return nil
	}
	var shown []any
	for _, object := range objects {
		if kept := s.keep(object); kept != nil {
			shown = append(shown, kept)
		}
	}
	return shown
}

// keep returns what the store has of an object of the view, nil if it is not in its scope.
func (s *viewStore) keep(object client.Object) any {
	i := s.informer
	if i.form.As == informer.Typed {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as it comes from a watch
	}
	kept, err := informer.Keep(object, i.scope, i.transform)
	if err != nil {
		s.failed(err)
		return nil
	}
	if shared, ok := kept.(client.Object); ok {
		return i.environment.loans.Lend(i, i.form.Name(), shared)
	}
	return kept
}

// failed notes that something cannot be read. A store has no errors.
func (s *viewStore) failed(err error) {
	s.informer.environment.current.Unmodelled(fmt.Sprintf("reading %s from an informer", s.informer.form.Name()), err.Error())
}

// ListKeys implements [cache.Store].
func (s *viewStore) ListKeys() []string { return keysOf(s.List()) }

func keysOf(objects []any) []string {
	var keys []string
	for _, object := range objects {
		if key, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// Get implements [cache.Store].
func (s *viewStore) Get(object any) (item any, exists bool, err error) {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		return nil, false, cache.KeyError{Obj: object, Err: err}
	}
	return s.GetByKey(key)
}

// GetByKey implements [cache.Store].
func (s *viewStore) GetByKey(key string) (item any, exists bool, err error) {
	i := s.informer
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil || name == "" {
		return nil, false, nil //nolint:nilerr // a real store has no such key
	}
	if _, some := i.scope.Select(informer.Selection{Namespace: namespace}); !some {
		return nil, false, nil
	}
	if !i.environment.runs() {
		i.environment.tooEarly(i.form)
		return nil, false, nil
	}
	if err := i.refused(); err != nil {
		s.failed(err)
		return nil, false, err
	}
	object, err := i.environment.view.Get(context.Background(), i.form, types.NamespacedName{Namespace: namespace, Name: name})
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		s.failed(err)
		return nil, false, err
	}
	kept := s.keep(object)
	return kept, kept != nil, nil
}

// AddIndexers implements [cache.Indexer].
func (s *viewStore) AddIndexers(indexers cache.Indexers) error {
	i := s.informer
	if i.environment.current.Unmodelled(fmt.Sprintf("adding indexers to the informer of %s", i.form.Name()), "only indexers that the set-up adds are known: add them there") {
		return fmt.Errorf("indexers that are added while controllers run are not modelled")
	}
	for _, name := range slices.Sorted(maps.Keys(indexers)) {
		if _, known := s.indexers[name]; known {
			return fmt.Errorf("indexer conflict: map[%s:{}]", name)
		}
		if name != cache.NamespaceIndex {
			extract := indexers[name]
			if err := i.environment.indexes.Add(i.form, s.index(name).Field, func(object client.Object) ([]string, error) {
				kept, err := informer.Keep(object, i.scope, i.transform)
				if err != nil || kept == nil {
					return nil, err
				}
				return extract(kept)
			}); err != nil {
				return err
			}
		}
		if s.indexers == nil {
			s.indexers = cache.Indexers{}
		}
		s.indexers[name] = indexers[name]
	}
	return nil
}

// index is what requests call an index: of the first factory by its own name.
func (s *viewStore) index(name string) informer.Index {
	if group := s.informer.group; group > 0 {
		name = fmt.Sprintf("%s (%d)", name, group)
	}
	return informer.Index{Form: s.informer.form, Field: name}
}

// GetIndexers implements [cache.Indexer].
func (s *viewStore) GetIndexers() cache.Indexers {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	maps.Copy(indexers, s.indexers)
	return indexers
}

// Index implements [cache.Indexer].
func (s *viewStore) Index(name string, object any) ([]any, error) {
	extract, known := s.GetIndexers()[name]
	if !known {
		return nil, noIndex(name)
	}
	values, err := extract(object)
	if err != nil {
		return nil, err
	}
	var found []any
	for _, value := range values {
		some, err := s.ByIndex(name, value)
		if err != nil {
			return nil, err
		}
		for _, object := range some {
			if !slices.Contains(found, object) {
				found = append(found, object)
			}
		}
	}
	return found, nil
}

// noIndex is the error of a real store.
func noIndex(name string) error {
	return fmt.Errorf("Index with name %s does not exist", name)
}

// ByIndex implements [cache.Indexer].
func (s *viewStore) ByIndex(name, value string) ([]any, error) {
	if name == cache.NamespaceIndex {
		return s.list(value, ""), nil
	}
	if _, known := s.indexers[name]; !known {
		return nil, noIndex(name)
	}
	return s.list("", s.index(name).Term(value)), nil
}

// IndexKeys implements [cache.Indexer].
func (s *viewStore) IndexKeys(name, value string) ([]string, error) {
	objects, err := s.ByIndex(name, value)
	return keysOf(objects), err
}

// ListIndexFuncValues implements [cache.Indexer].
func (s *viewStore) ListIndexFuncValues(name string) []string {
	var all []string
	if extract, known := s.GetIndexers()[name]; known {
		for _, object := range s.List() {
			if values, err := extract(object); err == nil {
				all = append(all, values...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// put writes an object into the store. A controller may put there what the API server has answered it: nothing changes
// where the informer shows that already.
func (s *viewStore) put(object any) error {
	if s.informer.environment.current.Run() != nil {
		if shown, there, err := s.Get(object); err == nil && there && alike(shown, object) {
			return nil
		}
	}
	return s.refuse()
}

// alike reports whether two objects have the same fields, but for those that are empty, which an object loses or gets
// on its way through a Go type.
func alike(one, other any) bool {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(one)
	if err != nil {
		return false
	}
	others, err := runtime.DefaultUnstructuredConverter.ToUnstructured(other)
	return err == nil && reflect.DeepEqual(filledIn(fields), filledIn(others))
}

// filledIn returns a tree without what is empty in it, nil if nothing is left.
func filledIn(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		left := map[string]any{}
		for name, value := range tree {
			if some := filledIn(value); some != nil {
				left[name] = some
			}
		}
		if len(left) > 0 {
			return left
		}
		return nil
	case []any:
		if len(tree) == 0 {
			return nil
		}
		left := make([]any, len(tree)) // items have places, also empty ones
		for i, item := range tree {
			left[i] = filledIn(item)
		}
		return left
	}
	return tree
}

// refuse says that nobody writes into the store of an informer what it does not show.
func (s *viewStore) refuse() error {
	const reason = "the store of an informer belongs to the informer, and only what it shows already may be put there, such as what the API server has just answered: " +
		"write to the API server, and where the cache of the kind may be stale, have it show what the controller writes (own-writes in place of another rule)"
	s.informer.environment.current.Unmodelled(fmt.Sprintf("writing into the store of the informer of %s", s.informer.form.Name()), reason)
	return fmt.Errorf("not modelled: %s", reason)
}

// Add implements [cache.Store].
func (s *viewStore) Add(object any) error { return s.put(object) }

// Update implements [cache.Store].
func (s *viewStore) Update(object any) error { return s.put(object) }

// Delete implements [cache.Store].
func (s *viewStore) Delete(any) error { return s.refuse() }

// Replace implements [cache.Store].
func (s *viewStore) Replace([]any, string) error { return s.refuse() }

// Bookmark implements the method of later versions of [cache.Store] by which an informer notes how far it has come.
func (s *viewStore) Bookmark(string) { _ = s.refuse() }

// LastStoreSyncResourceVersion implements the method of later versions of [cache.Store]. There is no version of all
// objects of a kind here.
func (s *viewStore) LastStoreSyncResourceVersion() string {
	s.informer.environment.current.Unmodelled(fmt.Sprintf("asking how far the store of the informer of %s has come", s.informer.form.Name()),
		"there is no version of all objects of a kind: leave it out; in the controllers of Kubernetes, switch off the feature gates StaleControllerConsistency")
	return ""
}

// Resync implements [cache.Store].
func (s *viewStore) Resync() error { return nil }

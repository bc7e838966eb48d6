package controllerruntime

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/kube"
)

// holdings is what a manager's cache holds, by its options.
type holdings struct {
	// kinds are those with options of their own, in all forms.
	kinds map[schema.GroupVersionKind]holding
	// namespaced and clusterWide is what it holds of all others.
	namespaced, clusterWide holding
}

// of returns what the cache holds of a kind.
func (h *holdings) of(kind schema.GroupVersionKind, namespaced bool) holding {
	if own, has := h.kinds[kind]; has {
		return own
	}
	if namespaced {
		return h.namespaced
	}
	return h.clusterWide
}

// holding is what a cache holds of a kind: one section of all, or sections of some namespaces, each with an informer of
// its own.
type holding struct {
	// sections are ordered by their namespaces. That of the empty one has those that are not there besides.
	sections []section
	divided  bool
}

// section is what one informer holds.
type section struct {
	namespace string
	// scope is nil for all objects.
	scope     *informer.Scope
	transform toolscache.TransformFunc
	// lends tells that reads are answered with what it holds, without a copy.
	lends bool
}

// errUnknownNamespace tells that a cache of some namespaces has none of the one that is read.
var errUnknownNamespace = errors.New("unknown namespace for the cache")

// in returns the sections that have the objects of a namespace, or of all if that is empty.
func (h holding) in(namespace string) ([]section, error) {
	if !h.divided || namespace == metav1.NamespaceAll {
		return h.sections, nil
	}
	for _, its := range []string{namespace, metav1.NamespaceAll} {
		if i := slices.IndexFunc(h.sections, func(p section) bool { return p.namespace == its }); i >= 0 {
			return h.sections[i : i+1], nil
		}
	}
	return nil, errUnknownNamespace
}

// section returns what has an object.
func (h holding) section(namespace string) (section, error) {
	if !h.divided {
		return h.sections[0], nil
	}
	if namespace == metav1.NamespaceAll {
		return section{}, errUnknownNamespace
	}
	sections, err := h.in(namespace)
	if err != nil {
		return section{}, err
	}
	return sections[0], nil
}

// undivided is a holding of one section.
func undivided(its cache.Config) holding { return holding{sections: []section{newSection("", its)}} }

// divided is a holding of some namespaces, each with settings in which nothing is left to be defaulted.
func divided(namespaces map[string]cache.Config) holding {
	h := holding{divided: true}
	names := slices.Sorted(maps.Keys(namespaces))
	for _, namespace := range names {
		its := namespaces[namespace]
		if namespace == metav1.NamespaceAll {
			its.FieldSelector = without(names, its.FieldSelector)
		}
		h.sections = append(h.sections, newSection(namespace, its))
	}
	return h
}

// without narrows what selects objects of all namespaces, which may be nil, to those that are in none of some.
func without(namespaces []string, of fields.Selector) fields.Selector {
	var all []fields.Selector
	for _, namespace := range namespaces {
		if namespace != metav1.NamespaceAll {
			all = append(all, fields.OneTermNotEqualSelector("metadata.namespace", namespace))
		}
	}
	if of != nil {
		all = append(all, of)
	}
	return fields.AndSelectors(all...)
}

func newSection(namespace string, its cache.Config) section {
	return section{namespace, informer.ScopeOf(namespace, its.LabelSelector, its.FieldSelector), its.Transform, ptr.Deref(its.UnsafeDisableDeepCopy, false)}
}

// newHoldings reads the options of a manager's cache. What is not set there is what is set for the kind, for the
// namespace, or for all, in this order.
func newHoldings(options cache.Options, server *kube.Server) (*holdings, error) {
	byDefault := cache.Config{
		LabelSelector:         options.DefaultLabelSelector,
		FieldSelector:         options.DefaultFieldSelector,
		Transform:             options.DefaultTransform,
		UnsafeDisableDeepCopy: options.DefaultUnsafeDisableDeepCopy,
	}
	h := &holdings{kinds: map[schema.GroupVersionKind]holding{}, namespaced: undivided(byDefault), clusterWide: undivided(byDefault)}
	if len(options.DefaultNamespaces) > 0 {
		h.namespaced = divided(defaulted(options.DefaultNamespaces, byDefault))
	}
	for object, its := range options.ByObject {
		kind, err := apiutil.GVKForObject(object, server.Scheme())
		if err != nil {
			return nil, fmt.Errorf("the ByObject of the manager's cache options has a %T: %w", object, err)
		}
		if _, twice := h.kinds[kind]; twice {
			// The real cache takes one of them at random.
			return nil, fmt.Errorf("the ByObject of the manager's cache options has %s twice: keep one entry", kind)
		}
		if h.kinds[kind], err = ofKind(object, its, options.DefaultNamespaces, byDefault, server); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// ofKind is what a cache holds of a kind that has options of its own.
func ofKind(object client.Object, its cache.ByObject, namespaces map[string]cache.Config, byDefault cache.Config, server *kube.Server) (holding, error) {
	namespaced, err := apiutil.IsObjectNamespaced(object, server.Scheme(), server.RESTMapper())
	switch {
	case err != nil:
		return holding{}, fmt.Errorf("the ByObject of the manager's cache options has a %T, and nobody says if it has namespaces: %w: add its custom resource definition with CRDs, or leave it out", object, err)
	case !namespaced && its.Namespaces != nil:
		return holding{}, fmt.Errorf("the ByObject of the manager's cache options has Namespaces for %T, which has none: leave them out", object)
	case namespaced && its.Namespaces == nil:
		its.Namespaces = namespaces
	}
	own := cache.Config{LabelSelector: its.Label, FieldSelector: its.Field, Transform: its.Transform, UnsafeDisableDeepCopy: its.UnsafeDisableDeepCopy}
	if len(its.Namespaces) == 0 {
		return undivided(completed(own, byDefault)), nil
	}
	settings := defaulted(its.Namespaces, own)
	for namespace, s := range settings {
		settings[namespace] = completed(completed(s, namespaces[namespace]), byDefault)
	}
	return divided(settings), nil
}

// defaulted returns the settings of namespaces with what they leave open.
func defaulted(namespaces map[string]cache.Config, from cache.Config) map[string]cache.Config {
	settings := maps.Clone(namespaces)
	for namespace, its := range settings {
		settings[namespace] = completed(its, from)
	}
	return settings
}

// completed returns settings with what they leave open.
func completed(its, from cache.Config) cache.Config {
	return cache.Config{
		LabelSelector:         firstOf[labels.Selector](its.LabelSelector, from.LabelSelector),
		FieldSelector:         firstOf[fields.Selector](its.FieldSelector, from.FieldSelector),
		Transform:             transformOf(its.Transform, from.Transform),
		UnsafeDisableDeepCopy: firstOf(its.UnsafeDisableDeepCopy, from.UnsafeDisableDeepCopy),
	}
}

// firstOf returns the first of two that is not nil.
func firstOf[T comparable](a, b T) T {
	if a != *new(T) {
		return a
	}
	return b
}

func transformOf(a, b toolscache.TransformFunc) toolscache.TransformFunc {
	if a != nil {
		return a
	}
	return b
}

// refuseCacheOptions returns an error for each option of a manager's cache that is not modelled.
func refuseCacheOptions(options cache.Options) error {
	var all []error
	refuse := func(field, why string) {
		all = append(all, fmt.Errorf("%s of the manager's cache is not modelled, %s: leave it out of the manager options", field, why))
	}
	if options.ReaderFailOnMissingInformer {
		refuse("ReaderFailOnMissingInformer", "as it depends on which controllers have started")
	}
	if options.NewInformer != nil {
		refuse("NewInformer", "as nobody but the informer knows what it does")
	}
	return errors.Join(all...)
}

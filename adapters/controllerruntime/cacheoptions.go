package controllerruntime

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// lending tells which reads a manager's cache answers with what it holds, without a
// copy.
type lending struct {
	byDefault bool
	// kinds are those with a setting of their own, in all forms.
	kinds map[schema.GroupVersionKind]bool
}

// of returns whether reads of a kind are lent.
func (l lending) of(kind schema.GroupVersionKind) bool {
	if lends, ok := l.kinds[kind]; ok {
		return lends
	}
	return l.byDefault
}

// newLending reads the options of a manager's cache.
func newLending(options cache.Options, scheme *runtime.Scheme) (lending, error) {
	l := lending{byDefault: ptr.Deref(options.DefaultUnsafeDisableDeepCopy, false), kinds: map[schema.GroupVersionKind]bool{}}
	for object, its := range options.ByObject {
		kind, err := apiutil.GVKForObject(object, scheme)
		if err != nil {
			return lending{}, fmt.Errorf("the ByObject of the manager's cache options has a %T: %w", object, err)
		}
		if _, twice := l.kinds[kind]; twice {
			// The real cache takes one of them at random.
			return lending{}, fmt.Errorf("the ByObject of the manager's cache options has %s twice: keep one entry", kind)
		}
		l.kinds[kind] = ptr.Deref(its.UnsafeDisableDeepCopy, l.byDefault)
	}
	return l, nil
}

// selector is what selectors of labels and of fields have in common.
type selector interface{ Empty() bool }

// restrictions returns an error for each option of a manager's cache that keeps
// objects out of it or changes them. Main programs often make the maps before they know
// whether anything goes in, and select everything: that restricts nothing.
func restrictions(options cache.Options) error {
	const leave = "is not modelled, as it changes which objects the cache holds or what they are: leave it out of the manager options"
	var all []error
	refuse := func(field string) { all = append(all, fmt.Errorf("%s of the manager's cache %s", field, leave)) }
	refuseAny := func(of string, labels, fields selector, transform toolscache.TransformFunc) {
		if labels != nil && !labels.Empty() {
			refuse(of + "LabelSelector")
		}
		if fields != nil && !fields.Empty() {
			refuse(of + "FieldSelector")
		}
		if transform != nil {
			refuse(of + "Transform")
		}
	}
	refuseAny("Default", options.DefaultLabelSelector, options.DefaultFieldSelector, options.DefaultTransform)
	if narrow(options.DefaultNamespaces) {
		refuse("DefaultNamespaces")
	}
	if options.ReaderFailOnMissingInformer {
		refuse("ReaderFailOnMissingInformer")
	}
	if options.NewInformer != nil {
		refuse("NewInformer")
	}
	restricted := false
	for _, its := range options.ByObject {
		restricted = restricted || its.Namespaces != nil || its.Transform != nil ||
			its.Label != nil && !its.Label.Empty() || its.Field != nil && !its.Field.Empty()
	}
	if restricted {
		refuse("Namespaces, Label, Field or Transform in ByObject")
	}
	return errors.Join(all...)
}

// narrow reports whether a cache of these namespaces differs from one of all.
func narrow(namespaces map[string]cache.Config) bool {
	for namespace, its := range namespaces {
		if namespace != metav1.NamespaceAll || its.LabelSelector != nil || its.FieldSelector != nil || its.Transform != nil || its.UnsafeDisableDeepCopy != nil {
			return true
		}
	}
	return false
}

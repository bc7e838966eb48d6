package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
	"github.com/orrery-dev/orrery/core"
)

// Initial returns a state of the store with the objects in it, as if they had been
// there before: with defaults and system metadata filled in, and with the status
// that they are given with. Namespaced objects without a namespace are in
// "default". Owner references without a uid refer to the object of that name among
// the objects. It returns an error that says what to change if an object would be
// refused or is given twice.
func (s *Server) Initial(objects ...runtime.Object) (core.Initial, error) {
	admitted := make([]core.Object, 0, len(objects))
	trees := map[core.Key]*unstructured.Unstructured{}
	for i, object := range objects {
		key, tree, err := s.admitInitial(object)
		if err != nil {
			return core.Initial{}, fmt.Errorf("initial object %d: %w", i+1, err)
		}
		if trees[key] != nil {
			return core.Initial{}, fmt.Errorf("initial object %d: %s is given twice: remove one", i+1, key)
		}
		if key.Kind == kinds.Namespace {
			s.namespaces[key.Name] = true
		}
		s.inhabited[key.Namespace] = true
		trees[key] = tree
		admitted = append(admitted, core.Object{Key: key})
	}
	slices.SortStableFunc(admitted, func(a, b core.Object) int { return claimRank(trees[a.Key]) - claimRank(trees[b.Key]) })
	state := initialState{}
	for _, o := range admitted {
		tree := trees[o.Key]
		if err := s.resolveOwners(o.Key, tree, trees); err != nil {
			return core.Initial{}, fmt.Errorf("%s: %w", o.Key, err)
		}
		tree, err := s.reviewInitial(state, o.Key, tree)
		if err != nil {
			return core.Initial{}, fmt.Errorf("%s: %w", o.Key, err)
		}
		if err := builtin.Assign(s.registry.Named(o.Key.Kind), state, o.Key, tree, nil); err != nil {
			return core.Initial{}, fmt.Errorf("%s: %w", o.Key, err)
		}
		content := storage.New(tree.Object, 0)
		if o.Key.Kind != kinds.Definition { // It was validated as the server validates it.
			content.Coverage = s.registry.Named(o.Key.Kind).Coverage
		}
		state[o.Key] = s.Normalize(o.Key, []core.Content{content}, nil)[0]
		for _, w := range storage.RecordWrites(o.Key, nil, content) {
			state[w.Key] = w.Content
		}
	}
	return core.Initial{Objects: state.objects()}, nil
}

// Installed returns custom resource definitions as the objects that a cluster has for them: established, with all names
// accepted. There are none where the server does not serve their kind, as the scheme does not have it. Those that are
// among some objects already are left out.
func (s *Server) Installed(definitions []*apiextensionsv1.CustomResourceDefinition, among []runtime.Object) []runtime.Object {
	if !slices.Contains(s.Kinds(), kinds.Definition) {
		return nil
	}
	given := map[string]bool{}
	for _, object := range among {
		if kind, err := s.kindOf(object); err == nil && kinds.Name(kind.GroupKind()) == kinds.Definition {
			if named, err := meta.Accessor(object); err == nil {
				given[named.GetName()] = true
			}
		}
	}
	var all []runtime.Object
	for _, d := range definitions {
		if !given[d.Name] {
			all = append(all, kinds.Established(d, storage.Now()))
		}
	}
	return all
}

// reviewInitial asks the webhooks about an object, as when it was created.
func (s *Server) reviewInitial(state core.Snapshot, key core.Key, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	review := &review{server: s, state: state, resource: s.registry.Named(key.Kind), verb: admissionv1.Create, key: key}
	object, err := review.mutate(object, nil)
	if err != nil {
		return nil, err
	}
	return object, review.validate(object, nil)
}

// claimRank orders objects by when they are assigned what they need: first those that
// others look for, then those that ask for something of their own.
func claimRank(tree *unstructured.Unstructured) int {
	switch {
	case tree.GetKind() == string(kinds.Service) && jsontree.At(tree, "spec", "clusterIP") == nil, tree.GetKind() == string(kinds.Pod):
		return 1
	}
	return 0
}

// initialNamespace returns the namespace of an initial object that is given with one, or with none.
func initialNamespace(r *kinds.Resource, given string) string {
	switch {
	case !r.Namespaced:
		return ""
	case given == "":
		return metav1.NamespaceDefault
	}
	return given
}

// initialState is the store while it is filled.
type initialState map[core.Key]core.Content

var _ core.Snapshot = initialState{}

// Get implements [core.Snapshot].
func (s initialState) Get(key core.Key) core.Content { return s[key] }

// List implements [core.Snapshot].
func (s initialState) List(kind core.Kind, namespace string) []core.Object {
	return slices.DeleteFunc(s.objects(), func(o core.Object) bool {
		return o.Key.Kind != kind || namespace != "" && o.Key.Namespace != namespace
	})
}

// Held implements [core.Snapshot]: nobody has seen anything yet.
func (s initialState) Held(core.Key) []core.Content { return nil }

// objects are all objects in the order of their keys.
func (s initialState) objects() []core.Object {
	all := make([]core.Object, 0, len(s))
	for key, content := range s {
		all = append(all, core.Object{Key: key, Content: content})
	}
	slices.SortFunc(all, func(a, b core.Object) int { return a.Key.Compare(b.Key) })
	return all
}

// admitInitial brings one object into the form in which it is stored.
func (s *Server) admitInitial(object runtime.Object) (core.Key, *unstructured.Unstructured, error) {
	fail := func(err error) (core.Key, *unstructured.Unstructured, error) { return core.Key{}, nil, err }
	if object == nil {
		return fail(errors.New("it is nil"))
	}
	kind, err := s.kindOf(object)
	if err != nil {
		return fail(err)
	}
	r, err := s.registry.Find(kind)
	if err != nil {
		return fail(err)
	}
	source, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fail(fmt.Errorf("the %s cannot be converted: %w", kind.Kind, err))
	}
	s.give(source)
	source["apiVersion"], source["kind"] = kind.GroupVersion().String(), kind.Kind
	tree, err := r.Decode(jsontree.Canonical(source), kind.Version)
	if err != nil {
		return fail(fmt.Errorf("the %s cannot be read: %w", kind.Kind, err))
	}
	if tree.GetName() == "" {
		return fail(fmt.Errorf("the %s has no metadata.name: add one", kind.Kind))
	}
	tree.SetNamespace(initialNamespace(r, tree.GetNamespace()))
	key := core.Key{Kind: r.Name, Namespace: tree.GetNamespace(), Name: tree.GetName()}
	if err := s.fillInitial(r, kind.Version, key, tree); err != nil {
		return fail(fmt.Errorf("%s: %w", key, err))
	}
	if key.Kind == kinds.Definition {
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree.Object, d); err != nil {
			return fail(err)
		}
		if err := kinds.ValidateDefinition(context.Background(), d); err != nil {
			return fail(err)
		}
	}
	return key, tree, nil
}

// give takes note of the times that somebody wrote into an initial object: not of those that a server did.
func (s *Server) give(source map[string]any) {
	given := maps.Clone(source)
	if metadata, ok := source["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, name := range []string{"creationTimestamp", "deletionTimestamp", "managedFields"} {
			delete(metadata, name)
		}
		given["metadata"] = metadata
	}
	s.clock.Give(given, time.Time{})
}

// kindOf is the kind of an object, from itself or from the scheme.
func (s *Server) kindOf(object runtime.Object) (schema.GroupVersionKind, error) {
	if kind := object.GetObjectKind().GroupVersionKind(); kind.Kind != "" && kind.Version != "" {
		return kind, nil
	}
	kinds, _, err := s.scheme.ObjectKinds(object)
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("the kind of a %T is not known: set apiVersion and kind, or add the type to the scheme: %w", object, err)
	}
	return kinds[0], nil
}

// fillInitial sets what the server would have set by now in an object that was given
// in a version.
func (s *Server) fillInitial(r *kinds.Resource, version string, key core.Key, tree *unstructured.Unstructured) error {
	tree.SetResourceVersion("")
	tree.SetCreationTimestamp(storage.Now())
	if tree.GetUID() == "" {
		tree.SetUID(storage.UID(s.cluster, key, 0))
	}
	switch {
	case !r.HasGeneration():
		tree.SetGeneration(0)
	case tree.GetGeneration() == 0:
		tree.SetGeneration(1)
	}
	if tree.GetDeletionTimestamp() != nil {
		if len(tree.GetFinalizers()) == 0 {
			return errors.New("it has a deletionTimestamp but no finalizers, so it would be gone: remove the one or add the other")
		}
		tree.SetDeletionTimestamp(nil)
		generation := tree.GetGeneration()
		markDeleted(tree, storage.Now())
		tree.SetGeneration(generation)
	}
	return completeInitial(r, version, key, tree)
}

// completeInitial does to an object what is done to new ones, but for its status, its
// generation and its owners, which may not be known yet.
func completeInitial(r *kinds.Resource, version string, key core.Key, tree *unstructured.Unstructured) error {
	builtin.Protect(r, tree)
	status, hasStatus := tree.Object["status"]
	generation, owners := tree.GetGeneration(), jsontree.At(tree, "metadata", "ownerReferences")
	tree.SetOwnerReferences(nil)
	created, err := r.Rules.Create(kindrules.Request{
		Kind: r.StorageKind(), Resource: r.Plural, Namespace: key.Namespace, Name: key.Name, Now: storage.Now(), Object: tree, Version: version,
	})
	if err != nil {
		return withoutName(err)
	}
	tree.Object = created.Object
	tree.SetGeneration(generation)
	given, made := fieldsIn(status), fieldsIn(tree.Object["status"])
	if hasStatus && (given > 0 || made == 0) { // all values of Go types have one, and nobody has said anything of it
		tree.Object["status"] = status
	}
	if owners != nil {
		jsontree.Set(tree.Object, owners, "metadata", "ownerReferences")
	}
	return nil
}

// fieldsIn counts the fields of an object within another one.
func fieldsIn(value any) int {
	fields, _ := value.(map[string]any)
	return len(fields)
}

// withoutName is what is wrong with an object, without the name that a refusal begins with.
func withoutName(refusal error) error {
	var status *apierrors.StatusError
	if !errors.As(refusal, &status) || !apierrors.IsInvalid(refusal) || status.ErrStatus.Details == nil {
		return refusal
	}
	var wrong []error
	for _, cause := range status.ErrStatus.Details.Causes {
		wrong = append(wrong, fmt.Errorf("%s: %s", cause.Field, cause.Message))
	}
	return utilerrors.NewAggregate(wrong)
}

// resolveOwners fills in the uids of owner references.
func (s *Server) resolveOwners(key core.Key, tree *unstructured.Unstructured, all map[core.Key]*unstructured.Unstructured) error {
	references := tree.GetOwnerReferences()
	for i, reference := range references {
		if reference.UID != "" {
			continue
		}
		uid, err := s.uidOfOwner(reference, key.Namespace, all)
		if err != nil {
			return err
		}
		references[i].UID = uid
	}
	if len(references) > 0 {
		tree.SetOwnerReferences(references)
	}
	return nil
}

// uidOfOwner finds the owner among the initial objects.
func (s *Server) uidOfOwner(reference metav1.OwnerReference, namespace string, all map[core.Key]*unstructured.Unstructured) (types.UID, error) {
	r, err := s.registry.Find(schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind))
	if err != nil {
		return "", fmt.Errorf("owner %s %s: %w", reference.Kind, reference.Name, err)
	}
	owner := core.Key{Kind: r.Name, Namespace: namespace, Name: reference.Name}
	if !r.Namespaced {
		owner.Namespace = ""
	}
	found, known := all[owner]
	if !known {
		return "", fmt.Errorf("owner %s is not among the initial objects: add it, or give the uid of the reference", owner)
	}
	return found.GetUID(), nil
}

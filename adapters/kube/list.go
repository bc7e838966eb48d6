package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// list answers with the selected objects in the order of their keys. The version
// of a list is derived from those of its items; a cache shows none.
func (op *operation) list() (*Response, error) {
	objects, err := op.selected()
	if err != nil {
		return nil, err
	}
	metadata := map[string]any{}
	version := versionOfList(objects)
	if !op.request.FromCache {
		metadata["resourceVersion"] = version
	}
	if objects, err = op.page(objects, version, metadata); err != nil {
		return nil, err
	}
	items := make([]json.RawMessage, len(objects))
	for i, o := range objects {
		items[i] = op.item(storage.Of(o.Content))
	}
	of := op.request.Kind.GroupVersion().WithKind(op.resource.ListKind)
	if op.request.MetadataOnly {
		if len(items) == 0 {
			items = nil // A real server sends null.
		}
		of = metav1.SchemeGroupVersion.WithKind(metadataKind + "List")
	}
	body := jsontree.Canonical(map[string]any{
		"apiVersion": of.GroupVersion().String(),
		"kind":       of.Kind,
		"metadata":   metadata,
		"items":      items,
	})
	return &Response{Object: body, items: len(items), versions: objects}, nil
}

// item is an object as it is sent in a list: those of Kubernetes' own kinds do not say
// what they are, since the list does.
func (op *operation) item(o *storage.Object) json.RawMessage {
	switch {
	case op.request.MetadataOnly:
		return metadataOf(o, o.Version)
	case op.resource.Custom:
		return op.encode(o, o.Version)
	}
	tree := storage.Readable(o.Shown(o.Meta().GetAPIVersion(), o.Version))
	delete(tree, "apiVersion")
	delete(tree, "kind")
	return jsontree.Canonical(tree)
}

// selected returns the objects that the selectors of the request select.
func (op *operation) selected() ([]core.Object, error) {
	selector, err := op.selector()
	if err != nil {
		return nil, err
	}
	candidates := op.candidates(selector)
	chosen := slices.DeleteFunc(candidates, func(o core.Object) bool { return !selector.matches(storage.Of(o.Content)) })
	if op.request.FromCache {
		return op.indexed(chosen)
	}
	return chosen, nil
}

// candidates reads no more than it must: one object if the selector names it.
func (op *operation) candidates(s *selector) []core.Object {
	if !op.named(s) {
		return slices.Clone(core.Select(op.state, op.resource.Name, op.namespace(), selected{op, s}))
	}
	name, _ := s.fields.RequiresExactMatch("metadata.name")
	key := op.key(name)
	if object := op.find(key); object != nil {
		return []core.Object{{Key: key, Content: object}}
	}
	return nil
}

// named reports whether a selector names the one object that it can select.
func (op *operation) named(s *selector) bool {
	_, named := s.fields.RequiresExactMatch("metadata.name")
	return named && (!op.resource.Namespaced || op.namespace() != "")
}

// selected is what the selectors of a request select, as a condition on objects. Where an index fails, the object is
// selected, so that the answer can say so.
type selected struct {
	op       *operation
	selector *selector
}

var _ core.Selection = selected{}

// Identity implements [core.Selection].
func (s selected) Identity() string {
	r := s.op.request
	return fmt.Sprintf("%t %q %q %q %q", r.FromCache, r.Kind, r.LabelSelector, r.FieldSelector, r.ControlledBy)
}

// Selects implements [core.Selection].
func (s selected) Selects(o core.Object) bool {
	if !s.selector.matches(storage.Of(o.Content)) {
		return false
	}
	if !s.op.request.FromCache {
		return true
	}
	found, err := s.op.indexed([]core.Object{o})
	return err != nil || len(found) > 0
}

// versionOfList names the contents of a list.
func versionOfList(objects []core.Object) string {
	var text strings.Builder
	for _, o := range objects {
		text.WriteString(o.Key.String() + " " + storage.Of(o.Content).Version + "\n")
	}
	return storage.VersionOf(text.String())
}

// page cuts a list to the limit of the request, after where it continues, and adds
// to the metadata what clients need for the rest. The rest of a list that has
// changed in between is not modelled.
func (op *operation) page(objects []core.Object, version string, metadata map[string]any) ([]core.Object, error) {
	if token := op.request.Continue; token != "" {
		if op.request.FromCache {
			return nil, errors.New("the continue list option is not supported by the cache")
		}
		before, last, found := strings.Cut(token, " ")
		if !found {
			return nil, apierrors.NewBadRequest("continue key is not valid")
		}
		if before != version {
			return nil, errors.New("the list has changed since its first part was read, and earlier versions of it are not kept; list without a limit")
		}
		i := slices.IndexFunc(objects, func(o core.Object) bool { return o.Key.String() == last })
		objects = objects[i+1:]
	}
	limit := op.request.Limit
	if limit <= 0 || limit > int64(len(objects)) {
		return objects, nil
	}
	rest := objects[limit:]
	objects = objects[:limit]
	last := objects[limit-1].Key
	switch {
	case op.request.FromCache:
	case op.request.LabelSelector == "" && op.request.FieldSelector == "":
		if len(rest) > 0 {
			metadata["continue"] = version + " " + last.String()
			metadata["remainingItemCount"] = int64(len(rest))
		}
	case len(rest) > 0 || op.goesOnAfter(last):
		metadata["continue"] = version + " " + last.String()
	}
	return objects, nil
}

// goesOnAfter reports whether any object follows, selected or not. A server that has filled
// a page looks no further than that.
func (op *operation) goesOnAfter(last core.Key) bool {
	if selector, err := op.selector(); err != nil || op.named(selector) {
		return false
	}
	all := op.state.List(op.resource.Name, op.namespace())
	return len(all) > 0 && last.Compare(all[len(all)-1].Key) < 0
}

// get answers with one object. A status has the same answer as its object.
func (op *operation) get() (*Response, error) {
	if op.request.LifetimeOnly {
		return op.lifetime()
	}
	key := op.key(op.request.Name)
	object := op.find(key)
	switch {
	case object != nil:
		return op.show(object, object.Version), nil
	case !op.implied(key):
		return nil, op.notFound()
	}
	object, err := op.server.impliedNamespace(key.Name)
	if err != nil {
		return nil, err
	}
	response := op.show(object, object.Version)
	response.versions = nil // of what nobody has given, none is stored
	return response, nil
}

// selector is what the label and field selectors of a request ask for.
type selector struct {
	labels labels.Selector
	fields fields.Selector
	// controller is the uid of the controller that objects are to have, empty for any or none.
	controller types.UID
}

// selector reads the selectors of the request. The fields that caches select by are
// not fields of objects, see [FieldIndex].
func (op *operation) selector() (*selector, error) {
	byLabel, err := labels.Parse(op.request.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if op.request.FromCache {
		return &selector{byLabel, fields.Everything(), types.UID(op.request.ControlledBy)}, nil
	}
	byField, err := fields.ParseSelector(op.request.FieldSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if err := selectable(op.resource, op.request.Kind.Version, byField); err != nil {
		return nil, err
	}
	return &selector{byLabel, byField, types.UID(op.request.ControlledBy)}, nil
}

func (s *selector) matches(o *storage.Object) bool {
	if s.controller != "" && !controlledBy(o.Meta(), s.controller) {
		return false
	}
	return s.labels.Matches(labels.Set(o.Meta().GetLabels())) && s.fields.Matches(SelectableFields(o.Tree))
}

// controlledBy reports whether the controller of an object has a uid.
func controlledBy(o metav1.Object, uid types.UID) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	return controller != nil && controller.UID == uid
}

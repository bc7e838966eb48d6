package informer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
)

// View is what the caches of a controller show. It holds nothing: what is read from it is
// asked of the controller's own view of the cluster, which may be stale.
type View struct {
	// Server knows the kinds. It is not asked here: the run is.
	Server *kube.Server
	// Decoder reads what is shown.
	Decoder *Decoder
	// Current has the run that reads.
	Current *transport.Current
	// Unstarted is the error of reads while nothing runs.
	Unstarted error
	// watched are the forms in which kinds are watched.
	watched []Form
}

// Watch notes that a kind is watched in a form. A cache of it in another form is another one.
func (v *View) Watch(of Form) {
	v.watched = append(v.watched, of)
}

// apart reports whether a kind is watched in other forms only.
func (v *View) apart(of Form) bool {
	return !slices.Contains(v.watched, of) && slices.ContainsFunc(v.watched, func(other Form) bool { return other.Kind == of.Kind })
}

// Get returns an object in memory of its own. The errors are those of the server.
func (v *View) Get(ctx context.Context, of Form, key client.ObjectKey) (client.Object, error) {
	run, namespaced, err := v.reading(ctx, of)
	if err != nil {
		return nil, err
	}
	if !namespaced {
		key.Namespace = ""
	}
	response, err := run.Do(&kube.Request{
		Verb:      kube.Get,
		Kind:      of.Kind,
		Namespace: key.Namespace,
		Name:      key.Name,
		FromCache: true, OtherCache: v.apart(of),
	})
	if err != nil {
		return nil, err
	}
	if err := response.Err(); err != nil {
		return nil, err
	}
	return v.Decoder.Decode(of, response.Object)
}

// Selection says which objects are listed.
type Selection struct {
	// Namespace is empty for all.
	Namespace string
	// Labels may be nil.
	Labels labels.Selector
	// Indexes has a term for each index that is asked, with commas in between. See [Index.Term].
	Indexes string
}

// List returns the objects of the view that are selected, each in memory of its own.
func (v *View) List(ctx context.Context, of Form, which Selection) ([]client.Object, error) {
	run, namespaced, err := v.reading(ctx, of)
	if err != nil {
		return nil, err
	}
	if !namespaced && which.Namespace != "" {
		return nil, nil
	}
	request := &kube.Request{Verb: kube.List, Kind: of.Kind, Namespace: which.Namespace, FieldSelector: which.Indexes, FromCache: true, OtherCache: v.apart(of)}
	if which.Labels != nil {
		if _, selectable := which.Labels.Requirements(); !selectable {
			return nil, nil
		}
		request.LabelSelector = which.Labels.String()
	}
	response, err := run.Do(request)
	if err != nil {
		return nil, err
	}
	if err := response.Err(); err != nil {
		return nil, err
	}
	items, err := v.Decoder.Items(response.Object)
	if err != nil {
		return nil, err
	}
	objects := make([]client.Object, len(items))
	for i, item := range items {
		if objects[i], err = v.Decoder.Decode(of, item); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// Watched returns what the informer of a watch holds, each in memory of its own.
func (v *View) Watched(ctx context.Context, w Watch) ([]any, error) {
	which, some := w.Scope.Select(Selection{})
	if !some {
		return nil, nil
	}
	objects, err := v.List(ctx, w.Form, which)
	if err != nil {
		return nil, err
	}
	var held []any
	for _, object := range objects {
		kept, err := Keep(object, w.Scope, w.Transform)
		if err != nil {
			return nil, err
		}
		if kept != nil {
			held = append(held, kept)
		}
	}
	return held, nil
}

// errNotStarted is the error of a read before any run, if an adapter has no other.
var errNotStarted = errors.New("the cache is not started: it can be read once controllers run")

// reading returns the run that reads, and whether the kind has namespaces.
func (v *View) reading(ctx context.Context, of Form) (*transport.Run, bool, error) {
	namespaced, err := v.Namespaced(of)
	if err != nil {
		return nil, false, err
	}
	run := v.Current.Of(ctx)
	if run == nil {
		return nil, false, cmp.Or(v.Unstarted, errNotStarted)
	}
	return run, namespaced, nil
}

// Namespaced reports whether objects of a form have namespaces. The error tells that the kind is not served.
func (v *View) Namespaced(of Form) (bool, error) {
	mapping, err := v.mapping(of)
	return err == nil && mapping.Scope.Name() == meta.RESTScopeNameNamespace, err
}

// mapping returns how a kind is served. A mapper knows the lists of a kind and its name in small letters, too, of which
// there are no objects.
func (v *View) mapping(of Form) (*meta.RESTMapping, error) {
	if v.Server.Serves(of.Kind) != nil {
		return nil, &meta.NoKindMatchError{GroupKind: of.Kind.GroupKind(), SearchedVersions: []string{of.Kind.Version}}
	}
	return v.Server.RESTMapper().RESTMapping(of.Kind.GroupKind(), of.Kind.Version)
}

// Serves returns an error that says what to change if there can be no informer for a form, of a scope that may be nil.
func (v *View) Serves(of Form, scope *Scope) error {
	if _, err := of.empty(v.Server.Scheme()); err != nil {
		return err
	}
	if _, err := v.mapping(of); err != nil {
		return fmt.Errorf("%w: add its custom resource definition with CRDs, or its Go type to the scheme", err)
	}
	if scope == nil || scope.fields == nil {
		return nil
	}
	if err := v.Server.Selectable(of.Kind, scope.fields); err != nil {
		return fmt.Errorf("an informer of %s with the field selector %q never has its objects, as the API server refuses it (%w): select by another field", of.Name(), scope.fields, err)
	}
	return nil
}

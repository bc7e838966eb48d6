package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/orrery-dev/orrery/adapters/kube/internal/apply"
	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/canonical"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/randomness"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
	"github.com/orrery-dev/orrery/core"
)

// Server is a Kubernetes API server as a pure function: it implements
// [core.Store]. It keeps no objects; those are in the snapshot of each call.
type Server struct {
	scheme           *runtime.Scheme
	definitions      []*apiextensionsv1.CustomResourceDefinition
	registry         *kinds.Registry
	scales           *kinds.Resource
	strictNamespaces bool
	// cluster is the name of the cluster, empty for the first.
	cluster string
	// namespaces are those that have a Namespace object at the start.
	namespaces map[string]bool
	// inhabited are the namespaces of objects that are there at the start, so that there are these, and made are those
	// that somebody makes.
	inhabited     map[string]bool
	made          []core.Key
	managedFields bool
	// containerLog is what containers log, nil if that is not known.
	containerLog *string
	webhooks     []Webhook
	fieldIndexes []FieldIndex
	failures     []Failure
	// managers know who manages the fields.
	managers *apply.Managers
	form     *canonical.Form
	// collector says which kinds the garbage collector looks after, nil if it is not known.
	collector Collector
	// randomness sets what controllers draw, and knows the words among that.
	randomness *randomness.Source
	// clock knows the times that were read off the virtual clock.
	clock *canonical.Clock
	// later is how far the clock is ahead of where it stood at the start.
	later time.Duration
	// ages are the groups of kinds whose objects are of different ages.
	ages [][]core.Kind
}

var (
	_ core.Store    = (*Server)(nil)
	_ core.Renamer  = (*Server)(nil)
	_ core.Dated    = (*Server)(nil)
	_ core.Assuming = (*Server)(nil)
	_ core.Ordering = (*Server)(nil)
	_ core.Aging    = (*Server)(nil)
	_ core.Counting = (*Server)(nil)
)

// NewServer returns a server for the kinds of the scheme and of the custom
// resource definitions among the options. It returns an error that says what to
// change if a definition cannot be used.
func NewServer(scheme *runtime.Scheme, options ...Option) (*Server, error) {
	if scheme == nil {
		return nil, errors.New("the API server has no scheme: pass the one that the controllers use")
	}
	s := &Server{scheme: scheme, randomness: randomness.New(), clock: new(canonical.Clock), registry: kinds.NewRegistry(builtin.Of), managers: new(apply.Managers), namespaces: map[string]bool{}, inhabited: map[string]bool{}}
	var err error
	if s.scales, err = kinds.ScaleResource(builtin.Of); err != nil {
		return nil, err
	}
	var chosen settings
	for _, option := range options {
		option(&chosen)
	}
	s.strictNamespaces = chosen.strictNamespaces
	s.cluster = chosen.cluster
	s.managedFields = chosen.managedFields
	s.containerLog = chosen.containerLog
	if s.failures, err = chosen.chosenFailures(); err != nil {
		return nil, err
	}

	definitions, err := chosen.loadDefinitions()
	if err != nil {
		return nil, err
	}
	s.definitions = definitions
	for _, d := range definitions {
		if !slices.ContainsFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served }) {
			continue // of a kind that is no more
		}
		r, err := kinds.Custom(d)
		if err != nil {
			return nil, err
		}
		if err := kinds.ValidateDefinition(context.Background(), d); err != nil {
			return nil, err
		}
		if err := s.registry.Add(r); err != nil {
			return nil, err
		}
	}
	if err := s.registry.AddScheme(scheme); err != nil {
		return nil, err
	}
	if chosen.rules != nil {
		s.registry.Follow(chosen.rules)
	}
	if s.form, err = canonical.NewForm(s.registry, chosen.unordered, chosen.counting, s.clock); err != nil {
		return nil, err
	}
	if chosen.volumeProtection {
		protectVolumes(s.registry)
	}
	return s, nil
}

// Definitions returns the custom resource definitions that the server was made with.
// They must not be changed.
func (s *Server) Definitions() []*apiextensionsv1.CustomResourceDefinition { return s.definitions }

// Scheme returns the scheme the server was made with.
func (s *Server) Scheme() *runtime.Scheme { return s.scheme }

// RESTMapper maps kinds to resources and back, for all kinds the server serves, as the mapper of a client that has
// discovered them. It is made once.
func (s *Server) RESTMapper() meta.RESTMapper { return s.registry.RESTMapper() }

// KindFor returns the kind that the server serves under exactly the group, the version and the plural that the path of
// a request names: unlike a REST mapper it guesses nothing. An empty group is the core group. The error says what to
// change; it is none of those of package meta.
func (s *Server) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return s.registry.KindFor(resource)
}

// Kinds returns the kinds that the server serves, in order.
func (s *Server) Kinds() []core.Kind { return s.registry.Kinds() }

// Randomness sets the random values of k8s.io/apimachinery/pkg/util/rand, math/rand, crypto/rand and
// github.com/google/uuid, of which controllers make names, passwords and keys. The server records them.
func (s *Server) Randomness() core.Randomness { return chance{s.randomness} }

// Serves returns an error that says how to register the kind if the server does
// not serve it.
func (s *Server) Serves(kind schema.GroupVersionKind) error {
	_, err := s.registry.Find(kind)
	return err
}

// KindOf returns the name of a kind in the core: "Kind" or "Kind.group", the
// same for all its versions.
func KindOf(kind schema.GroupKind) core.Kind { return kinds.Name(kind) }

// After implements [core.Dated].
func (s *Server) After(later time.Duration) core.Store {
	s.clock.Passes(later)
	other := *s
	other.later = later
	return &other
}

// Ordered implements [core.Ordering]: of two resource versions of an object the newer one is the larger number. Those
// of different objects, and of lists, are in no order.
func (s *Server) Ordered() core.Store {
	other, form := *s, *s.form
	form.Ordered = true
	other.form = &form
	return &other
}

// Notes implements [core.Noting]: it knows uids and generated names.
func (s *Server) Notes(state core.Snapshot, name string) bool { return storage.Refers(state, name) }

// Making implements [core.Presuming]: nothing is created in namespaces before somebody has made them.
func (s *Server) Making(keys []core.Key) core.Store {
	other := *s
	other.made = keys
	return &other
}

// Aged implements [core.Aging]: by metadata.creationTimestamp.
func (s *Server) Aged(groups [][]core.Kind) core.Store {
	other := *s
	other.ages = groups
	return &other
}

// Ages implements [core.Aging].
func (s *Server) Ages() [][]core.Kind { return s.ages }

// created is when an object is created that is new.
func (op *operation) created() (metav1.Time, error) {
	now, kind := op.server.now(), op.resource.Name
	group := core.AgeGroup(op.server.ages, kind)
	if group == nil {
		return now, nil
	}
	next := now.Add(-core.Youth * time.Second)
	for _, kind := range group {
		for _, o := range op.state.List(kind, "") {
			created := storage.Of(o.Content).Meta().GetCreationTimestamp()
			if after := created.Add(time.Second); after.After(next) {
				next = after
			}
		}
	}
	if next.After(now.Time) {
		return now, fmt.Errorf("more than %d objects of kind %s are created, each while another one is there, and their ages are compared: a search with so many ages is not modelled. Let there be fewer objects, or delete the old ones first", core.Youth, kind)
	}
	return metav1.NewTime(next), nil
}

// now is what the clock of the server shows.
func (s *Server) now() metav1.Time {
	return metav1.NewTime(storage.Now().Add(s.later).Truncate(time.Second))
}

// Answer implements [core.Store] for calls of type [*Request] and [*Enqueue]. A call of another type,
// such as [*Unmodelled], is answered with [core.Unsupported].
func (s *Server) Answer(state core.Snapshot, call core.Call) (core.Answer, error) {
	if e, ok := call.(*Enqueue); ok {
		if e.Later {
			return core.Answer{Response: done(nil), EnqueueAfter: []core.Item{e.Item}}, nil
		}
		return core.Answer{Response: done(nil), Enqueue: []core.Item{e.Item}}, nil
	}
	request, ok := call.(*Request)
	if !ok {
		return core.Answer{}, unsupported(call)
	}
	response, writes, presumed, err := s.answer(state, request)
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		return core.Answer{Response: refused(status)}, nil
	case err != nil:
		return core.Answer{}, &core.Unsupported{Call: request.String(), Reason: err.Error()}
	case request.DryRun:
		return core.Answer{Response: response}, nil
	}
	for _, w := range writes {
		if err := s.Uncollected(w.Key, w.Content); err != nil {
			return core.Answer{}, &core.Unsupported{Call: request.String(), Reason: err.Error()}
		}
	}
	return core.Answer{Response: response, Writes: writes, Presumed: presumed}, s.orphaned(writes)
}

// Outcome implements [core.Store]. It leaves out what the server counts and notes for itself: the uid, the resource
// version, the generation and the managed fields in the metadata, and the generations that the status observed. Of
// times it keeps that they are there. Which values are times and observed generations depends on the kind's schema and
// on the place. The other values under names that users chose stay as they are. Lists whose order means nothing are
// sorted. Events, which only tell what happened, have no outcome.
func (s *Server) Outcome(key core.Key, content core.Content) any { return s.form.Outcome(key, content) }

// CanonicalOutcome implements [core.Store]. Times that were read off the virtual clock do not count, wherever they
// stand, unless the initial objects or a user ([Server.Given]) name the same. Of the objects it takes their uids and
// which of their names were generated. Words that controllers drew at random are as names that the server generates,
// wherever they stand.
func (s *Server) CanonicalOutcome(objects []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return s.form.CanonicalOutcome(objects, outcome, s.randomness)
}

// Given takes note of the times in what a user writes with a call: they count in outcomes, as those of the initial
// objects do, but for what the virtual clock shows, and for what the user was told before and writes back.
func (s *Server) Given(call core.Call, now time.Time, answers []*Response) {
	request, ok := call.(*Request)
	if !ok || len(request.Body) == 0 {
		return
	}
	var body any
	if err := utiljson.Unmarshal(request.Body, &body); err != nil {
		body = string(request.Body) // a patch in YAML
	}
	var told []any
	for _, answer := range answers {
		var object any
		if len(answer.Object) > 0 && utiljson.Unmarshal(answer.Object, &object) == nil {
			told = append(told, object)
		}
	}
	s.clock.Give(body, now, told...)
}

// Assumptions implements [core.Assuming].
func (s *Server) Assumptions() []string {
	places := s.clock.Merged()
	if len(places) == 0 {
		return nil
	}
	return []string{"When something was written does not matter: outcomes are the same if they differ in nothing but times of the virtual clock in " + strings.Join(places, ", ") + "."}
}

// Normalize implements [core.Store]. It brings metadata.generation, the generations that the status has observed, and
// the generation of a DaemonSet's template to the smallest numbers that keep their order across all versions: 0 stays
// 0, others count from
// 1. Equal versions are counted anew, and all versions if their order is shown.
func (s *Server) Normalize(key core.Key, versions []core.Content, pinned []bool) []core.Content {
	return s.form.Normalize(key, versions, pinned)
}

// Rename implements [core.Renamer]. In an object it renames all texts but kinds with their versions, and what the
// server makes of names: the object's own uid and the uids of the objects that it refers to by kind and name, wherever
// they are; the letters in its generated name; and the address and the ports of a Service. The generated names of other
// objects, uids without the name that belongs to them and resource versions stay as they are.
func (s *Server) Rename(o core.Object, rename core.Renaming) core.Object {
	return s.form.Rename(o, rename)
}

// unsupported says why a call that is no [*Request] has no answer.
func unsupported(call core.Call) error {
	if u, ok := call.(*Unmodelled); ok {
		return &core.Unsupported{Call: u.Asked, Reason: u.Reason}
	}
	if other, ok := call.(interface{ Part() string }); ok { // of another part of the world
		return &core.Unsupported{Call: call.String(), Reason: fmt.Sprintf("%s is not part of the system: add it with the option External", other.Part())}
	}
	return &core.Unsupported{
		Call:   call.String(),
		Reason: fmt.Sprintf("a Kubernetes API server answers requests to it, and this is a %T: send it to the system that it is for, or leave it out", call),
	}
}

// answer returns a StatusError for what a real server refuses, and any other
// error for what is not modelled.
func (s *Server) answer(state core.Snapshot, request *Request) (response *Response, writes []core.Write, presumed []core.Key, err error) {
	resource, err := s.registry.Find(request.Kind)
	if err != nil {
		return nil, nil, nil, err
	}
	op := &operation{server: s, state: state, request: request, resource: resource}
	response, err = op.run()
	return response, op.writes, op.presumed, err
}

// Option is a choice that a [Server] is made with.
type Option func(*settings)

type settings struct {
	definitions      []*apiextensionsv1.CustomResourceDefinition
	paths            []string
	strictNamespaces bool
	cluster          string
	managedFields    bool
	volumeProtection bool
	containerLog     *string
	failures         []Failure
	rules            kindrules.Rules
	unordered        []canonical.List
	counting         []core.Kind
}

// Definitions makes the server serve the kinds of custom resource definitions. The definitions themselves are
// no objects: controllers may make these. See [Server.Installed].
func Definitions(definitions ...*apiextensionsv1.CustomResourceDefinition) Option {
	return func(s *settings) { s.definitions = append(s.definitions, definitions...) }
}

// DefinitionFiles makes the server serve the kinds of the custom resource
// definitions in YAML files, or in all YAML files of directories. Other objects in
// those files are skipped.
func DefinitionFiles(paths ...string) Option {
	return func(s *settings) { s.paths = append(s.paths, paths...) }
}

// InCluster names the cluster of the server, so that its objects have other uids than those of other clusters.
func InCluster(name string) Option {
	return func(s *settings) { s.cluster = name }
}

// StrictNamespaces refuses to create objects in namespaces that have no Namespace
// object, as a real server does. Without it a namespace that has none is taken to
// exist, unless it had one at the start or somebody makes it.
func StrictNamespaces() Option {
	return func(s *settings) { s.strictNamespaces = true }
}

// VolumeProtection keeps claims and volumes that are deleted while they are in use, as a real
// server does: they have a finalizer, which the volume protector of package players takes away. Without it they
// are gone at once, and the deletion of one that is in use is not modelled.
func VolumeProtection() Option {
	return func(s *settings) { s.volumeProtection = true }
}

// ManagedFields keeps in every object who manages which fields, from its first write
// on, as a real server does. Without it the record starts with the first server-side
// apply to an object; until then only the names in messages about conflicts differ.
func ManagedFields() Option {
	return func(s *settings) { s.managedFields = true }
}

// Unordered says that the order of the items of a list means nothing, so that outcomes which differ in it alone are the
// same. Of lists that the schema declares to be sets or maps (x-kubernetes-list-type), and of those of Kubernetes' own
// kinds, that is known already. The kind is named as in findings, such as "Widget.example.com"; the path is that of the
// field, without positions in lists that are on the way: "spec.groups.members". [NewServer] returns an error for a kind
// that is not served, and for a path that its schema does not have, or not as a list. Controllers still see the items
// in the order in which they were written.
func Unordered(kind core.Kind, path string) Option {
	return func(s *settings) { s.unordered = append(s.unordered, canonical.List{Kind: kind, Path: path}) }
}

// ContainerLogs says what the containers of all Pods log, by the time that somebody asks for a log. The server cannot
// know it: without the option, to ask for the log of a Pod is not modelled. "" stands for containers that log nothing.
func ContainerLogs(text string) Option {
	return func(s *settings) { s.containerLog = &text }
}

// WithRules makes the server follow rules for Kubernetes' own kinds, where they cover a
// kind, in place of its own.
func WithRules(rules kindrules.Rules) Option {
	return func(s *settings) { s.rules = rules }
}

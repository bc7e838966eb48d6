package kube

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/orrery-dev/orrery/adapters/kube/internal/canonical"
	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
	"github.com/orrery-dev/orrery/core"
)

// Option is a choice that a [Server] is made with.
type Option func(*settings)

type settings struct {
	definitions      []*apiextensionsv1.CustomResourceDefinition
	paths            []string
	strictNamespaces bool
	managedFields    bool
	volumeProtection bool
	failures         []Failure
	rules            kindrules.Rules
	unordered        []canonical.List
}

// Definitions makes the server serve the kinds of custom resource definitions.
func Definitions(definitions ...*apiextensionsv1.CustomResourceDefinition) Option {
	return func(s *settings) { s.definitions = append(s.definitions, definitions...) }
}

// DefinitionFiles makes the server serve the kinds of the custom resource
// definitions in YAML files, or in all YAML files of directories. Other objects in
// those files are skipped.
func DefinitionFiles(paths ...string) Option {
	return func(s *settings) { s.paths = append(s.paths, paths...) }
}

// StrictNamespaces refuses to create objects in namespaces that have no Namespace
// object, as a real server does. Without it a namespace that has none is taken to
// exist.
func StrictNamespaces() Option {
	return func(s *settings) { s.strictNamespaces = true }
}

// VolumeProtection keeps claims and volumes that are deleted while they are in use, as a real
// server does: they have a finalizer, which a [VolumeProtector] takes away. Without it they
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

// Unordered says that the order of the items of a list means nothing, so that outcomes which differ in it alone are the same. Of lists that
// the schema declares to be sets or maps (x-kubernetes-list-type), and of those of Kubernetes' own kinds, that is
// known already. The kind is named as in findings, such as "Widget.example.com"; the path is that of the field, without positions
// in lists that are on the way: "spec.groups.members". [NewServer] returns an error for a kind that is not served, and for a path that its
// schema does not have, or not as a list. Controllers still see the items in the order in which they were written.
func Unordered(kind core.Kind, path string) Option {
	return func(s *settings) { s.unordered = append(s.unordered, canonical.List{Kind: kind, Path: path}) }
}

// WithRules makes the server follow rules for Kubernetes' own kinds, where they cover a
// kind, in place of its own.
func WithRules(rules kindrules.Rules) Option {
	return func(s *settings) { s.rules = rules }
}

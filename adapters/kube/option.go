package kube

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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
	rules            Rules
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

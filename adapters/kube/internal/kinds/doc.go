// Package kinds knows the kinds of objects that an API server serves, and how their objects are
// read.
//
// A [Registry] holds a [Resource] for each kind: its names, scope, versions and subresources.
// Those of Kubernetes' own kinds come from a scheme and from what is known of them (builtin.go);
// those of custom resources from their definitions ([Custom]), with a [Schema] for each version
// that fills in defaults, drops unknown fields and validates. A definition that a real server
// refuses is refused by [ValidateDefinition].
//
// A resource reads bodies. Nearly all are plain ([Resource.DecodePlain]): they say what they are
// and nothing is wrong with them. The others are read again by [Resource.DecodeOdd], which finds
// what is wrong and the words for it. In between, the rules of the kind (package kindrules) have
// their say; which ones these are is up to the owner of the registry.
package kinds

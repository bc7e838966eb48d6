// Package upstream makes the simulated API server treat Kubernetes' own kinds as a real one
// does: with the code of the real one. It has the registry strategies of k8s.io/kubernetes
// (what they prepare, validate and bring into a canonical form, in creates, updates and
// writes to subresources) and its defaults and conversions, in place of the rules that
// package kube has itself:
//
//	controllerruntime.APIServer(kube.WithRules(upstream.Rules()))
//
// The package is a module of its own, since k8s.io/kubernetes is large. The minor version, 1.36
// or 1.37, is the one that the go.mod of the main module selects, with the staging modules k8s.io/api
// and so on in the minor that belongs to it; feature gates are as that minor has them by
// default. What a real server does around its strategies stays with package kube: names,
// versions, addresses and ports of Services, the priorities of Pods, the finalizers of
// volumes.
//
// Kinds that are not covered are those whose strategies ask other objects or an authorizer
// (claims of resources, admission policies), those that are alpha, custom resource
// definitions, which package kube validates as a real server does, and APIServices.
//
// Linking the package registers all API groups of Kubernetes in a scheme of its own and
// metrics of components; it changes nothing else. An object is converted to the internal
// version and back for every write.
package upstream

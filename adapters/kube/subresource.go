package kube

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// subresourceVerbs are the verbs of a subresource, none if there is no such
// subresource.
func subresourceVerbs(r *kinds.Resource, name string) []Verb {
	parts := []Verb{Get, Update, Patch}
	switch {
	case name == kinds.StatusSubresource && r.Status,
		name == kinds.ScaleSubresource && r.Scale != nil,
		name == kinds.EphemeralSubresource && r.Name == kinds.Pod,
		name == kinds.ApprovalSubresource && r.Name == kinds.SigningRequest:
		return parts
	case name == kinds.FinalizeSubresource && r.Name == kinds.Namespace:
		return []Verb{Update}
	case name == kinds.EvictionSubresource && r.Name == kinds.Pod,
		name == kinds.BindingSubresource && r.Name == kinds.Pod,
		name == kinds.TokenSubresource && r.Name == kinds.ServiceAccount:
		return []Verb{Create}
	}
	return nil
}

// unmodelled tells whether the server has a subresource that is not modelled.
func unmodelled(r *kinds.Resource, subresource string) bool {
	switch r.Name {
	case kinds.Pod:
		return slices.Contains([]string{"attach", "exec", "log", "portforward", "proxy", "resize"}, subresource)
	case kinds.Service, "Node":
		return subresource == "proxy"
	}
	return false
}

// checkSubresource refuses what a subresource cannot do, and what is not there.
func (op *operation) checkSubresource() error {
	name := op.request.Subresource
	verbs := subresourceVerbs(op.resource, name)
	switch {
	case unmodelled(op.resource, name):
		return fmt.Errorf("the subresource %q is not modelled; change the object or its status instead", name)
	case verbs == nil && op.resource.Custom:
		return op.notFound()
	case verbs == nil:
		return op.noSuchPath()
	case !slices.Contains(verbs, op.request.Verb):
		return op.noSuchMethod()
	}
	return nil
}

// createSubresource does the action that a subresource stands for.
func (op *operation) createSubresource() (*Response, error) {
	switch op.request.Subresource {
	case kinds.EvictionSubresource:
		return op.evict()
	case kinds.BindingSubresource:
		return op.bind()
	}
	return op.issueToken()
}

package kube

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// The subresources that are modelled.
const (
	statusSubresource    = "status"
	scaleSubresource     = "scale"
	finalizeSubresource  = "finalize"
	evictionSubresource  = "eviction"
	bindingSubresource   = "binding"
	ephemeralSubresource = "ephemeralcontainers"
	tokenSubresource     = "token"
	approvalSubresource  = "approval"
)

// subresourceVerbs are the verbs of a subresource, none if there is no such
// subresource.
func (r *resource) subresourceVerbs(name string) []Verb {
	parts := []Verb{Get, Update, Patch}
	switch {
	case name == statusSubresource && r.status,
		name == scaleSubresource && r.scale != nil,
		name == ephemeralSubresource && r.name == kindPod,
		name == approvalSubresource && r.name == kindSigningRequest:
		return parts
	case name == finalizeSubresource && r.name == kindNamespace:
		return []Verb{Update}
	case name == evictionSubresource && r.name == kindPod,
		name == bindingSubresource && r.name == kindPod,
		name == tokenSubresource && r.name == kindServiceAccount:
		return []Verb{Create}
	}
	return nil
}

// unmodelled tells whether the server has a subresource that is not modelled.
func (r *resource) unmodelled(subresource string) bool {
	switch r.name {
	case kindPod:
		return slices.Contains([]string{"attach", "exec", "log", "portforward", "proxy", "resize"}, subresource)
	case kindService, "Node":
		return subresource == "proxy"
	}
	return false
}

// checkSubresource refuses what a subresource cannot do, and what is not there.
func (op *operation) checkSubresource() error {
	name := op.request.Subresource
	verbs := op.resource.subresourceVerbs(name)
	switch {
	case op.resource.unmodelled(name):
		return fmt.Errorf("the subresource %q is not modelled; change the object or its status instead", name)
	case verbs == nil && op.resource.custom:
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
	case evictionSubresource:
		return op.evict()
	case bindingSubresource:
		return op.bind()
	}
	return op.issueToken()
}

// prepareSubresource keeps what a write to a subresource other than the status cannot
// change.
func (r *resource) prepareSubresource(name string, object, current *unstructured.Unstructured) {
	switch name {
	case finalizeSubresource:
		object.Object["status"] = current.Object["status"]
	case ephemeralSubresource:
		const field = "ephemeralContainers"
		containers := jsontree.At(object, "spec", field)
		metadata := managedBy(current.Object["metadata"], jsontree.At(object, "metadata", "managedFields"))
		metadata["resourceVersion"] = object.GetResourceVersion()
		spec := jsontree.Without(current.Object["spec"], field)
		if containers != nil {
			spec[field] = containers
		}
		clear(object.Object)
		maps.Copy(object.Object, current.Object)
		object.Object["metadata"], object.Object["spec"] = metadata, spec
	case approvalSubresource:
		status := jsontree.Without(current.Object["status"], "conditions")
		if conditions := jsontree.ListAt(object, "status", "conditions"); conditions != nil {
			status["conditions"] = stamped(conditions)
		}
		object.Object["spec"], object.Object["status"] = current.Object["spec"], status
	}
}

// stamped returns conditions that say when they were made.
func stamped(conditions []any) []any {
	now := virtualTime().Format(time.RFC3339)
	var all []any
	for _, condition := range conditions {
		fields := jsontree.Without(condition)
		for _, name := range []string{"lastTransitionTime", "lastUpdateTime"} {
			if fields[name] == nil {
				fields[name] = now
			}
		}
		all = append(all, fields)
	}
	return all
}

package controllerruntime

import (
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// match is a kind, in the version in which a webhook gets its objects, and the
// operations that it is asked about.
type match struct {
	kind       schema.GroupVersionKind
	operations []admissionv1.Operation
}

// matches returns what the rules of a webhook match among the kinds that the API server
// serves. Of several rules about an operation on a kind the first counts. Rules about
// subresources match nothing, since webhooks are not asked about those.
func (b *blueprint) matches(rules []admissionregistrationv1.RuleWithOperations) []match {
	var all []match
	for _, name := range b.server.Kinds() {
		mappings, err := b.mapper.RESTMappings(schema.ParseGroupKind(string(name)))
		if err != nil {
			continue // It cannot be asked for, so nobody writes it.
		}
		var taken []admissionv1.Operation
		for _, rule := range rules {
			i := slices.IndexFunc(mappings, func(m *meta.RESTMapping) bool { return covers(rule.Rule, m) })
			if i < 0 {
				continue
			}
			found := match{kind: mappings[i].GroupVersionKind}
			for _, operation := range []admissionv1.Operation{admissionv1.Create, admissionv1.Update, admissionv1.Delete} {
				if !slices.Contains(taken, operation) && oneOf(rule.Operations, admissionregistrationv1.OperationType(operation)) {
					found.operations = append(found.operations, operation)
				}
			}
			if len(found.operations) > 0 {
				taken = append(taken, found.operations...)
				all = append(all, found)
			}
		}
	}
	return all
}

// covers reports whether a rule is about a resource in a version.
func covers(rule admissionregistrationv1.Rule, m *meta.RESTMapping) bool {
	if scope := rule.Scope; scope != nil && *scope != admissionregistrationv1.AllScopes {
		namespaced := m.Scope.Name() == meta.RESTScopeNameNamespace
		if namespaced != (*scope == admissionregistrationv1.NamespacedScope) {
			return false
		}
	}
	return oneOf(rule.APIGroups, m.Resource.Group) && oneOf(rule.APIVersions, m.Resource.Version) &&
		(oneOf(rule.Resources, m.Resource.Resource) || slices.Contains(rule.Resources, "*/*"))
}

// oneOf reports whether a list names the value, or all values.
func oneOf[T ~string](list []T, value T) bool {
	return slices.Contains(list, value) || slices.Contains(list, "*")
}

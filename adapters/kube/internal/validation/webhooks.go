package validation

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// registration is what the configurations of both kinds of webhooks say of one.
type registration struct {
	name          string
	client        *admissionregistrationv1.WebhookClientConfig
	rules         []admissionregistrationv1.RuleWithOperations
	failurePolicy *admissionregistrationv1.FailurePolicyType
	matchPolicy   *admissionregistrationv1.MatchPolicyType
	sideEffects   *admissionregistrationv1.SideEffectClass
	timeout       *int32
	namespaces    *metav1.LabelSelector
	objects       *metav1.LabelSelector
	reviews       []string
}

func validateValidatingWebhooks(c *admissionregistrationv1.ValidatingWebhookConfiguration) field.ErrorList {
	var all []registration
	for _, w := range c.Webhooks {
		all = append(all, registration{
			w.Name, &w.ClientConfig, w.Rules, w.FailurePolicy, w.MatchPolicy, w.SideEffects,
			w.TimeoutSeconds, w.NamespaceSelector, w.ObjectSelector, w.AdmissionReviewVersions,
		})
	}
	return validateRegistrations(all)
}

func validateMutatingWebhooks(c *admissionregistrationv1.MutatingWebhookConfiguration) field.ErrorList {
	var all []registration
	for _, w := range c.Webhooks {
		all = append(all, registration{
			w.Name, &w.ClientConfig, w.Rules, w.FailurePolicy, w.MatchPolicy, w.SideEffects,
			w.TimeoutSeconds, w.NamespaceSelector, w.ObjectSelector, w.AdmissionReviewVersions,
		})
	}
	return validateRegistrations(all)
}

func validateRegistrations(all []registration) field.ErrorList {
	names := map[string]bool{}
	var errs field.ErrorList
	for i := range all {
		r := &all[i]
		at := field.NewPath("webhooks").Index(i)
		errs = append(errs, r.validate(at)...)
		errs = append(errs, validateReviews(r.reviews, at.Child("admissionReviewVersions"))...)
		if r.name != "" && names[r.name] {
			errs = append(errs, field.Duplicate(at.Child("name"), r.name))
		}
		names[r.name] = true
	}
	return errs
}

func (r *registration) validate(path *field.Path) field.ErrorList {
	errs := utilvalidation.IsFullyQualifiedName(path.Child("name"), r.name)
	for i := range r.rules {
		errs = append(errs, validateWebhookRule(&r.rules[i], path.Child("rules").Index(i))...)
	}
	errs = append(errs, among(r.failurePolicy, path.Child("failurePolicy"), admissionregistrationv1.Fail, admissionregistrationv1.Ignore)...)
	errs = append(errs, among(r.matchPolicy, path.Child("matchPolicy"), admissionregistrationv1.Equivalent, admissionregistrationv1.Exact)...)
	if r.sideEffects == nil {
		errs = append(errs, field.Required(path.Child("sideEffects"), "must specify one of None, NoneOnDryRun"))
	}
	errs = append(errs, among(r.sideEffects, path.Child("sideEffects"),
		admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun)...)
	if r.timeout != nil && (*r.timeout > 30 || *r.timeout < 1) {
		errs = append(errs, field.Invalid(path.Child("timeoutSeconds"), *r.timeout, "the timeout value must be between 1 and 30 seconds"))
	}
	errs = append(errs, metav1validation.ValidateLabelSelector(r.namespaces, metav1validation.LabelSelectorValidationOptions{}, path.Child("namespaceSelector"))...)
	errs = append(errs, metav1validation.ValidateLabelSelector(r.objects, metav1validation.LabelSelectorValidationOptions{}, path.Child("objectSelector"))...)
	if (r.client.URL == nil) == (r.client.Service == nil) {
		errs = append(errs, field.Required(path.Child("clientConfig"), "exactly one of url or service is required"))
	}
	if s := r.client.Service; s != nil && r.client.URL == nil {
		service := path.Child("clientConfig", "service")
		// A real server mixes up the two.
		if s.Namespace == "" {
			errs = append(errs, field.Required(service.Child("name"), ""))
		}
		if s.Name == "" {
			errs = append(errs, field.Required(service.Child("namespace"), ""))
		}
		for _, message := range utilvalidation.IsValidPortNum(int(*s.Port)) {
			errs = append(errs, field.Invalid(service.Child("port"), *s.Port, "port is not valid: "+message))
		}
	}
	return errs
}

// among checks an optional field that has one of few values.
func among[T ~string](value *T, path *field.Path, known ...T) field.ErrorList {
	if value == nil || slices.Contains(known, *value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, *value, known)}
}

func validateWebhookRule(r *admissionregistrationv1.RuleWithOperations, path *field.Path) field.ErrorList {
	all := admissionregistrationv1.OperationAll
	operations := path.Child("operations")
	var errs field.ErrorList
	if len(r.Operations) == 0 {
		errs = append(errs, field.Required(operations, ""))
	}
	if len(r.Operations) > 1 && slices.Contains(r.Operations, all) {
		errs = append(errs, field.Invalid(operations, r.Operations, "if '*' is present, must not specify other operations"))
	}
	for i := range r.Operations {
		errs = append(errs, among(&r.Operations[i], operations.Index(i), all, admissionregistrationv1.Connect,
			admissionregistrationv1.Create, admissionregistrationv1.Delete, admissionregistrationv1.Update)...)
	}
	if len(r.APIGroups) == 0 {
		errs = append(errs, field.Required(path.Child("apiGroups"), ""))
	}
	if len(r.APIGroups) > 1 && slices.Contains(r.APIGroups, "*") {
		errs = append(errs, field.Invalid(path.Child("apiGroups"), r.APIGroups, "if '*' is present, must not specify other API groups"))
	}
	if len(r.APIVersions) == 0 {
		errs = append(errs, field.Required(path.Child("apiVersions"), ""))
	}
	if len(r.APIVersions) > 1 && slices.Contains(r.APIVersions, "*") {
		errs = append(errs, field.Invalid(path.Child("apiVersions"), r.APIVersions, "if '*' is present, must not specify other API versions"))
	}
	for i, version := range r.APIVersions {
		if version == "" {
			errs = append(errs, field.Required(path.Child("apiVersions").Index(i), ""))
		}
	}
	if len(r.Resources) == 0 {
		errs = append(errs, field.Required(path.Child("resources"), ""))
	}
	return append(errs, among(r.Scope, path.Child("scope"), admissionregistrationv1.AllScopes, admissionregistrationv1.ClusterScope, admissionregistrationv1.NamespacedScope)...)
}

// validateReviews checks the versions in which a webhook can be asked.
func validateReviews(versions []string, path *field.Path) field.ErrorList {
	known := []string{"v1", "v1beta1"}
	if len(versions) == 0 {
		return field.ErrorList{field.Required(path, "must specify one of "+strings.Join(known, ", "))}
	}
	seen := map[string]bool{}
	understood := false
	var errs field.ErrorList
	for i, version := range versions {
		if seen[version] {
			errs = append(errs, field.Invalid(path.Index(i), version, "duplicate version"))
			continue
		}
		seen[version] = true
		for _, message := range utilvalidation.IsDNS1035Label(version) {
			errs = append(errs, field.Invalid(path.Index(i), version, message))
		}
		understood = understood || slices.Contains(known, version)
	}
	if !understood {
		errs = append(errs, field.Invalid(path, versions, "must include at least one of "+strings.Join(known, ", ")))
	}
	return errs
}

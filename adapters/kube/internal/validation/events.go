package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateEvent checks that an Event is where the object is that it is about; what has no
// namespace has its Events in "default". An Event of the newer form has a time, and says
// who reports it and what was done.
func validateEvent(e *corev1.Event) field.ErrorList {
	about := field.NewPath("involvedObject", "namespace")
	namespace := e.InvolvedObject.Namespace
	elsewhere := field.Invalid(about, namespace, "does not match event.namespace")
	var errs field.ErrorList
	if e.EventTime.IsZero() {
		if namespace != e.Namespace && (namespace != "" || e.Namespace != metav1.NamespaceDefault) {
			errs = append(errs, elsewhere)
		}
		return errs
	}
	if namespace == "" && !slices.Contains([]string{metav1.NamespaceDefault, metav1.NamespaceSystem}, e.Namespace) {
		errs = append(errs, elsewhere)
	}
	reporter := field.NewPath("reportingComponent")
	if e.ReportingController == "" {
		errs = append(errs, field.Required(reporter, ""))
	}
	for _, message := range utilvalidation.IsQualifiedName(e.ReportingController) {
		errs = append(errs, field.Invalid(reporter, e.ReportingController, message))
	}
	for _, part := range []struct{ name, value string }{
		{"reportingInstance", e.ReportingInstance}, {"action", e.Action}, {"reason", e.Reason},
	} {
		const longest = 128
		switch path := field.NewPath(part.name); {
		case part.value == "":
			errs = append(errs, field.Required(path, ""))
		case len(part.value) > longest:
			errs = append(errs, field.Invalid(path, "", "can have at most 128 characters"))
		}
	}
	const longestMessage = 1024
	if len(e.Message) > longestMessage {
		errs = append(errs, field.Invalid(field.NewPath("message"), "", "can have at most 1024 characters"))
	}
	return errs
}

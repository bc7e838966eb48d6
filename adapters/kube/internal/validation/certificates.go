package validation

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// validateSigningRequest checks what a certificate is asked for, and what became of it. Which
// usages there are is not known here.
func validateSigningRequest(r *certificatesv1.CertificateSigningRequest) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if err := checkRequest(r.Spec.Request); err != nil {
		errs = append(errs, field.Invalid(spec.Child("request"), r.Spec.Request, err.Error()))
	}
	if len(r.Spec.Usages) == 0 {
		errs = append(errs, field.Required(spec.Child("usages"), ""))
	}
	for i, usage := range r.Spec.Usages {
		if slices.Contains(r.Spec.Usages[:i], usage) {
			errs = append(errs, field.Duplicate(spec.Child("usages").Index(i), usage))
		}
	}
	errs = append(errs, validateSigner(r.Spec.SignerName, spec.Child("signerName"))...)
	const shortest = 600
	if seconds := r.Spec.ExpirationSeconds; seconds != nil && *seconds < shortest {
		errs = append(errs, field.Invalid(spec.Child("expirationSeconds"), *seconds, "may not specify a duration less than 600 seconds (10 minutes)"))
	}
	return append(errs, validateDecisions(r.Status.Conditions, field.NewPath("status", "conditions"))...)
}

// checkRequest tells what is wrong with a request as PEM.
func checkRequest(text []byte) error {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

// validateSigner checks the name of who is to sign: a domain, and a path in it.
func validateSigner(name string, path *field.Path) field.ErrorList {
	domain, rest, found := strings.Cut(name, "/")
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "")}
	case name == "kubernetes.io/legacy-unknown":
		return field.ErrorList{field.Invalid(path, name, "the legacy signerName is not allowed via this API version")}
	case !found || strings.Contains(rest, "/"):
		return field.ErrorList{field.Invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	var errs field.ErrorList
	for label := range strings.SplitSeq(domain, ".") {
		if wrong := utilvalidation.IsDNS1123Label(label); len(wrong) > 0 {
			errs = append(errs, field.Invalid(path, domain, fmt.Sprintf("validating label %q: %s", label, wrong[0])))
			break
		}
	}
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(path, domain, "should be a domain with at least two segments separated by dots"))
	}
	return errs
}

// validateDecisions checks that a request is not both approved and denied.
func validateDecisions(conditions []certificatesv1.CertificateSigningRequestCondition, path *field.Path) field.ErrorList {
	final := []certificatesv1.RequestConditionType{
		certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed,
	}
	seen := map[certificatesv1.RequestConditionType]bool{}
	var errs field.ErrorList
	for i, c := range conditions {
		at := path.Index(i)
		if c.Type == "" {
			errs = append(errs, field.Required(at.Child("type"), ""))
		}
		known := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
		if slices.Contains(final, c.Type) {
			known = []corev1.ConditionStatus{corev1.ConditionTrue}
		}
		switch {
		case c.Status == "":
			errs = append(errs, field.Required(at.Child("status"), ""))
		case !slices.Contains(known, c.Status):
			errs = append(errs, field.NotSupported(at.Child("status"), c.Status, known))
		}
		if c.Type == certificatesv1.CertificateApproved && seen[certificatesv1.CertificateDenied] ||
			c.Type == certificatesv1.CertificateDenied && seen[certificatesv1.CertificateApproved] {
			errs = append(errs, field.Invalid(path, c.Type, "Approved and Denied conditions are mutually exclusive"))
		}
		if seen[c.Type] {
			errs = append(errs, field.Duplicate(at.Child("type"), c.Type))
		}
		seen[c.Type] = true
	}
	return errs
}

// validateSigningChanges refuses to take a decision back, to make one elsewhere than in the
// approval, and to replace a certificate.
func validateSigningChanges(object, current *unstructured.Unstructured, subresource string) field.ErrorList {
	r, old := &certificatesv1.CertificateSigningRequest{}, &certificatesv1.CertificateSigningRequest{}
	jsontree.MustInto(object, r)
	jsontree.MustInto(current, old)
	errs := validateSigningRequest(r)
	conditions := field.NewPath("status", "conditions")
	for _, decision := range []certificatesv1.RequestConditionType{
		certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed,
	} {
		before, after := ofType(old, decision), ofType(r, decision)
		elsewhere := subresource != kinds.ApprovalSubresource && decision != certificatesv1.CertificateFailed
		switch {
		case len(after) < len(before):
			errs = append(errs, field.Forbidden(conditions, fmt.Sprintf("updates may not remove a condition of type %q", decision)))
		case elsewhere && len(after) > len(before):
			errs = append(errs, field.Forbidden(conditions, fmt.Sprintf("updates may not add a condition of type %q", decision)))
		case elsewhere && !equality.Semantic.DeepEqual(before, after):
			errs = append(errs, field.Forbidden(conditions, fmt.Sprintf("updates may not modify a condition of type %q", decision)))
		}
	}
	if len(old.Status.Certificate) > 0 && !bytes.Equal(r.Status.Certificate, old.Status.Certificate) {
		errs = append(errs, field.Forbidden(field.NewPath("status", "certificate"), "updates may not modify existing certificate content"))
	}
	return errs
}

func ofType(r *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) []certificatesv1.CertificateSigningRequestCondition {
	return slices.DeleteFunc(slices.Clone(r.Status.Conditions), func(c certificatesv1.CertificateSigningRequestCondition) bool { return c.Type != t })
}

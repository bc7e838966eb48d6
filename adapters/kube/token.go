package kube

import (
	"cmp"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// tokenRequest is the kind of the requests for tokens.
const tokenRequest = "TokenRequest"

// The lifetimes that a token can have, in seconds.
const (
	shortestToken = 10 * 60
	usualToken    = 60 * 60
	longestToken  = int64(1 << 32)
)

// issueToken answers with a token for a service account. It says whose it is, and no
// more: nobody checks it.
func (op *operation) issueToken() (*Response, error) {
	request := &authenticationv1.TokenRequest{}
	if err := jsontree.Decode(op.request.Body, request); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if err := op.matchAccount(request); err != nil {
		return nil, err
	}
	account := op.find(op.key(op.request.Name))
	if account == nil {
		return nil, op.notFound()
	}
	meta := account.Meta()
	if asked, have := request.UID, meta.GetUID(); asked != "" && asked != have {
		resource := schema.GroupResource{Group: authenticationv1.GroupName, Resource: tokenRequest}
		return nil, apierrors.NewConflict(resource, op.request.Name, fmt.Errorf(
			"the UID in the token request (%s) does not match the UID of the service account (%s)", asked, have))
	}
	if request.Spec.ExpirationSeconds == nil {
		usual := int64(usualToken)
		request.Spec.ExpirationSeconds = &usual
	}
	if len(request.Spec.Audiences) == 0 {
		request.Spec.Audiences = []string{"https://kubernetes.default.svc"}
	}
	if errs := validateLifetime(*request.Spec.ExpirationSeconds); len(errs) > 0 {
		return nil, apierrors.NewInvalid(authenticationv1.SchemeGroupVersion.WithKind(tokenRequest).GroupKind(), "", errs)
	}
	if reference := request.Spec.BoundObjectRef; reference != nil {
		if err := op.bindToken(reference); err != nil {
			return nil, err
		}
	}
	request.TypeMeta = metav1.TypeMeta{APIVersion: authenticationv1.SchemeGroupVersion.String(), Kind: tokenRequest}
	request.Name, request.Namespace, request.UID = meta.GetName(), meta.GetNamespace(), meta.GetUID()
	request.CreationTimestamp = storage.Now()
	lifetime := time.Duration(*request.Spec.ExpirationSeconds) * time.Second
	request.Status = authenticationv1.TokenRequestStatus{
		Token:               "token-of-" + string(meta.GetUID()),
		ExpirationTimestamp: metav1.NewTime(storage.Now().Add(lifetime)),
	}
	tree, err := jsontree.Of(request)
	if err != nil {
		return nil, err
	}
	return done(jsontree.Canonical(tree)), nil
}

// matchAccount refuses a token request that names another account than its path.
func (op *operation) matchAccount(request *authenticationv1.TokenRequest) error {
	refuse := func(part, have string) error {
		return apierrors.NewInvalid(authenticationv1.SchemeGroupVersion.WithKind(tokenRequest).GroupKind(), op.request.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", part), have, "must match the service account "+part+" if specified"),
		})
	}
	switch {
	case request.Name != "" && request.Name != op.request.Name:
		return refuse("name", request.Name)
	case request.Namespace != "" && request.Namespace != op.namespace():
		return refuse("namespace", request.Namespace)
	}
	return nil
}

func validateLifetime(seconds int64) field.ErrorList {
	path := field.NewPath("spec", "expirationSeconds")
	switch {
	case seconds < shortestToken:
		return field.ErrorList{field.Invalid(path, seconds, "may not specify a duration less than 10 minutes")}
	case seconds > longestToken:
		return field.ErrorList{field.Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")}
	}
	return nil
}

// bindToken refuses a token that is to live as long as an object that is not there.
func (op *operation) bindToken(reference *authenticationv1.BoundObjectReference) error {
	kind := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind)
	key := core.Key{Kind: core.Kind(kind.Kind), Namespace: op.namespace(), Name: reference.Name}
	resource := corev1.Resource("pods")
	switch kind.GroupKind().String() {
	case "Pod":
	case "Secret":
		resource = corev1.Resource("secrets")
	case "Node":
		resource, key.Namespace = corev1.Resource("nodes"), ""
	default:
		return apierrors.NewBadRequest("cannot bind token to object of type " + kind.String())
	}
	bound := op.find(key)
	if bound == nil {
		return apierrors.NewNotFound(resource, reference.Name)
	}
	account, _ := jsontree.At(bound.Meta(), "spec", "serviceAccountName").(string)
	if key.Kind == kinds.Pod && cmp.Or(account, "default") != op.request.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", op.request.Name))
	}
	if reference.UID != "" && reference.UID != bound.Meta().GetUID() {
		// A real server names the kind where others name the resource.
		return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, reference.Name, fmt.Errorf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", reference.UID))
	}
	return nil
}

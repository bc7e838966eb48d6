package kube

import (
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// issueToken answers with a token for a service account. It says whose it is, and no
// more: nobody checks it.
func (op *operation) issueToken() (*Response, error) {
	request := &authenticationv1.TokenRequest{}
	if err := decodeJSON(op.request.Body, request); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	account := op.find(op.key(op.request.Name))
	if account == nil {
		return nil, op.notFound()
	}
	const hour = int64(3600)
	point(&request.Spec.ExpirationSeconds, hour)
	if len(request.Spec.Audiences) == 0 {
		request.Spec.Audiences = []string{"https://kubernetes.default.svc"}
	}
	meta := account.meta()
	request.TypeMeta = metav1.TypeMeta{APIVersion: authenticationv1.SchemeGroupVersion.String(), Kind: "TokenRequest"}
	request.Name, request.Namespace, request.UID = meta.GetName(), meta.GetNamespace(), meta.GetUID()
	request.CreationTimestamp = virtualTime()
	lifetime := time.Duration(*request.Spec.ExpirationSeconds) * time.Second
	request.Status = authenticationv1.TokenRequestStatus{
		Token:               "token-of-" + string(meta.GetUID()),
		ExpirationTimestamp: metav1.NewTime(virtualTime().Add(lifetime)),
	}
	tree, err := treeOf(request)
	if err != nil {
		return nil, err
	}
	return done(canonicalJSON(tree)), nil
}

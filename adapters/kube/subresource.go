package kube

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/core"
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
	case name == LogSubresource && r.Name == kinds.Pod:
		return []Verb{Get}
	case name == kinds.FinalizeSubresource && r.Name == kinds.Namespace:
		return []Verb{Update}
	case name == kinds.EvictionSubresource && r.Name == kinds.Pod,
		name == kinds.BindingSubresource && r.Name == kinds.Pod,
		name == kinds.TokenSubresource && r.Name == kinds.ServiceAccount:
		return []Verb{Create}
	}
	return nil
}

// Writes are the subresources by which requests write objects of a kind, in whatever version, each with the operation
// as which webhooks see that.
func (s *Server) Writes(kind core.Kind) map[string]admissionv1.Operation {
	all := map[string]admissionv1.Operation{}
	r := s.registry.Named(kind)
	for _, name := range []string{
		kinds.StatusSubresource, kinds.ScaleSubresource, kinds.EphemeralSubresource, kinds.ApprovalSubresource, kinds.FinalizeSubresource,
		kinds.EvictionSubresource, kinds.BindingSubresource, kinds.TokenSubresource,
	} {
		var verbs []Verb
		for _, version := range r.Served {
			verbs = append(verbs, subresourceVerbs(r.In(version), name)...)
		}
		switch {
		case slices.Contains(verbs, Update):
			all[name] = admissionv1.Update
		case slices.Contains(verbs, Create):
			all[name] = admissionv1.Create
		}
	}
	return all
}

// unmodelled reports whether the server has a subresource that is not modelled.
func unmodelled(r *kinds.Resource, subresource string) bool {
	switch r.Name {
	case kinds.Pod:
		return slices.Contains([]string{"attach", "exec", "portforward", "proxy", "resize"}, subresource)
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

// LogSubresource is the one with the log of a Pod.
const LogSubresource = "log"

// log answers with the log of a container: a text, as JSON. What containers log is nothing that a server can know, so
// it has to be told.
func (op *operation) log() (*Response, error) {
	if op.server.containerLog == nil {
		return nil, errors.New("what containers log is not known: say it with the option kube.ContainerLogs of the API server (APIServer of the adapters)")
	}
	object := op.find(op.key(op.request.Name))
	if object == nil {
		return nil, op.notFound()
	}
	pod := &corev1.Pod{}
	if err := jsontree.Into(object.Tree, pod); err != nil {
		return nil, err
	}
	var all []string
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		all = append(all, container.Name)
	}
	name := op.request.Container
	switch {
	case name == "" && len(pod.Spec.Containers) == 1 && len(all) == 1:
		name = all[0]
	case name == "" && pod.Annotations[defaultContainer] != "":
		return nil, fmt.Errorf("the log of a Pod with the annotation %s is modelled for a container that is named: name it", defaultContainer)
	case name == "":
		return nil, apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %v", pod.Name, all))
	case !slices.Contains(all, name):
		return nil, apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.Name))
	}
	if pod.Spec.NodeName == "" {
		return done(json.RawMessage(`""`)), nil
	}
	started := slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.Name == name && (s.State.Running != nil || s.State.Terminated != nil)
	})
	if !started {
		return nil, fmt.Errorf("the log of a container that has not started yet (%s of Pod %s) is not modelled: read it later", name, pod.Name)
	}
	text, err := json.Marshal(*op.server.containerLog)
	return done(text), err
}

// defaultContainer is the annotation that names the container whose log is read where none is named.
const defaultContainer = "kubectl.kubernetes.io/default-container"

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

// bind puts a Pod on a node.
func (op *operation) bind() (*Response, error) {
	binding := &corev1.Binding{}
	if err := jsontree.Decode(op.request.Body, binding); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	switch {
	case binding.Name != op.request.Name:
		return nil, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	case binding.Target.Kind != "" && binding.Target.Kind != "Node":
		return nil, builtin.InternalError(fmt.Sprintf(`target.kind: Unsupported value: %q: supported values: "Node", "<empty>"`, binding.Target.Kind))
	case binding.Target.Name == "":
		return nil, builtin.InternalError("target.name: Required value")
	}
	key := op.key(op.request.Name)
	from := op.find(key)
	if from == nil {
		return nil, op.notFound()
	}
	object := from.Copy()
	refuse := func(format string, args ...any) (*Response, error) {
		resource := op.groupResource()
		resource.Resource += "/binding"
		return nil, apierrors.NewConflict(resource, key.Name, fmt.Errorf(format, args...))
	}
	switch node := jsontree.At(object, "spec", "nodeName"); {
	case object.GetDeletionTimestamp() != nil:
		return refuse("pod %s is being deleted, cannot be assigned to a host", key.Name)
	case node != nil && node != "":
		return refuse("pod %v is already assigned to node %q", key.Name, node)
	case len(jsontree.ListAt(object, "spec", "schedulingGates")) > 0:
		return refuse("pod %v has non-empty .spec.schedulingGates", key.Name)
	}
	jsontree.Set(object.Object, binding.Target.Name, "spec", "nodeName")
	for name, value := range binding.Annotations {
		jsontree.Set(object.Object, value, "metadata", "annotations", name)
	}
	for name, value := range binding.Labels {
		jsontree.Set(object.Object, value, "metadata", "labels", name)
	}
	builtin.SetCondition(builtin.PodStatus(object), corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: op.server.now()})
	op.commit(key, from, op.next(key, object.Object))
	return done(nil), nil
}

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
	request.CreationTimestamp = op.server.now()
	lifetime := time.Duration(*request.Spec.ExpirationSeconds) * time.Second
	request.Status = authenticationv1.TokenRequestStatus{
		Token:               "token-of-" + string(meta.GetUID()),
		ExpirationTimestamp: metav1.NewTime(op.server.now().Add(lifetime)),
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

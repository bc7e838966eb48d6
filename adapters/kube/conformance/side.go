package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
)

// tree is a JSON object.
type tree = map[string]any

// namespaces are those that exist when a run begins.
var namespaces = [...]string{"one-run", "two-run"}

// Reply is what a client got for an action.
type Reply struct {
	// Refused is the server's refusal, nil if the request was done.
	Refused *metav1.Status
	// Object is the object or the list that the client was sent, nil if none.
	Object tree
	// Unsupported says what a simulated server does not model of the request. Then
	// nothing was done, and the rest is empty.
	Unsupported string
	// Failed says what went wrong in the client itself.
	Failed string
}

// Side is one server in one run, with the clients that talk to it.
type Side struct {
	client client.Client
	// http sends raw requests; nil if the side has no HTTP.
	http *http.Client
	host string
	// unsupported takes what the server could not do since it was last asked; nil if
	// the server can do everything.
	unsupported func() string

	scheme   *runtime.Scheme
	subjects []Subject
	// suffix is what "-run" stands for.
	suffix string

	copies map[copyKey]tree
	tokens map[copyKey]string
	// uids are those seen last, by "KIND NAME".
	uids map[string]string
}

// copyKey names a copy of an object that a client has.
type copyKey struct {
	client                   int
	subject, namespace, name string
}

// begin makes the side ready for a run: the namespaces are there, and the clients have
// copies of nothing.
func (s *Side) begin(ctx context.Context) error {
	s.copies, s.tokens, s.uids = map[copyKey]tree{}, map[copyKey]string{}, map[string]string{}
	for _, namespace := range namespaces {
		reply := s.Do(ctx, Action{Verb: Create, Subject: "Namespace", Name: namespace, Object: json.RawMessage(`{}`)})
		if reply.Refused != nil || reply.Failed != "" || reply.Unsupported != "" {
			return fmt.Errorf("cannot create namespace %s: %+v", namespace, reply)
		}
	}
	return nil
}

func (s *Side) subject(name string) Subject {
	i := slices.IndexFunc(s.subjects, func(s Subject) bool { return s.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("conformance: there is no subject %q", name))
	}
	return s.subjects[i]
}

// uidToken is how actions refer to uids.
var uidToken = regexp.MustCompile(`\{\{uid ([^ }]+) ([^ }]+)\}\}`)

// sizeToken is how actions ask for a text of so many bytes.
var sizeToken = regexp.MustCompile(`\{\{bytes (\d+)\}\}`)

// concrete puts the suffix, the uids of this side, and long texts into an action.
func (s *Side) concrete(a Action) Action {
	text, err := json.Marshal(a)
	if err != nil {
		panic(fmt.Sprintf("conformance: an action cannot be written as JSON: %v", err))
	}
	text = bytes.ReplaceAll(text, []byte("-run"), []byte(s.suffix))
	text = uidToken.ReplaceAllFunc(text, func(token []byte) []byte {
		parts := uidToken.FindSubmatch(token)
		if uid, known := s.uids[string(parts[1])+" "+string(parts[2])]; known {
			return []byte(uid)
		}
		return []byte("00000000-0000-0000-0000-000000000000")
	})
	text = sizeToken.ReplaceAllFunc(text, func(token []byte) []byte {
		size, err := strconv.Atoi(string(sizeToken.FindSubmatch(token)[1]))
		if err != nil {
			panic(fmt.Sprintf("conformance: %s is no size: %v", token, err))
		}
		return bytes.Repeat([]byte("x"), size)
	})
	var result Action
	if err := json.Unmarshal(text, &result); err != nil {
		panic(fmt.Sprintf("conformance: an action is no JSON any more: %v", err))
	}
	return result
}

// Do takes an action and returns what the client got, with "-run" for the suffix.
func (s *Side) Do(ctx context.Context, a Action) Reply {
	a = s.concrete(a)
	object, err := s.send(ctx, a)
	if s.unsupported != nil {
		if missing := s.unsupported(); missing != "" {
			return Reply{Unsupported: strings.ReplaceAll(missing, s.suffix, "-run")}
		}
	}
	var reply Reply
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		refused := status.Status()
		reply.Refused = &refused
	case err != nil:
		reply.Failed = strings.ReplaceAll(err.Error(), s.suffix, "-run")
	case object != nil:
		reply.Object = object
		s.keep(a, object)
	}
	return reply
}

// send takes an action and returns the object or list that was sent back.
func (s *Side) send(ctx context.Context, a Action) (tree, error) {
	switch a.Verb {
	case Get:
		return s.get(ctx, a)
	case List:
		return s.list(ctx, a)
	case Create:
		return s.create(ctx, a)
	case Update:
		return s.update(ctx, a)
	case Patch:
		return s.patch(ctx, a)
	case Apply:
		return s.apply(ctx, a)
	case Delete:
		return nil, s.delete(ctx, a)
	case DeleteAllOf:
		return nil, s.deleteAllOf(ctx, a)
	case Raw:
		return s.raw(ctx, a)
	}
	panic(fmt.Sprintf("conformance: there is no verb %q", a.Verb))
}

// keep remembers what a client was sent as its copies, and the uids in it.
func (s *Side) keep(a Action, sent tree) {
	if a.DryRun || a.Subresource != "" && a.Subresource != "status" {
		return
	}
	objects := []any{sent}
	if items, ok := sent["items"].([]any); ok {
		objects = items
		token, _, _ := unstructured.NestedString(sent, "metadata", "continue")
		s.tokens[copyKey{a.Client, a.Subject, a.Namespace, ""}] = token
	}
	for _, item := range objects {
		object, ok := item.(tree)
		if !ok {
			continue
		}
		u := unstructured.Unstructured{Object: object}
		s.uids[s.subject(a.Subject).Kind().Kind+" "+u.GetName()] = string(u.GetUID())
		if !a.MetadataOnly {
			s.copies[copyKey{a.Client, a.Subject, u.GetNamespace(), u.GetName()}] = object
		}
	}
}

// copyOf returns the client's copy of the object of an action, or one made from what
// the action brings along.
func (s *Side) copyOf(a Action) tree {
	if known, ok := s.copies[copyKey{a.Client, a.Subject, a.Namespace, a.Name}]; ok {
		object := runtime.DeepCopyJSON(known)
		// Items of typed lists do not say what they are.
		(&unstructured.Unstructured{Object: object}).SetGroupVersionKind(s.subject(a.Subject).Kind())
		return object
	}
	return s.fresh(a)
}

// fresh makes the object that an action brings along.
func (s *Side) fresh(a Action) tree {
	object := tree{}
	if len(a.Object) > 0 {
		mustDecode(a.Object, &object)
	}
	u := unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(s.subject(a.Subject).Kind())
	if a.Name != "" {
		u.SetName(a.Name)
	}
	u.SetNamespace(a.Namespace)
	return object
}

// edited returns the client's copy with the action's edit.
func (s *Side) edited(a Action) (tree, error) {
	object := s.copyOf(a)
	if len(a.Edit) == 0 {
		return object, nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if text, err = jsonpatch.MergePatch(text, a.Edit); err != nil {
		return nil, err
	}
	var result tree
	mustDecode(text, &result)
	return result, nil
}

// form puts a tree into the form in which the action sends it: as a Go type or not.
func (s *Side) form(a Action, object tree) (client.Object, error) {
	u := &unstructured.Unstructured{Object: object}
	kind := s.subject(a.Subject).Kind()
	if !a.Typed || !s.scheme.Recognizes(kind) {
		return u, nil
	}
	typed, err := s.scheme.New(kind)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, typed); err != nil {
		return u, nil //nolint:nilerr // What no Go type can hold is sent as it is.
	}
	typed.GetObjectKind().SetGroupVersionKind(kind)
	return typed.(client.Object), nil
}

// treeOf reads an object or a list as a tree.
func treeOf(object runtime.Object) (tree, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var result tree
	mustDecode(text, &result)
	return result, nil
}

// mustDecode reads JSON that this package or a server's client has written.
func mustDecode(text []byte, into any) {
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, into); err != nil {
		panic(fmt.Sprintf("conformance: JSON of our own cannot be read: %v", err))
	}
}

// raw sends a request without the help of a client library.
func (s *Side) raw(ctx context.Context, a Action) (tree, error) {
	if s.http == nil {
		return nil, errors.New("there is no HTTP on this side")
	}
	url := s.host + s.subject(a.Subject).Path(a.Namespace, a.Name, a.Subresource)
	if a.Query != "" {
		url += "?" + a.Query
	}
	request, err := http.NewRequestWithContext(ctx, a.Method, url, strings.NewReader(a.Body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", runtime.ContentTypeJSON)
	if a.PatchType != "" {
		request.Header.Set("Content-Type", a.PatchType)
	}
	response, err := s.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var object tree
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &object); err != nil {
		return nil, fmt.Errorf("%s: %s", response.Status, bytes.TrimSpace(text))
	}
	if response.StatusCode >= http.StatusBadRequest {
		var status metav1.Status
		if err := json.Unmarshal(text, &status); err != nil {
			return nil, err
		}
		return nil, &apierrors.StatusError{ErrStatus: status}
	}
	if object["kind"] == "Status" {
		return nil, nil
	}
	return object, nil
}

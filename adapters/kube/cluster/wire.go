package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// send carries out a request.
func (c *Cluster) send(ctx context.Context, request *kube.Request) (*kube.Response, error) {
	path, err := c.path(request)
	if err != nil {
		return nil, err
	}
	method, body, contentType := http.MethodGet, request.Body, runtime.ContentTypeJSON
	switch request.Verb {
	case kube.Create:
		method = http.MethodPost
	case kube.Update:
		method = http.MethodPut
	case kube.Patch:
		method, contentType = http.MethodPatch, string(request.PatchType)
	case kube.Delete, kube.DeleteCollection:
		method = http.MethodDelete
		if body, err = json.Marshal(deleteOptions(request)); err != nil {
			return nil, err
		}
	}
	response, err := c.exchange(ctx, method, path, parameters(request), body, contentType)
	if err != nil || response.Status != nil {
		return response, err
	}
	switch {
	case request.LifetimeOnly:
		return kube.DoneLifetime(response.Object)
	case request.Verb == kube.Delete, request.Verb == kube.DeleteCollection:
		// Clients see only whether there is an error.
		return kube.Done(nil), nil
	case request.Verb == kube.List:
		return c.list(request, response.Object)
	}
	return response, nil
}

// exchange sends something over HTTP, and returns what comes back. On the way, uids are translated.
func (c *Cluster) exchange(ctx context.Context, method, path string, parameters url.Values, body []byte, contentType string) (*kube.Response, error) {
	address := c.host.JoinPath(c.uids.toReal(path))
	address.RawQuery = c.uids.toReal(parameters.Encode())
	sent, err := http.NewRequestWithContext(ctx, method, address.String(), strings.NewReader(c.uids.toReal(string(body))))
	if err != nil {
		return nil, err
	}
	sent.Header.Set("Accept", runtime.ContentTypeJSON)
	if len(body) > 0 {
		sent.Header.Set("Content-Type", contentType)
	}
	received, err := c.client.Do(sent)
	if err != nil {
		return nil, err
	}
	defer received.Body.Close()
	read, err := io.ReadAll(received.Body)
	if err != nil {
		return nil, err
	}
	answer := []byte(c.uids.toRecorded(string(read)))
	if received.StatusCode < http.StatusBadRequest {
		return kube.Done(answer), nil
	}
	status := &metav1.Status{}
	if err := json.Unmarshal(answer, status); err != nil || status.Kind != "Status" {
		return nil, fmt.Errorf("the server answers %s: %s", received.Status, answer)
	}
	shorten(status)
	return kube.Refused(status), nil
}

// shorten cuts off what a server says in which lines an object differs from what it was, which is for people and is
// made of its internal fields: "spec is immutable after creation except … @@ -6,7 +6,7 @@ …".
func shorten(status *metav1.Status) {
	cut := func(message *string) { *message, _, _ = strings.Cut(*message, "\n@@ ") }
	cut(&status.Message)
	if status.Details == nil {
		return
	}
	for i := range status.Details.Causes {
		cut(&status.Details.Causes[i].Message)
	}
}

// list reads a list, without the objects of the server's own. Its items get the kind
// that servers leave out of them.
func (c *Cluster) list(request *kube.Request, body []byte) (*kube.Response, error) {
	fields, err := tree(body)
	if err != nil {
		return nil, err
	}
	items, _ := fields["items"].([]any)
	kept := []any{}
	for _, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("an item of the answer to %q is no object", request)
		}
		object["apiVersion"], object["kind"] = request.Kind.ToAPIVersionAndKind()
		namespace, _ := metadata(object)["namespace"].(string)
		name, _ := metadata(object)["name"].(string)
		selected, err := c.selects(request, object)
		if err != nil {
			return nil, err
		}
		annotations, _ := metadata(object)["annotations"].(map[string]any)
		if selected && !c.own(core.Key{Kind: kube.KindOf(request.Kind.GroupKind()), Namespace: namespace, Name: name}, annotations) {
			kept = append(kept, object)
		}
	}
	fields["items"] = kept
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return kube.DoneList(text, len(kept)), nil
}

// selects reports whether an object of a list has the controller that is asked for, and the indexes of a cache select
// it. The server itself does not know them.
func (c *Cluster) selects(request *kube.Request, object map[string]any) (bool, error) {
	if request.ControlledBy != "" {
		controller := metav1.GetControllerOf(&unstructured.Unstructured{Object: object})
		if controller == nil || string(controller.UID) != request.ControlledBy {
			return false, nil
		}
	}
	if !request.FromCache || request.FieldSelector == "" {
		return true, nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return false, err
	}
	return c.server.Indexed(request, text)
}

// path returns the path of the URL of a request.
func (c *Cluster) path(request *kube.Request) (string, error) {
	mapping, err := c.mapper.RESTMapping(request.Kind.GroupKind(), request.Kind.Version)
	if err != nil {
		return "", err
	}
	path := "/apis/" + request.Kind.Group + "/" + request.Kind.Version
	if request.Kind.Group == "" {
		path = "/api/" + request.Kind.Version
	}
	if request.Namespace != "" {
		path += "/namespaces/" + url.PathEscape(request.Namespace)
	}
	path += "/" + mapping.Resource.Resource
	if request.Name != "" && request.Verb != kube.Create || request.Subresource != "" {
		path += "/" + url.PathEscape(request.Name)
	}
	if request.Subresource != "" {
		path += "/" + request.Subresource
	}
	return path, nil
}

func parameters(request *kube.Request) url.Values {
	values := url.Values{}
	set := func(name, value string) {
		if value != "" {
			values.Set(name, value)
		}
	}
	set("labelSelector", request.LabelSelector)
	if !request.FromCache {
		set("fieldSelector", request.FieldSelector)
	}
	set("continue", request.Continue)
	set("fieldManager", request.FieldManager)
	if request.Limit > 0 {
		set("limit", strconv.FormatInt(request.Limit, 10))
	}
	if request.Force {
		set("force", "true")
	}
	if request.DryRun {
		set("dryRun", metav1.DryRunAll)
	}
	return values
}

func deleteOptions(request *kube.Request) *metav1.DeleteOptions {
	options := &metav1.DeleteOptions{
		TypeMeta:           metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		GracePeriodSeconds: request.GracePeriodSeconds,
	}
	if request.DryRun {
		// A server that gets these options does not look at the parameters of the URL.
		options.DryRun = []string{metav1.DryRunAll}
	}
	if request.Propagation != "" {
		policy := metav1.DeletionPropagation(request.Propagation)
		options.PropagationPolicy = &policy
	}
	if request.PreconditionUID != "" || request.PreconditionResourceVersion != "" {
		options.Preconditions = &metav1.Preconditions{}
		if uid := types.UID(request.PreconditionUID); uid != "" {
			options.Preconditions.UID = &uid
		}
		if version := request.PreconditionResourceVersion; version != "" {
			options.Preconditions.ResourceVersion = &version
		}
	}
	return options
}

// kindOf returns the kind of a name in the core, in the version that is preferred.
func (c *Cluster) kindOf(kind core.Kind) (schema.GroupVersionKind, error) {
	mapping, err := c.mapper.RESTMapping(schema.ParseGroupKind(string(kind)))
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return mapping.GroupVersionKind, nil
}

func tree(text []byte) (map[string]any, error) {
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("the server's answer is no object: %w", err)
	}
	return fields, nil
}

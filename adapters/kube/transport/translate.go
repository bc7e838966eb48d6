package transport

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// translate reads an HTTP request as a request to the simulated API server. A
// StatusError is what a real server answers; any other error says what of the
// request is not modelled.
func translate(server *kube.Server, sent *http.Request, body []byte) (*kube.Request, error) {
	path, ok := parsePath(sent.URL.Path)
	if !ok {
		return nil, errors.New("only requests for objects and for which kinds there are are modelled, not schemas and the like: leave the request out")
	}
	if slices.Contains([]string{"attach", "exec", "portforward", "proxy"}, path.subresource) {
		return nil, errors.New("commands in Pods, and other connections to what runs there, are not modelled: let the set-up give the controller a stand-in for what makes them")
	}
	kind, err := server.KindFor(path.resource)
	if err != nil {
		return nil, err
	}
	if strings.Contains(sent.Header.Get("Accept"), "as=Table") {
		return nil, errors.New("tables are not modelled: ask for the objects")
	}
	contentType := mediaType(sent.Header.Get("Content-Type"))
	if len(body) > 0 && sent.Method != http.MethodPatch && contentType != "" && contentType != runtime.ContentTypeJSON {
		return nil, fmt.Errorf("a body of type %s is not modelled, only JSON: leave ContentType of the client's rest.Config as it was given", contentType)
	}
	request := &kube.Request{
		Kind:        kind,
		Namespace:   path.namespace,
		Name:        path.name,
		Subresource: path.subresource,
		// A client that wants nothing but metadata says so in what it accepts.
		MetadataOnly: strings.Contains(sent.Header.Get("Accept"), "as=PartialObjectMetadata"),
	}
	switch sent.Method {
	case http.MethodGet:
		request.Verb = kube.Get
		if path.name == "" {
			request.Verb = kube.List
		}
	case http.MethodPost:
		request.Verb = kube.Create
		request.Body = body
	case http.MethodPut:
		request.Verb = kube.Update
		request.Body = body
	case http.MethodPatch:
		request.Verb = kube.Patch
		request.PatchType = types.PatchType(contentType)
		request.Body = body
	case http.MethodDelete:
		request.Verb = kube.Delete
		if path.name == "" {
			request.Verb = kube.DeleteCollection
		}
		if err := readDeleteOptions(request, body); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("method %s is not modelled: use one of GET, POST, PUT, PATCH and DELETE", sent.Method)
	}
	if err := readParameters(request, sent.URL.Query()); err != nil {
		return request, err
	}
	if request.FieldManager == "" && needsNoManager(request) {
		request.FieldManager, _, _ = strings.Cut(sent.UserAgent(), "/")
	}
	return request, nil
}

// needsNoManager reports whether a request writes and may leave out who does: then the
// name of the program stands for the writer, as on a real server.
func needsNoManager(request *kube.Request) bool {
	switch request.Verb {
	case kube.Create, kube.Update:
		return true
	case kube.Patch:
		return request.PatchType != types.ApplyYAMLPatchType
	}
	return false
}

// readParameters takes over the parameters of the URL.
func readParameters(request *kube.Request, parameters url.Values) error {
	if watch := parameters.Get("watch"); watch == "true" || watch == "1" { // whatever else a watch is asked with
		return errors.New("watches are modelled only where a controller registers them: let the controller watch the kind, or list; make informers of client-go in a set-up of package clientgo")
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		value := parameters.Get(name)
		if value == "" {
			continue
		}
		switch name {
		case "labelSelector":
			request.LabelSelector = value
		case "fieldSelector":
			selector, err := fields.ParseSelector(value)
			if err != nil {
				return apierrors.NewBadRequest(err.Error())
			}
			request.FieldSelector = selectorText(selector)
		case "container":
			if request.Subresource != kube.LogSubresource {
				return fmt.Errorf("parameter %s=%s is not modelled: leave it out", name, value)
			}
			request.Container = value
		case "continue":
			request.Continue = value
		case "limit":
			limit, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return apierrors.NewBadRequest(fmt.Sprintf("limit %q is not a number", value))
			}
			request.Limit = limit
		case "dryRun":
			var err error
			if request.DryRun, err = readDryRun(optionsOf(request.Verb), parameters[name]); err != nil {
				return err
			}
		case "fieldManager":
			request.FieldManager = value
		case "force":
			request.Force = value == "true"
		case "fieldValidation":
			if value == metav1.FieldValidationStrict {
				return errors.New("strict field validation is not modelled: let the controller leave it out in the check")
			}
		case "resourceVersion":
			if value != "0" {
				return errors.New("reads at a given resourceVersion are not modelled: leave it out, or set it to 0")
			}
		case "timeout", "timeoutSeconds", "allowWatchBookmarks", "pretty", "watch":
			// The simulated server answers at once and in one way.
		case "gracePeriodSeconds", "propagationPolicy", "orphanDependents":
			return fmt.Errorf("%s is modelled in the body of a delete only: put it there", name)
		default:
			return fmt.Errorf("parameter %s=%s is not modelled: leave it out", name, value)
		}
	}
	return nil
}

// readDryRun reads the stages that a dry run is to leave out: all of them.
func readDryRun(options string, stages []string) (bool, error) {
	for _, stage := range stages {
		if stage != metav1.DryRunAll {
			return false, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: options}, "", field.ErrorList{
				field.NotSupported(field.NewPath("dryRun"), stages, []string{metav1.DryRunAll}),
			})
		}
	}
	return len(stages) > 0, nil
}

// optionsOf is the kind of the options of a verb.
func optionsOf(verb kube.Verb) string {
	switch verb {
	case kube.Create:
		return "CreateOptions"
	case kube.Update:
		return "UpdateOptions"
	case kube.Patch:
		return "PatchOptions"
	}
	return "DeleteOptions"
}

// selectorText writes a field selector with its terms in order.
func selectorText(selector fields.Selector) string {
	var terms []string
	for _, r := range Requirements(selector) {
		terms = append(terms, r.Field+string(r.Operator)+fields.EscapeValue(r.Value))
	}
	return strings.Join(terms, ",")
}

// Requirements returns the requirements of a selector by field. A selector that is made
// of a map has them in any order.
func Requirements(selector fields.Selector) fields.Requirements {
	return slices.SortedFunc(slices.Values(selector.Requirements()), func(a, b fields.Requirement) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Operator, b.Operator), cmp.Compare(a.Value, b.Value))
	})
}

// readDeleteOptions takes over the body of a delete.
func readDeleteOptions(request *kube.Request, body []byte) error {
	if len(body) == 0 {
		return nil
	}
	var options metav1.DeleteOptions
	if err := json.Unmarshal(body, &options); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil {
			request.PreconditionUID = string(*p.UID)
		}
		if p.ResourceVersion != nil {
			request.PreconditionResourceVersion = *p.ResourceVersion
		}
	}
	if options.PropagationPolicy != nil {
		request.Propagation = string(*options.PropagationPolicy)
	}
	request.GracePeriodSeconds = options.GracePeriodSeconds
	var err error
	if request.DryRun, err = readDryRun("DeleteOptions", options.DryRun); err != nil {
		return err
	}
	if options.OrphanDependents != nil { //nolint:staticcheck // deprecated, and still to be refused
		return errors.New("orphanDependents is not modelled: use a propagation policy")
	}
	if options.IgnoreStoreReadErrorWithClusterBreakingPotential != nil {
		return errors.New("deleting unreadable objects is not modelled: leave out ignoreStoreReadErrorWithClusterBreakingPotential")
	}
	return nil
}

// mediaType is a content type without its parameters.
func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.TrimSpace(t)
}

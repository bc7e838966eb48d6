package webhook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// match is a kind, in the version in which a webhook gets its objects, and the
// operations that it is asked about.
type match struct {
	kind       schema.GroupVersionKind
	operations []admissionv1.Operation
}

// matches returns what the rules of a webhook match among the kinds that the API server serves, and the subresources
// that they match, such as "widgets/status", about which webhooks are not asked. Of several rules about an operation on
// a kind the first counts.
func matches(server *kube.Server, rules []admissionregistrationv1.RuleWithOperations) (all []match, subresources []string) {
	for _, name := range server.Kinds() {
		mappings, err := server.RESTMapper().RESTMappings(schema.ParseGroupKind(string(name)))
		if err != nil {
			continue // It cannot be asked for, so nobody writes it.
		}
		written := server.Writes(name)
		for _, subresource := range slices.Sorted(maps.Keys(written)) {
			operation := admissionregistrationv1.OperationType(written[subresource])
			if slices.ContainsFunc(rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
				return oneOf(rule.Operations, operation) && slices.ContainsFunc(mappings, func(m *meta.RESTMapping) bool { return covers(rule.Rule, m, subresource) })
			}) {
				subresources = append(subresources, mappings[0].Resource.Resource+"/"+subresource)
			}
		}
		var taken []admissionv1.Operation
		for _, rule := range rules {
			i := slices.IndexFunc(mappings, func(m *meta.RESTMapping) bool { return covers(rule.Rule, m, "") })
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
	return all, subresources
}

// covers reports whether a rule is about a resource in a version, or about one of its subresources.
func covers(rule admissionregistrationv1.Rule, m *meta.RESTMapping, subresource string) bool {
	if scope := rule.Scope; scope != nil && *scope != admissionregistrationv1.AllScopes {
		namespaced := m.Scope.Name() == meta.RESTScopeNameNamespace
		if namespaced != (*scope == admissionregistrationv1.NamespacedScope) {
			return false
		}
	}
	return oneOf(rule.APIGroups, m.Resource.Group) && oneOf(rule.APIVersions, m.Resource.Version) &&
		slices.ContainsFunc(rule.Resources, func(text string) bool {
			// As in the API server, "widgets/*" is about widgets themselves, too.
			resource, below, _ := strings.Cut(text, "/")
			return (resource == "*" || resource == m.Resource.Resource) && (below == "*" || below == subresource)
		})
}

// oneOf reports whether a list names the value, or all values.
func oneOf[T ~string](list []T, value T) bool {
	return slices.Contains(list, value) || slices.Contains(list, "*")
}

// selectors tell about which objects a webhook is asked.
type selectors struct {
	objects, namespaces labels.Selector
}

// selecting reads the selectors of the configuration.
func (c *Configuration) selecting() (selectors, error) {
	objects, err := selectorOr(c.ObjectSelector)
	if err != nil {
		return selectors{}, fmt.Errorf("objectSelector: %w", err)
	}
	namespaces, err := selectorOr(c.NamespaceSelector)
	if err != nil {
		return selectors{}, fmt.Errorf("namespaceSelector: %w", err)
	}
	return selectors{objects, namespaces}, nil
}

// selectorOr reads a selector. None selects everything.
func selectorOr(selector *metav1.LabelSelector) (labels.Selector, error) {
	if selector == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(selector)
}

// reviewing is how a webhook is asked.
type reviewing func(core.Snapshot, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)

// guard allows what is not selected without asking.
func (s selectors) guard(review reviewing) reviewing {
	if s.objects.Empty() && s.namespaces.Empty() {
		return review
	}
	return func(state core.Snapshot, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
		after, err := labelsOf(request.Object.Raw)
		if err != nil {
			return nil, err
		}
		before, err := labelsOf(request.OldObject.Raw)
		if err != nil {
			return nil, err
		}
		if !s.selectsObject(after, before) || !s.selectsNamespace(state, request, after, before) {
			return &admissionv1.AdmissionResponse{Allowed: true}, nil
		}
		return review(state, request)
	}
}

// selectsObject reports whether one of the two selects. There is none (nil) before a
// creation and after a deletion.
func (s selectors) selectsObject(after, before labels.Set) bool {
	return s.objects.Empty() ||
		after != nil && s.objects.Matches(after) ||
		before != nil && s.objects.Matches(before)
}

// selectsNamespace looks at the labels of the object's namespace: those of the object
// itself if it is a Namespace. Other objects without a namespace are always selected. A
// namespace without a Namespace object has the label that all namespaces have.
func (s selectors) selectsNamespace(state core.Snapshot, request *admissionv1.AdmissionRequest, after, before labels.Set) bool {
	const namespace = "Namespace"
	if request.Kind.Group == corev1.GroupName && request.Kind.Kind == namespace {
		if after == nil {
			after = before
		}
		return s.namespaces.Matches(after)
	}
	if s.namespaces.Empty() || request.Namespace == "" {
		return true
	}
	found := labels.Set{corev1.LabelMetadataName: request.Namespace}
	if content := state.Get(core.Key{Kind: namespace, Name: request.Namespace}); content != nil {
		fields, _ := content.Fields().(map[string]any)
		metadata, _ := fields["metadata"].(map[string]any)
		given, _ := metadata["labels"].(map[string]any)
		for name, value := range given {
			found[name], _ = value.(string)
		}
	}
	return s.namespaces.Matches(found)
}

// labelsOf returns the labels of an object, nil if there is no object.
func labelsOf(object []byte) (labels.Set, error) {
	if len(object) == 0 {
		return nil, nil
	}
	var named struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(object, &named); err != nil {
		return nil, err
	}
	found := labels.Set(named.Metadata.Labels)
	if found == nil {
		found = labels.Set{}
	}
	return found, nil
}

// Configuration is what a cluster knows of one webhook.
type Configuration struct {
	// object is the name of the object that it is in.
	object  string
	mutates bool
	// MutatingWebhook has what validating webhooks have, and more.
	admissionregistrationv1.MutatingWebhook
}

// Read reads the webhooks of YAML files, in the order in which an
// API server asks them. Documents of other kinds are skipped.
func Read(paths []string) ([]Configuration, error) {
	var all []Configuration
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s has no webhooks: pass the file with the MutatingWebhookConfiguration or the ValidatingWebhookConfiguration, such as config/webhook/manifests.yaml", path)
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b Configuration) int { return cmp.Compare(a.object, b.object) })
	return all, nil
}

func parse(text []byte) ([]Configuration, error) {
	const lookAhead = 4096
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), lookAhead)
	var all []Configuration
	for number := 1; ; number++ {
		var document admissionregistrationv1.MutatingWebhookConfiguration
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		mutates := document.Kind == "MutatingWebhookConfiguration"
		if !mutates && document.Kind != "ValidatingWebhookConfiguration" {
			continue
		}
		for _, w := range document.Webhooks {
			c := Configuration{object: document.Name, mutates: mutates, MutatingWebhook: w}
			if err := c.valid(); err != nil {
				return nil, fmt.Errorf("document %d, webhook %s: %w", number, w.Name, err)
			}
			all = append(all, c)
		}
	}
}

// valid returns an error if the configuration cannot be used.
func (c *Configuration) valid() error {
	if len(c.MatchConditions) > 0 {
		return errors.New("matchConditions are not modelled: leave them out")
	}
	if c.ClientConfig.Service == nil && c.ClientConfig.URL == nil {
		return errors.New("its clientConfig has neither a service nor a url, so nobody knows its path: add the one that it has in a cluster")
	}
	if _, err := url.Parse(ptr.Deref(c.ClientConfig.URL, "")); err != nil {
		return err
	}
	_, err := c.selecting()
	return err
}

// path is where the API server asks the webhook.
func (c *Configuration) path() string {
	path := ""
	if service := c.ClientConfig.Service; service != nil {
		path = ptr.Deref(service.Path, "")
	} else if where, err := url.Parse(*c.ClientConfig.URL); err == nil {
		path = where.Path
	}
	return "/" + strings.TrimPrefix(path, "/")
}

// Notes are told of what is not modelled.
type Notes interface {
	// Assume notes what is assumed about it.
	Assume(format string, args ...any)
	// Doubt notes that it may decide what is found.
	Doubt(format string, args ...any)
}

// Registered is a webhook as a set-up registers it.
type Registered struct {
	Path string
	// Make makes it anew, nil if it cannot be run. See [Reviewer].
	Make func(reads core.EffectRecorder) (Handle, error)
}

// Configured returns the webhooks of the configurations that are registered and that can be run.
func Configured(server *kube.Server, configurations []Configuration, registered []Registered, notes Notes) ([]kube.Webhook, error) {
	runs := map[string]Registered{}
	for _, r := range registered {
		runs[r.Path] = r
	}
	var all []kube.Webhook
	for i := range configurations {
		c := &configurations[i]
		path := c.path()
		found, subresources := matches(server, c.Rules)
		switch {
		case len(found) == 0 && len(subresources) == 0:
			notes.Assume("The webhook %s at %s is not asked: its rules are about nothing that the API server serves.", c.Name, path)
			continue
		case runs[path].Make == nil:
			notes.Doubt("the webhook %s at %s is not asked, as no set-up registers one that can be run there: register it, or leave it out of the webhook configurations", c.Name, path)
			continue
		case len(subresources) > 0:
			notes.Doubt("the webhook %s is not asked about writes to subresources that its rules name, such as %s: leave these out of the rules if they do not matter to what is checked", c.Name, subresources[0])
		}
		asked, err := c.webhooks(server, found, runs[path].Make)
		if err != nil {
			return nil, fmt.Errorf("webhook %s: %w", c.Name, err)
		}
		if ptr.Deref(c.ReinvocationPolicy, "") == admissionregistrationv1.IfNeededReinvocationPolicy {
			notes.Doubt("the webhook %s is asked once about a write, and not again after others have changed the object: set its reinvocationPolicy to Never", c.Name)
		}
		all = append(all, asked...)
	}
	for _, r := range registered {
		if !slices.ContainsFunc(configurations, func(c Configuration) bool { return c.path() == r.Path }) {
			notes.Assume("The webhook at %s is not run: no webhook configuration names its path.", r.Path)
		}
	}
	return all, nil
}

// webhooks returns the webhook as the server asks it: once for each kind and each set of
// operations that its rules name.
func (c *Configuration) webhooks(server *kube.Server, found []match, remake func(core.EffectRecorder) (Handle, error)) ([]kube.Webhook, error) {
	selectors, err := c.selecting()
	if err != nil {
		return nil, err
	}
	r := NewReviewer(server, c.Name, remake)
	r.ignored = ptr.Deref(c.FailurePolicy, admissionregistrationv1.Fail) == admissionregistrationv1.Ignore
	if c.TimeoutSeconds != nil {
		r.timeout = time.Duration(*c.TimeoutSeconds) * time.Second
	}
	var all []kube.Webhook
	for _, about := range found {
		all = append(all, kube.Webhook{
			Name:       c.Name,
			Kind:       about.kind,
			Operations: about.operations,
			Mutates:    c.mutates,
			Review:     selectors.guard(r.Review),
		})
	}
	return all, nil
}

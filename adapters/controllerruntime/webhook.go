package controllerruntime

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// webhooks is the webhook server of a manager. It takes registrations and serves
// nothing: see [reviewer].
type webhooks struct {
	mux *http.ServeMux
	// registered is told of each webhook and its path.
	registered func(path string, hook http.Handler)
}

var _ webhook.Server = (*webhooks)(nil)

// NeedLeaderElection implements [webhook.Server].
func (w *webhooks) NeedLeaderElection() bool { return false }

// Register implements [webhook.Server]. It panics if the path is taken.
func (w *webhooks) Register(path string, hook http.Handler) {
	w.mux.Handle(path, hook)
	w.registered(path, hook)
}

// Start implements [webhook.Server].
func (w *webhooks) Start(context.Context) error {
	return errors.New("the webhook server of a manager under check cannot be started: leave starting it out of the set-up")
}

// StartedChecker implements [webhook.Server].
func (w *webhooks) StartedChecker() healthz.Checker { return healthz.Ping }

// WebhookMux implements [webhook.Server].
func (w *webhooks) WebhookMux() *http.ServeMux { return w.mux }

// match is a kind, in the version in which a webhook gets its objects, and the
// operations that it is asked about.
type match struct {
	kind       schema.GroupVersionKind
	operations []admissionv1.Operation
}

// matches returns what the rules of a webhook match among the kinds that the API server
// serves. Of several rules about an operation on a kind the first counts. Rules about
// subresources match nothing, since webhooks are not asked about those.
func (b *blueprint) matches(rules []admissionregistrationv1.RuleWithOperations) []match {
	var all []match
	for _, name := range b.server.Kinds() {
		mappings, err := b.mapper.RESTMappings(schema.ParseGroupKind(string(name)))
		if err != nil {
			continue // It cannot be asked for, so nobody writes it.
		}
		var taken []admissionv1.Operation
		for _, rule := range rules {
			i := slices.IndexFunc(mappings, func(m *meta.RESTMapping) bool { return covers(rule.Rule, m) })
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
	return all
}

// covers reports whether a rule is about a resource in a version.
func covers(rule admissionregistrationv1.Rule, m *meta.RESTMapping) bool {
	if scope := rule.Scope; scope != nil && *scope != admissionregistrationv1.AllScopes {
		namespaced := m.Scope.Name() == meta.RESTScopeNameNamespace
		if namespaced != (*scope == admissionregistrationv1.NamespacedScope) {
			return false
		}
	}
	return oneOf(rule.APIGroups, m.Resource.Group) && oneOf(rule.APIVersions, m.Resource.Version) &&
		(oneOf(rule.Resources, m.Resource.Resource) || slices.Contains(rule.Resources, "*/*"))
}

// oneOf reports whether a list names the value, or all values.
func oneOf[T ~string](list []T, value T) bool {
	return slices.Contains(list, value) || slices.Contains(list, "*")
}

// webhookSelectors tell about which objects a webhook is asked.
type webhookSelectors struct {
	objects, namespaces labels.Selector
}

// selectors reads the selectors of the configuration.
func (c *webhookConfiguration) selectors() (webhookSelectors, error) {
	objects, err := selectorOr(c.ObjectSelector)
	if err != nil {
		return webhookSelectors{}, fmt.Errorf("objectSelector: %w", err)
	}
	namespaces, err := selectorOr(c.NamespaceSelector)
	if err != nil {
		return webhookSelectors{}, fmt.Errorf("namespaceSelector: %w", err)
	}
	return webhookSelectors{objects, namespaces}, nil
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
func (s webhookSelectors) guard(review reviewing) reviewing {
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
func (s webhookSelectors) selectsObject(after, before labels.Set) bool {
	return s.objects.Empty() ||
		after != nil && s.objects.Matches(after) ||
		before != nil && s.objects.Matches(before)
}

// selectsNamespace looks at the labels of the object's namespace: those of the object
// itself if it is a Namespace. Other objects without a namespace are always selected. A
// namespace without a Namespace object has the label that all namespaces have.
func (s webhookSelectors) selectsNamespace(state core.Snapshot, request *admissionv1.AdmissionRequest, after, before labels.Set) bool {
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

// webhookConfiguration is what a cluster knows of one webhook.
type webhookConfiguration struct {
	// object is the name of the object that it is in.
	object  string
	mutates bool
	// MutatingWebhook has what validating webhooks have, and more.
	admissionregistrationv1.MutatingWebhook
}

// readWebhookConfigurations reads the webhooks of YAML files, in the order in which an
// API server asks them. Documents of other kinds are skipped.
func readWebhookConfigurations(paths []string) ([]webhookConfiguration, error) {
	var all []webhookConfiguration
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found, err := parseWebhookConfigurations(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s has no webhooks: pass the file with the MutatingWebhookConfiguration or the ValidatingWebhookConfiguration, such as config/webhook/manifests.yaml", path)
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b webhookConfiguration) int { return cmp.Compare(a.object, b.object) })
	return all, nil
}

func parseWebhookConfigurations(text []byte) ([]webhookConfiguration, error) {
	const lookAhead = 4096
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), lookAhead)
	var all []webhookConfiguration
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
			c := webhookConfiguration{object: document.Name, mutates: mutates, MutatingWebhook: w}
			if err := c.valid(); err != nil {
				return nil, fmt.Errorf("document %d, webhook %s: %w", number, w.Name, err)
			}
			all = append(all, c)
		}
	}
}

// valid returns an error if the configuration cannot be used.
func (c *webhookConfiguration) valid() error {
	if len(c.MatchConditions) > 0 {
		return errors.New("matchConditions are not modelled: leave them out")
	}
	if c.ClientConfig.Service == nil && c.ClientConfig.URL == nil {
		return errors.New("its clientConfig has neither a service nor a url, so nobody knows its path: add the one that it has in a cluster")
	}
	if _, err := url.Parse(ptr.Deref(c.ClientConfig.URL, "")); err != nil {
		return err
	}
	_, err := c.selectors()
	return err
}

// path is where the API server asks the webhook.
func (c *webhookConfiguration) path() string {
	path := ""
	if service := c.ClientConfig.Service; service != nil {
		path = ptr.Deref(service.Path, "")
	} else if where, err := url.Parse(*c.ClientConfig.URL); err == nil {
		path = where.Path
	}
	return "/" + strings.TrimPrefix(path, "/")
}

// configuredWebhooks returns the webhooks of the configurations that a survey has found
// and that can be run.
func (b *blueprint) configuredWebhooks(found *assembly) ([]kube.Webhook, error) {
	runs := map[string]bool{}
	for _, h := range found.hooks {
		_, runs[h.path] = h.handler.(*admission.Webhook)
	}
	var all []kube.Webhook
	for i := range b.configurations {
		c := &b.configurations[i]
		path := c.path()
		if !runs[path] {
			found.doubt("the webhook %s at %s is not asked, as no set-up registers one that can be run there: register it, or leave it out of the webhook configurations", c.Name, path)
			continue
		}
		asked, err := b.configured(c)
		if err != nil {
			return nil, fmt.Errorf("webhook %s: %w", c.Name, err)
		}
		if ptr.Deref(c.ReinvocationPolicy, "") == admissionregistrationv1.IfNeededReinvocationPolicy {
			found.doubt("the webhook %s is asked once about a write, and not again after others have changed the object: set its reinvocationPolicy to Never", c.Name)
		}
		all = append(all, asked...)
	}
	for _, h := range found.hooks {
		if !slices.ContainsFunc(b.configurations, func(c webhookConfiguration) bool { return c.path() == h.path }) {
			found.assume("The webhook at %s is not run: no webhook configuration names its path.", h.path)
		}
	}
	return all, nil
}

// configured returns a webhook as the server asks it: once for each kind and each set of
// operations that its rules name.
func (b *blueprint) configured(c *webhookConfiguration) ([]kube.Webhook, error) {
	selectors, err := c.selectors()
	if err != nil {
		return nil, err
	}
	r := &reviewer{
		blueprint: b,
		path:      c.path(),
		name:      c.Name,
		timeout:   reviewTimeout,
		deadline:  reviewDeadline,
		ignored:   ptr.Deref(c.FailurePolicy, admissionregistrationv1.Fail) == admissionregistrationv1.Ignore,
	}
	if c.TimeoutSeconds != nil {
		r.timeout = time.Duration(*c.TimeoutSeconds) * time.Second
	}
	var all []kube.Webhook
	for _, about := range b.matches(c.Rules) {
		all = append(all, kube.Webhook{
			Name:       c.Name,
			Kind:       about.kind,
			Operations: about.operations,
			Mutates:    c.mutates,
			Review:     selectors.guard(r.review),
		})
	}
	return all, nil
}

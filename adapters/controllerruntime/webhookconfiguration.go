package controllerruntime

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery/adapters/kube"
)

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

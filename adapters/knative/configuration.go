package knative

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"knative.dev/pkg/system"
)

// configuration is a network on which the ConfigMaps of the control plane are, besides what the API server has: who
// gets one of them by its name, gets it. Constructors do so for what they have to know before anything is watched.
type configuration struct {
	network http.RoundTripper
	// maps are the answers, by the paths of the requests.
	maps map[string][]byte
	// running tells that the set-up is over, and that the API server answers.
	running atomic.Bool
}

// configure puts ConfigMaps on the network of clients.
func configure(network http.RoundTripper, maps []*corev1.ConfigMap) (*configuration, error) {
	c := &configuration{network: network, maps: map[string][]byte{}}
	for _, m := range maps {
		shown := m.DeepCopy()
		if shown.Namespace == "" {
			shown.Namespace = os.Getenv(system.NamespaceEnvKey)
		}
		shown.APIVersion, shown.Kind = "v1", "ConfigMap"
		text, err := json.Marshal(shown)
		if err != nil {
			return nil, fmt.Errorf("ConfigMap %s: %w", m.Name, err)
		}
		c.maps[fmt.Sprintf("/api/v1/namespaces/%s/configmaps/%s", shown.Namespace, shown.Name)] = text
	}
	return c, nil
}

// of returns how clients reach the API server through this network.
func (c *configuration) of(config *rest.Config) *rest.Config {
	config.Transport = c
	return config
}

// WrappedRoundTripper returns the network, for those who look for what is behind a transport.
func (c *configuration) WrappedRoundTripper() http.RoundTripper { return c.network }

// RoundTrip implements [http.RoundTripper]. Once controllers run, an object of the API server goes before a ConfigMap
// that is none.
func (c *configuration) RoundTrip(sent *http.Request) (*http.Response, error) {
	found, known := c.maps[sent.URL.Path]
	if !known || sent.Method != http.MethodGet {
		return c.network.RoundTrip(sent)
	}
	if c.running.Load() {
		answer, err := c.network.RoundTrip(sent)
		if err != nil || answer.StatusCode != http.StatusNotFound {
			return answer, err
		}
		answer.Body.Close()
	}
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {runtime.ContentTypeJSON}},
		ContentLength: int64(len(found)), Body: io.NopCloser(bytes.NewReader(found)), Request: sent,
	}, nil
}

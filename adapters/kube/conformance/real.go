package conformance

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// Real is a real API server with the custom resource definitions of the subjects. Runs
// have namespaces and names of their own, and nothing is cleared up between them.
type Real struct {
	config   *rest.Config
	http     *http.Client
	mapper   meta.RESTMapper
	scheme   *runtime.Scheme
	subjects []Subject
	runs     int
}

// NewReal installs the definitions on a server and returns when it serves them.
func NewReal(ctx context.Context, config *rest.Config, mapper meta.RESTMapper, subjects []Subject) (*Real, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeJSON
	config.UserAgent = userAgent
	config.WarningHandler = rest.NoWarnings{}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	r := &Real{config: config, http: transport, mapper: mapper, scheme: scheme, subjects: subjects}
	return r, r.install(ctx)
}

// Suffix returns the suffix of the names of the next run.
func (r *Real) Suffix() string { return fmt.Sprintf("-r%05d", r.runs+1) }

// Begin starts a run with the names that have [Real.Suffix].
func (r *Real) Begin(ctx context.Context) (*Side, error) {
	clients, err := client.New(r.config, client.Options{HTTPClient: r.http, Scheme: r.scheme, Mapper: r.mapper})
	if err != nil {
		return nil, err
	}
	side := &Side{client: clients, http: r.http, host: r.config.Host, scheme: r.scheme, subjects: r.subjects, suffix: r.Suffix()}
	r.runs++
	return side, side.begin(ctx)
}

// end gives back what there is not enough of for all runs: the addresses of Services.
func (r *Real) end(ctx context.Context, side *Side, cast []Subject) error {
	for _, s := range cast {
		if s.Name != "Service" {
			continue
		}
		for _, namespace := range side.inhabited(cast) {
			reply := side.Do(ctx, Action{Verb: DeleteAllOf, Subject: s.Name, Namespace: namespace})
			if reply.Refused != nil || reply.Failed != "" {
				return fmt.Errorf("cannot delete the Services of a run: %+v", reply)
			}
		}
	}
	return nil
}

// install creates the definitions and waits until the server serves their kinds.
func (r *Real) install(ctx context.Context) error {
	file, err := os.Open(definitionsPath)
	if err != nil {
		return err
	}
	defer file.Close()
	definitions := schema.GroupVersion{Group: apiextensionsv1.GroupName, Version: "v1"}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(definitions.WithKind("CustomResourceDefinition"), meta.RESTScopeRoot)
	clients, err := client.New(r.config, client.Options{HTTPClient: r.http, Scheme: r.scheme, Mapper: mapper})
	if err != nil {
		return err
	}
	const bufferSize = 4096
	documents := yaml.NewYAMLOrJSONDecoder(file, bufferSize)
	for range r.definitions() {
		definition := &unstructured.Unstructured{}
		if err := documents.Decode(&definition.Object); err != nil {
			return fmt.Errorf("%s: %w", definitionsPath, err)
		}
		if err := clients.Create(ctx, definition); err != nil {
			return err
		}
	}
	return r.await(ctx)
}

// definitions returns the subjects that have a custom resource definition.
func (r *Real) definitions() []Subject {
	var custom []Subject
	for _, s := range r.subjects {
		if s.Custom() && s.SameAs == "" {
			custom = append(custom, s)
		}
	}
	return custom
}

// await returns when every kind can be listed.
func (r *Real) await(ctx context.Context) error {
	const (
		patience = 30 * time.Second
		pause    = 50 * time.Millisecond
	)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, s := range r.subjects {
		for {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.config.Host+s.Path("", "", ""), nil)
			if err != nil {
				return err
			}
			response, err := r.http.Do(request)
			if err != nil {
				return fmt.Errorf("the server does not serve %s: %w", s.Name, err)
			}
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("the server does not serve %s: %s", s.Name, response.Status)
			case <-time.After(pause):
			}
		}
	}
	return nil
}

// Fake is controller-runtime's fake client, set up as its documentation tells.
type Fake struct {
	mapper   meta.RESTMapper
	subjects []Subject
}

// NewFake returns fake clients for all subjects.
func NewFake(mapper meta.RESTMapper, subjects []Subject) *Fake {
	return &Fake{mapper: mapper, subjects: subjects}
}

// Begin starts a run with an empty fake client.
func (f *Fake) Begin(ctx context.Context, suffix string) (*Side, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	var withStatus []client.Object
	for _, s := range f.subjects {
		if s.Status {
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(s.Kind())
			withStatus = append(withStatus, object)
		}
	}
	clients := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(f.mapper).WithStatusSubresource(withStatus...).Build()
	side := &Side{client: clients, scheme: scheme, subjects: f.subjects, suffix: suffix}
	return side, side.begin(ctx)
}

package controllerruntime

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// New returns the system that the options describe: controllers, the API server
// they act on, and the objects that are there at the start. The scheme is the one
// that main.go gives to its manager. The error joins all mistakes that were found,
// and says what to change.
func New(scheme *runtime.Scheme, options ...Option) (*core.System, error) {
	d := &definition{name: "controllers"}
	for _, option := range options {
		option(d)
	}
	if scheme == nil {
		d.fail("the scheme is nil: pass the one that main.go gives to its manager")
	}
	if len(d.setups) == 0 {
		d.fail("there are no controllers: add a Setup or a Reconciler")
	}
	if len(d.errs) > 0 {
		return nil, errors.Join(d.errs...)
	}
	server, err := d.server(scheme)
	if err != nil {
		return nil, err
	}
	configurations, err := readWebhookConfigurations(d.webhookPaths)
	if err != nil {
		return nil, err
	}
	logger := bridge(d.logger)
	logGlobally(logger)
	b := &blueprint{
		scheme:         scheme,
		server:         server,
		mapper:         server.RESTMapper(),
		client:         d.manager.Client,
		newClient:      d.manager.NewClient,
		controller:     d.manager.Controller,
		setups:         d.setups,
		configurations: configurations,
		logger:         logger,
	}
	found, err := b.survey()
	if err != nil {
		return nil, err
	}
	if len(found.controllers) == 0 {
		return nil, errors.New("the set-up registers no controllers: call SetupWithManager of the reconcilers in it")
	}
	if b.server, err = server.WithFieldIndexes(b.fieldIndexes(found)...); err != nil {
		return nil, err
	}
	// From here on the API server asks the webhooks; they themselves read past it.
	webhooks, err := b.webhooks(found)
	if err != nil {
		return nil, err
	}
	if server, err = b.server.WithWebhooks(webhooks...); err != nil {
		return nil, err
	}
	initial, err := d.initial(server)
	if err != nil {
		return nil, err
	}
	system := &core.System{
		Name:       d.name,
		Store:      server,
		Scenario:   b.scenario(d.actions, d.inOrder),
		Strategies: append(b.strategies(found), d.strategies...),
		Initial:    []core.Initial{initial},
		Properties: d.properties,

		// What is read through the cache shows only when it is read.
		Kinds:           server.Kinds(),
		Interchangeable: d.interchangeable,
		Assumptions:     found.assumptions,
		Unmodelled:      found.doubts,
	}
	if err := d.unrun(system, found); err != nil {
		return nil, err
	}
	players, err := d.players(system, server)
	if err != nil {
		return nil, err
	}
	system.Strategies = append(system.Strategies, players...)
	d.collected(system, server)
	if err := system.Validate(); err != nil {
		return nil, err
	}
	return system, nil
}

// Test is the part of a testing.TB that [ForTest] needs.
type Test interface {
	Helper()
	Fatalf(format string, args ...any)
}

// ForTest returns what [New] returns, and ends the test if that is an error.
func ForTest(t Test, scheme *runtime.Scheme, options ...Option) *core.System {
	t.Helper()
	system, err := New(scheme, options...)
	if err != nil {
		t.Fatalf("the system cannot be checked: %v", err)
	}
	return system
}

// server returns the API server with the definitions of the options.
func (d *definition) server(scheme *runtime.Scheme) (*kube.Server, error) {
	options := append(slices.Clone(d.serverOptions), kube.DefinitionFiles(d.definitionPaths...))
	for i, text := range d.definitionTexts {
		definitions, err := parseDefinitions(text)
		if err != nil {
			return nil, fmt.Errorf("number %d of the texts given to CRDBytes: %w", i+1, err)
		}
		options = append(options, kube.Definitions(definitions...))
	}
	return kube.NewServer(scheme, options...)
}

// parseDefinitions reads the custom resource definitions of a text.
func parseDefinitions(text []byte) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	const lookAhead = 4096
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), lookAhead)
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for number := 1; ; number++ {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		switch err := decoder.Decode(definition); {
		case errors.Is(err, io.EOF):
			return definitions, nil
		case err != nil:
			return nil, fmt.Errorf("document %d: %w", number, err)
		case definition.Kind == "CustomResourceDefinition":
			definitions = append(definitions, definition)
		case definition.Kind != "":
			return nil, fmt.Errorf("document %d is a %s, not a CustomResourceDefinition", number, definition.Kind)
		}
	}
}

// initial returns the state at the start.
func (d *definition) initial(server *kube.Server) (core.Initial, error) {
	loaded, err := server.LoadObjects(d.objectPaths...)
	if err != nil {
		return core.Initial{}, err
	}
	var objects []runtime.Object
	for _, object := range loaded {
		objects = append(objects, object)
	}
	for _, object := range d.objects {
		objects = append(objects, object)
	}
	return server.Initial(objects...)
}

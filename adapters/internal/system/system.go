package system

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/orrery-dev/orrery/adapters/internal/webhook"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

// server returns the API server with the definitions of the options.
func (d *Definition) server(scheme *runtime.Scheme) (*kube.Server, error) {
	var err error
	if d.installed, err = kube.ReadDefinitions(d.definitionPaths...); err != nil {
		return nil, err
	}
	for i, text := range d.definitionTexts {
		definitions, err := parseDefinitions(text)
		if err != nil {
			return nil, fmt.Errorf("number %d of the texts given to CRDBytes: %w", i+1, err)
		}
		d.installed = append(d.installed, definitions...)
	}
	return kube.NewServer(scheme, append(slices.Clone(d.serverOptions), kube.Definitions(d.installed...))...)
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

// loaded returns the objects that are there at the start.
func (d *Definition) loaded(server *kube.Server) ([]runtime.Object, error) {
	files, err := server.LoadObjects(d.objectPaths...)
	if err != nil {
		return nil, err
	}
	var objects []runtime.Object
	for _, object := range files {
		objects = append(objects, object)
	}
	for _, object := range d.objects {
		objects = append(objects, object)
	}
	return objects, nil
}

// Configurations returns what a cluster knows of the webhooks.
func (d *Definition) Configurations() ([]webhook.Configuration, error) {
	return webhook.Read(d.webhookPaths)
}

// system returns the system with the controllers that were found, and with what was noted about them. The server is as
// it answers in the end, with indexes and webhooks.
func (d *Definition) system(server *kube.Server, controllers []core.Strategy, found *findings) (*core.System, error) {
	objects, err := d.loaded(server)
	if err != nil {
		return nil, err
	}
	initial, err := server.Initial(append(slices.Clone(objects), server.Installed(d.installed, objects)...)...)
	if err != nil {
		return nil, err
	}
	again, err := d.implied(server, controllers, objects)
	if err != nil {
		return nil, err
	}
	played := scenario.Of(server, d.actions, d.inOrder)
	if err := d.promises(played, server, controllers); err != nil {
		return nil, err
	}
	system := &core.System{
		Name:       d.name,
		Store:      server,
		Scenario:   played,
		Strategies: append(controllers, d.strategies...),
		Initial:    []core.Initial{initial},
		Implied:    again,
		Deletion:   deletion(server),
		Changes:    changes(server, objects),
		Properties: d.properties,

		// What is read through the cache shows only when it is read.
		Kinds:           server.Kinds(),
		Interchangeable: d.interchangeable,
		IgnoredMemory:   d.ignoredMemory,
		Randomness:      server.Randomness(),
		Libraries:       libraries(),
		Assumptions:     found.assumptions,
		Unmodelled:      found.doubts,
	}
	if err := d.unrun(system, found.parts); err != nil {
		return nil, err
	}
	taken := namesOf(system.Strategies)
	for _, companion := range d.companions {
		strategy, err := companion(server)
		if err != nil {
			return nil, err
		}
		if other, ok := strategy.(interface{ Aside() core.Strategy }); ok && slices.Contains(taken, strategy.Describe().Name) {
			strategy = other.Aside()
		}
		system.Strategies = append(system.Strategies, strategy)
		system.Surroundings = append(system.Surroundings, strategy.Describe().Name)
	}
	players, err := d.players(system, server)
	if err != nil {
		return nil, err
	}
	system.Strategies = append(system.Strategies, players...)
	for _, player := range players {
		system.Surroundings = append(system.Surroundings, player.Describe().Name)
	}
	d.collected(system, server)
	if err := d.surround(system); err != nil {
		return nil, err
	}
	if err := system.Validate(); err != nil {
		return nil, err
	}
	return system, nil
}

// namesOf returns the names of controllers.
func namesOf(strategies []core.Strategy) []string {
	var names []string
	for _, strategy := range strategies {
		if strategy != nil {
			names = append(names, strategy.Describe().Name)
		}
	}
	return names
}

package system

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/players"
	"github.com/orrery-dev/orrery/core"
)

// players are the controllers of Kubernetes itself that the options ask for. They look
// after the kinds that the system is about.
func (d *Definition) players(system *core.System, server *kube.Server) ([]core.Strategy, error) {
	var all []core.Strategy
	if d.collectGarbage {
		kinds, err := d.kindsAbout(system, server, d.garbageKinds)
		if err != nil {
			return nil, fmt.Errorf("garbage collection: %w", err)
		}
		collector, err := players.GarbageCollector(server, kinds...)
		if err != nil {
			return nil, fmt.Errorf("garbage collection: %w", err)
		}
		all = append(all, collector)
	}
	if d.emptyNamespaces {
		kinds, err := d.kindsAbout(system, server, d.contentKinds)
		if err != nil {
			return nil, fmt.Errorf("namespace deletion: %w", err)
		}
		controller, err := players.NamespaceController(server, namespaced(server, kinds)...)
		if err != nil {
			return nil, fmt.Errorf("namespace deletion: %w", err)
		}
		all = append(all, controller)
	}
	if d.protectVolumes {
		protector, err := players.VolumeProtector(server)
		if err != nil {
			return nil, fmt.Errorf("volume protection: %w", err)
		}
		all = append(all, protector)
	}
	return all, nil
}

// kindsAbout are the kinds that some strategy watches, those of the initial objects, and
// those of the objects given.
func (d *Definition) kindsAbout(system *core.System, server *kube.Server, given []client.Object) ([]core.Kind, error) {
	known := server.Kinds()
	var kinds []core.Kind
	for _, s := range system.Strategies {
		kinds = append(kinds, s.Describe().Watches...)
	}
	for _, object := range system.Initial[0].Objects {
		// The server's own records are not objects that anybody looks after, and definitions that are installed are so
		// by nobody here.
		if slices.Contains(known, object.Key.Kind) && !d.isInstalled(object.Key) {
			kinds = append(kinds, object.Key.Kind)
		}
	}
	for _, object := range given {
		of, err := informer.Of(object, server.Scheme())
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, of.Name())
	}
	slices.Sort(kinds)
	return slices.Compact(kinds), nil
}

// isInstalled reports whether a key is that of a definition that is installed from the start.
func (d *Definition) isInstalled(key core.Key) bool {
	return key.Kind == kube.KindOf(apiextensionsv1.Kind("CustomResourceDefinition")) &&
		slices.ContainsFunc(d.installed, func(i *apiextensionsv1.CustomResourceDefinition) bool { return i.Name == key.Name })
}

// namespaced returns the kinds whose objects are in namespaces.
func namespaced(server *kube.Server, kinds []core.Kind) []core.Kind {
	mapper := server.RESTMapper()
	return slices.DeleteFunc(kinds, func(kind core.Kind) bool {
		mapping, err := mapper.RESTMapping(schema.ParseGroupKind(string(kind)))
		return err == nil && mapping.Scope.Name() != meta.RESTScopeNameNamespace
	})
}

// collected tells the API server what the garbage collector looks after: the one that the options ask for, or another
// strategy of that name. A deletion that would wait for it elsewhere is not modelled.
func (d *Definition) collected(system *core.System, server *kube.Server) {
	var collector kube.Collector = kube.Collected{}
	for _, s := range system.Strategies {
		if described := s.Describe(); described.Name != kube.GarbageCollectorName {
			continue
		} else if of, says := s.(kube.Collector); says {
			collector = of
		} else {
			collector = kube.Collected(described.Watches)
		}
	}
	collecting := server.Collecting(collector)
	system.Store = collecting
	for _, initial := range system.Initial {
		for _, object := range initial.Objects {
			if err := collecting.Uncollected(object.Key, object.Content); err != nil {
				system.Unmodelled = append(system.Unmodelled, err.Error())
			}
		}
	}
}

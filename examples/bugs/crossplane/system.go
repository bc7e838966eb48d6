package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"

	xpv1 "github.com/crossplane/crossplane-runtime/v2/apis/common/v1"
	"github.com/crossplane/crossplane/v2/apis"
	v1 "github.com/crossplane/crossplane/v2/apis/apiextensions/v1"
	"github.com/crossplane/crossplane/v2/internal/controller/apiextensions/composition"
)

// setting is what differs from system to system.
type setting struct {
	claims int
	// manual says that claims take up a new revision of their composition only when told.
	manual bool
	// second adds a second composition, which nobody uses at the start.
	second bool
	// configMap is the name of what compositions make, empty for one that Crossplane derives
	// from the composite.
	configMap string
	// collect adds the garbage collector, where something is deleted.
	collect    bool
	actions    []controllerruntime.Action
	properties []core.Property
}

// newSystem returns the controllers in a setting.
func newSystem(name string, in setting) (*core.System, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	files, err := definitionFiles()
	if err != nil {
		return nil, err
	}
	definition := newDefinition()
	definitions, err := customResources(definition)
	if err != nil {
		return nil, err
	}
	options := []controllerruntime.Option{
		controllerruntime.Name(name),
		controllerruntime.CRDs(files...),
		controllerruntime.APIServer(kube.Definitions(definitions...), kube.ManagedFields()),
		controllerruntime.Setup(setup),
		// A circuit breaker counts the events for each composite. It opens at hundreds of them in a minute.
		controllerruntime.IgnoreMemory("silentlyRequeueOnConflict.circuit.targets"),
		controllerruntime.ObjectValues(in.objects(definition)...),
		controllerruntime.Scenario(in.actions...),
		controllerruntime.Properties(in.properties...),
	}
	if in.collect {
		options = append(options, controllerruntime.GarbageCollection())
	}
	return controllerruntime.New(scheme, options...)
}

// objects returns what is there at the start.
func (in setting) objects(definition *v1.CompositeResourceDefinition) []client.Object {
	objects := []client.Object{definition, newFunction(), newComposition(alpha, in.configMap)}
	if in.second {
		objects = append(objects, newComposition(beta, in.configMap))
	}
	policy := xpv1.UpdateAutomatic
	if in.manual {
		policy = xpv1.UpdateManual
	}
	for i := range in.claims {
		objects = append(objects, newClaim(claimName(i), alpha, policy))
	}
	return objects
}

// newScheme has the kinds that the main.go of Crossplane gives to its manager, as far as
// they occur here.
func newScheme() (*kuberuntime.Scheme, error) {
	scheme := kuberuntime.NewScheme()
	for _, add := range []func(*kuberuntime.Scheme) error{corev1.AddToScheme, extv1.AddToScheme, apis.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// definitionFiles finds Crossplane's own custom resource definitions in the source of
// its module, next to the controllers that are compiled in.
func definitionFiles() ([]string, error) {
	source, _ := runtime.FuncForPC(reflect.ValueOf(composition.Setup).Pointer()).FileLine(0)
	folder := filepath.Join(filepath.Dir(source), "..", "..", "..", "..", "cluster", "crds")
	var files []string
	for _, kind := range []string{
		"apiextensions.crossplane.io_compositeresourcedefinitions", "apiextensions.crossplane.io_compositions",
		"apiextensions.crossplane.io_compositionrevisions", "pkg.crossplane.io_functionrevisions",
	} {
		file := filepath.Join(folder, kind+".yaml")
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("the definitions of Crossplane are read from the source of its module, which is not there: build without -trimpath and run where Go modules are: %w", err)
		}
		files = append(files, file)
	}
	return files, nil
}

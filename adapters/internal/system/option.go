package system

import (
	"errors"

	hclog "github.com/hashicorp/go-hclog"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

// Option is a part of a [Definition]. Adapters give their users options of the same names, with more to say about each.
type Option func(*Definition)

// Definition is what options say of a system besides its controllers.
type Definition struct {
	name   string
	logger hclog.Logger

	// libraries are those that the controllers are made with, in the order in which options name them.
	libraries []Library

	serverOptions   []kube.Option
	definitionPaths []string
	definitionTexts [][]byte
	// installed are the definitions in those, once they are read.
	installed []*apiextensionsv1.CustomResourceDefinition

	webhookPaths []string
	objectPaths  []string
	objects      []client.Object

	actions []scenario.Action
	inOrder bool

	strategies []core.Strategy
	companions []companions.Companion
	properties []core.Property
	external   []external.Part

	interchangeable [][]string
	ignoredMemory   []string

	collectGarbage bool
	garbageKinds   []client.Object

	emptyNamespaces bool
	contentKinds    []client.Object

	protectVolumes bool

	// leftOut are the parts of set-ups that do not matter.
	leftOut []Part

	errs []error
}

// Define starts the definition of a system.
func Define() *Definition { return &Definition{name: "controllers"} }

// Fail notes a mistake in the options.
func (d *Definition) Fail(message string) { d.errs = append(d.errs, errors.New(message)) }

// IgnoreMemory names fields of controllers whose contents make no difference.
func IgnoreMemory(fields ...string) Option {
	return func(d *Definition) { d.ignoredMemory = append(d.ignoredMemory, fields...) }
}

// Name is what reports call the system.
func Name(name string) Option { return func(d *Definition) { d.name = name } }

// CRDs are files and folders with custom resource definitions that are installed: their kinds are served, and who can
// read definitions finds them.
func CRDs(paths ...string) Option {
	return func(d *Definition) { d.definitionPaths = append(d.definitionPaths, paths...) }
}

// CRDBytes are custom resource definitions as text, as with [CRDs].
func CRDBytes(text []byte) Option {
	return func(d *Definition) { d.definitionTexts = append(d.definitionTexts, text) }
}

// APIServer are choices that the API server is made with.
func APIServer(options ...kube.Option) Option {
	return func(d *Definition) { d.serverOptions = append(d.serverOptions, options...) }
}

// WebhookConfigurations are files with what a cluster knows of its webhooks.
func WebhookConfigurations(paths ...string) Option {
	return func(d *Definition) { d.webhookPaths = append(d.webhookPaths, paths...) }
}

// Objects are files and folders with objects that are there at the start.
func Objects(paths ...string) Option {
	return func(d *Definition) { d.objectPaths = append(d.objectPaths, paths...) }
}

// ObjectValues are objects that are there at the start.
func ObjectValues(objects ...client.Object) Option {
	return func(d *Definition) {
		for _, object := range objects {
			if object == nil {
				d.Fail("an initial object is nil")
				return
			}
		}
		d.objects = append(d.objects, objects...)
	}
}

// Scenario is what users may do.
func Scenario(actions ...scenario.Action) Option {
	return func(d *Definition) { d.actions = append(d.actions, actions...) }
}

// InOrder is what users may do, one after the other.
func InOrder(actions ...scenario.Action) Option {
	return func(d *Definition) {
		d.actions, d.inOrder = append(d.actions, actions...), true
	}
}

// Strategies are players of other adapters.
func Strategies(strategies ...core.Strategy) Option {
	return func(d *Definition) { d.strategies = append(d.strategies, strategies...) }
}

// Companions are controllers of Kubernetes that the checked ones build upon.
func Companions(all ...companions.Companion) Option {
	return func(d *Definition) {
		for _, companion := range all {
			if companion == nil {
				d.Fail("a companion is nil: pass what a function of package companions returns")
				return
			}
		}
		d.companions = append(d.companions, all...)
	}
}

// External adds parts of the world besides the API server.
func External(parts ...external.Part) Option {
	return func(d *Definition) { d.external = append(d.external, parts...) }
}

// GarbageCollection adds the garbage collector, also for the kinds of the objects.
func GarbageCollection(kinds ...client.Object) Option {
	return func(d *Definition) {
		d.collectGarbage = true
		d.garbageKinds = append(d.garbageKinds, kinds...)
	}
}

// NamespaceDeletion adds the namespace controller, also for the kinds of the objects.
func NamespaceDeletion(kinds ...client.Object) Option {
	return func(d *Definition) {
		d.emptyNamespaces = true
		d.contentKinds = append(d.contentKinds, kinds...)
	}
}

// VolumeProtection adds the controllers that protect volumes, and makes the server protect them.
func VolumeProtection() Option {
	return func(d *Definition) {
		d.protectVolumes = true
		d.serverOptions = append(d.serverOptions, kube.VolumeProtection())
	}
}

// Properties are what is to be checked.
func Properties(properties ...core.Property) Option {
	return func(d *Definition) { d.properties = append(d.properties, properties...) }
}

// Interchangeable is one group of interchangeable names.
func Interchangeable(names ...string) Option {
	return func(d *Definition) { d.interchangeable = append(d.interchangeable, names) }
}

// Logger gets what controllers log.
func Logger(logger hclog.Logger) Option { return func(d *Definition) { d.logger = logger } }

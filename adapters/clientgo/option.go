package clientgo

import (
	"github.com/hashicorp/go-hclog"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

// Option is a part of the system that [New] makes.
type Option func(*definition)

// definition is what the options say.
type definition struct {
	*system.Definition
	setups []func(*Environment) error
}

// part returns the part of this adapter in a definition.
func part(of *system.Definition) *definition {
	return system.Joined(of, func() *definition { return &definition{Definition: of} })
}

// Join adds the option to a definition of any adapter for Kubernetes. Users call With instead, which each of these
// adapters has.
func (o Option) Join(of *system.Definition) {
	if o == nil {
		of.Fail("an option is nil: pass what a function of package clientgo returns")
		return
	}
	o(part(of))
}

// With adds what options of other adapters for Kubernetes say: the set-ups of package controllerruntime, for example,
// whose controllers then act on the same API server, which asks their webhooks. Each of these set-ups is a process of
// its own, with caches, memory and crashes of its own, as it is in a cluster where it is another program. What all
// adapters have options for, such as objects and users, can be said with those of either.
func With(options ...system.Foreign) Option { return common(system.With(options...)) }

// common is an option that all adapters for Kubernetes have.
func common(option system.Option) Option { return func(d *definition) { option(d.Definition) } }

// Name is what reports call the system; "controllers" without it.
func Name(name string) Option { return common(system.Name(name)) }

// Setup adds the controllers that a function makes and registers with [Sync] or [Run]: what main.go does between
// reading its flags and running its controllers. The function is called many times, each time with a fresh environment.
// It must register the same each time. Each set-up is a process of its own.
func Setup(setup func(*Environment) error) Option {
	return func(d *definition) {
		if setup == nil {
			d.Fail("a set-up is nil: pass a function that registers controllers")
			return
		}
		d.setups = append(d.setups, setup)
	}
}

// IgnoreMemory says that what controllers keep in some fields, such as "Controller.metrics", makes no difference to
// what they do, with all that can be reached from these. What else they keep in memory is part of each state; reports
// name it. It is an assumption, and reports say so. See also the option of a check of that name.
func IgnoreMemory(fields ...string) Option { return common(system.IgnoreMemory(fields...)) }

// CRDs makes the API server serve the kinds of the custom resource definitions in YAML files, or in all YAML files of
// directories. If the scheme has their kind, the definitions are also initial objects that controllers can read; those
// of which controllers make the objects themselves belong into APIServer(kube.Definitions(definitions...)).
func CRDs(paths ...string) Option { return common(system.CRDs(paths...)) }

// CRDBytes makes the API server serve the kinds of the custom resource definitions
// in YAML text, which may have several documents, as [CRDs] does.
func CRDBytes(text []byte) Option { return common(system.CRDBytes(text)) }

// APIServer are choices that the API server is made with, besides the definitions given
// to [CRDs] and [CRDBytes]: such as [kube.StrictNamespaces] and [kube.ManagedFields].
func APIServer(options ...kube.Option) Option { return common(system.APIServer(options...)) }

// Unordered says that the order of the items of a list means nothing, so that outcomes which differ in it alone are the
// same. See [kube.Unordered] for how the kind and the path are written, and for which lists that is known already.
func Unordered(kind core.Kind, path string) Option {
	return common(system.APIServer(kube.Unordered(kind, path)))
}

// Objects are there at the start: those in YAML files, or in all YAML files of
// directories.
func Objects(paths ...string) Option { return common(system.Objects(paths...)) }

// ObjectValues are objects that are there at the start: any typed or unstructured ones. They may leave out what the
// API server fills in.
func ObjectValues(objects ...client.Object) Option { return common(system.ObjectValues(objects...)) }

// Scenario lets users do something while the controllers work: each action once, at any
// moment, or never. Package [github.com/orrery-dev/orrery/adapters/kube/scenario] makes the usual actions.
func Scenario(actions ...scenario.Action) Option { return common(system.Scenario(actions...)) }

// InOrder is a [Scenario] whose actions can be taken only one after the other. This then
// goes for all actions of the system.
func InOrder(actions ...scenario.Action) Option { return common(system.InOrder(actions...)) }

// Strategies adds players that are not made of client-go.
func Strategies(strategies ...core.Strategy) Option { return common(system.Strategies(strategies...)) }

// External adds parts of the world that controllers talk to besides the API server, such as a cloud. Set-ups make their
// clients for it from [Environment.Config]. See package [external].
func External(parts ...external.Part) Option { return common(system.External(parts...)) }

// GarbageCollection adds the garbage collector of Kubernetes. It deletes objects
// whose owners are gone. It looks after the kinds that some controller watches,
// those of the initial objects, those of the objects given here, and those of which an object
// comes to belong to another one.
func GarbageCollection(kinds ...client.Object) Option {
	return common(system.GarbageCollection(kinds...))
}

// NamespaceDeletion adds the namespace controller of Kubernetes. It empties a Namespace
// that is being deleted, and then lets it go. It looks after the namespaced kinds that
// some controller watches, those of the initial objects, and those of the objects given
// here.
func NamespaceDeletion(kinds ...client.Object) Option {
	return common(system.NamespaceDeletion(kinds...))
}

// VolumeProtection keeps claims and volumes that are deleted while they are in use, and adds the
// controllers of Kubernetes that let them go afterwards.
func VolumeProtection() Option { return common(system.VolumeProtection()) }

// Companions adds controllers of Kubernetes that the checked ones build upon, such as [companions.StatefulSets] and
// [companions.Pods].
func Companions(all ...companions.Companion) Option { return common(system.Companions(all...)) }

// Properties are what is to be checked whenever the system is.
func Properties(properties ...core.Property) Option { return common(system.Properties(properties...)) }

// Interchangeable declares names of which it does not matter which is which: of objects that start equal but for their
// names, and that controllers treat alike. Each call declares one group. See [core.System].
func Interchangeable(names ...string) Option { return common(system.Interchangeable(names...)) }

// Logger gets what controllers log through klog or the logger of their contexts. Without it, nothing is logged. What
// stories show with the option Logs of a check does not come here.
func Logger(logger hclog.Logger) Option { return common(system.Logger(logger)) }

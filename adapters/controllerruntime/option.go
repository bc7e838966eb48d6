package controllerruntime

import (
	"reflect"

	"github.com/hashicorp/go-hclog"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/core"
)

// Option is a part of the system that [New] makes.
type Option func(*definition)

// definition is what the options say.
type definition struct {
	*system.Definition
	setups  []func(ctrl.Manager) error
	manager ctrl.Options
	// mirrors are the controllers that remember nothing but what the cache shows.
	mirrors []string
}

// part returns the part of this adapter in a definition.
func part(of *system.Definition) *definition {
	return system.Joined(of, func() *definition { return &definition{Definition: of} })
}

// Join adds the option to a definition of any adapter for Kubernetes. Users call With instead, which each of these
// adapters has.
func (o Option) Join(of *system.Definition) {
	if o == nil {
		of.Fail("an option is nil: pass what a function of package controllerruntime returns")
		return
	}
	o(part(of))
}

// With adds what options of other adapters for Kubernetes say: the set-ups of package clientgo, for example, whose
// controllers then act on the same API server. Each of these set-ups is a process of its own, with caches, memory and
// crashes of its own, as it is in a cluster where it is another program. What all adapters have options for, such as
// objects and users, can be said with those of either.
func With(options ...system.Foreign) Option { return common(system.With(options...)) }

// common is an option that all adapters for Kubernetes have.
func common(option system.Option) Option { return func(d *definition) { option(d.Definition) } }

// Name is what reports call the system; "controllers" without it.
func Name(name string) Option { return common(system.Name(name)) }

// IgnoreMemory says that what controllers keep in some fields, such as "Reconciler.metrics", makes no difference to
// what they do, with all that can be reached from these. What else they keep in memory is part of each state; reports
// name it. It is an assumption, and reports say so. See also the option of a check of that name.
func IgnoreMemory(fields ...string) Option { return common(system.IgnoreMemory(fields...)) }

// MemoryFromCache says that what these controllers, and those that share their processes, keep in memory is a function
// of what the manager's cache shows: an index, a tree or a queue that event handlers fill. It is then no part of the
// state. Before each reconcile and each event a fresh instance handles a create event for every object in the cache,
// and what it enqueues meanwhile is dropped. So the memory is always there and never behind the cache, also after a
// crash. It is an assumption, and reports say so.
func MemoryFromCache(controllers ...string) Option {
	return func(d *definition) { d.mirrors = append(d.mirrors, controllers...) }
}

// Setup adds the controllers that a function registers on a manager: the calls that main.go makes between creating its
// manager and starting it. The function is called many times, each time with a fresh manager that is connected to
// nothing. It must register the same each time, and make its reconcilers itself. Where main.go has a context that ends
// with the process, pass one that is cancelled when the function returns: goroutines that constructors start with it,
// such as those that clear caches, would stay for each of the managers.
//
// What one set-up registers runs as one process, as in one program: its controllers
// share their memory and the manager's cache, and they crash and start again together. Controllers
// of different programs belong into different set-ups. These run on the same manager, in
// the order of the options, so that what one adds to its scheme or its indexes is there for the next.
func Setup(setup func(ctrl.Manager) error) Option {
	return func(d *definition) {
		if setup == nil {
			d.Fail("a set-up is nil: pass a function that registers controllers")
			return
		}
		d.setups = append(d.setups, setup)
	}
}

// ManagerOptions are the options that main.go creates its manager with. Those that change what controllers do are taken
// over: Client, NewClient and Controller, and of the cache what it holds and how, by kind, by namespace, and by
// default: selectors of labels and of fields, namespaces, transforms, and UnsafeDisableDeepCopy. What a controller runs
// with is made of BaseContext, which is asked for each fresh manager. NewCache is refused, and of the cache NewInformer
// and ReaderFailOnMissingInformer, since they are not modelled. The scheme is that of [New], the mapper that of the
// simulated server. All others do not matter here.
func ManagerOptions(options ctrl.Options) Option {
	return func(d *definition) {
		d.manager = options
		if err := refuseCacheOptions(options.Cache); err != nil {
			d.Fail(err.Error())
		}
		if options.NewCache != nil {
			d.Fail("a cache of one's own is not modelled: leave NewCache out of the manager options")
		}
		if readsOwnWrites(options.Client.Cache) {
			d.Fail("a client that waits for its own writes is not modelled here: leave EnableReadYourWritesConsistency out of the manager options")
		}
	}
}

// readsOwnWrites looks for an option that only later versions of controller-runtime
// have.
func readsOwnWrites(options *client.CacheOptions) bool {
	if options == nil {
		return false
	}
	field := reflect.ValueOf(options).Elem().FieldByName("EnableReadYourWritesConsistency")
	if !field.IsValid() {
		return false
	}
	enabled, ok := field.Interface().(*bool)
	return ok && enabled != nil && *enabled
}

// CRDs makes the API server serve the kinds of the custom resource definitions in YAML files, or in all YAML files of
// directories. If the scheme has their kind, the definitions are also initial objects that controllers can read; those
// of which controllers make the objects themselves belong into APIServer(kube.Definitions(definitions...)).
func CRDs(paths ...string) Option { return common(system.CRDs(paths...)) }

// CRDBytes makes the API server serve the kinds of the custom resource definitions
// in YAML text, which may have several documents, as [CRDs] does.
func CRDBytes(text []byte) Option { return common(system.CRDBytes(text)) }

// APIServer are choices that the API server is made with, besides the definitions given
// to [CRDs] and [CRDBytes]: such as [kube.StrictNamespaces], [kube.ManagedFields] and [kube.CountGenerations].
func APIServer(options ...kube.Option) Option { return common(system.APIServer(options...)) }

// Unordered says that the order of the items of a list means nothing, so that outcomes which differ in it alone are the
// same. See [kube.Unordered] for how the kind and the path are written, and for which lists that is known already.
func Unordered(kind core.Kind, path string) Option {
	return common(system.APIServer(kube.Unordered(kind, path)))
}

// WebhookConfigurations says what a cluster knows of the admission webhooks that the
// set-ups register: YAML files with a MutatingWebhookConfiguration or a
// ValidatingWebhookConfiguration, such as config/webhook/manifests.yaml of a kubebuilder
// project. Then webhooks are asked as these say: at any path, under their names, about
// the operations and kinds of their rules, for the objects and namespaces they select;
// a write fails or goes on, by their failurePolicy, if a webhook does not answer in
// time. Webhooks that no configuration names are not asked. The matchPolicy is taken to
// be Equivalent.
//
// Without this option, the defaulter and the validator of a kind are asked about
// creations and updates, have ten seconds, and the write fails if they do not answer.
func WebhookConfigurations(paths ...string) Option {
	return common(system.WebhookConfigurations(paths...))
}

// Objects are there at the start: those in YAML files, or in all YAML files of
// directories.
func Objects(paths ...string) Option { return common(system.Objects(paths...)) }

// ObjectValues are objects that are there at the start. They may leave out what the
// API server fills in.
func ObjectValues(objects ...client.Object) Option { return common(system.ObjectValues(objects...)) }

// Strategies adds players that are not made of controller-runtime. See [Reconciler]
// for those that are.
func Strategies(strategies ...core.Strategy) Option { return common(system.Strategies(strategies...)) }

// Companions adds controllers of Kubernetes that the checked ones build upon, such as [companions.StatefulSets] and
// [companions.Pods].
func Companions(all ...companions.Companion) Option { return common(system.Companions(all...)) }

// External adds parts of the world that controllers talk to besides the API server, such as a cloud. Set-ups make their
// clients for it from mgr.GetConfig(). See package [external].
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

// Properties are what is to be checked whenever the system is.
func Properties(properties ...core.Property) Option { return common(system.Properties(properties...)) }

// Interchangeable declares names of which it does not matter which is which: of objects that start equal but for their
// names, and that controllers treat alike. Each call declares one group. See [core.System].
func Interchangeable(names ...string) Option { return common(system.Interchangeable(names...)) }

// Logger gets what controllers log. Without it, nothing is logged. What stories show with the option Logs of a check
// does not come here.
func Logger(logger hclog.Logger) Option { return common(system.Logger(logger)) }

// Package remote is a second cluster beside the one that the controllers run in, for controllers that read one cluster
// and write another.
//
// A [Cluster] is a [external.Part]: hand it to an adapter with the option External. It has an API server of its own
// ([kube.Server]), with its own objects, [Players] and users. In the set-up, [Cluster.Client] returns a client for it,
// and [Cluster.Config] a configuration from which any other client can be made, as from the kubeconfig of a real
// cluster.
//
// The kinds of its objects have its name: "ConfigMap@west". So findings name them, and so do properties
// ([Cluster.Kind]).
//
// # Not modelled
//
//   - Caches and watches of the second cluster: clients read from its API server, and nothing that happens there wakes a controller of the first one.
//     A controller finds out by asking, such as with RequeueAfter. A cluster.Cluster that a set-up adds to its manager is refused.
//   - Webhooks, and networks that separate the clusters, but for calls that fail where a check lets them.
//   - Interchangeable names, and properties in CEL over the objects of the second cluster.
package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// Cluster is a second cluster.
type Cluster struct {
	name    string
	server  *kube.Server
	players []core.Strategy
	initial []core.Object
	actions []core.Action
}

var _ external.Part = (*Cluster)(nil)

// Option is a choice that a [Cluster] is made with.
type Option func(*settings)

type settings struct {
	server  []kube.Option
	objects []client.Object
	players []Player
	actions []scenario.Action
}

// APIServer are choices that its API server is made with, such as [kube.DefinitionFiles].
func APIServer(options ...kube.Option) Option {
	return func(s *settings) { s.server = append(s.server, options...) }
}

// Objects are there at the start. They may leave out what the API server fills in.
func Objects(objects ...client.Object) Option {
	return func(s *settings) { s.objects = append(s.objects, objects...) }
}

// Player makes a strategy that runs in the cluster, for its server: a companion is one.
type Player func(*kube.Server) (core.Strategy, error)

// Players run in the cluster, such as companions, or the garbage collector. They keep nothing in memory.
func Players(players ...Player) Option {
	return func(s *settings) { s.players = append(s.players, players...) }
}

// Scenario lets users of the cluster do something while the controllers work: each action once, at any moment, or
// never.
func Scenario(actions ...scenario.Action) Option {
	return func(s *settings) { s.actions = append(s.actions, actions...) }
}

// New returns a cluster whose API server serves the kinds of the scheme. The name has letters, digits and dashes. The
// error says what to change.
func New(name string, scheme *runtime.Scheme, options ...Option) (*Cluster, error) {
	var chosen settings
	for _, option := range options {
		option(&chosen)
	}
	c := &Cluster{name: name}
	if err := c.build(scheme, chosen); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

func (c *Cluster) build(scheme *runtime.Scheme, chosen settings) error {
	server, err := kube.NewServer(scheme, append(chosen.server, kube.InCluster(c.name))...)
	if err != nil {
		return err
	}
	var collector kube.Collector = kube.Collected{}
	for i, player := range chosen.players {
		if player == nil {
			return fmt.Errorf("player number %d is nil", i+1)
		}
		strategy, err := player(server)
		if err != nil {
			return err
		}
		if d := strategy.Describe(); d.Name == kube.GarbageCollectorName {
			collector = kube.Collected(d.Watches)
		}
		c.players = append(c.players, lifted{c, strategy})
	}
	c.server = server.Collecting(collector)
	objects := make([]runtime.Object, len(chosen.objects))
	for i, object := range chosen.objects {
		if object == nil {
			return errors.New("an initial object is nil")
		}
		objects[i] = object
	}
	initial, err := c.server.Initial(objects...)
	if err != nil {
		return err
	}
	for _, o := range initial.Objects {
		if err := c.server.Uncollected(o.Key, o.Content); err != nil {
			return err
		}
		c.initial = append(c.initial, c.outer(o))
	}
	for _, action := range scenario.Of(c.server, chosen.actions, false).Actions {
		do := action.Do
		if do == nil {
			return fmt.Errorf("the action %q does nothing: set Action.Do", action.Name)
		}
		c.actions = append(c.actions, core.Action{Name: c.name + ": " + action.Name, Promise: action.Promise, Settled: action.Settled, Do: func(recorder core.EffectRecorder) error {
			return do(c.via(recorder))
		}})
	}
	return nil
}

// Config returns how clients reach the cluster from a set-up, from what mgr.GetConfig() or env.Config() returns there.
// The error says that this is not the configuration of a check.
func (c *Cluster) Config(config *rest.Config) (*rest.Config, error) {
	caller, err := external.CallerOf(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	main, ok := caller.(*transport.Transport)
	if !ok {
		return nil, fmt.Errorf("%s: controllers that are not of Kubernetes cannot reach a cluster", c.name)
	}
	agent, _, _ := strings.Cut(config.UserAgent, "/")
	return main.Beside(c.server, c.via).Config(agent), nil
}

// Client returns a client for a set-up that reads from the API server of the cluster itself. See [Cluster.Config].
func (c *Cluster) Client(config *rest.Config) (client.Client, error) {
	own, err := c.Config(config)
	if err != nil {
		return nil, err
	}
	return client.New(own, client.Options{Scheme: c.server.Scheme(), Mapper: c.server.RESTMapper()})
}

// separator stands between a kind and the name of its cluster.
const separator = "@"

// Kind returns what a kind of the cluster is called in findings, and in properties: "ConfigMap@west".
func (c *Cluster) Kind(kind core.Kind) core.Kind { return kind + core.Kind(separator+c.name) }

// inside returns what the server calls a kind, and false if it is none of its.
func (c *Cluster) inside(kind core.Kind) (core.Kind, bool) {
	name, own := strings.CutSuffix(string(kind), separator+c.name)
	return core.Kind(name), own
}

// outer returns an object as the system knows it, and inner as the server does.
func (c *Cluster) outer(o core.Object) core.Object {
	o.Key.Kind = c.Kind(o.Key.Kind)
	return o
}

func (c *Cluster) inner(o core.Object) core.Object {
	o.Key.Kind, _ = c.inside(o.Key.Kind)
	return o
}

// Name implements [external.Part].
func (c *Cluster) Name() string { return c.name }

// Validate implements [external.Part]: what could be wrong is found by [New].
func (c *Cluster) Validate() error { return nil }

// Store implements [external.Part].
func (c *Cluster) Store() core.Store { return store{c, c.server} }

// Owns implements [external.Part].
func (c *Cluster) Owns(kind core.Kind) bool {
	_, own := c.inside(kind)
	return own
}

// Kinds implements [external.Part].
func (c *Cluster) Kinds() []core.Kind {
	var kinds []core.Kind
	for _, kind := range c.server.Kinds() {
		kinds = append(kinds, c.Kind(kind))
	}
	return kinds
}

// Players implements [external.Part].
func (c *Cluster) Players() []core.Strategy { return slices.Clone(c.players) }

// Initial implements [external.Part].
func (c *Cluster) Initial() ([]core.Object, error) { return slices.Clone(c.initial), nil }

// Actions implements [external.Part].
func (c *Cluster) Actions() []core.Action { return slices.Clone(c.actions) }

// Assumptions implements [external.Part].
func (c *Cluster) Assumptions() []string {
	return []string{fmt.Sprintf("Nothing that happens in the cluster %s wakes a controller of the other one: no caches or watches reach from one to the other.", c.name)}
}

package remote

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// lifted is a strategy that runs in a cluster, as part of a system.
type lifted struct {
	cluster *Cluster
	of      core.Strategy
}

var _ core.Strategy = lifted{}

// Describe implements [core.Strategy].
func (l lifted) Describe() core.Description {
	d := l.of.Describe()
	d.Name += separator + l.cluster.name
	if d.Process != "" {
		d.Process += separator + l.cluster.name
	}
	d.Watches, d.Caches = l.cluster.kinds(d.Watches), l.cluster.kinds(d.Caches)
	return d
}

func (c *Cluster) kinds(of []core.Kind) []core.Kind {
	kinds := slices.Clone(of)
	for i, kind := range kinds {
		kinds[i] = c.Kind(kind)
	}
	return kinds
}

// New implements [core.Strategy]. An instance that does more than to handle events and requests is refused, as the rest
// of it would be lost.
func (l lifted) New() (core.Instance, error) {
	instance, err := l.of.New()
	if err != nil {
		return nil, err
	}
	refuse := func(does string) (core.Instance, error) {
		return nil, fmt.Errorf("%s of the cluster %s %s, which is not modelled for players of a second cluster: leave it out", l.of.Describe().Name, l.cluster.name, does)
	}
	switch instance.(type) {
	case core.Introspective:
		return refuse("keeps something in memory")
	case core.Active:
		return refuse("works in the background")
	case core.Plural:
		return refuse("shares its process with others")
	case core.Lender:
		return refuse("hands out what its cache holds")
	}
	return playing{l.cluster, instance}, nil
}

// playing is an instance at work in a cluster.
type playing struct {
	cluster *Cluster
	of      core.Instance
}

var _ core.Instance = playing{}

// Handle implements [core.Instance].
func (p playing) Handle(run core.EffectRecorder, event core.Event) []core.Request {
	event.Key.Kind, _ = p.cluster.inside(event.Key.Kind)
	return p.of.Handle(p.cluster.via(run), event)
}

// Reconcile implements [core.Instance].
func (p playing) Reconcile(run core.EffectRecorder, request core.Request) core.Result {
	return p.of.Reconcile(p.cluster.via(run), request)
}

// Package leadergroups is an operator for groups of Pods, each with a leader, in the manner of published ones: StatefulSets of leaders and of workers,
// revisions, and rolling updates. The garbage collector does part of its work.
package leadergroups

import (
	"context"
	_ "embed"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

//go:embed groupset.yaml
var definition []byte

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "leadergroups",
		Doc:  "An operator for groups of Pods, each with a leader, with rolling updates and the garbage collector.",
		Params: []catalog.Param{
			{Name: "groups", Doc: "groups of Pods", Default: 2, Min: 1, Max: 8},
			{Name: "size", Doc: "Pods of each group, with its leader", Default: 2, Min: 2, Max: 8},
			{Name: "update", Doc: "1: all groups run, and the user has just asked for another image", Default: 0, Min: 0, Max: 1},
			{Name: "restart", Doc: "1: all groups run, and a container of the last worker has just been restarted", Default: 0, Min: 0, Max: 1},
			{Name: "collector", Doc: "0: there is no garbage collector", Default: 1, Min: 0, Max: 1},
			{Name: "defect", Doc: "1: workers of a leader before count; 2: the end of workers is not watched; 3: workers are made of the newest template", Default: 0, Min: 0, Max: 3},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return System(Scenario{
				Groups: v["groups"], Size: v["size"], Update: v["update"] == 1, Restart: v["restart"] == 1,
				NoCollector: v["collector"] == 0, Defect: Defect(v["defect"]),
			})
		},
	}}
}

// Scenario says how large the system is, and what happens in it. If neither an update nor a restart does, the groups are new.
type Scenario struct {
	// Groups is how many groups there are to be, and Size how many Pods each has with its leader, 2 or more.
	Groups, Size int
	// Update tells that all groups run, and that the user has just asked for another image.
	Update bool
	// Restart tells that all groups run, and that a container of the last worker has just been restarted.
	Restart bool
	// NoCollector leaves out the garbage collector.
	NoCollector bool
	// Defect is what is wrong with the operator.
	Defect Defect
}

// Defect is a mistake in the operator, 0 for none.
type Defect int

const (
	// CountsWorkersByName takes the workers that are found under the name of a leader for those of the leader.
	CountsWorkersByName Defect = iota + 1
	// IgnoresWorkers does not watch the StatefulSets of workers.
	IgnoresWorkers
	// TakesNewestTemplate makes workers of what the set wants now, and not of the revision of their leader.
	TakesNewestTemplate
)

// System returns the operator in a scenario.
func System(of Scenario) (*core.System, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := AddToScheme(scheme); err != nil {
		return nil, err
	}
	objects, err := initial(scheme, of)
	if err != nil {
		return nil, err
	}
	options := []controllerruntime.Option{
		controllerruntime.Name("leadergroups"),
		controllerruntime.CRDBytes(definition),
		controllerruntime.Setup(func(mgr ctrl.Manager) error { return setup(mgr, of.Defect) }),
		controllerruntime.Setup(func(mgr ctrl.Manager) error { return (&StatefulSets{mgr.GetClient()}).SetupWithManager(mgr) }),
		controllerruntime.Setup(func(mgr ctrl.Manager) error { return (&Pods{mgr.GetClient()}).SetupWithManager(mgr) }),
		controllerruntime.ObjectValues(objects...),
		controllerruntime.Properties(properties.Convergent()...),
		controllerruntime.Properties(workersMatch(), allUpdated()),
	}
	if of.running() {
		options = append(options, controllerruntime.Properties(oneUnavailable()))
	}
	if !of.NoCollector {
		options = append(options, controllerruntime.GarbageCollection(&appsv1.ControllerRevision{}))
	}
	return controllerruntime.New(scheme, options...)
}

// setup registers the operator, as its main.go would. What stands in for the cluster runs in processes of its own.
func setup(mgr ctrl.Manager, defect Defect) error {
	if err := setupIndexes(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	groupSets := &GroupSets{Client: mgr.GetClient(), CountsWorkersByName: defect == CountsWorkersByName}
	if err := groupSets.SetupWithManager(mgr); err != nil {
		return err
	}
	leaders := &Leaders{
		Client: mgr.GetClient(), IgnoresWorkers: defect == IgnoresWorkers, TakesNewestTemplate: defect == TakesNewestTemplate,
	}
	return leaders.SetupWithManager(mgr)
}

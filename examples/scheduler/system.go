// Package scheduler is a scheduler that decides in a loop of its own, fed by a queue in memory, and assumes that its decisions are carried out before the
// cluster shows it.
package scheduler

import (
	_ "embed"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

//go:embed task.yaml
var definitions []byte

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "scheduler",
		Doc:  "A scheduler with a queue in memory, a loop of its own and a channel assumes what it decides, until it crashes: check it with --stale all=lag(1) --crashes 1.",
		Params: []catalog.Param{
			{Name: "tasks", Doc: "tasks", Default: 2, Min: 1, Max: 4},
			{Name: "machines", Doc: "machines, with room for one task each", Default: 2, Min: 1, Max: 4},
			{Name: "variant", Doc: "1: nothing is assumed; 2: the cluster is asked again before a task is bound; 3: and where it says no, nothing is decided until the cache has changed", Default: 0, Min: 0, Max: 3},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return System(v["tasks"], v["machines"], Variant(v["variant"]))
		},
	}}
}

// Variant is what keeps the scheduler from giving a machine to two tasks: what it assumes if it is 0.
type Variant int

const (
	// Forgetful decides by what the cache shows alone.
	Forgetful Variant = iota + 1
	// Careful assumes, and asks the cluster again before it binds a task.
	Careful
	// Patient is as careful, but decides again only when the cache has changed.
	Patient
)

// System returns the scheduler with so many tasks and machines.
func System(tasks, machines int, variant Variant) (*core.System, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, err
	}
	var objects []client.Object
	for i := range tasks {
		objects = append(objects, &Task{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("task%d", i+1)}})
	}
	for i := range machines {
		objects = append(objects, &Machine{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("machine%d", i+1)}})
	}
	return controllerruntime.New(scheme,
		controllerruntime.Name("scheduler"),
		controllerruntime.CRDBytes(definitions),
		controllerruntime.Setup(func(mgr ctrl.Manager) error { return NewScheduler(mgr, variant).SetupWithManager(mgr) }),
		controllerruntime.ObjectValues(objects...),
		controllerruntime.Properties(properties.StableConvergence(), oneEach(), placed(min(tasks, machines))),
	)
}

const kind core.Kind = "Task.example.orrery.dev"

// oneEach says that a machine never has two tasks.
func oneEach() core.Property {
	return properties.Quota("one task for each machine", kind, machineOf, func(core.State, string) int { return 1 })
}

// placed says that so many tasks get a machine in the end.
func placed(n int) core.Property {
	return properties.EventuallyAlways("all machines get to work", func(s core.State) bool {
		found := 0
		for _, object := range s.List(kind, "") {
			if machineOf(object) != "" {
				found++
			}
		}
		return found >= n
	})
}

// machineOf returns the machine of a task, empty if it has none.
func machineOf(task core.Object) string {
	fields, _ := task.Content.Fields().(map[string]any)
	machine, _, _ := unstructured.NestedString(fields, "spec", "machine")
	return machine
}

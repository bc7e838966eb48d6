// Package instances is a controller that creates an instance in a cloud for each machine, and writes its id into the status. Between the two it may
// crash: then an instance is there that nobody knows of, unless the cloud can tell that it was asked before.
package instances

import (
	_ "embed"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/external/cloud"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

//go:embed machine.yaml
var definition []byte

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "instances",
		Doc:  "A controller creates an instance in a cloud for each machine: check it with --crashes 1, and it may leak one.",
		Params: []catalog.Param{
			{Name: "variant", Doc: "1: it looks for an instance of the name before it creates one; 2: it gives a token", Max: 2},
			{Name: "lag", Doc: "how many changes of an instance the answers of the cloud may lag behind", Max: 2},
			{Name: "delete", Doc: "1: users delete a machine", Max: 1},
			{Name: "n", Doc: "machines", Default: 1, Min: 1, Max: 4},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return System(Options{Variant: Variant(v["variant"]), Lag: v["lag"], Deletes: v["delete"] == 1, Machines: v["n"]})
		},
	}}
}

// Options say what the system is like.
type Options struct {
	Variant Variant
	// Lag is how many changes of an instance the answers of the cloud may lag behind.
	Lag int
	// Deletes lets users delete the first machine.
	Deletes bool
	// Machines is how many there are; 0 means 1.
	Machines int
}

// System returns the controller with its machines and a cloud.
func System(o Options) (*core.System, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, err
	}
	var machines []client.Object
	for i := range max(1, o.Machines) {
		machines = append(machines, &Machine{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%d", i+1)}})
	}
	theCloud := cloud.New(cloud.Lag(o.Lag))
	options := []controllerruntime.Option{
		controllerruntime.Name("instances"),
		controllerruntime.CRDBytes(definition),
		controllerruntime.External(theCloud),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			asked, err := theCloud.Client(mgr.GetConfig())
			if err != nil {
				return err
			}
			return (&Reconciler{Client: mgr.GetClient(), Provider: provider{asked}, Variant: o.Variant}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(machines...),
		controllerruntime.Properties(properties.Convergent()...),
		controllerruntime.Properties(properties.NoLeaks(theCloud.Kind(), "Machine.example.orrery.dev", "status.instance")),
	}
	if o.Deletes {
		options = append(options, controllerruntime.Scenario(controllerruntime.Delete(machines[0])))
	}
	return controllerruntime.New(scheme, options...)
}

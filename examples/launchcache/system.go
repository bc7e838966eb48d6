// Package launchcache is a controller that launches instances in a cloud, where they cannot be looked up at once. What it has launched, it keeps in
// memory, so that it does not launch it again: until it crashes.
package launchcache

import (
	_ "embed"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

//go:embed claim.yaml
var definitions []byte

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "launchcache",
		Doc:  "A controller launches instances that it cannot look up at once, and remembers them until it crashes: check it with --stale all=lag(1) --crashes 1.",
		Params: []catalog.Param{
			{Name: "variant", Doc: "1: launches are not remembered; 2: launches are remembered, and idempotent too", Default: 0, Min: 0, Max: 2},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(Variant(v["variant"])) },
	}}
}

// Variant is what keeps the controller from launching twice: its memory if it is 0.
type Variant int

const (
	// Forgetful looks up instances, and does not remember any.
	Forgetful Variant = iota + 1
	// Idempotent remembers instances, and names each after its claim besides, so that a second one is refused.
	Idempotent
)

// System returns the controller with one claim.
func System(variant Variant) (*core.System, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, err
	}
	return controllerruntime.New(scheme,
		controllerruntime.Name("launchcache"),
		controllerruntime.CRDBytes(definitions),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return (&Launcher{Client: mgr.GetClient(), Variant: variant}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(&Claim{ObjectMeta: metav1.ObjectMeta{Name: "build"}}),
		controllerruntime.Properties(properties.Convergent()...),
		controllerruntime.Properties(neverTwice()),
	)
}

// neverTwice says that a claim never has two instances: both would be paid for.
func neverTwice() core.Property {
	return properties.Quota("never two instances", "Instance.example.orrery.dev", properties.ByLabel(claimLabel), func(core.State, string) int { return 1 })
}

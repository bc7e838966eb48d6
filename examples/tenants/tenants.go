// Package tenants is a number of custom resources under the same two controllers:
// one makes room for a tenant, the other says when it is there. The tenants have
// nothing to do with each other, and all is well.
package tenants

import (
	_ "embed"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

//go:embed tenant.yaml
var definition []byte

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "tenants",
		Doc:  "Independent custom resources under the same two controllers: every property holds.",
		Params: []catalog.Param{
			{Name: "n", Doc: "tenants", Default: 2, Min: 1, Max: 64},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["n"]) },
	}}
}

// System returns the two controllers with n tenants, each of which wants more room than the one before.
func System(n int) (*core.System, error) {
	var tenants []client.Object
	for i := range n {
		tenants = append(tenants, tenant(i+1, int32(10*(i+1))))
	}
	return system(controllerruntime.ObjectValues(tenants...))
}

// Alike returns the two controllers with n tenants, at least two, that differ in nothing but their names.
func Alike(n int) (*core.System, error) {
	var tenants []client.Object
	var names []string
	for i := range n {
		tenants = append(tenants, tenant(i+1, 10))
		names = append(names, tenants[i].GetName())
	}
	return system(controllerruntime.ObjectValues(tenants...), controllerruntime.Interchangeable(names...))
}

func tenant(number int, pods int32) *Tenant {
	return &Tenant{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("tenant%d", number)}, Spec: TenantSpec{Pods: pods}}
}

func system(options ...controllerruntime.Option) (*core.System, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	return controllerruntime.New(scheme, append(options,
		controllerruntime.Name("tenants"),
		controllerruntime.CRDBytes(definition),
		controllerruntime.Setup(setup),
		controllerruntime.Properties(properties.Convergent()...),
	)...)
}

// setup registers the controllers, as main.go of an operator would.
func setup(mgr ctrl.Manager) error {
	if err := (&Space{mgr.GetClient()}).SetupWithManager(mgr); err != nil {
		return err
	}
	return (&Readiness{mgr.GetClient()}).SetupWithManager(mgr)
}

// Scheme returns a scheme with the kinds of Kubernetes and of this package.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, AddToScheme(scheme)
}

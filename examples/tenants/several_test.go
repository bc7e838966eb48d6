package tenants_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/tenants"
	"github.com/orrery-dev/orrery/properties"
)

// rollout gives each tenant a Secret and a Deployment, and says when that is ready.
type rollout struct {
	client.Client
	// picks has it list all Secrets and pick the one of the tenant, and remembers has it keep the generation of each tenant.
	picks, remembers bool
	seen             map[string]int64
	// fails has it fail as long as the Deployment is not ready, so that it is tried again.
	fails bool
}

var errNotReady = errors.New("the Deployment is not ready")

func (r *rollout) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var tenant tenants.Tenant
	if err := r.Get(ctx, request.NamespacedName, &tenant); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if r.remembers {
		r.seen[tenant.Name] = tenant.Generation
	}
	made, err := r.made(ctx, tenant.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !made {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: tenant.Name + "-secret", Namespace: "default"}}
		if err := r.Create(ctx, secret); err != nil {
			return ctrl.Result{}, err
		}
	}
	one, labels := int32(1), map[string]string{"tenant": tenant.Name}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: tenant.Name, Namespace: "default"}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		deployment.Spec.Replicas, deployment.Spec.Selector = &one, &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "nginx"}}
		}
		return controllerutil.SetControllerReference(&tenant, deployment, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	ready := deployment.Status.ReadyReplicas == 1
	if tenant.Status.Ready != ready {
		tenant.Status.Ready = ready
		return ctrl.Result{}, r.Status().Update(ctx, &tenant)
	}
	if r.fails && !ready {
		return ctrl.Result{}, errNotReady
	}
	return ctrl.Result{}, nil
}

// made reports whether the Secret of a tenant is there.
func (r *rollout) made(ctx context.Context, tenant string) (bool, error) {
	if !r.picks {
		err := r.Get(ctx, client.ObjectKey{Namespace: "default", Name: tenant + "-secret"}, &corev1.Secret{})
		return err == nil, client.IgnoreNotFound(err)
	}
	var all corev1.SecretList
	err := r.List(ctx, &all)
	for _, secret := range all.Items {
		if secret.Name == tenant+"-secret" {
			return true, err
		}
	}
	return false, err
}

// owners lists all tenants, and returns the request of the one whose Secret it is.
func (r *rollout) owners(ctx context.Context, secret client.Object) []reconcile.Request {
	var all tenants.TenantList
	if err := r.List(ctx, &all); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range all.Items {
		if strings.TrimSuffix(secret.GetName(), "-secret") == all.Items[i].Name {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
		}
	}
	return requests
}

// TestSeveralTenants checks tenants that have nothing to do with each other, each with a Deployment and the controllers that bring it up. What is searched for one of them adds to what is searched for
// the others, and does not multiply with it, in whatever way the code finds out what is whose.
func TestSeveralTenants(t *testing.T) {
	definition, err := os.ReadFile("tenant.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name                          string
		picks, maps, remembers, fails bool
	}{
		{name: "by name"},
		{name: "out of a list", picks: true},
		{name: "by a map function that lists", maps: true},
		{name: "both", picks: true, maps: true},
		{name: "with memory by tenant", remembers: true},
		{name: "out of a list, with memory by tenant", picks: true, remembers: true},
		{name: "tried again until it is ready", fails: true},
		{name: "out of a list, tried again until it is ready", picks: true, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var states []int
			for n := 1; n <= 3; n++ {
				var objects []client.Object
				for i := range n {
					objects = append(objects, &tenants.Tenant{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("t", i)}, Spec: tenants.TenantSpec{Pods: int32(i + 1)}})
				}
				scheme, err := tenants.Scheme()
				if err != nil {
					t.Fatal(err)
				}
				system, err := controllerruntime.New(scheme,
					controllerruntime.ObjectValues(objects...), controllerruntime.Name("rollout"), controllerruntime.CRDBytes(definition),
					controllerruntime.Properties(properties.Convergent()...),
					controllerruntime.Companions(companions.Deployments(), companions.ReplicaSets(), companions.Pods()),
					controllerruntime.Setup(func(mgr ctrl.Manager) error {
						r := &rollout{Client: mgr.GetClient(), picks: test.picks, remembers: test.remembers, seen: map[string]int64{}, fails: test.fails}
						b := ctrl.NewControllerManagedBy(mgr).For(&tenants.Tenant{}).Owns(&appsv1.Deployment{})
						if test.maps {
							b = b.Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.owners))
						}
						return b.Complete(r)
					}))
				if err != nil {
					t.Fatal(err)
				}
				result, err := orrery.Run(t.Context(), system, orrery.Options{})
				if err != nil || result.Report.Verdict != core.Holds {
					t.Fatalf("%d tenants: %v, %v", n, result.Report.Verdict, err)
				}
				states = append(states, result.Report.States)
			}
			if states[1]-states[0] != states[0]-1 || states[2]-states[1] != states[0]-1 {
				t.Errorf("one, two and three tenants have %d states", states)
			}
			t.Logf("%d states", states)
		})
	}
}

package conformance

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
)

// copies are how many objects a reconcile of the copier writes.
const copies = 8

// copier writes what is in a Secret to ConfigMaps.
type copier struct{ client.Client }

func (c copier) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	secret := &corev1.Secret{}
	if err := c.Get(ctx, request.NamespacedName, secret); err != nil {
		return reconcile.Result{}, err
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"data":{"seen":%q}}`, secret.Data["a"]))
	for i := range copies {
		if err := c.Patch(ctx, copyNumber(i), patch); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, nil
}

func copyNumber(i int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("copy-%d", i)}}
}

// BenchmarkRememberedWrite takes a step of a search again that is known: a reconcile with
// several writes. It needs no real server.
func BenchmarkRememberedWrite(b *testing.B) {
	scheme, err := NewScheme()
	if err != nil {
		b.Fatal(err)
	}
	objects := []client.Object{&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string][]byte{"a": []byte("1")}}}
	for i := range copies {
		objects = append(objects, copyNumber(i))
	}
	system := controllerruntime.ForTest(b, scheme, controllerruntime.ObjectValues(objects...), controllerruntime.Setup(func(m ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(m).For(&corev1.Secret{}).Complete(copier{m.GetClient()})
	}))
	space, err := explore.Search(b.Context(), system, explore.Options{Workers: 1, Run: behavior.Limits{Deadline: time.Minute, Calls: 100}})
	if err != nil {
		b.Fatal(err)
	}
	start := space.Initial()[0]
	if edges := space.Edges(start); len(edges) != 1 || len(space.Outcome(edges[0].To)) != len(objects) || edges[0].To == start {
		b.Fatalf("the first step is not one reconcile that writes: %v", edges)
	}
	var edges []core.Edge
	for b.Loop() {
		edges = space.Edges(start)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/copies, "ns/write")
	b.ReportMetric(float64(len(edges)), "steps")
}

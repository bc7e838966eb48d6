package kube_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// creator is a controller that makes its requests itself, as adapters do for others: it creates a ConfigMap in each
// Namespace.
type creator struct{}

func (creator) Describe() core.Description {
	return core.Description{Name: "creator", Watches: []core.Kind{"Namespace"}}
}

func (c creator) New() (core.Instance, error) { return c, nil }

func (creator) Handle(_ core.EffectRecorder, e core.Event) []core.Request {
	return []core.Request{core.Request(e.Key.Name)}
}

func (creator) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	response := recorder.Do(&kube.Request{
		Verb:      kube.Create,
		Kind:      corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		Namespace: string(request),
		Body:      []byte(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "defaults"}}`),
	})
	return core.Result{Err: response.(*kube.Response).Err()}
}

// A system over the simulated API server, put together by hand.
func ExampleServer() {
	server, err := kube.NewServer(scheme.Scheme)
	if err != nil {
		fmt.Println(err)
		return
	}
	start, err := server.Initial(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := orrery.Run(context.Background(), &core.System{
		Name:       "defaults",
		Store:      server,
		Initial:    []core.Initial{start},
		Strategies: []core.Strategy{creator{}},
	}, orrery.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Report.Verdict)
	for _, object := range result.Report.OutcomeList[0].Objects {
		fmt.Println(object.Key())
	}
	// Output:
	// holds
	// ConfigMap team/defaults
	// Namespace team
}

package scenario

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// answers is a recorder that notes the calls and answers each with the same object.
type answers struct {
	object string
	calls  []string
}

func (a *answers) Do(call core.Call) core.Response {
	a.calls = append(a.calls, call.String())
	return kube.Done([]byte(a.object))
}

func newServer(t *testing.T) *kube.Server {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server, err := kube.NewServer(scheme)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func TestOf(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	tree := &unstructured.Unstructured{}
	tree.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ReplicationController"))
	tree.SetNamespace("default")
	tree.SetName("r")
	refused := errors.New("refused")
	for _, test := range []struct {
		action Action
		name   string
		calls  []string
		err    error
	}{
		{Create(node), "create Node n", []string{"create Node n"}, nil},
		{Delete(tree), "delete ReplicationController default/r", []string{"delete ReplicationController default/r"}, nil},
		{Scale(tree, 2), "scale ReplicationController default/r to 2", []string{"patch (merge) ReplicationController default/r (scale)"}, nil},
		{Change("cordon n", node, func(n *corev1.Node) { n.Spec.Unschedulable = true }), "cordon n", []string{"get Node n", "update Node n"}, nil},
		{Action{"give up", func(context.Context, client.Client) error { return refused }}, "give up", nil, refused},
	} {
		scenario := Of(newServer(t), []Action{test.action}, true)
		if !scenario.InOrder || len(scenario.Actions) != 1 || scenario.Actions[0].Name != test.name {
			t.Fatalf("got %+v, want %q", scenario, test.name)
		}
		for range 2 { // each time the same
			user := &answers{object: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`}
			if err := scenario.Actions[0].Do(user); !errors.Is(err, test.err) {
				t.Errorf("%s: %v", test.name, err)
			}
			if !slices.Equal(user.calls, test.calls) {
				t.Errorf("%s: calls %q, want %q", test.name, user.calls, test.calls)
			}
		}
	}
	if node.Spec.Unschedulable {
		t.Error("an action changes the object that it was given")
	}
}

// An action without code stays one: the engine says what is wrong with it.
func TestOfNothing(t *testing.T) {
	if scenario := Of(newServer(t), []Action{{Name: "nothing"}}, false); scenario.InOrder || scenario.Actions[0].Do != nil {
		t.Errorf("got %+v", scenario)
	}
}

package scenario

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
		{Action{Name: "give up", Do: func(context.Context, client.Client) error { return refused }}, "give up", nil, refused},
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
	for settled, action := range map[bool]Action{false: Create(node), true: Create(node).OnceSettled()} {
		if got := Of(newServer(t), []Action{action}, false).Actions[0].Settled; got != settled {
			t.Errorf("once the system has settled: %t, want %t", got, settled)
		}
	}
	if node.Spec.Unschedulable {
		t.Error("an action changes the object that it was given")
	}
}

// TestCreateOnceGone wants a user to wait who meets the old object, and to give up for any other reason.
func TestCreateOnceGone(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	resource := schema.GroupResource{Resource: "nodes"}
	for want, err := range map[bool]*apierrors.StatusError{true: apierrors.NewAlreadyExists(resource, "n"), false: apierrors.NewForbidden(resource, "n", nil)} {
		action := Of(newServer(t), []Action{CreateOnceGone(node).Promised()}, true).Actions[0]
		if action.Name != "create Node n" || action.Promise == nil {
			t.Errorf("got %+v", action)
		}
		if got := action.Do(refusal{kube.Refused(&err.ErrStatus)}); got == nil || errors.Is(got, core.ErrNotEnabled) != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// TestDeleteOnceThere wants a user to wait who finds nothing to delete, and to give up for any other reason.
func TestDeleteOnceThere(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	resource := schema.GroupResource{Resource: "nodes"}
	for want, err := range map[bool]*apierrors.StatusError{true: apierrors.NewNotFound(resource, "n"), false: apierrors.NewForbidden(resource, "n", nil)} {
		action := Of(newServer(t), []Action{DeleteOnceThere(node)}, true).Actions[0]
		if got := action.Do(refusal{kube.Refused(&err.ErrStatus)}); action.Name != "delete Node n" || got == nil || errors.Is(got, core.ErrNotEnabled) != want {
			t.Errorf("%q, %v: %v", action.Name, err, got)
		}
	}
}

// TestMentions finds the name of an object in requests of any form.
func TestMentions(t *testing.T) {
	for request, want := range map[core.Request]bool{
		"web": true, "default/web": true, "ConfigMap/default/web": true, `{"Namespace":"default","Name":"web"}`: true, "default/web-1": false, "web/x": true, "": false, "default/cobweb": false,
	} {
		if got := mentions(request, "web"); got != want {
			t.Errorf("%q names it: %t", request, got)
		}
	}
}

// refusal answers all calls the same.
type refusal struct{ response core.Response }

func (r refusal) Do(core.Call) core.Response { return r.response }

// An action without code stays one: the engine says what is wrong with it.
func TestOfNothing(t *testing.T) {
	if scenario := Of(newServer(t), []Action{{Name: "nothing"}}, false); scenario.InOrder || scenario.Actions[0].Do != nil {
		t.Errorf("got %+v", scenario)
	}
}

// TestValid checks that an object which no server takes is a mistake of the scenario, and nothing that another state
// may change.
func TestValid(t *testing.T) {
	mine := func(name, namespace string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}}}}
	}
	for _, test := range []struct {
		name    string
		actions []Action
		want    string
	}{
		{"valid", []Action{Create(mine("a", "default")), Delete(mine("b", "default"))}, ""},
		{"generated name", []Action{Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-", Namespace: "default"}})}, ""},
		{"not there", []Action{Scale(mine("a", "default"), 2), Change("change it", mine("a", "default"), func(*corev1.ConfigMap) {})}, ""},
		{"no code", []Action{{Name: "nothing"}}, ""},
		{"no name that it may have", []Action{Create(mine("a", "default")), Create(mine("Upper_Case", "default"))}, `the scenario's action "create ConfigMap default/Upper_Case": ConfigMap "Upper_Case" is invalid: metadata.name: Invalid value`},
		{"no containers", []Action{Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}})}, `the scenario's action "create Pod default/p": Pod "p" is invalid: spec.containers: Required value: change the object`},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := Valid(newServer(t), test.actions)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

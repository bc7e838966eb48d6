// Package scenario is what users do to a cluster while controllers work.
//
// An [Action] is one step of a user: a name, and a function that gets a client. [Create], [Delete], [Scale] and
// [Change] make the usual ones. The client is that of controller-runtime, since it can do everything with every kind,
// whatever the controllers are made with. [Of] makes of actions what the engine takes: each action once, at any moment
// or never, and each time with a client of its own, whose requests are calls of that step (package transport).
//
// Adapters have options for scenarios, and names of their own for actions: [Action] is the same type for all of them.
package scenario

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// Action is something that a user does, as one step.
type Action struct {
	// Name says it in the user's words, and tells it apart from the others: "delete Widget default/a".
	Name string
	// Do does it, with a client that reads from the API server itself. It must do the same each time it is called. An
	// error means that the user was refused, and gave up, but for [core.ErrNotEnabled]: the user waits until there is
	// reason to do it, such as an object in some state.
	Do func(context.Context, client.Client) error
	// Settled lets the user do it only once the system has settled, see [Action.OnceSettled].
	Settled bool

	// promised tells that the user takes it sooner or later, see [Action.Promised].
	promised bool
	// creates is the object that the action creates, if it does nothing else.
	creates client.Object
}

// OnceSettled returns the action for a user who waits until the system has settled: controllers do nothing then but
// wait for timers. It keeps apart what an update comes to from what comes of one before the first rollout is done, and
// a check has fewer states.
func (a Action) OnceSettled() Action {
	a.Settled = true
	return a
}

// Promised returns the action for a user who takes it sooner or later, if it stays possible: to create again what
// others wait for. Otherwise nobody can count on it, and a controller that returns an error until it is taken is said
// to retry for ever. Whoever reconciles the very object that is created may not count on it all the same.
func (a Action) Promised() Action {
	a.promised = true
	return a
}

// Create is the action of creating an object.
func Create(object client.Object) Action {
	return Action{Name: "create " + named(object), creates: object, Do: func(ctx context.Context, c client.Client) error {
		return c.Create(ctx, copied(object))
	}}
}

// CreateOnceGone is [Create] for a user who waits while an object of that name is there, such as one that is still
// being deleted.
func CreateOnceGone(object client.Object) Action {
	action := Create(object)
	create := action.Do
	action.Do = func(ctx context.Context, c client.Client) error {
		if err := create(ctx, c); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return core.ErrNotEnabled
	}
	return action
}

// Delete is the action of deleting an object. Only the name of the object matters.
func Delete(object client.Object) Action {
	return Action{Name: "delete " + named(object), Do: func(ctx context.Context, c client.Client) error {
		return c.Delete(ctx, copied(object))
	}}
}

// DeleteOnceThere is [Delete] for a user who waits until there is an object of that name.
func DeleteOnceThere(object client.Object) Action {
	action := Delete(object)
	remove := action.Do
	action.Do = func(ctx context.Context, c client.Client) error {
		if err := remove(ctx, c); !apierrors.IsNotFound(err) {
			return err
		}
		return core.ErrNotEnabled
	}
	return action
}

// Scale is the action of changing how many replicas an object is to have, as with
// kubectl scale. Only the name of the object matters.
func Scale(object client.Object, replicas int32) Action {
	return Action{Name: fmt.Sprintf("scale %s to %d", named(object), replicas), Do: func(ctx context.Context, c client.Client) error {
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
		return c.SubResource("scale").Patch(ctx, copied(object), patch, client.WithSubResourceBody(&autoscalingv1.Scale{}))
	}}
}

// Change is the action of reading an object, changing it, and writing it back, as with
// kubectl edit. Of the object given, only the name matters.
func Change[T client.Object](name string, object T, change func(T)) Action {
	return Action{Name: name, Do: func(ctx context.Context, c client.Client) error {
		current := copied(object)
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), current); err != nil {
			return err
		}
		change(current)
		return c.Update(ctx, current)
	}}
}

// Creates returns the object that the action creates, nil if it does something else as well.
func (a Action) Creates() client.Object { return a.creates }

// mentions reports whether a request may be about an object of a name: it is one of the words in it.
func mentions(request core.Request, name string) bool {
	return slices.Contains(strings.FieldsFunc(string(request), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.'
	}), name)
}

// copied returns a copy of an object, since clients write into what they send.
func copied[T client.Object](object T) T { return object.DeepCopyObject().(T) }

// named says which object it is. A typed object often does not know its kind; then its
// type is called the same.
func named(object client.Object) string {
	kind := object.GetObjectKind().GroupVersionKind().Kind
	if kind == "" {
		kind = reflect.Indirect(reflect.ValueOf(object)).Type().Name()
	}
	return core.Key{Kind: core.Kind(kind), Namespace: object.GetNamespace(), Name: object.GetName()}.String()
}

// giving is the recorder of a user: the server is to know what times users write.
type giving struct {
	core.EffectRecorder
	server *kube.Server
	// answers are what the user was told.
	answers []*kube.Response
}

// Do implements [core.EffectRecorder].
func (g *giving) Do(call core.Call) core.Response {
	g.server.Given(call, time.Now(), g.answers)
	response := g.EffectRecorder.Do(call)
	if answer, ok := response.(*kube.Response); ok {
		g.answers = append(g.answers, answer)
	}
	return response
}

// Of returns what users may do on a server, as the engine takes it. Every run of an action has
// a client of its own.
func Of(server *kube.Server, actions []Action, inOrder bool) core.Scenario {
	scenario := core.Scenario{InOrder: inOrder}
	for _, action := range actions {
		taken := core.Action{Name: action.Name, Settled: action.Settled}
		if action.promised {
			taken.Promise = &core.Promise{}
			if action.creates != nil {
				name := action.creates.GetName()
				taken.Promise.Excepts = func(item core.Item) bool { return mentions(item.Request, name) }
			}
		}
		if do := action.Do; do != nil {
			taken.Do = func(recorder core.EffectRecorder) error {
				config := transport.New(server, &giving{EffectRecorder: recorder, server: server}).Config("user")
				c, err := client.New(config, client.Options{Scheme: server.Scheme(), Mapper: server.RESTMapper()})
				if err != nil {
					return err
				}
				return do(context.Background(), c)
			}
		}
		scenario.Actions = append(scenario.Actions, taken)
	}
	return scenario
}

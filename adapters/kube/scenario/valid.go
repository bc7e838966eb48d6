package scenario

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Valid returns an error if an action is to create an object that the server takes in no state, which nobody wants to
// try: the check would go on as if the user had done nothing. The server must have no webhooks, which could mend the
// object.
func Valid(server *kube.Server, actions []Action) error {
	for i, action := range Of(server, actions, false).Actions {
		if actions[i].creates == nil {
			continue
		}
		if err := action.Do(emptied{server}); apierrors.IsInvalid(err) {
			return fmt.Errorf("the scenario's action %q: %w: change the object, as the API server refuses it", action.Name, err)
		}
	}
	return nil
}

// emptied is a server in which there is nothing.
type emptied struct{ server *kube.Server }

// Do implements [core.EffectRecorder].
func (e emptied) Do(call core.Call) core.Response {
	answer, err := e.server.Answer(nothing{}, call)
	if err != nil { // the check meets that as well, and says so
		status := apierrors.NewInternalError(err).ErrStatus
		return kube.Refused(&status)
	}
	return answer.Response
}

// nothing is the state of an empty store.
type nothing struct{}

// Get implements [core.Snapshot].
func (nothing) Get(core.Key) core.Content { return nil }

// List implements [core.Snapshot].
func (nothing) List(core.Kind, string) []core.Object { return nil }

// Held implements [core.Snapshot].
func (nothing) Held(core.Key) []core.Content { return nil }

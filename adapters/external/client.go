package external

import (
	"context"
	"errors"
	"fmt"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/core"
)

// Client asks services on behalf of a process: what is asked belongs to the run that is going on in it. Several
// goroutines may use it at once.
type Client struct{ caller Caller }

// Caller makes calls of the run that is going on in a process, or of the one that the context belongs to. The error
// says that nothing runs. Adapters have one.
type Caller interface {
	Call(context.Context, core.Call) (core.Response, error)
}

// NewClient returns a client for a set-up, from the configuration of the manager that the set-up gets, or of the
// environment: mgr.GetConfig(), or env.Config(). A set-up cannot ask anything yet. The error says that the
// configuration is none of a check, as in production: use the client of the real service there.
func NewClient(config *rest.Config) (*Client, error) {
	caller, err := CallerOf(config)
	if err != nil {
		return nil, err
	}
	return &Client{caller}, nil
}

// CallerOf returns what makes the calls of a process, from the configuration that its set-up gets, see [NewClient].
// Parts that are no services make their clients of it.
func CallerOf(config *rest.Config) (Caller, error) {
	if config == nil {
		return nil, errors.New("the configuration is nil: pass what mgr.GetConfig() returns in a set-up")
	}
	for at := config.Transport; at != nil; {
		if caller, ok := at.(Caller); ok {
			return caller, nil
		}
		wrapper, ok := at.(utilnet.RoundTripperWrapper)
		if !ok {
			break
		}
		at = wrapper.WrappedRoundTripper()
	}
	return nil, errors.New("the configuration is not that of a set-up which is checked, so there is no simulated service behind it: use the client of the real service here")
}

// Recorded returns a client whose calls go to a recorder: for strategies that are made with other adapters, and for
// tests.
func Recorded(recorder core.EffectRecorder) *Client { return &Client{recorded{recorder}} }

// recorded makes calls of one run.
type recorded struct{ recorder core.EffectRecorder }

// Call implements [Caller].
func (r recorded) Call(_ context.Context, call core.Call) (core.Response, error) {
	return r.recorder.Do(call), nil
}

// do makes a call, and returns its output.
func (c *Client) do(ctx context.Context, asked *call) (string, error) {
	if c == nil {
		return "", fmt.Errorf("%s was asked with a client that is nil: make it with NewClient in the set-up", asked.service)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	answer, err := c.caller.Call(ctx, asked)
	if err != nil {
		return "", err
	}
	r, ok := answer.(*response)
	switch {
	case !ok:
		return "", fmt.Errorf("%s answered %q with a %T, which is none of its answers: add the service with the option External", asked.service, asked, answer)
	case r.refusal != nil:
		refused := *r.refusal
		return "", &refused
	}
	return r.output, nil
}

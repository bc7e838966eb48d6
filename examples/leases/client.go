package leases

import (
	"context"
	"errors"

	"github.com/orrery-dev/orrery/core"
)

// client implements [Leases] and [Zone] by calls that the recorder of the context answers.
type client struct{}

var (
	_ Leases = client{}
	_ Zone   = client{}
)

// recorderKey is where a context has its recorder.
type recorderKey struct{}

// recording returns a context whose calls go to the recorder.
func recording(ctx context.Context, recorder core.EffectRecorder) context.Context {
	return context.WithValue(ctx, recorderKey{}, recorder)
}

// do makes a call.
func (client) do(ctx context.Context, c call) (string, error) {
	a := ctx.Value(recorderKey{}).(core.EffectRecorder).Do(c).(answer)
	switch a.err {
	case "":
		return a.address, nil
	case ErrChanged.Error():
		return "", ErrChanged
	}
	return "", errors.New(a.err)
}

// Address implements [Leases]. What reads a cache cannot fail.
func (c client) Address(ctx context.Context, host string) string {
	address, _ := c.do(ctx, call{verb: lease, host: host})
	return address
}

// Lookup implements [Zone].
func (c client) Lookup(ctx context.Context, host string) (string, error) {
	return c.do(ctx, call{verb: lookup, host: host})
}

// Replace implements [Zone].
func (c client) Replace(ctx context.Context, host, from, to string) error {
	_, err := c.do(ctx, call{verb: replace, host: host, from: from, to: to})
	return err
}

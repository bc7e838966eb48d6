package kube

import (
	"errors"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// otherCall is a call to something that is no API server.
type otherCall struct{}

func (otherCall) Identity() string    { return "other" }
func (otherCall) String() string      { return "send a letter" }
func (otherCall) Source() core.Source { return core.Live }

// What cannot be answered is told in the words of the user, with what to do.
func TestCallsThatAreNoRequests(t *testing.T) {
	server := newTestServer(t)
	for _, test := range []struct {
		call core.Call
		want []string
	}{
		{&Unmodelled{Asked: "GET /version", Reason: "discovery is not modelled: ask the manager"}, []string{"GET /version", "discovery is not modelled: ask the manager"}},
		{otherCall{}, []string{"send a letter", "leave it out"}},
	} {
		_, err := server.Answer(emptyWorld(t, server), test.call)
		var unsupported *core.Unsupported
		if !errors.As(err, &unsupported) {
			t.Errorf("%s: got %v", test.call, err)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want %q in it", err, want)
			}
		}
		if strings.Contains(err.Error(), "Unmodelled") {
			t.Errorf("%q has a word of ours", err)
		}
	}
}

package controllerruntime

import (
	"net/http"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// NewTransport returns a transport that hands the requests of any Kubernetes client
// to the simulated API server, through the recorder, as the calls of a single run. It
// is for measuring the server and for tools. Controllers under check need it not: the
// clients of their manager have such a transport each.
func NewTransport(server *kube.Server, recorder core.EffectRecorder) http.RoundTripper {
	w := &wire{server: server, turn: new(turn)}
	w.turn.begin(recorder)
	return w
}

package controllerruntime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// wire is the transport below every client of an instance. It hands requests to
// the simulated API server, as calls of the run that is going on.
type wire struct {
	server *kube.Server
	turn   *turn
	// idle is told of requests that are made while nothing runs.
	idle func(request string)
}

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(sent *http.Request) (*http.Response, error) {
	if err := sent.Context().Err(); err != nil {
		return nil, err
	}
	body, err := drain(sent)
	if err != nil {
		return nil, err
	}
	run := w.turn.current.Load()
	if run == nil {
		w.idle(sent.Method + " " + sent.URL.Path)
		return respond(sent, apierrors.NewServiceUnavailable("the set-up of a controller asks the API server, which answers only once controllers run"))
	}
	request, err := translate(w.server, sent, body)
	var refused *apierrors.StatusError
	if errors.As(err, &refused) {
		return respond(sent, refused)
	}
	if err != nil {
		call := &kube.Unmodelled{Asked: sent.Method + " " + sent.URL.RequestURI(), Reason: err.Error()}
		run.recorder.Do(call)
		return respond(sent, apierrors.NewGenericServerResponse(http.StatusNotImplemented, sent.Method, schema.GroupResource{}, "", call.String(), 0, true))
	}
	response, err := run.do(request)
	if err != nil {
		return nil, err
	}
	if response.Status != nil {
		return respond(sent, &apierrors.StatusError{ErrStatus: *response.Status})
	}
	return succeed(sent, request, response), nil
}

// drain reads the body of a request, which mostly says how long it is.
func drain(sent *http.Request) ([]byte, error) {
	if sent.Body == nil {
		return nil, nil
	}
	defer sent.Body.Close()
	if sent.ContentLength > 0 {
		body := make([]byte, sent.ContentLength)
		_, err := io.ReadFull(sent.Body, body)
		return body, err
	}
	return io.ReadAll(sent.Body)
}

// succeed is the HTTP response for a request that was done.
func succeed(sent *http.Request, request *kube.Request, response *kube.Response) *http.Response {
	code := http.StatusOK
	if request.Verb == kube.Create {
		code = http.StatusCreated
	}
	body := []byte(response.Object)
	if body == nil {
		body = []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`)
	}
	return reply(sent, code, body)
}

// respond is the HTTP response for a request that was refused. It never has a Retry-After,
// upon which a client would wait and try again: it stands for the last of its tries.
func respond(sent *http.Request, refused *apierrors.StatusError) (*http.Response, error) {
	status := *refused.ErrStatus.DeepCopy()
	status.Kind, status.APIVersion = "Status", "v1"
	body, err := json.Marshal(&status)
	if err != nil {
		return nil, err
	}
	return reply(sent, int(status.Code), body), nil
}

func reply(sent *http.Request, code int, body []byte) *http.Response {
	return &http.Response{
		StatusCode:    code,
		Status:        fmt.Sprintf("%d %s", code, http.StatusText(code)),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{"Content-Type": {runtime.ContentTypeJSON}},
		ContentLength: int64(len(body)),
		Body:          io.NopCloser(bytes.NewReader(body)),
		Request:       sent,
	}
}

// NewTransport returns a transport that hands the requests of any Kubernetes client
// to the simulated API server, through the recorder, as the calls of a single run. It
// is for measuring the server and for tools. Controllers under check need it not: the
// clients of their manager have such a transport each.
func NewTransport(server *kube.Server, recorder core.EffectRecorder) http.RoundTripper {
	w := &wire{server: server, turn: new(turn)}
	w.turn.begin(recorder)
	return w
}

package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Transport is what is below every client of an instance. It hands requests to the simulated API server, as calls of
// the run that is going on.
type Transport struct {
	// Server says which kinds the paths of requests name.
	Server *kube.Server
	// Current has the run whose calls the requests are.
	Current *Current
	// Idle is called for requests that are made while nothing runs. It may wait until something does, and reports
	// whether it has.
	Idle func(request string) bool
	// via, if not nil, is what the calls go through on their way to the recorder of the run.
	via func(core.EffectRecorder) core.EffectRecorder
}

// Beside returns the connection of the same process to another server. Its calls go to the recorder that via makes of
// that of the run.
func (t *Transport) Beside(server *kube.Server, via func(core.EffectRecorder) core.EffectRecorder) *Transport {
	return &Transport{Server: server, Current: t.Current, Idle: t.Idle, via: via}
}

// Call makes a call that is no request to an API server, for what runs at the moment, or for what the context belongs
// to. The error says that nothing runs.
func (t *Transport) Call(ctx context.Context, call core.Call) (core.Response, error) {
	run := t.run(ctx, call.String())
	if run == nil {
		return nil, fmt.Errorf("the set-up of a controller asks %q, which is answered only once controllers run", call)
	}
	return run.recorder.Do(call), nil
}

// run returns the run that something belongs to which is asked with a context, nil if nothing runs.
func (t *Transport) run(ctx context.Context, asked string) *Run {
	run := t.Current.Of(ctx)
	if run == nil && t.Idle != nil && t.Idle(asked) {
		run = t.Current.Of(ctx)
	}
	return run
}

// New returns a transport whose requests are the calls of a single run, through the recorder: for users who act on a
// cluster, for tools, and for measuring the server.
func New(server *kube.Server, recorder core.EffectRecorder) *Transport {
	t := &Transport{Server: server, Current: new(Current)}
	t.Current.Begin(recorder)
	return t
}

// Config is how a program of this name reaches the simulated API server.
func (t *Transport) Config(program string) *rest.Config {
	return &rest.Config{
		Host:           "http://orrery.invalid",
		ContentConfig:  rest.ContentConfig{ContentType: runtime.ContentTypeJSON},
		QPS:            -1, // no throttling
		UserAgent:      program,
		WarningHandler: rest.NoWarnings{},
		Transport:      t,
		WrapTransport:  t.inPlaceOfDialing,
	}
}

// inPlaceOfDialing returns the transport in place of one that dials: whoever upgrades the connection of a request, such
// as to run a command in a Pod, makes one, and no call would tell of it. Such transports say how they are to dial. Any
// other one stands in place of this on purpose.
func (t *Transport) inPlaceOfDialing(other http.RoundTripper) http.RoundTripper {
	if _, dials := other.(utilnet.TLSClientConfigHolder); dials {
		return t
	}
	return other
}

// discovered answers a request of discovery. What is not there is said in plain text.
func discovered(sent *http.Request, found any) (*http.Response, error) {
	if found == nil {
		return replyWith(sent, http.StatusNotFound, "text/plain; charset=utf-8", []byte("404 page not found\n")), nil
	}
	body, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	return reply(sent, http.StatusOK, body), nil
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(sent *http.Request) (*http.Response, error) {
	if err := sent.Context().Err(); err != nil {
		return nil, err
	}
	if RecordsEvent(sent) && broadcast() {
		return Drop(sent)
	}
	body, err := drain(sent)
	if err != nil {
		return nil, err
	}
	if sent.Method == http.MethodGet {
		if found, asks := t.Server.Discover(sent.URL.Path); asks {
			return discovered(sent, found)
		}
	}
	if allowed := review(sent, body); allowed != nil {
		return reply(sent, http.StatusCreated, allowed), nil
	}
	asked := sent.Method + " " + sent.URL.Path
	run := t.run(sent.Context(), asked)
	if run == nil {
		return respond(sent, apierrors.NewServiceUnavailable(fmt.Sprintf("the set-up of a controller asks %q of the API server, which answers only once controllers run: ask it where they work, or leave it out of the set-up", asked)))
	}
	if t.via != nil {
		run = &Run{of: run.of, recorder: t.via(run.recorder)}
	}
	request, err := translate(t.Server, sent, body)
	var refused *apierrors.StatusError
	if errors.As(err, &refused) {
		return respond(sent, refused)
	}
	if err != nil {
		call := &kube.Unmodelled{Asked: sent.Method + " " + sent.URL.RequestURI(), Reason: err.Error()}
		run.recorder.Do(call)
		return respond(sent, apierrors.NewGenericServerResponse(http.StatusNotImplemented, sent.Method, schema.GroupResource{}, "", call.String(), 0, true))
	}
	response, err := run.Do(request)
	if err != nil {
		return nil, err
	}
	if _, ends := sent.Context().Deadline(); ends && response.TookLong() {
		<-sent.Context().Done()
		return nil, sent.Context().Err()
	}
	if response.Status != nil {
		return respond(sent, &apierrors.StatusError{ErrStatus: *response.Status})
	}
	return succeed(sent, request, response), nil
}

// review returns the answer to a client that asks what it may do itself, nil for any other request. Authorization is
// not modelled, and nothing is ever forbidden: so everything is allowed, now and later.
func review(sent *http.Request, body []byte) []byte {
	if sent.Method != http.MethodPost || sent.URL.Path != "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" {
		return nil
	}
	var asked map[string]any
	if json.Unmarshal(body, &asked) != nil || asked == nil {
		return nil
	}
	asked["status"] = map[string]any{"allowed": true}
	answer, err := json.Marshal(asked)
	if err != nil {
		panic("transport: what was JSON cannot be written as such: " + err.Error())
	}
	return answer
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
	if request.Subresource == kube.LogSubresource {
		return replyWith(sent, code, "text/plain", []byte(logText(response)))
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

// logText is the log that a server has answered with.
func logText(response *kube.Response) string {
	var text string
	if err := json.Unmarshal(response.Object, &text); err != nil {
		panic("transport: a log that is no text: " + err.Error())
	}
	return text
}

func reply(sent *http.Request, code int, body []byte) *http.Response {
	return replyWith(sent, code, runtime.ContentTypeJSON, body)
}

func replyWith(sent *http.Request, code int, contentType string, body []byte) *http.Response {
	return &http.Response{
		StatusCode:    code,
		Status:        fmt.Sprintf("%d %s", code, http.StatusText(code)),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{"Content-Type": {contentType}},
		ContentLength: int64(len(body)),
		Body:          io.NopCloser(bytes.NewReader(body)),
		Request:       sent,
	}
}

// Package web is an HTTP service that controllers depend on: the API of another team, a registry, a DNS provider.
//
// A [Service] is a Go value, its state, and an [http.Handler] over it:
//
//	dns := web.New("dns", Zone{}, func(zone *Zone) http.Handler {
//		mux := http.NewServeMux()
//		mux.HandleFunc("PUT /records/{host}", func(w http.ResponseWriter, r *http.Request) { … })
//		return mux
//	})
//
// Hand it to an adapter with the option External. In the set-up, [Service.Transport] returns the transport for the
// client of the controller, in place of the network. Every request is one step of the service: the handler gets a copy
// of the state, and what it makes of it is the state afterwards. Requests with the methods GET, HEAD and OPTIONS must
// change nothing.
//
// Where a check lets calls fail, a request may take too long, before or after it has taken place, and it may be
// answered with a status in place of what it asks for ([Unavailable]). A client sees a request that takes too long as
// an error whose Timeout method returns true.
//
// A handler must depend on nothing but the request and the state: it has no clock, no chance, and no memory of its own.
// The state is one object, so that no two requests commute if one of them changes something. Write a [external.Service]
// with tables where searches become too large.
//
// Not modelled are bodies that are streamed, upgrades of the connection, trailers, and what happens below HTTP: names,
// TLS, proxies.
package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/core"
)

// stateName is the name of the object that has the state.
const stateName = "state"

// Service is an HTTP service whose state is an S, which has to be of a type that JSON keeps as it is. It is an
// [external.Service] with one table.
type Service[S any] struct {
	*external.Service
	state   *external.Table[S]
	initial S
	handler func(*S) http.Handler

	read, change *external.Operation[request, response]
}

// Option is a choice that a [Service] is made with.
type Option func(*settings)

type settings struct{ statuses []int }

// Unavailable says that a request may be answered with a status before it has done anything, such as 429 or 503, where
// a check lets calls fail. Each status makes a search larger. Without it, requests only take too long.
func Unavailable(statuses ...int) Option {
	return func(s *settings) { s.statuses = append(s.statuses, statuses...) }
}

// New returns a service in a state. The name is what reports call it, and a host by which clients reach it; every host
// is one. handler returns the handler over a state that it may change.
func New[S any](name string, initial S, handler func(*S) http.Handler, options ...Option) *Service[S] {
	var chosen settings
	for _, option := range options {
		option(&chosen)
	}
	base := external.New(name)
	s := &Service[S]{
		Service: base,
		state:   external.NewTable(base, external.TableConfig[S]{Kind: "State", Initial: map[string]S{stateName: initial}}),
		initial: initial,
		handler: handler,
	}
	if handler == nil {
		base.Mistake("the service has no handler")
	}
	for _, status := range chosen.statuses {
		const errors, beyond = 400, 600
		if status < errors || status >= beyond {
			base.Mistake("a service that is unavailable cannot answer with the status %d: use one from 400 to 599", status)
		}
		base.Failures(&external.Refusal{Code: strconv.Itoa(status), Message: http.StatusText(status)})
	}
	s.read = external.NewQuery(base, "ask", s.asks)
	s.change = external.NewOperation(base, "send", s.serve)
	return s
}

// Kind returns the kind of the object that has the state, as properties select it.
func (s *Service[S]) Kind() core.Kind { return s.state.Kind() }

// In returns the state of the service in a state of the system, for properties.
func (s *Service[S]) In(state core.Snapshot) S {
	for _, now := range s.state.In(state) {
		return now
	}
	return s.initial
}

// request is what of a request the service sees.
type request struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`
}

// String says the request as its first line does, with the body.
func (r request) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL, readable(r.Body)))
}

// response is what of a response the client sees.
type response struct {
	Status int         `json:"status"`
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`
}

// String says the response as its first line does, with the body.
func (r response) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", r.Status, http.StatusText(r.Status), readable(r.Body)))
}

// readable is a body as reports show it.
func readable(body []byte) string {
	if !utf8.Valid(body) {
		return fmt.Sprintf("(%d bytes)", len(body))
	}
	return string(body)
}

// serve lets the handler answer a request.
func (s *Service[S]) serve(t *external.Transaction, asked request) (response, error) {
	state, exists := s.state.Get(t, stateName)
	if !exists {
		return response{}, external.Refuse("", "the service %s has lost its state", s.Name())
	}
	sent, err := http.NewRequestWithContext(context.Background(), asked.Method, asked.URL, bytes.NewReader(asked.Body))
	if err != nil {
		return response{}, external.Refuse(strconv.Itoa(http.StatusBadRequest), "%v", err)
	}
	sent.Header = asked.Header.Clone()
	if sent.Header == nil {
		sent.Header = http.Header{}
	}
	sent.RequestURI = sent.URL.RequestURI()
	w := &writer{header: http.Header{}}
	s.handler(&state).ServeHTTP(w, sent)
	s.state.Put(t, stateName, state)
	return w.response(), nil
}

// asks lets the handler answer a request that changes nothing.
func (s *Service[S]) asks(t *external.Transaction, asked request) (response, error) {
	before, _ := s.state.Get(t, stateName)
	answer, err := s.serve(t, asked)
	after, _ := s.state.Get(t, stateName)
	if !reflect.DeepEqual(before, after) {
		t.Mistake("%s changes the state, which only requests with other methods may: let the handler change nothing, or the client send POST", asked)
	}
	return answer, err
}

// writer takes the answer of a handler.
type writer struct {
	header, sent http.Header
	status       int
	body         bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *writer) WriteHeader(status int) {
	const final = 200
	if w.status == 0 && status >= final {
		w.status, w.sent = status, w.header.Clone()
	}
}

// Write implements [http.ResponseWriter].
func (w *writer) Write(text []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(text)
}

func (w *writer) response() response {
	w.WriteHeader(http.StatusOK)
	r := response{Status: w.status, Body: w.body.Bytes()}
	if len(w.sent) > 0 {
		r.Header = w.sent
	}
	return r
}

// Transport returns what takes the place of the network in a set-up, from mgr.GetConfig() or env.Config():
// &http.Client{Transport: …}. See [external.NewClient].
func (s *Service[S]) Transport(config *rest.Config) (http.RoundTripper, error) {
	client, err := external.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), err)
	}
	return &transport[S]{s, client}, nil
}

// Recorded returns a transport whose requests go to a recorder, see [external.Recorded].
func (s *Service[S]) Recorded(recorder core.EffectRecorder) http.RoundTripper {
	return &transport[S]{s, external.Recorded(recorder)}
}

// Does lets somebody send requests to the service behind the back of the controllers: once, at any moment, or never.
func (s *Service[S]) Does(name string, do func(context.Context, *http.Client) error) {
	if do == nil {
		s.Mistake("the action %q does nothing", name)
		return
	}
	s.Action(name, func(ctx context.Context, client *external.Client) error {
		return do(ctx, &http.Client{Transport: &transport[S]{s, client}})
	})
}

// transport sends requests to a service.
type transport[S any] struct {
	service *Service[S]
	client  *external.Client
}

// RoundTrip implements [http.RoundTripper].
func (t *transport[S]) RoundTrip(sent *http.Request) (*http.Response, error) {
	asked := request{Method: sent.Method, URL: withoutUser(sent.URL), Header: sent.Header}
	if asked.Method == "" {
		asked.Method = http.MethodGet
	}
	if len(asked.Header) == 0 {
		asked.Header = nil
	}
	if sent.Body != nil {
		body, err := io.ReadAll(sent.Body)
		sent.Body.Close()
		if err != nil {
			return nil, err
		}
		asked.Body = body
	}
	operation := t.service.change
	switch asked.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		operation = t.service.read
	}
	answer, err := operation.Do(sent.Context(), t.client, asked)
	if status, failed := unavailable(err); failed {
		answer, err = response{Status: status, Body: []byte(http.StatusText(status) + "\n")}, nil
	}
	if err != nil {
		return nil, err
	}
	header := answer.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if asked.Method == http.MethodHead {
		answer.Body = nil
	}
	return &http.Response{
		StatusCode:    answer.Status,
		Status:        fmt.Sprintf("%d %s", answer.Status, http.StatusText(answer.Status)),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		ContentLength: int64(len(answer.Body)),
		Body:          io.NopCloser(bytes.NewReader(answer.Body)),
		Request:       sent,
	}, nil
}

// unavailable returns the status that a request was answered with in place of what it asks for, and false if that is
// not so.
func unavailable(err error) (status int, is bool) {
	status, notNumber := strconv.Atoi(external.CodeOf(err))
	return status, err != nil && notNumber == nil
}

// withoutUser returns the URL of a request as a server sees it.
func withoutUser(of *url.URL) string {
	plain := *of
	plain.User, plain.Fragment, plain.RawFragment = nil, "", ""
	return plain.String()
}

package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/external/web"
	"github.com/orrery-dev/orrery/core"
)

// counter is a state.
type counter struct {
	Count int    `json:"count"`
	Last  []byte `json:"last,omitempty"`
}

func handler(c *counter) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Asked", r.Header.Get("X-Asks"))
		fmt.Fprintf(w, "%d %s", c.Count, r.URL.Query().Get("unit"))
	})
	mux.HandleFunc("GET /wrong", func(http.ResponseWriter, *http.Request) { c.Count++ })
	mux.HandleFunc("POST /count", func(w http.ResponseWriter, r *http.Request) {
		c.Last, _ = io.ReadAll(r.Body)
		c.Count++
		w.WriteHeader(http.StatusCreated)
		w.WriteHeader(http.StatusTeapot) // which is too late
		_, _ = w.Write(c.Last)
	})
	return mux
}

// alone is a service that is asked without anything else.
type alone struct {
	store   core.Store
	objects map[core.Key]core.Content
	calls   []core.Call
	err     error
	fault   core.Response
}

func begin(t *testing.T, s *web.Service[counter]) *alone {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	a := &alone{store: s.Store(), objects: map[core.Key]core.Content{}}
	objects, err := s.Initial()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		a.objects[o.Key] = o.Content
	}
	return a
}

func (a *alone) Do(call core.Call) core.Response {
	a.calls = append(a.calls, call)
	if a.fault != nil {
		return a.fault
	}
	answer, err := a.store.Answer(a, call)
	if a.err = err; err != nil {
		return nil
	}
	for _, write := range answer.Writes {
		a.objects[write.Key] = write.Content
	}
	return answer.Response
}

func (a *alone) Get(key core.Key) core.Content { return a.objects[key] }
func (a *alone) Held(core.Key) []core.Content  { return nil }
func (a *alone) List(kind core.Kind, _ string) (found []core.Object) {
	for key, content := range a.objects { // there is one
		if key.Kind == kind {
			found = append(found, core.Object{Key: key, Content: content})
		}
	}
	return found
}

// exchange sends a request, and returns the status of the answer, a header and the body.
func exchange(t *testing.T, client *http.Client, method, path string, body []byte) (status int, asked, text string, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://user:secret@counter"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Asks", "who")
	response, err := client.Do(request)
	if err != nil {
		return 0, "", "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("X-Asked"), string(answer), nil
}

func TestExchanges(t *testing.T) {
	s := web.New("counter", counter{Count: 5}, handler)
	a := begin(t, s)
	client := &http.Client{Transport: s.Recorded(a)}
	for _, test := range []struct {
		method, path, body string
		status             int
		want, said         string
	}{
		{"GET", "/count?unit=apples", "", 200, "5 apples", "200 OK 5 apples"},
		{"HEAD", "/count", "", 200, "", "200 OK 5"},
		{"POST", "/count", "one more", 201, "one more", "201 Created one more"},
		{"POST", "/count", "\xff\x00", 201, "\xff\x00", "201 Created (2 bytes)"},
		{"GET", "/count", "", 200, "7 ", "200 OK 7"},
		{"GET", "/nowhere", "", 404, "404 page not found\n", "404 Not Found 404 page not found"},
		{"DELETE", "/count", "", 405, "Method Not Allowed\n", "405 Method Not Allowed Method Not Allowed"},
	} {
		status, asked, text, err := exchange(t, client, test.method, test.path, []byte(test.body))
		if err != nil || status != test.status || text != test.want {
			t.Errorf("%s %s: %d %q, %v", test.method, test.path, status, text, err)
			continue
		}
		if test.path == "/count" && test.method == "GET" && asked != "who" {
			t.Errorf("%s %s: asked by %q", test.method, test.path, asked)
		}
		call := a.calls[len(a.calls)-1]
		if said := call.String(); !strings.HasPrefix(said, "counter: "+test.method+" ") || strings.Contains(said, "secret") && !strings.Contains(call.Identity(), "Authorization") {
			t.Errorf("the call says %q", said)
		}
		answer, err := a.store.Answer(a, call)
		if err != nil {
			t.Fatal(err)
		}
		if test.method != "POST" && strings.TrimSpace(answer.Response.String()) != test.said {
			t.Errorf("the response says %q, want %q", answer.Response, test.said)
		}
	}
	if got := s.In(a); got.Count != 7 || string(got.Last) != "\xff\x00" {
		t.Errorf("the state is %+v", got)
	}
}

// TestReadThatWrites checks that a request which is to change nothing ends the check if it does.
func TestReadThatWrites(t *testing.T) {
	s := web.New("counter", counter{}, handler)
	a := begin(t, s)
	// Nobody answers, as the check ends.
	_, _, _, err := exchange(t, &http.Client{Transport: s.Recorded(a)}, "GET", "/wrong", nil)
	if err == nil || a.err == nil || !strings.Contains(a.err.Error(), "GET http://counter/wrong changes the state, which only requests with other methods may") {
		t.Errorf("got %v, and %v", err, a.err)
	}
}

func TestFaults(t *testing.T) {
	s := web.New("counter", counter{}, handler, web.Unavailable(http.StatusTooManyRequests))
	a := begin(t, s)
	client := &http.Client{Transport: s.Recorded(a)}
	for method, want := range map[string]string{
		"GET":  "timeout; 429: Too Many Requests",
		"POST": "timeout; 429: Too Many Requests; committed, but the answer is lost",
	} {
		a.fault = nil
		if _, _, _, err := exchange(t, client, method, "/count", nil); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, fault := range s.Store().Faults(a.calls[len(a.calls)-1]) {
			names = append(names, fault.Name)
			a.fault = fault.Response
			status, _, _, err := exchange(t, client, method, "/count", nil)
			var failed *url.Error
			switch {
			case strings.HasPrefix(fault.Name, "429"):
				if err != nil || status != http.StatusTooManyRequests {
					t.Errorf("%s: %d, %v", fault.Name, status, err)
				}
			case !errors.As(err, &failed) || !failed.Timeout() || !errors.Is(err, context.DeadlineExceeded):
				t.Errorf("%s: got %v", fault.Name, err)
			}
		}
		if got := strings.Join(names, "; "); got != want {
			t.Errorf("%s fails by %s, want %s", method, got, want)
		}
	}
}

func TestDoes(t *testing.T) {
	s := web.New("counter", counter{}, handler)
	s.Does("counts", func(_ context.Context, client *http.Client) error {
		response, err := client.Post("http://counter/count", "text/plain", strings.NewReader("more"))
		if err == nil {
			response.Body.Close()
		}
		return err
	})
	a := begin(t, s)
	actions := s.Actions()
	if len(actions) != 1 || actions[0].Name != "counter: counts" {
		t.Fatalf("got %v", actions)
	}
	if err := actions[0].Do(a); err != nil || s.In(a).Count != 1 {
		t.Errorf("counted to %d, %v", s.In(a).Count, err)
	}
}

func TestMistakes(t *testing.T) {
	type hidden struct{ count int }
	for want, err := range map[string]error{
		"has no handler":                    web.New[counter]("counter", counter{}, nil).Validate(),
		"cannot answer with the status 200": web.New("counter", counter{}, handler, web.Unavailable(http.StatusOK)).Validate(),
		"count is not exported":             web.New("counter", hidden{}, func(h *hidden) http.Handler { h.count++; return nil }).Validate(),
		`the action "nothing" does nothing`: func() error { s := web.New("c", counter{}, handler); s.Does("nothing", nil); return s.Validate() }(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

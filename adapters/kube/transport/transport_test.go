package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// answers is a recorder that notes the calls and has one answer to all.
type answers struct {
	response core.Response
	calls    []core.Call
}

func (a *answers) Do(call core.Call) core.Response {
	a.calls = append(a.calls, call)
	return a.response
}

func newServer(t *testing.T) *kube.Server {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server, err := kube.NewServer(scheme)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// send makes a request and returns the code and the body of the answer.
func send(t *testing.T, over http.RoundTripper, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://orrery.invalid"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", "tester/v1")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := over.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestRequestsAreCallsOfTheRun(t *testing.T) {
	for _, test := range []struct {
		method, path, body string
		want               string
		code               int
	}{
		{http.MethodGet, "/api/v1/namespaces/default/pods/a", "", "get Pod default/a", 200},
		{http.MethodGet, "/api/v1/pods?labelSelector=app%3Dx&fieldSelector=metadata.name%3Da", "", "list Pod with app=x where metadata.name=a", 200},
		{http.MethodPost, "/api/v1/namespaces/default/pods", `{"metadata":{"name":"a"}}`, "create Pod default/a", 201},
		{http.MethodPut, "/api/v1/nodes/n/status", `{}`, "update Node n (status)", 200},
		{http.MethodDelete, "/api/v1/nodes/n?dryRun=All", "", "dry-run delete Node n", 200},
		{http.MethodDelete, "/api/v1/nodes", "", "deletecollection Node", 200},
	} {
		run := &answers{response: kube.Done([]byte(`{"kind":"Pod"}`))}
		code, body := send(t, New(newServer(t), run), test.method, test.path, test.body)
		if len(run.calls) != 1 || run.calls[0].String() != test.want {
			t.Errorf("%s %s: calls %v, want %s", test.method, test.path, run.calls, test.want)
		}
		if code != test.code || body != `{"kind":"Pod"}` {
			t.Errorf("%s %s: %d %s, want %d", test.method, test.path, code, body, test.code)
		}
	}
}

func TestWhatIsNotModelledIsACallAsWell(t *testing.T) {
	for _, test := range []struct {
		path, want string
		headers    []string
	}{
		{"/openapi/v3", "not schemas and the like", nil},
		{"/apis/apps/v1/deployments", "no kind is known that is served as deployments.v1.apps", nil},
		{"/api/v1/pods?watch=1", "watches are modelled only where", nil},
		{"/api/v1/namespaces/default/pods/a/exec?command=ls", "exec?command=ls (commands in Pods", nil},
		{"/api/v1/pods", "tables are not modelled", []string{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}},
	} {
		run := &answers{}
		code, _ := send(t, New(newServer(t), run), http.MethodGet, test.path, "", test.headers...)
		if len(run.calls) != 1 || !strings.Contains(run.calls[0].String(), test.want) {
			t.Errorf("%s: calls %v, want %q", test.path, run.calls, test.want)
		}
		if _, ok := run.calls[0].(*kube.Unmodelled); !ok || code != http.StatusNotImplemented {
			t.Errorf("%s: a %T, answered with %d", test.path, run.calls[0], code)
		}
	}
}

func TestWithoutARun(t *testing.T) {
	idle := ""
	over := &Transport{Server: newServer(t), Current: new(Current), Idle: func(request string) bool { idle = request; return false }}
	if code, _ := send(t, over, http.MethodGet, "/api/v1/pods", ""); code != http.StatusServiceUnavailable || idle != "GET /api/v1/pods" {
		t.Errorf("answered with %d, idle is told of %q", code, idle)
	}
	if over.Current.Unmodelled("something", "nobody runs") {
		t.Error("nothing runs that could make a call")
	}
	run := &answers{}
	over.Current.Begin(run)
	if !over.Current.Unmodelled("something", "it is not modelled") || len(run.calls) != 1 {
		t.Errorf("calls: %v", run.calls)
	}
}

// TestReviewsOfOneself wants whoever asks to be allowed everything, before controllers run and after, and nobody else
// to be answered for them.
func TestReviewsOfOneself(t *testing.T) {
	const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	const body = `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"resourceAttributes":{"verb":"list","resource":"pods"}}}`
	transport := &Transport{Server: newServer(t), Current: new(Current), Idle: func(request string) bool { t.Errorf("%s is told to be idle", request); return false }}
	code, text := send(t, transport, http.MethodPost, path, body)
	if code != http.StatusCreated || !strings.Contains(text, `"status":{"allowed":true}`) || !strings.Contains(text, `"verb":"list"`) {
		t.Errorf("%d %s", code, text)
	}
	transport.Idle = nil
	for asked, body := range map[string]string{path: "{", "/apis/authorization.k8s.io/v1/subjectaccessreviews": body} {
		if code, text := send(t, transport, http.MethodPost, asked, body); code != http.StatusServiceUnavailable || !strings.Contains(text, "POST "+asked) {
			t.Errorf("%s: %d %s", asked, code, text)
		}
	}
}

func TestAnswersOfAnotherStore(t *testing.T) {
	current := new(Current)
	current.Begin(&answers{})
	if _, err := current.Run().Do(&kube.Request{Verb: kube.Get}); err == nil || !strings.Contains(err.Error(), "need a kube.Server as store") {
		t.Errorf("got %v", err)
	}
}

// upgrading is a transport as those are that upgrade connections.
type upgrading struct{ http.RoundTripper }

func (upgrading) TLSClientConfig() *tls.Config { return nil }

func TestConfig(t *testing.T) {
	over := New(newServer(t), &answers{})
	config := over.Config("tester")
	if config.Transport != http.RoundTripper(over) || config.UserAgent != "tester" || config.QPS >= 0 {
		t.Errorf("got %+v", config)
	}
	// So do clients that run commands in Pods.
	upgraded, err := rest.HTTPWrappersForConfig(config, upgrading{http.DefaultTransport})
	if err != nil {
		t.Fatal(err)
	}
	if code, _ := send(t, upgraded, http.MethodPost, "/api/v1/namespaces/default/pods/a/exec?command=ls", ""); code != http.StatusNotImplemented {
		t.Errorf("a command in a Pod is answered with %d", code)
	}
	if other := http.DefaultTransport; over.inPlaceOfDialing(other) != other {
		t.Error("what somebody puts in place of the transport is not asked")
	}
}

// wrapped is a call that has gone through something.
type wrapped struct{ core.Call }

// wrapping wraps the calls of a run.
type wrapping struct{ run core.EffectRecorder }

func (w wrapping) Do(call core.Call) core.Response { return w.run.Do(wrapped{call}) }

// TestBeside checks that requests to a second server are calls of the same run, through what is between it and the run;
// also those that are not modelled.
func TestBeside(t *testing.T) {
	idle := 0
	main := &Transport{Server: newServer(t), Current: new(Current), Idle: func(string) bool { idle++; return false }}
	beside := main.Beside(newServer(t), func(run core.EffectRecorder) core.EffectRecorder { return wrapping{run} })
	if code, _ := send(t, beside, http.MethodGet, "/api/v1/pods", ""); code != http.StatusServiceUnavailable || idle != 1 {
		t.Errorf("answered with %d, idle is told %d times", code, idle)
	}
	run := &answers{response: kube.Done([]byte(`{"kind":"Pod"}`))}
	main.Current.Begin(run)
	for _, path := range []string{"/api/v1/namespaces/default/pods/a", "/openapi/v3"} {
		send(t, beside, http.MethodGet, path, "")
	}
	send(t, main, http.MethodGet, "/api/v1/namespaces/default/pods/a", "")
	for i, want := range []bool{true, true, false} {
		if _, is := run.calls[i].(wrapped); is != want {
			t.Errorf("call %d is a %T", i+1, run.calls[i])
		}
	}
}

// TestCall checks that other calls than requests belong to the run that goes on, and that there is an error while
// nothing runs.
func TestCall(t *testing.T) {
	asked := ""
	over := &Transport{Server: newServer(t), Current: new(Current), Idle: func(what string) bool { asked = what; return false }}
	call := &kube.Enqueue{Item: core.Item{Request: "a"}}
	if _, err := over.Call(t.Context(), call); err == nil || asked != "enqueue a" || !strings.Contains(err.Error(), "answered only once controllers run") {
		t.Errorf("got %v, idle is told of %q", err, asked)
	}
	run := &answers{response: kube.Done(nil)}
	over.Current.Begin(run)
	if answer, err := over.Call(t.Context(), call); answer != run.response || err != nil || len(run.calls) != 1 {
		t.Errorf("got %v, %v; calls %v", answer, err, run.calls)
	}
}

// TestLog reads the log of a Pod, which is the text itself.
func TestLog(t *testing.T) {
	run := &answers{response: kube.Done([]byte(`"all is well\n"`))}
	code, body := send(t, New(newServer(t), run), http.MethodGet, "/api/v1/namespaces/default/pods/a/log?container=c", "")
	if code != 200 || body != "all is well\n" {
		t.Errorf("%d %q", code, body)
	}
	if request, ok := run.calls[0].(*kube.Request); !ok || request.Container != "c" {
		t.Errorf("the call is %s", run.calls[0])
	}
}

// TestDeadline has a client that waits but so long for an answer give up then, where a server gives a request up.
func TestDeadline(t *testing.T) {
	server := newServer(t)
	faults := server.Faults(&kube.Request{Verb: kube.Create, Kind: corev1.SchemeGroupVersion.WithKind("Pod"), Namespace: "default", Body: []byte("{}")})
	if len(faults) < 4 {
		t.Fatalf("the faults are %v", faults)
	}
	for _, fault := range faults {
		synctest.Test(t, func(t *testing.T) {
			for _, limit := range []time.Duration{0, time.Second} {
				ctx, cancel := context.WithCancel(t.Context())
				if limit > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), limit)
				}
				began := time.Now()
				sent, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://orrery.invalid/api/v1/namespaces/default/pods", strings.NewReader(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`))
				if err != nil {
					t.Fatal(err)
				}
				code := 0
				answered, err := New(server, &answers{response: fault.Response}).RoundTrip(sent)
				if err == nil {
					code = answered.StatusCode
					err = answered.Body.Close()
				}
				gaveUp := errors.Is(err, context.DeadlineExceeded) && time.Since(began) == limit
				late := fault.Name == string(kube.Timeout) || fault.Name == string(kube.AnswerLost)
				if want := limit > 0 && late; gaveUp != want || !want && (err != nil || code < 400) {
					t.Errorf("%s, within %s: %v after %s", fault.Name, limit, err, time.Since(began))
				}
				cancel()
			}
		})
	}
}

// instance is one of several, in a bubble of its own, with its client.
type instance struct {
	current *Current
	client  *Transport
	asked   answers
}

// TestInstances has instances ask with one client: a call belongs to the run of whoever asks, while there is that
// instance, and to the client outside of bubbles.
func TestInstances(t *testing.T) {
	server, all := newServer(t), new(Instances)
	fresh := func() *instance {
		i := &instance{current: &Current{Among: all}, asked: answers{response: kube.Done([]byte(`{"kind":"Pod"}`))}}
		i.client = &Transport{Server: server, Current: i.current}
		return i
	}
	first, second := fresh(), fresh()
	ask := func(with *instance) { send(t, with.client, http.MethodGet, "/api/v1/namespaces/default/pods/a", "") }
	first.current.Begin(&first.asked)
	synctest.Test(t, func(*testing.T) {
		second.current.Begin(&second.asked)
		ask(first)
		done := make(chan struct{})
		go func() { ask(second); close(done) }()
		<-done
	})
	if len(first.asked.calls) != 0 || len(second.asked.calls) != 2 {
		t.Errorf("the first was asked %d times, the second %d", len(first.asked.calls), len(second.asked.calls))
	}
	ask(first)
	if len(first.asked.calls) != 1 {
		t.Errorf("the first was asked %d times", len(first.asked.calls))
	}
	second = nil
	for range 100 {
		goruntime.GC()
		if all.known() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("an instance that is gone is still known")
}

// known is how many bubbles are known.
func (i *Instances) known() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.by)
}

package observe

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// watchTransport puts something between a client and the network that tells which calls get there. It reports whether
// it could.
func watchTransport(c *http.Client, r *Recorder, scheme *runtime.Scheme) bool {
	if c == nil {
		return false
	}
	inner := c.Transport
	if inner == nil {
		inner = http.DefaultTransport
	}
	c.Transport = &watchedTransport{RoundTripper: inner, recorder: r, scheme: scheme}
	return true
}

// watchedTransport marks the calls whose requests pass, and records what no client of ours does.
type watchedTransport struct {
	http.RoundTripper
	recorder *Recorder
	scheme   *runtime.Scheme
	told     sync.Once
}

// RoundTrip implements http.RoundTripper.
func (t *watchedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		c.live.Store(true)
		return t.RoundTripper.RoundTrip(request)
	}
	if within, ok := ctx.Value(runKey{}).(*run); !ok || within.recorder != t.recorder || within.number == 0 {
		return t.RoundTripper.RoundTrip(request)
	}
	if request.Method == http.MethodPatch && request.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType) && request.GetBody != nil {
		return t.apply(ctx, request)
	}
	t.told.Do(func() {
		t.recorder.unseen("", "a reconcile sends requests through another client over the manager's HTTP client, such as "+
			request.Method+" "+request.URL.Path+": these are not recorded; use the manager's client")
	})
	return t.RoundTripper.RoundTrip(request)
}

// apply records what is applied to a subresource.
func (t *watchedTransport) apply(ctx context.Context, request *http.Request) (*http.Response, error) {
	c, _ := t.recorder.call(ctx, t.scheme, alwaysServed, live.Apply)
	if c != nil {
		c.appliesRequest(request)
	}
	response, err := t.RoundTripper.RoundTrip(request)
	if c == nil {
		return response, err
	}
	if err != nil {
		c.ends(err)
		return response, err
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it is read
	response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), &failing{err}))
	c.appliedResponse(response, text)
	return response, nil
}

// failing ends with an error that reading met, or ends.
type failing struct{ err error }

// Read implements io.Reader.
func (f *failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// appliesRequest keeps what a request applies.
func (c *call) appliesRequest(request *http.Request) {
	defer c.recorder.contain()
	reader, err := request.GetBody()
	if err != nil {
		return
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		return
	}
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if o.UnmarshalJSON(text) == nil {
		c.sent.text = text
	}
	kind := o.GroupVersionKind().GroupKind()
	c.entry.Object = core.Key{Kind: core.Kind(kind.String()), Namespace: o.GetNamespace(), Name: o.GetName()}
	// .../{resource}/{name}/{subresource}, which is all that is applied past the clients of ours
	c.entry.Subresource = request.URL.Path[strings.LastIndexByte(request.URL.Path, '/')+1:]
	query := request.URL.Query()
	c.entry.Write = writing(query["dryRun"], query.Get("fieldManager"))
	c.entry.Write.Force = query.Get("force") == "true"
}

// appliedResponse records the answer to what a request applied.
func (c *call) appliedResponse(response *http.Response, text []byte) {
	defer c.recorder.contain()
	o := &unstructured.Unstructured{Object: map[string]any{}}
	err := o.UnmarshalJSON(text)
	switch {
	case response.StatusCode >= http.StatusBadRequest:
		failed := &live.Failure{Code: response.StatusCode, Message: response.Status}
		status := metav1.Status{}
		if err == nil && runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &status) == nil {
			failed.Reason, failed.Message = string(status.Reason), status.Message
		}
		c.refused(failed)
	case err == nil:
		c.ends(nil, client.Object(o))
	default:
		c.ends(nil) // in a form that is not looked into
	}
}

// WrappedRoundTripper lets others find what is behind.
func (t *watchedTransport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }

// CloseIdleConnections lets http.Client close idle connections.
func (t *watchedTransport) CloseIdleConnections() {
	if closer, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

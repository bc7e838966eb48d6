package spans_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
	"github.com/orrery-dev/orrery/record/live/spans"
)

var began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

var web = core.Key{Kind: "ConfigMap", Namespace: "default", Name: "web"}

// recorded returns a recording of a process. The versions are objects 1 to 3.
func recorded(t *testing.T, name string, started time.Time, entries ...live.Entry) analysis.Source {
	t.Helper()
	var out bytes.Buffer
	w, err := live.NewWriter(&out, live.Header{Process: live.Process{Name: name, Replica: "0", Version: "v1"}, Started: started, Part: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, rv := range []string{"10", "11", "12"} {
		if _, err := w.AddObject(live.Object{Key: web, UID: "u", ResourceVersion: rv, Value: json.RawMessage(`{"secret":"hush"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, entry := range entries {
		if err := w.Add(entry); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(live.End{At: time.Second}); err != nil {
		t.Fatal(err)
	}
	return analysis.Source{Name: name + ".ort", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }}
}

// fight is two processes of which each wakes the other one: grow writes 11, shrink 12.
func fight(t *testing.T) []analysis.Source {
	ms := time.Millisecond
	grow := recorded(t, "wider", began,
		live.Event{N: 1, At: ms, Controller: "grow", Type: live.Added, Object: 1, Initial: true},
		live.Begin{N: 2, At: 2 * ms, Controller: "grow", Request: "default/web", Causes: []live.Cause{{By: live.ByEvent, N: 1}}, Waited: ms, ID: "id"},
		live.Call{N: 3, At: 3 * ms, Reconcile: 2, Verb: live.Get, Object: web, Cached: true, Answer: []int{1}},
		live.Call{N: 4, At: 4 * ms, Took: 5 * ms, Reconcile: 2, Verb: live.Update, Object: web, Base: "10", Answer: []int{2}},
		live.Done{N: 5, At: 10 * ms, Reconcile: 2},
		live.Event{N: 6, At: 20 * ms, Controller: "grow", Type: live.Updated, Object: 3, Old: 2},
		live.Begin{N: 7, At: 21 * ms, Controller: "grow", Request: "default/web", Causes: []live.Cause{{By: live.ByEvent, N: 6}}},
		live.Call{N: 8, At: 22 * ms, Took: ms, Reconcile: 7, Verb: live.Update, Object: web, Subresource: "status", Base: "11", Failed: &live.Failure{Code: 409, Reason: "Conflict", Message: "changed"}},
		live.Done{N: 9, At: 24 * ms, Reconcile: 7, Error: "changed"},
		live.Begin{N: 10, At: 30 * ms, Controller: "grow", Request: "default/web", Causes: []live.Cause{{By: live.ByFailure, N: 7}}},
		live.Call{N: 11, At: 31 * ms, Took: ms, Reconcile: 10, Verb: live.List, Object: core.Key{Kind: "ConfigMap"}, Answer: []int{3}},
	)
	shrink := recorded(t, "shrink", began.Add(-time.Hour),
		live.Event{N: 1, At: ms, Controller: "shrink", Type: live.Updated, Object: 2, Old: 1},
		live.Begin{N: 2, At: 2 * ms, Controller: "shrink", Request: "default/web", Causes: []live.Cause{{By: live.ByEvent, N: 1}}},
		live.Call{N: 3, At: 3 * ms, Took: ms, Reconcile: 2, Verb: live.Update, Object: web, Base: "11", Answer: []int{3}},
		live.Done{N: 4, At: 5 * ms, Reconcile: 2, After: time.Minute},
		live.Call{N: 5, At: 6 * ms, Verb: live.Get, Object: web, Client: "alice (kubectl)", Answer: []int{3}},
		live.Begin{N: 6, At: 7 * ms, Controller: "shrink", Request: "default/web"},
		live.Done{N: 7, At: 8 * ms, Reconcile: 6, Panicked: true},
	)
	return []analysis.Source{grow, shrink}
}

// exported exports recordings into memory.
func exported(t *testing.T, sources []analysis.Source) (tracetest.SpanStubs, spans.Result) {
	t.Helper()
	memory := tracetest.NewInMemoryExporter()
	result, err := spans.Export(t.Context(), sources, memory)
	if err != nil {
		t.Fatal(err)
	}
	return memory.GetSpans(), result
}

func of(s tracetest.SpanStub, key string) string {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value.Emit()
		}
	}
	return ""
}

func TestExport(t *testing.T) {
	all, result := exported(t, fight(t))
	byID := map[trace.SpanID]tracetest.SpanStub{}
	for _, s := range all {
		byID[s.SpanContext.SpanID()] = s
	}
	if len(byID) != len(all) || result.Spans != len(all) || result.Links != 3 || result.Forgotten != 0 {
		t.Errorf("%d spans with %d identifiers, result %+v", len(all), len(byID), result)
	}
	var lines []string
	for _, s := range all {
		service, _ := s.Resource.Set().Value("service.name")
		line := fmt.Sprintf("%s: %s %v+%v", service.Emit(), s.Name, s.StartTime.Sub(began).Round(time.Millisecond)%time.Hour, s.EndTime.Sub(s.StartTime))
		if s.Parent.IsValid() {
			line += " in " + byID[s.Parent.SpanID()].Name
			if s.Parent.TraceID() != s.SpanContext.TraceID() {
				t.Errorf("%s is in another trace than what it is in", s.Name)
			}
		}
		for _, link := range s.Links {
			to := byID[link.SpanContext.SpanID()]
			line += fmt.Sprintf(" because of %s %s", to.Name, of(to, "orrery.resource_version"))
			if to.SpanContext.TraceID() != link.SpanContext.TraceID() {
				t.Errorf("the link of %s leads to no span", s.Name)
			}
		}
		if s.Status.Code == codes.Error {
			line += " failed: " + s.Status.Description
		}
		lines = append(lines, line)
	}
	want := []string{
		"shrink: update ConfigMap -59m59.997s+1ms in shrink reconcile",
		"shrink: shrink reconcile -59m59.998s+3ms because of update ConfigMap 11",
		"shrink: get ConfigMap -59m59.994s+0s",
		"shrink: shrink reconcile -59m59.993s+1ms failed: it panicked",
		"wider: get ConfigMap 3ms+0s in grow reconcile",
		"wider: update ConfigMap 4ms+5ms in grow reconcile",
		"wider: grow reconcile 2ms+8ms",
		"wider: update ConfigMap 22ms+1ms in grow reconcile failed: Conflict: changed",
		"wider: grow reconcile 21ms+3ms because of update ConfigMap 12 failed: changed",
		"wider: list ConfigMap 31ms+1ms in grow reconcile",
		"wider: grow reconcile 30ms+2ms because of grow reconcile ",
	}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for _, check := range []struct {
		span      int
		key, want string
	}{
		{0, "orrery.changed", "true"}, {2, "orrery.client", "alice (kubectl)"}, {4, "orrery.cached", "true"}, {6, "orrery.because", `["added ConfigMap default/web@10"]`}, {6, "orrery.reconcile_id", "id"},
		{6, "orrery.waited_seconds", "0.001"}, {1, "orrery.requeue_after_seconds", "60"}, {7, "http.response.status_code", "409"}, {7, "orrery.subresource", "status"}, {10, "orrery.unfinished", "true"}, {6, "orrery.request", "default/web"},
	} {
		if got := of(all[check.span], check.key); got != check.want {
			t.Errorf("%s of %s is %q, want %q", check.key, lines[check.span], got, check.want)
		}
	}
	if got := all[0].Resource.Set().Encoded(attribute.DefaultEncoder()); got != "service.instance.id=0,service.name=shrink,service.version=v1" {
		t.Errorf("the resource is %s", got)
	}
	if text := fmt.Sprintf("%+v", all); strings.Contains(text, "hush") {
		t.Error("values of objects are exported")
	}
	again, _ := exported(t, fight(t))
	for i := range all {
		if !all[i].SpanContext.Equal(again[i].SpanContext) {
			t.Errorf("%s is another span when it is exported again", lines[i])
		}
	}
}

// failing is an exporter that cannot export.
type failing struct{ sdktrace.SpanExporter }

func (failing) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	return errors.New("connection refused")
}
func (failing) Shutdown(context.Context) error { return errors.New("it is not ours to shut down") }

// TestErrors returns errors of exporters, of recordings, and of the context.
func TestErrors(t *testing.T) {
	if _, err := spans.Export(t.Context(), fight(t), failing{}); err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "not ours") {
		t.Errorf("an exporter that fails: %v", err)
	}
	broken := analysis.Source{Name: "broken.ort", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("nothing")), nil }}
	if _, err := spans.Export(t.Context(), []analysis.Source{broken}, tracetest.NewInMemoryExporter()); !errors.Is(err, live.ErrNotRecording) {
		t.Errorf("no recording: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := spans.Export(ctx, fight(t), tracetest.NewInMemoryExporter()); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	if result, err := spans.Export(t.Context(), nil, tracetest.NewInMemoryExporter()); err != nil || result.Spans != 0 {
		t.Errorf("no recordings: %+v, %v", result, err)
	}
}

package spans

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// writesLimit bounds the memory for writes that links lead to: some hundreds of megabytes.
const writesLimit = 4 << 20

// Result says what was exported.
type Result struct {
	Spans, Links int
	// Forgotten is how many writes nothing could be linked to, since there were too many.
	Forgotten int
	Notes     analysis.Notes
}

// Export exports recordings through an exporter, which it does not shut down. The error is the first one of the
// recordings or of the exporter.
func Export(ctx context.Context, sources []analysis.Source, exporter sdktrace.SpanExporter) (Result, error) {
	e := &export{ctx: ctx, exporter: &watched{SpanExporter: exporter}, writes: map[analysis.Version]trace.SpanContext{}, last: map[string]trace.SpanContext{}}
	if _, err := analysis.Show(sources, analysis.Filter{}, e.learns); err != nil {
		return Result{}, err
	}
	notes, err := analysis.Show(sources, analysis.Filter{}, e.tells)
	e.result.Notes = notes
	return e.result, errors.Join(err, e.ends())
}

// export is an export that goes on.
type export struct {
	ctx      context.Context
	exporter *watched
	// writes are the calls that wrote the versions, and last the last reconciles by process, controller and request.
	writes map[analysis.Version]trace.SpanContext
	last   map[string]trace.SpanContext
	result Result
	// process is whose spans are made, with a provider and a tracer of its own.
	process  string
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// watched remembers the first error of an exporter, which the SDK would only log.
type watched struct {
	sdktrace.SpanExporter
	mu    sync.Mutex
	first error
}

// ExportSpans implements sdktrace.SpanExporter.
func (w *watched) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := w.SpanExporter.ExportSpans(ctx, spans)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first == nil {
		w.first = err
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter: the exporter is the caller's.
func (w *watched) Shutdown(context.Context) error { return nil }

// err returns the first error.
func (w *watched) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first
}

// identity tells processes apart.
func identity(h live.Header) string {
	return fmt.Sprintf("%q %q %d", h.Process.Name, h.Process.Replica, h.Started.UnixNano())
}

// contextOf returns the identifiers of a reconcile, or with a number from 1 on of one of its calls.
func contextOf(s analysis.Shown, call int) trace.SpanContext {
	of := fmt.Sprintf("%s %q %q %q %d", identity(s.Header), s.Controller, s.Client, s.Request, s.At)
	if s.Client != "" && len(s.Calls) > 0 { // an API server can answer many calls of a client at once
		of += " " + s.Calls[0].String() + " " + s.Calls[0].Object.String()
	}
	whole := sha256.Sum256([]byte(of))
	part := sha256.Sum256(fmt.Appendf(nil, "%s %d", of, call))
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(whole[:16]), SpanID: trace.SpanID(part[:8]), TraceFlags: trace.FlagsSampled})
}

// learns notes the writes of a reconcile.
func (e *export) learns(s analysis.Shown) error {
	for i, c := range s.Calls {
		if !c.Changed {
			continue
		}
		for _, version := range c.Answer {
			switch {
			case version.ResourceVersion == "":
			case len(e.writes) < writesLimit:
				e.writes[version] = contextOf(s, i+1)
			default:
				e.result.Forgotten++
			}
		}
	}
	return e.ctx.Err()
}

// tells exports a reconcile.
func (e *export) tells(s analysis.Shown) error {
	if err := e.goesTo(s); err != nil {
		return err
	}
	began := s.Header.Started.Add(s.At)
	ended := began.Add(s.Took)
	for _, c := range s.Calls {
		if until := s.Header.Started.Add(c.At + c.Took); s.Unfinished && until.After(ended) {
			ended = until
		}
	}
	own := contextOf(s, 0)
	ctx := e.ctx
	if s.Client == "" {
		links := e.links(s)
		e.result.Links += len(links)
		spanned, span := e.tracer.Start(with(ctx, own), s.Controller+" reconcile", trace.WithTimestamp(began), trace.WithLinks(links...), trace.WithAttributes(attributesOf(s)...))
		ctx = spanned
		switch {
		case s.Panicked:
			span.SetStatus(codes.Error, "it panicked")
		case s.Error != "":
			span.SetStatus(codes.Error, s.Error)
		}
		defer span.End(trace.WithTimestamp(ended))
		e.result.Spans++
		e.last[lastOf(s)] = own
	}
	for i, c := range s.Calls {
		e.call(ctx, s, c, contextOf(s, i+1))
	}
	return e.exporter.err()
}

// lastOf names what the last reconcile of is remembered.
func lastOf(s analysis.Shown) string {
	return fmt.Sprintf("%s %q %q", identity(s.Header), s.Controller, s.Request)
}

// links lead to what woke a reconcile.
func (e *export) links(s analysis.Shown) []trace.Link {
	var links []trace.Link
	for _, woken := range s.Woken {
		var to trace.SpanContext
		switch {
		case woken.Object != nil:
			to = e.writes[*woken.Object]
		case woken.By == live.ByResult || woken.By == live.ByFailure:
			to = e.last[lastOf(s)]
		}
		if to.IsValid() {
			links = append(links, trace.Link{SpanContext: to, Attributes: []attribute.KeyValue{attribute.String("orrery.because", woken.String())}})
		}
	}
	return links
}

// attributesOf says what a reconcile is about.
func attributesOf(s analysis.Shown) []attribute.KeyValue {
	var because []string
	for _, woken := range s.Woken {
		because = append(because, woken.String())
	}
	all := []attribute.KeyValue{
		attribute.String("orrery.controller", s.Controller), attribute.String("orrery.request", s.Request), attribute.StringSlice("orrery.because", because),
		attribute.Float64("orrery.waited_seconds", s.Waited.Seconds()),
	}
	if s.ID != "" {
		all = append(all, attribute.String("orrery.reconcile_id", s.ID))
	}
	if s.Unfinished {
		all = append(all, attribute.Bool("orrery.unfinished", true))
	}
	if s.Requeue || s.After > 0 {
		all = append(all, attribute.Float64("orrery.requeue_after_seconds", s.After.Seconds()))
	}
	return all
}

// call exports a call.
func (e *export) call(ctx context.Context, s analysis.Shown, c analysis.ShownCall, own trace.SpanContext) {
	kind := trace.SpanKindClient
	if c.Cached {
		kind = trace.SpanKindInternal
	}
	all := []attribute.KeyValue{
		attribute.String("orrery.verb", c.Verb), attribute.String("orrery.object", strings.TrimSpace(c.Object.String())), attribute.Bool("orrery.cached", c.Cached), attribute.Bool("orrery.changed", c.Changed),
	}
	if c.Subresource != "" {
		all = append(all, attribute.String("orrery.subresource", c.Subresource))
	}
	if s.Client != "" {
		all = append(all, attribute.String("orrery.client", s.Client))
	}
	if len(c.Answer) == 1 && c.Verb != live.List {
		all = append(all, attribute.String("orrery.resource_version", c.Answer[0].ResourceVersion))
	}
	if c.Failed != nil && c.Failed.Code != 0 {
		all = append(all, attribute.Int("http.response.status_code", c.Failed.Code))
	}
	began := s.Header.Started.Add(c.At)
	_, span := e.tracer.Start(with(ctx, own), c.Verb+" "+string(c.Object.Kind), trace.WithTimestamp(began), trace.WithSpanKind(kind), trace.WithAttributes(all...))
	if c.Failed != nil {
		span.SetStatus(codes.Error, strings.TrimPrefix(c.Failed.Reason+": "+c.Failed.Message, ": "))
	}
	span.End(trace.WithTimestamp(began.Add(max(0, c.Took))))
	e.result.Spans++
}

// goesTo goes on to another process if it is one.
func (e *export) goesTo(s analysis.Shown) error {
	which := identity(s.Header)
	if e.provider != nil && which == e.process {
		return nil
	}
	if err := e.ends(); err != nil {
		return err
	}
	p := s.Header.Process
	of := resource.NewSchemaless(attribute.String("service.name", p.Name), attribute.String("service.instance.id", p.Replica), attribute.String("service.version", p.Version))
	e.process = which
	e.provider = sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(e.exporter, sdktrace.WithBlocking()), sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithIDGenerator(given{}), sdktrace.WithResource(of))
	e.tracer = e.provider.Tracer("github.com/orrery-dev/orrery/record/live/spans")
	return nil
}

// ends exports what is left of a process.
func (e *export) ends() error {
	if e.provider == nil {
		return nil
	}
	err := e.provider.Shutdown(e.ctx)
	e.provider = nil
	return errors.Join(e.exporter.err(), err)
}

// given are the identifiers that a context has for the next span.
type given struct{}

type givenKey struct{}

func with(ctx context.Context, own trace.SpanContext) context.Context {
	return context.WithValue(ctx, givenKey{}, own)
}

// NewIDs implements sdktrace.IDGenerator.
func (given) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	own, _ := ctx.Value(givenKey{}).(trace.SpanContext)
	return own.TraceID(), own.SpanID()
}

// NewSpanID implements sdktrace.IDGenerator.
func (given) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	own, _ := ctx.Value(givenKey{}).(trace.SpanContext)
	return own.SpanID()
}

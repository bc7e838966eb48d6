package observe

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// callKey is the key of a *call in a context.
type callKey struct{}

// call is a call of a client that is going on. A nil call is one that is not recorded.
type call struct {
	recorder *Recorder
	scheme   *runtime.Scheme
	reads    answeredBy
	// live tells that it reached the network.
	live  atomic.Bool
	entry live.Call
	sent  body
}

// answeredBy says who answers the reads of a client.
type answeredBy int

const (
	alwaysServed answeredBy = iota // the API server
	alwaysCached                   // a cache
	byTransport                    // the API server if the network was asked
)

// call begins a call, under a context that the client must be given. It returns nil if the call is not to be recorded.
func (r *Recorder) call(ctx context.Context, scheme *runtime.Scheme, reads answeredBy, verb string) (c *call, under context.Context) {
	if !r.on.Load() {
		return nil, ctx
	}
	if _, within := ctx.Value(callKey{}).(*call); within {
		return nil, ctx // one client of ours on top of another
	}
	within, _ := ctx.Value(runKey{}).(*run)
	if within != nil && within.recorder == r && within.number == 0 {
		return nil, ctx // of a reconcile that is not recorded
	}
	c = &call{recorder: r, scheme: scheme, reads: reads, entry: live.Call{At: r.now(), Verb: verb}}
	if within != nil && within.recorder == r {
		c.entry.Reconcile = within.number
	}
	return c, context.WithValue(ctx, callKey{}, c)
}

// about says which object the call is about.
func (c *call) about(o runtime.Object, namespace, name string) {
	if c == nil {
		return
	}
	defer c.recorder.contain()
	c.entry.Object = core.Key{Kind: c.recorder.kinds.of(c.scheme, o), Namespace: namespace, Name: name}
}

// sends keeps what a call sends, as it is now: the answer will overwrite it.
func (c *call) sends(o client.Object) {
	if c == nil {
		return
	}
	defer c.recorder.contain()
	c.sent.object = c.recorder.kinds.copyOf(c.scheme, o)
}

// ends records the call with its error, or the objects of its answer.
func (c *call) ends(err error, answer ...client.Object) {
	if c == nil {
		return
	}
	defer c.recorder.contain()
	c.record(failure(err), answer)
}

// refused records the call with the failure that the server answered.
func (c *call) refused(failed *live.Failure) { c.record(failed, nil) }

func (c *call) record(failed *live.Failure, answer []client.Object) {
	e := &c.entry
	e.Took = c.recorder.now() - e.At
	reading := e.Verb == live.Get || e.Verb == live.List
	e.Cached = reading && (c.reads == alwaysCached || c.reads == byTransport && !c.live.Load())
	e.Failed = failed
	if e.Reconcile == 0 && !c.recorder.samples(e.Object.Namespace, e.Object.Name) {
		return
	}
	var shown []version
	if failed == nil {
		room := c.recorder.options.BufferBytes
		for _, o := range answer {
			if room < 0 {
				break // there is no room for so much, and it is dropped
			}
			v := c.recorder.version(c.scheme, o, e.Cached)
			shown, room = append(shown, v), room-v.bytes
		}
		if len(answer) > 0 && e.Verb != live.List {
			e.Object.Name = answer[0].GetName() // a generated one, too
		}
	}
	c.recorder.next(shown, c.sent, func(n uint64, _ time.Duration) live.Entry {
		e.N = n
		return *e
	})
}

// failure returns an error as it is recorded.
func failure(err error) *live.Failure {
	if err == nil {
		return nil
	}
	failed := &live.Failure{Message: err.Error()}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		failed.Code, failed.Reason = int(status.Status().Code), string(status.Status().Reason)
	}
	return failed
}

// version returns a version of an object, with a copy of it if the writer does not have it yet, in this form or another
// one: what a cache gets is mostly what the server has answered.
func (r *Recorder) version(scheme *runtime.Scheme, o client.Object, fromCache bool) version {
	v := version{
		key: core.Key{Kind: r.kinds.of(scheme, o), Namespace: o.GetNamespace(), Name: o.GetName()},
		uid: string(o.GetUID()), rv: o.GetResourceVersion(),
	}
	if fromCache {
		v.form = live.Cached
	}
	if _, only := o.(*metav1.PartialObjectMetadata); only {
		v.form = live.Metadata
	}
	known, other := r.has(v)
	switch {
	case known:
	case other != nil && r.same.objects(other.object, o):
		v.same = &other.form
	default:
		v.object, v.bytes = r.kinds.copyOf(scheme, o), r.types.bytesOf(o, r.options.BufferBytes)
	}
	return v
}

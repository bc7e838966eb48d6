package analysis_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// teller writes a recording by hand.
type teller struct {
	t   testing.TB
	out bytes.Buffer
	w   *live.Writer
	n   uint64
	now time.Duration
}

func newTeller(t testing.TB, replica string, part int) *teller {
	t.Helper()
	x := &teller{t: t}
	var err error
	x.w, err = live.NewWriter(&x.out, live.Header{Process: live.Process{Name: "operator", Replica: replica}, Part: part})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// next returns a number and a time for an entry, a millisecond after the last one.
func (x *teller) next() (uint64, time.Duration) {
	x.n++
	x.now += time.Millisecond
	return x.n, x.now
}

func (x *teller) add(e live.Entry) {
	x.t.Helper()
	if err := x.w.Add(e); err != nil {
		x.t.Fatal(err)
	}
}

// object writes a version of an object with a field and the manager that wrote it.
func (x *teller) object(kind, name, rv, field, manager string) int {
	x.t.Helper()
	value := fmt.Sprintf(`{"kind":%q,"metadata":{"name":%q,"resourceVersion":%q,"generation":%s,"managedFields":[{"manager":"first","time":"2026-01-01T00:00:00Z"},{"manager":%q,"time":"2026-01-01T00:00:01Z"}]},"data":{"n":%q,"a.b":["x"]}}`,
		kind, name, rv, rv, manager, field)
	number, err := x.w.AddObject(live.Object{Key: core.Key{Kind: core.Kind(kind), Namespace: "default", Name: name}, UID: "uid-" + name, ResourceVersion: rv, Value: json.RawMessage(value)})
	if err != nil {
		x.t.Fatal(err)
	}
	return number
}

// event tells a controller of a change, and queues a request.
func (x *teller) event(controller, typed string, object, old int, request string) uint64 {
	n, at := x.next()
	x.add(live.Event{N: n, At: at, Controller: controller, Type: typed, Object: object, Old: old, Initial: typed == live.Added && n == 1})
	if request != "" {
		q, at := x.next()
		x.add(live.Queued{N: q, At: at, Controller: controller, Event: n, Request: request})
	}
	return n
}

func (x *teller) begin(controller, request string, causes ...live.Cause) uint64 {
	n, at := x.next()
	x.add(live.Begin{N: n, At: at, Controller: controller, Request: request, Causes: causes, Waited: time.Millisecond})
	return n
}

func (x *teller) get(of uint64, kind, name string, object int) {
	n, at := x.next()
	c := live.Call{N: n, At: at, Reconcile: of, Verb: live.Get, Object: core.Key{Kind: core.Kind(kind), Namespace: "default", Name: name}, Cached: true}
	if object == 0 {
		c.Failed = &live.Failure{Code: 404, Reason: "NotFound"}
	} else {
		c.Answer = []int{object}
	}
	x.add(c)
}

func (x *teller) write(of uint64, verb, kind, name, base string, object int, failed *live.Failure) {
	n, at := x.next()
	c := live.Call{N: n, At: at, Took: time.Millisecond / 2, Reconcile: of, Verb: verb, Object: core.Key{Kind: core.Kind(kind), Namespace: "default", Name: name}, Base: base, Failed: failed}
	if object != 0 {
		c.Answer = []int{object}
	}
	x.add(c)
}

func (x *teller) done(of uint64, failed string) {
	n, at := x.next()
	x.add(live.Done{N: n, At: at, Reconcile: of, Error: failed})
}

// ended returns the recording.
func (x *teller) ended() []byte {
	x.t.Helper()
	if err := x.w.End(live.End{At: x.now}); err != nil {
		x.t.Fatal(err)
	}
	return x.out.Bytes()
}

// source returns the recording as one file.
func (x *teller) source() analysis.Source { return inMemory("operator.ort", x.ended()) }

func inMemory(name string, file []byte) analysis.Source {
	return analysis.Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }}
}

func byEvent(n uint64) live.Cause { return live.Cause{By: live.ByEvent, N: n} }

// tale is a recording with a bit of everything: grow and shrink fight over the field n of a ConfigMap, grow reads it
// once when it is stale, makes a Secret twice since it does not find the one it made, and somebody else edits the
// ConfigMap.
func tale(t testing.TB) *teller {
	x := newTeller(t, "0", 1)
	v14 := quarrel(x)

	n, at := x.next()
	x.add(live.Queued{N: n, At: at, Controller: "grow", Request: "default/s"})
	r := x.begin("grow", "default/s", live.Cause{By: live.ByCode, N: n})
	v15 := x.object("Secret", "s", "15", "", "operator")
	x.write(r, live.Create, "Secret", "s", "", v15, nil)
	x.done(r, "")
	r = x.begin("grow", "default/s")
	x.get(r, "Secret", "s", 0) // stale: it was made before, and is there later
	x.write(r, live.Create, "Secret", "s", "", 0, &live.Failure{Code: 409, Reason: "AlreadyExists"})
	x.done(r, "exists")
	x.event("", live.Added, v15, 0, "")

	v20 := x.object("ConfigMap", "other", "20", "", "kubectl")
	x.event("grow", live.Added, v20, 0, "")
	r = x.begin("shrink", "default/web")
	x.get(r, "ConfigMap", "web", v14) // stale: 17 is there, since another one of the kind has 20; but that is told later
	x.done(r, "")
	v17 := x.object("ConfigMap", "web", "17", "5", "kubectl-edit")
	x.event("shrink", live.Updated, v17, v14, "default/web")
	x.begin("shrink", "default/web") // has no end
	return x
}

// quarrel is the part of the tale in which grow and shrink fight. It returns the last version.
func quarrel(x *teller) int {
	const cm, web = "ConfigMap", "web"
	conflict := &live.Failure{Code: 409, Reason: "Conflict"}

	v10 := x.object(cm, web, "10", "0", "kubectl")
	e := x.event("grow", live.Added, v10, 0, "default/web")
	r := x.begin("grow", "default/web", byEvent(e))
	x.get(r, cm, web, v10)
	v11 := x.object(cm, web, "11", "1", "operator")
	x.write(r, live.Update, cm, web, "10", v11, nil)
	x.done(r, "")

	e = x.event("shrink", live.Updated, v11, v10, "default/web")
	r = x.begin("shrink", "default/web", byEvent(e))
	x.get(r, cm, web, v11)
	v12 := x.object(cm, web, "12", "0", "operator")
	x.write(r, live.Update, cm, web, "11", v12, nil)
	x.done(r, "")

	e = x.event("grow", live.Updated, v12, v11, "default/web")
	r = x.begin("grow", "default/web", byEvent(e))
	x.get(r, cm, web, v11) // stale: 12 is known since three milliseconds
	x.write(r, live.Update, cm, web, "11", 0, conflict)
	x.done(r, "conflict")
	r = x.begin("grow", "default/web", live.Cause{By: live.ByFailure, N: r})
	x.get(r, cm, web, v12)
	v13 := x.object(cm, web, "13", "1", "operator")
	x.write(r, live.Update, cm, web, "12", v13, nil)
	x.done(r, "")

	e = x.event("shrink", live.Updated, v13, v12, "default/web")
	r = x.begin("shrink", "default/web", byEvent(e))
	x.get(r, cm, web, v13)
	v14 := x.object(cm, web, "14", "0", "operator")
	x.write(r, live.Update, cm, web, "13", v14, nil)
	x.done(r, "")

	e = x.event("grow", live.Updated, v14, v13, "default/web")
	r = x.begin("grow", "default/web", byEvent(e))
	x.get(r, cm, web, v14)
	x.write(r, live.Update, cm, web, "14", v14, nil) // changes nothing
	x.done(r, "")
	return v14
}

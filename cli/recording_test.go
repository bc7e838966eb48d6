package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// records writes a recording: records FILE [cut]. One that is cut has no end.
func records(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: records FILE [cut]")
	}
	recording, err := recordingOf(len(args) > 1)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), recording, 0o600))
}

// recordingOf returns a recording in which a controller reads a ConfigMap that is stale, and fails to update it. One
// that is cut has no end.
func recordingOf(cut bool) ([]byte, error) {
	var out bytes.Buffer
	w, err := live.NewWriter(&out, live.Header{Process: live.Process{Name: "operator", Replica: "0"}, Part: 1})
	if err != nil {
		return nil, err
	}
	key := core.Key{Kind: "ConfigMap", Namespace: "default", Name: "web"}
	var failed error
	version := func(rv, n string) int {
		number, err := w.AddObject(live.Object{Key: key, UID: "uid", ResourceVersion: rv, Value: json.RawMessage(`{"data":{"n":"` + n + `"}}`)})
		failed = errors.Join(failed, err)
		return number
	}
	ms := time.Millisecond
	v10, v11, v12, v13 := version("10", "0"), version("11", "1"), version("12", "0"), version("13", "1")
	read := live.Call{Reconcile: 3, Verb: live.Get, Object: key, Cached: true}
	wrote := live.Call{Reconcile: 3, Verb: live.Update, Object: key, Took: ms}
	for _, entry := range []live.Entry{
		live.Event{N: 1, At: ms, Controller: "grow", Type: live.Added, Object: v10, Initial: true},
		live.Queued{N: 2, At: ms, Controller: "grow", Event: 1, Request: "default/web"},
		live.Begin{N: 3, At: 2 * ms, Controller: "grow", Request: "default/web", Causes: []live.Cause{{By: live.ByEvent, N: 1}}, Waited: ms},
		call(read, 4, 3*ms, v10, ""), call(wrote, 5, 4*ms, v11, "10"),
		live.Event{N: 6, At: 6 * ms, Controller: "grow", Type: live.Updated, Object: v12, Old: v10},
		call(read, 7, 7*ms, v11, ""),
		live.Call{N: 8, At: 8 * ms, Reconcile: 3, Verb: live.Update, Object: key, Base: "11", Failed: &live.Failure{Code: 409, Reason: "Conflict"}},
		call(wrote, 9, 9*ms, v13, "12"),
		live.Done{N: 10, At: 11 * ms, Reconcile: 3, Error: "a \x1b[31mred\x1b[0m\nerror"},
		live.Begin{N: 11, At: 12 * ms, Controller: "grow", Request: "default/web", Causes: []live.Cause{{By: live.ByFailure, N: 3}}},
		live.Done{N: 12, At: 13 * ms, Reconcile: 11},
	} {
		failed = errors.Join(failed, w.Add(entry))
	}
	if cut {
		return out.Bytes(), errors.Join(failed, w.Flush())
	}
	failed = errors.Join(failed, w.End(live.End{At: 14 * ms}))
	return out.Bytes(), failed
}

// call returns a call with a number, a time and an answer.
func call(c live.Call, n uint64, at time.Duration, answer int, base string) live.Call {
	c.N, c.At, c.Answer, c.Base = n, at, []int{answer}, base
	return c
}

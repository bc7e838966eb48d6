package foreign_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/record/live/foreign"
)

// outgrown is how much larger than what was read a recording may be: a call of some bytes makes an entry with names for
// what it has.
const outgrown = 64

// FuzzAudit reads anything as an audit log. What comes out can be read, and is not much larger.
func FuzzAudit(f *testing.F) {
	secret := strings.Replace(configMap(7, "", "hush"), "ConfigMap", "Secret", 1)
	f.Add(logOf(
		line{at: 1, verb: "create", ref: "/configmaps/web/a", request: configMap(1, "", "1"), response: configMap(1, "", "1")},
		line{at: 2, verb: "patch", uri: "/?fieldManager=m&force=true", ref: "example.com/widgets/web/a", request: `{"kind":"Widget"}`},
		line{at: 3, verb: "delete", ref: "/configmaps/web/a", request: `{"gracePeriodSeconds":1}`, response: `{"kind":"Status"}`},
	))
	f.Add(logOf(
		line{at: 1, verb: "list", uri: "/?limit=1", ref: "/secrets/web", response: `{"kind":"SecretList","apiVersion":"v1","items":[` + secret + `]}`},
		line{at: 2, verb: "patch", ref: "/secrets/web/a", request: `[{"op":"add","path":"/data/n","value":"hush"}]`, response: secret},
		line{at: 3, verb: "update", code: 500, ref: "/secrets/web/a", message: "hush"},
		text(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{},{"objectRef":{}}]}`),
	))
	f.Add(zipped(logOf(line{at: 1, verb: "deletecollection", ref: "/pods/web", response: `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`})))
	f.Fuzz(func(t *testing.T, log []byte) {
		var out bytes.Buffer
		if foreign.Audit([]foreign.File{fileOf("fuzz", log)}, &out, foreign.Options{}) != nil {
			return
		}
		if !bytes.HasPrefix(log, []byte{0x1f, 0x8b}) && out.Len() > 4096+outgrown*len(log) {
			t.Errorf("%d bytes become %d", len(log), out.Len())
		}
		for _, c := range read(t, out.Bytes()).calls {
			if c.At < 0 || c.Took < 0 {
				t.Errorf("a call at %v takes %v", c.At, c.Took)
			}
		}
	})
}

// FuzzSimKube reads anything as a trace.
func FuzzSimKube(f *testing.F) {
	f.Add(traceOf(f, 2, simEvent{simStart, []object{deployment("a", 1)}, []object{}}, simEvent{simStart + 1, []object{deployment("a", 2)}, []object{deployment("a", 2)}}))
	f.Add(traceOf(f, 2, object{"ts": -5, "applied_objs": []any{object{"kind": "Secret"}, nil, 7}, "deleted_objs": "x"}))
	f.Add(traceOf(f, 2))
	f.Fuzz(func(t *testing.T, trace []byte) {
		var out bytes.Buffer
		if foreign.SimKube(bytes.NewReader(trace), &out, foreign.Options{}) != nil {
			return
		}
		if out.Len() > 4096+outgrown*len(trace) {
			t.Errorf("%d bytes become %d", len(trace), out.Len())
		}
		for _, e := range read(t, out.Bytes()).events {
			if e.At < 0 {
				t.Errorf("an event at %v", e.At)
			}
		}
	})
}

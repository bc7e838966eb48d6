package explore

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestDiffers says what is different about a step, the first of all that is.
func TestDiffers(t *testing.T) {
	step := func(change func(*core.TraceStep)) core.TraceStep {
		s := core.TraceStep{
			Kind: "reconcile", Controller: "web", Request: "r", From: 1, To: 2, Result: "returns",
			Calls:    []core.TraceCall{{Call: "get a", Response: "1"}, {Call: "put b", Response: "ok", Wrote: true}},
			Enqueued: []string{"db q"},
		}
		change(&s)
		return s
	}
	same := func(*core.TraceStep) {}
	for name, test := range map[string]struct {
		recorded, now func(*core.TraceStep)
		want          string
	}{
		"nothing":            {same, same, ""},
		"between states":     {same, func(s *core.TraceStep) { s.From, s.To = 7, 8 }, ""},
		"what words say":     {same, func(s *core.TraceStep) { s.Calls[0].Fault, s.Calls[1].Turn, s.Crashes = "timeout", 2, true }, ""},
		"what is logged":     {func(s *core.TraceStep) { s.Logs = make([]core.TraceLog, 1) }, same, ""},
		"kind":               {same, func(s *core.TraceStep) { s.Kind = "fire" }, "web(r) is no longer in the work queue"},
		"a call less":        {same, func(s *core.TraceStep) { s.Calls = s.Calls[:1] }, "it no longer makes the call put b"},
		"a call more":        {func(s *core.TraceStep) { s.Calls = s.Calls[:1] }, same, "it now makes the call put b"},
		"another call":       {same, func(s *core.TraceStep) { s.Calls[0].Call = "get c" }, `the call was "get a" with the response "1", and is now "get c" with the response "1"`},
		"another response":   {same, func(s *core.TraceStep) { s.Calls[0].Response = "2" }, `the call was "get a" with the response "1", and is now "get a" with the response "2"`},
		"it wrote":           {same, func(s *core.TraceStep) { s.Calls[1].Wrote = false }, `the call was "put b" with the response "ok", and is now "put b" with the response "ok"`},
		"whose call":         {same, func(s *core.TraceStep) { s.Calls[0].Handler = "db" }, `the call was "get a" with the response "1", and is now "get a" with the response "1"`},
		"result":             {same, func(s *core.TraceStep) { s.Result = "fails" }, `it ended with "returns" and now ends with "fails"`},
		"what it enqueues":   {same, func(s *core.TraceStep) { s.Enqueued = nil }, "it changes other objects or enqueues other requests than before"},
		"an object":          {same, func(s *core.TraceStep) { s.Changes = make([]core.TraceChange, 1) }, "it changes other objects or enqueues other requests than before"},
		"the result as well": {same, func(s *core.TraceStep) { s.Result, s.Enqueued = "fails", nil }, `it ended with "returns" and now ends with "fails"`},
	} {
		if got := differs(step(test.recorded), step(test.now)); got != test.want {
			t.Errorf("%s: it is said that %q", name, got)
		}
	}
}

// TestMemoryDiffers says what is different about memory, if the record says anything of it.
func TestMemoryDiffers(t *testing.T) {
	change := []core.MemoryChange{{Controller: "web", Field: "count"}}
	m := remembered{}
	if got := m.differs(nil, change); got != "" || m.note != " (web now keeps count in memory, of which the record says nothing)" {
		t.Errorf("it is said that %q, and noted %q", got, m.note)
	}
	if m.differs(nil, []core.MemoryChange{{Controller: "db", Field: "x"}}); m.note != " (web now keeps count in memory, of which the record says nothing)" {
		t.Errorf("it is noted %q", m.note)
	}
	m = remembered{recorded: true}
	if got := m.differs(change, change); got != "" || m.note != "" {
		t.Errorf("nothing is different, and it is said that %q", got)
	}
	if got := m.differs(change, nil); got == "" {
		t.Error("nothing is said, and memory is different")
	}
}

func TestEqualJSON(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":2}`, `{ "b": 2, "a": 1 }`, true}, {`{"a":1}`, `{"a":2}`, false}, {`[1,2]`, `[2,1]`, false}, {`broken`, `broken`, true}, {`broken`, `"broken"`, false}, {`null`, ``, false},
	} {
		if got := equalJSON([]byte(test.a), []byte(test.b)); got != test.want {
			t.Errorf("%s and %s are equal: %t", test.a, test.b, got)
		}
	}
}

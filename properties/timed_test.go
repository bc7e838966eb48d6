package properties

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestTimesThatGoRound says of a field that goes round through times what happens to it, and not that the clock goes
// back, as it does in the trace. It rests where a second write may come to nothing.
func TestTimesThatGoRound(t *testing.T) {
	at := field{core.Key{Kind: "ConfigMap", Name: "a"}, "data.synced"}
	for _, test := range []struct {
		values      []any
		goes, rests string
	}{
		{[]any{"2000-01-01T00:00:00Z", "2000-01-01T00:00:01Z", "2000-01-01T00:00:00Z"}, "gets another time with each write", "changes nothing"},
		{[]any{"2000-01-01T00:00:00Z", "2000-01-01T00:00:00.000001Z"}, "gets another time with each write", ""},
		{[]any{"2000-01-01T00:00:00Z", "never", "2000-01-01T00:00:00Z"}, `goes "2000-01-01T00:00:00Z" → "never" → "2000-01-01T00:00:00Z"`, ""},
		{[]any{nil, "2000-01-01T00:00:00Z"}, `goes (absent) → "2000-01-01T00:00:00Z"`, ""},
	} {
		r := round{field: at, values: test.values}
		if goes, all := r.goes(), r.String(); goes != test.goes || !strings.Contains(all, goes) || strings.Contains(all, "changes nothing") != (test.rests != "") {
			t.Errorf("%v: it %s: %s", test.values, goes, all)
		}
	}
	two := round{field: at, values: []any{"2000-01-01T00:00:00Z", "2010-01-01T00:00:00Z"}, writes: []write{{controller: "a"}, {controller: "b"}}}
	if got := two.goes(); !strings.Contains(got, "→") {
		t.Errorf("two controllers write: it %s", got)
	}
	if r := (round{field: at, exists: true, values: []any{"is there", "is gone"}}); !strings.Contains(r.String(), "is created and deleted") {
		t.Error(r.String())
	}
}

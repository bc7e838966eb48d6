package explore

import (
	"testing"

	"github.com/orrery-dev/orrery/core/behavior"
)

// TestStuck has a step be stuck if its last run never came back. One that a crash cut off is not.
func TestStuck(t *testing.T) {
	ended := func(how behavior.Failure) ranAs { return ranAs{Run: behavior.Run{Leaf: &behavior.Leaf{Failure: how}}} }
	for _, test := range []struct {
		runs []ranAs
		want bool
	}{
		{nil, false}, {[]ranAs{{}}, false}, {[]ranAs{ended(behavior.None)}, false}, {[]ranAs{ended(behavior.Panicked)}, false}, {[]ranAs{ended(behavior.Deadlock)}, true},
		{[]ranAs{ended(behavior.None), ended(behavior.Overdue)}, true}, {[]ranAs{ended(behavior.Deadlock), ended(behavior.None)}, false}, {[]ranAs{ended(behavior.Deadlock), {}}, false},
	} {
		if got := (&traceBuilder{runs: test.runs}).stuck(); got != test.want {
			t.Errorf("with %+v it is stuck: %t", test.runs, got)
		}
	}
}

package plain_test

import (
	"errors"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

var errLarge = errors.New("the count is large")

// TestLog checks that the lines of an action are in the story if that is asked for, and that to log is no call.
func TestLog(t *testing.T) {
	count := plain.NewVar[int]("count")
	model := plain.Model{
		Name:    "counter",
		Initial: []core.Initial{plain.Start(count.Is(0))},
		Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "add", Do: func(w *plain.World) {
			w.Log("looks")
			n := count.Get(w)
			w.Log("adds", "to", n)
			w.Require(n < 2)
			count.Set(w, n+1)
		}}}}},
		Properties: []core.Property{{Name: "small", Doc: "The count is small.", Invariant: func(state core.State) error {
			if count.Get(state) > 1 {
				return errLarge
			}
			return nil
		}}},
	}
	for _, logs := range []bool{true, false} {
		system, err := model.System()
		if err != nil {
			t.Fatal(err)
		}
		result, err := orrery.Run(t.Context(), system, orrery.Options{Logs: logs})
		if err != nil {
			t.Fatal(err)
		}
		steps := result.Report.Findings[0].Trace.Steps
		if got, want := len(steps[1].Logs), map[bool]int{true: 2, false: 0}[logs]; got != want {
			t.Fatalf("there are %d lines, want %d", got, want)
		}
		if !logs {
			continue
		}
		if got, want := steps[1].Logs[0], "info looks"; got.String() != want || got.Calls != 0 {
			t.Errorf("got %q after %d calls, want %q", got.String(), got.Calls, want)
		}
		if got, want := steps[1].Logs[1], "info adds to=1"; got.String() != want || got.Calls != 1 {
			t.Errorf("got %q after %d calls, want %q", got.String(), got.Calls, want)
		}
	}
}

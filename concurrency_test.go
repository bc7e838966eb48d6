package orrery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
)

// atOnce returns a controller that makes calls from a goroutine each.
func atOnce(calls ...string) hand {
	h := stateless("fan", func(do ask, _ core.Request) core.Result {
		var all sync.WaitGroup
		for _, c := range calls {
			all.Go(func() { do("%s", c) })
		}
		all.Wait()
		return core.Result{}
	})
	h.bubbled = true
	return h
}

// TestConcurrentCalls makes calls at the same time. They are answered in all orders in which they come to something
// else.
func TestConcurrentCalls(t *testing.T) {
	for _, test := range []struct {
		name     string
		calls    []string
		outcomes int
	}{
		{"two creates of one object", []string{"claim y left", "claim y right"}, 2},
		{"three creates of one object", []string{"claim y left", "claim y right", "claim y up"}, 3},
		{"creates of two objects, one twice", []string{"claim y left", "claim y right", "claim z 1"}, 2},
		{"two creates of two objects each", []string{"claim y left", "claim y right", "claim z left", "claim z right"}, 4},
		{"a write and a read of one object", []string{"put x left", "get x"}, 1},
		{"a read first", []string{"get x", "put x left"}, 1},
		{"writes of different objects", []string{"put x 1", "put y 1", "put z 1", "put v 1"}, 1},
		{"reads", []string{"get a", "get b", "get c", "get x"}, 1},
		{"writes of what is there", []string{"put x none", "get x"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, granularity := range []orrery.Granularity{orrery.PerReconcile, orrery.PerCall} {
				for _, options := range []orrery.Options{
					{}, {Workers: 2, Reduction: orrery.NoReduction}, {Search: orrery.DepthFirst}, {Workers: 2, Compact: true}, {Crashes: 1},
				} {
					options.Granularity, options.Orders = granularity, 1000
					system := onSlate(map[string]string{"x": "none"}, atOnce(test.calls...))
					result, err := orrery.Run(context.Background(), system, options)
					if err != nil {
						t.Fatal(err)
					}
					if got := result.Report; got.Outcomes != test.outcomes || (got.Verdict == core.Violated) != (test.outcomes > 1) || len(got.Reasons) > 0 {
						t.Errorf("%+v: the verdict is %s with %d outcomes, want %d: %q", options, got.Verdict, got.Outcomes, test.outcomes, got.Reasons)
					}
				}
			}
		})
	}
}

// TestOneOrder answers concurrent calls in one order, or in fewer than there are. Only where that matters there is a
// reason.
func TestOneOrder(t *testing.T) {
	for _, test := range []struct {
		calls   []string
		orders  int
		matters bool
	}{
		{[]string{"claim y left", "claim y right"}, 1, true},
		{[]string{"get x", "put x left"}, 1, true},
		{[]string{"put x 1", "put y 1"}, 1, false},
		{[]string{"get x", "put x left"}, 2, false},
		{[]string{"get x", "get y", "put x 1", "put y 1"}, 3, true},
		{[]string{"get x", "get y", "put x 1", "put y 1"}, 4, false},
		{[]string{"get v", "get w", "get x", "get y", "put v 1", "put w 1", "put x 1", "put y 1"}, 0, false},
		{[]string{"get u", "get v", "get w", "get x", "get y", "put u 1", "put v 1", "put w 1", "put x 1", "put y 1"}, 0, true},
	} {
		for _, options := range []orrery.Options{{}, {Workers: 2, Reduction: orrery.NoReduction}, {Search: orrery.DepthFirst}} {
			options.Orders = test.orders
			result, err := orrery.Run(context.Background(), onSlate(map[string]string{"x": "none"}, atOnce(test.calls...)), options)
			if err != nil {
				t.Fatal(err)
			}
			if test.matters {
				uncertain(t, result.Report, "fan makes concurrent calls whose order matters", "reconciling r")
			} else if result.Report.Verdict != core.Holds {
				t.Errorf("%q in %d orders: the verdict is %s: %q", test.calls, test.orders, result.Report.Verdict, result.Report.Reasons)
			}
		}
	}
}

// TestConcurrentCallsThatWait makes concurrent calls and goes on in one of their orders only. Where it may crash in the
// other one is not searched.
func TestConcurrentCallsThatWait(t *testing.T) {
	h := stateless("fan", func(do ask, _ core.Request) core.Result {
		var all sync.WaitGroup
		all.Go(func() { do("claim y left") })
		all.Go(func() { do("claim y right") })
		all.Wait()
		return core.Result{Blocked: do("get y") == "right"}
	})
	h.bubbled = true
	for _, crashes := range []int{0, 1} {
		for _, options := range []orrery.Options{{Crashes: crashes}, {Crashes: crashes, Workers: 2, Reduction: orrery.NoReduction}} {
			result, err := orrery.Run(context.Background(), onSlate(map[string]string{"x": "none"}, h), options)
			if err != nil {
				t.Fatal(err)
			}
			reasons := strings.Join(result.Report.Reasons, "; ")
			if got := strings.Contains(reasons, "fan is blocked after some orders or failures of its concurrent calls, reconciling r"); got != (crashes > 0) {
				t.Errorf("%+v: the reasons are %q", options, reasons)
			}
		}
	}
}

// TestConcurrentCallsAreReplayed tells findings of which the order of concurrent calls is the cause, and runs them
// again.
func TestConcurrentCallsAreReplayed(t *testing.T) {
	for _, options := range []orrery.Options{{}, {Granularity: orrery.PerCall}, {Crashes: 1, Workers: 2}} {
		system := onSlate(map[string]string{"x": "none"}, atOnce("claim y left", "claim y right"))
		result, err := orrery.Run(context.Background(), system, options)
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Report.Findings) != 1 {
			t.Fatalf("%+v: %d findings", options, len(result.Report.Findings))
		}
		finding := result.Report.Findings[0]
		traces := []core.Trace{finding.Trace}
		if finding.Other != nil {
			traces = append(traces, *finding.Other)
		}
		var orders []string
		for _, trace := range traces {
			var calls []string
			for _, step := range trace.Steps {
				for _, call := range step.Calls {
					calls = append(calls, call.Call)
				}
			}
			orders = append(orders, strings.Join(calls, ", "))
		}
		slices.Sort(orders)
		if got := fmt.Sprintf("%q", orders); got != `["claim y left, claim y right" "claim y right, claim y left"]` {
			t.Errorf("%+v: the calls are %s", options, got)
		}
		for _, trace := range traces {
			difference, err := orrery.Replay(context.Background(), system, trace, again(t, options, &result.Report))
			if err != nil || difference != nil {
				t.Errorf("%+v: it does not happen again: %+v, %v", options, difference, err)
			}
		}
	}
}

// firstOf gets words at the same time, and returns the one of which the answer comes first.
func firstOf(do ask, words ...string) string {
	first := make(chan string, len(words))
	var all sync.WaitGroup
	for _, word := range words {
		all.Go(func() {
			do("get %s", word)
			first <- word
		})
	}
	all.Wait()
	return <-first
}

// TestFirstAnswerWins makes calls that commute, and goes on with whichever answer comes first.
func TestFirstAnswerWins(t *testing.T) {
	neverEnds(t)
	winner := stateless("racer", func(do ask, _ core.Request) core.Result {
		do("claim winner %s", firstOf(do, "x", "y"))
		return core.Result{}
	})
	winner.bubbled = true
	for _, options := range []orrery.Options{{}, {Workers: 2, Reduction: orrery.NoReduction}, {Search: orrery.DepthFirst}, {Granularity: orrery.PerCall}, {Crashes: 1}} {
		result, err := orrery.Run(context.Background(), onSlate(map[string]string{"x": "none"}, winner), options)
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Report; got.Outcomes != 2 || got.Verdict != core.Violated || len(got.Reasons) > 0 {
			t.Errorf("%+v: the verdict is %s with %d outcomes: %q", options, got.Verdict, got.Outcomes, got.Reasons)
		}
	}
}

// TestUnsettledInOneOrder makes calls that commute, and changes what it has done itself if the second comes first: in
// one order, the controller does not leave alone what is settled.
func TestUnsettledInOneOrder(t *testing.T) {
	neverEnds(t)
	flapping := stateless("flapping", func(do ask, _ core.Request) core.Result {
		was, first := do("get x"), firstOf(do, "x", "y")
		switch {
		case was == "none":
			do("put x done")
		case first == "y":
			do("put x other")
		}
		return core.Result{}
	})
	flapping.bubbled = true
	for _, options := range []orrery.Options{{}, {Workers: 2, Reduction: orrery.NoReduction}, {Search: orrery.DepthFirst}} {
		system := onSlate(map[string]string{"x": "none"}, flapping)
		result, err := orrery.Run(context.Background(), system, options)
		if err != nil {
			t.Fatal(err)
		}
		got := result.Report
		if got.Verdict != core.Violated || len(got.Reasons) > 0 {
			t.Fatalf("%+v: the verdict is %s: %q", options, got.Verdict, got.Reasons)
		}
		steps := got.Findings[0].Trace.Steps
		if last := steps[len(steps)-1]; last.Kind != "probe" || last.Order == "" || len(last.Calls) != 4 {
			t.Errorf("%+v: the last step is %+v", options, last)
		}
		if d, err := orrery.Replay(context.Background(), system, got.Findings[0].Trace, again(t, options, &got)); err != nil || d != nil {
			t.Errorf("%+v: the replay shows %v, %v", options, d, err)
		}
	}
}

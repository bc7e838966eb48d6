package goroutine_test

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/orrery-dev/orrery/internal/goroutine"
)

// TestHead reads first lines of stacks as the runtime prints them.
func TestHead(t *testing.T) {
	for head, want := range map[string][2]uint64{
		"goroutine 7 [running]:\nmain.main()":                                    {7, 0},
		"goroutine 41 [sleep (durable), synctest bubble 3]:\nmain.main()":        {41, 3},
		"goroutine 12 [running]:\nmain.f()\n\tsynctest bubble 5":                 {12, 0},
		"goroutine 123 [chan receive, 2 minutes, synctest bub":                   {123, 0},
		"goroutine 18446744073709551616 [running, synctest bubble 1]:\nmain.f()": {0, 1},
		"": {0, 0},
	} {
		if number, bubble := goroutine.Head(head); number != want[0] || bubble != want[1] {
			t.Errorf("%q: %d in bubble %d, want %v", head, number, bubble, want)
		}
	}
}

// TestCurrent tells goroutines and bubbles apart.
func TestCurrent(t *testing.T) {
	own, none := goroutine.Current()
	if again, _ := goroutine.Current(); own == 0 || own != again || none != 0 {
		t.Errorf("%d and %d, in bubble %d", own, again, none)
	}
	if in := goroutine.Bubble(); in != 0 {
		t.Errorf("in bubble %d outside of all", in)
	}
	var bubbles []uint64
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			number, bubble := goroutine.Current()
			other, same := make(chan uint64), make(chan uint64)
			go func() {
				n, b := goroutine.Current()
				other <- n
				same <- b
			}()
			if in := goroutine.Bubble(); in != bubble {
				t.Errorf("in bubble %d, and then in %d", bubble, in)
			}
			if n, b := <-other, <-same; n == number || n == 0 || b != bubble || bubble == 0 {
				t.Errorf("goroutine %d of bubble %d started %d in %d", number, bubble, n, b)
			}
			bubbles = append(bubbles, bubble)
		})
	}
	if bubbles[0] == bubbles[1] {
		t.Errorf("two bubbles have the number %d", bubbles[0])
	}
}

// TestPin has goroutines pinned at once: none has the number of another one, and each keeps its own.
func TestPin(t *testing.T) {
	const many = 20
	numbers := make(chan uint64)
	all := make(chan struct{})
	for range many {
		go func() {
			number := goroutine.Pin()
			numbers <- number
			<-all
			runtime.Gosched()
			if again := goroutine.Pin(); again != number {
				t.Errorf("%d, and then %d", number, again)
			}
			goroutine.Unpin()
			goroutine.Unpin()
			numbers <- 0
		}()
	}
	seen := map[uint64]bool{}
	for range many {
		seen[<-numbers] = true
	}
	close(all)
	for range many {
		<-numbers
	}
	if len(seen) != many {
		t.Errorf("%d numbers of %d goroutines", len(seen), many)
	}
}

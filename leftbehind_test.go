package orrery_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
)

// littering is a strategy each of whose instances starts goroutines that do not end with it.
type littering struct {
	core.Strategy

	end chan struct{}
}

func (l littering) New() (core.Instance, error) {
	var begun sync.WaitGroup
	begun.Add(manyLeft)
	for range manyLeft {
		go wait(&begun, l.end)
	}
	begun.Wait() // one that has not begun waits at another line
	return l.Strategy.New()
}

const manyLeft = 200 // twice as many as are worth a word

func wait(begun *sync.WaitGroup, end chan struct{}) {
	begun.Done()
	<-end
}

// TestGoroutinesLeftBehind: a check whose controllers leave goroutines behind says where these wait, as it gets slower
// with each.
func TestGoroutinesLeftBehind(t *testing.T) {
	for _, litters := range []bool{false, true} {
		system, err := one(set(five, false)).System()
		if err != nil {
			t.Fatal(err)
		}
		before, end := runtime.NumGoroutine(), make(chan struct{})
		if litters {
			system.Strategies[0] = littering{system.Strategies[0], end}
		}
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		close(end)
		if err != nil {
			t.Fatal(err)
		}
		switch left := result.Report.LeftBehind; {
		case !litters && len(left) != 0:
			t.Errorf("nothing is left, and it says %v", left)
		case litters && (len(left) != 1 || left[0].Goroutines < manyLeft/2 || !strings.Contains(left[0].At, ".wait (leftbehind_test.go:")):
			t.Errorf("it says %v", left)
		}
		for runtime.NumGoroutine() > before {
			time.Sleep(time.Millisecond)
		}
	}
}

package grace

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/internal/goroutine"
)

// Await has work done in a goroutine of its own, and returns when it has ended. Work that is still going on so long
// after the context has ended is left behind: what is returned then is the stack of its goroutine, the innermost call
// first. A panic of the work is one of the caller, and if the work ends its goroutine, so does the caller.
func Await(ctx context.Context, period time.Duration, work func()) (stack string) {
	type end struct {
		returned bool
		panicked any
		stack    []byte
	}
	begun, ended := make(chan uint64, 1), make(chan end, 1)
	go func() {
		var e end
		defer func() { ended <- e }()
		defer func() {
			if value := recover(); value != nil {
				e.panicked, e.stack = value, debug.Stack()
			}
		}()
		number, _ := goroutine.Current()
		begun <- number
		work()
		e.returned = true
	}()
	late, stop := After(ctx, period)
	defer stop()
	select {
	case e := <-ended:
		switch {
		case e.panicked != nil:
			panic(fmt.Sprintf("%v\n\n%s", e.panicked, e.stack))
		case !e.returned:
			runtime.Goexit()
		}
		return ""
	case <-late.Done():
		number := <-begun
		for stack := range strings.SplitSeq(goroutine.Stacks(), "\n\n") {
			if of, _ := goroutine.Head(stack); of == number {
				return stack
			}
		}
		return fmt.Sprintf("goroutine %d", number)
	}
}

// Standard reports whether a file is one of Go itself.
func Standard(file string) bool {
	known := runtime.FuncForPC(reflect.ValueOf(time.Now).Pointer())
	of, _ := known.FileLine(known.Entry())
	return strings.HasPrefix(file, strings.TrimSuffix(of, "time/time.go"))
}

// Innermost returns the innermost function of a stack that counts, with its place in the code: empty if none does.
func Innermost(stack string, counts func(function, file string) bool) string {
	lines := strings.Split(stack, "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		function, place := lines[i], strings.TrimSpace(lines[i+1])
		if at := strings.LastIndex(function, "("); at > 0 {
			function = function[:at]
		}
		place, _, _ = strings.Cut(place, " +0x")
		file, _, _ := strings.Cut(place, ":")
		if counts(function, file) {
			return function + " (" + place + ")"
		}
	}
	return ""
}

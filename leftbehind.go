package orrery

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// manyLeft is how many goroutines must have been left behind at one place until it is worth a word: the engine itself
// has some that are about to end.
const manyLeft = 100

// leftBehind returns what the code that is checked has left behind in this process since there were so many goroutines:
// at most three places, those with the most first.
func leftBehind(before int) []core.LeftBehind {
	if runtime.NumGoroutine() < before+manyLeft {
		return nil
	}
	const spare = 64 // those that begin meanwhile
	records := make([]runtime.StackRecord, runtime.NumGoroutine()+spare)
	n, ok := runtime.GoroutineProfile(records)
	if !ok {
		return nil
	}
	at := map[string]int{}
	for _, record := range records[:n] {
		if place := waitingAt(record.Stack()); place != "" {
			at[place]++
		}
	}
	var left []core.LeftBehind
	for _, place := range slices.Sorted(maps.Keys(at)) {
		if at[place] >= manyLeft {
			left = append(left, core.LeftBehind{Goroutines: at[place], At: place})
		}
	}
	slices.SortStableFunc(left, func(a, b core.LeftBehind) int { return cmp.Compare(b.Goroutines, a.Goroutines) })
	const most = 3
	return left[:min(most, len(left))]
}

// waitingAt returns the function outside of the standard library and of the engine that a goroutine waits in, with its
// file and line, "" if there is none.
func waitingAt(stack []uintptr) string {
	frames := runtime.CallersFrames(stack)
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		host, _, _ := strings.Cut(frame.Function, "/")
		switch {
		case strings.HasPrefix(frame.Function, "github.com/orrery-dev/orrery/core/"):
			return ""
		case strings.Contains(host, ".") && strings.Contains(frame.Function, "/"):
			return fmt.Sprintf("%s (%s:%d)", frame.Function, frame.File[strings.LastIndexByte(frame.File, '/')+1:], frame.Line)
		}
	}
	return ""
}

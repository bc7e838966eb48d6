// Package goroutine tells goroutines apart, and the bubbles of virtual time that they are in, by what the Go runtime
// prints at the head of their stacks. There is no other way to know.
package goroutine

import (
	"fmt"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// Current returns the number of the calling goroutine, and that of the bubble that it is in, 0 if it is in none. It
// takes a microsecond for each function that the goroutine is in, as the runtime goes through the whole stack whatever
// there is room for.
func Current() (number, bubble uint64) {
	const firstLine = 128
	var stack [firstLine]byte
	return Head(string(stack[:runtime.Stack(stack[:], false)]))
}

// Bubble returns the number of the bubble that the calling goroutine is in, 0 if it is in none. However deep the
// goroutine is, it takes some microseconds: another one is asked, which is in the same bubble.
func Bubble() uint64 {
	number := make(chan uint64, 1)
	go func() {
		_, bubble := Current()
		number <- bubble
	}()
	return <-number
}

// Head returns the number of a goroutine and that of its bubble from the first line of its stack. What is not said
// there is 0.
func Head(stack string) (number, bubble uint64) {
	head, _, _ := strings.Cut(stack, "\n")
	_, in, _ := strings.Cut(head, "synctest bubble ")
	return leading(strings.TrimPrefix(head, "goroutine ")), leading(in)
}

// leading returns the number that a text begins with, 0 if it begins with none.
func leading(text string) uint64 {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	number, err := strconv.ParseUint(text[:digits], 10, 64)
	if err != nil {
		return 0
	}
	return number
}

// Stacks returns the stacks of all goroutines, that of the one at work first.
func Stacks() string {
	size := 1<<14 + runtime.NumGoroutine()<<10 // so that those that are too long for the text are not written in vain
	text := make([]byte, size)
	for {
		n := runtime.Stack(text, true)
		if n < len(text) {
			return string(text[:n])
		}
		text = make([]byte, 2*len(text))
	}
}

// Culprit names the function that panicked, from within the deferred call that
// recovers it. A panic that was recovered and raised again is put down to where it was
// raised first. Addresses, goroutine numbers and folders are left out: they differ from
// run to run and from machine to machine.
func Culprit() string {
	var callers [128]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers[:])])
	place := "an unknown place"
	panicking := false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			panicking = true
		case panicking && !strings.HasPrefix(frame.Function, "runtime."):
			place = fmt.Sprintf("%s, %s:%d", frame.Function, path.Base(frame.File), frame.Line)
			panicking = false
		}
		if !more {
			return place
		}
	}
}

package webhook

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestBubbled(t *testing.T) {
	outside := make(chan int)
	for name, test := range map[string]struct {
		deadline time.Duration
		code     func()
		want     string
	}{
		"returns":      {time.Minute, func() {}, ""},
		"sleeps":       {time.Minute, func() { time.Sleep(24 * time.Hour) }, ""},
		"leaves":       {time.Minute, func() { go func() { select {} }() }, ""},
		"panics":       {time.Minute, func() { panic("deadlock") }, "it panicked: deadlock"},
		"exits":        {time.Minute, runtime.Goexit, "it ended its goroutine"},
		"is blocked":   {time.Minute, func() { select {} }, "blocked for ever"},
		"is busy":      {50 * time.Millisecond, func() { <-outside }, "not returned within 50ms of real time"},
		"wakes itself": {time.Minute, func() { woken := make(chan int); time.AfterFunc(time.Hour, func() { close(woken) }); <-woken }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := bubbled(test.deadline, test.code)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			var late *overdue
			if errors.As(err, &late) != (name == "is busy") {
				t.Errorf("overdue: %v", err)
			}
		})
	}
	close(outside)
}

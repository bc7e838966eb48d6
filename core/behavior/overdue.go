package behavior

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// A run that waits for a lock is looked at so often, and so many times in a row, until it is given up: nobody outside
// of it holds a lock for that long. Where no lock is waited for, a look may take long, and all code waits for it: it
// comes the less often the longer it takes.
const (
	looks     = 50 * time.Millisecond
	mostLooks = 6
	rareness  = 20
)

// doubts are what is known of a run that has not come to its next call for a while.
type doubts struct {
	// seen is how many times in a row it was seen to wait for a lock, and pause how long it is left alone before the
	// next look.
	seen  int
	pause time.Duration
}

// shortest is how long, on the virtual clock, whoever waits for others sleeps at least between two calls.
const shortest = time.Millisecond

// look notes whether a run was seen to wait for a lock, in a look that took some time, and reports whether it is to be
// given up.
func (d *doubts) look(locked bool, took time.Duration) bool {
	if !locked {
		d.seen, d.pause = 0, max(2*d.pause, rareness*took)
		return false
	}
	d.seen++
	return d.seen == mostLooks
}

// arrival waits for the next call or the end of the run. It reports whether there is none yet, and it is time to look
// at what the run waits for.
func (s *Session) arrival(ctx context.Context) (call core.Call, leaf *Leaf, waits bool, err error) {
	select {
	case <-s.doubt.C:
		return nil, nil, true, nil
	case q := <-s.asked:
		s.pending, s.sites, s.turn, s.slept = q.calls, q.sites, 0, q.slept > 0
		if s.calls++; s.calls > s.limits.Calls {
			endless := &Leaf{Failure: Runaway, Message: fmt.Sprintf("made more than %d calls without returning", s.limits.Calls)}
			if q.slept > time.Duration(s.limits.Calls)*shortest {
				endless.Failure = Polling
			}
			return nil, s.givesUp(endless), false, nil
		}
		return s.pending[0], nil, false, nil
	case end := <-s.ended:
		s.slept = end.slept
		leaf := end.leaf()
		if s.single {
			leaf = s.Close(leaf)
		}
		return nil, leaf, false, nil
	case end := <-s.last:
		s.finished()
		return nil, end.leaf(), false, nil
	case <-s.watch.C:
		return nil, s.givesUp(s.overdue()), false, nil
	case <-ctx.Done():
		s.cancelled = true
		s.Abort()
		return nil, nil, false, ctx.Err()
	}
}

// overdue returns how a run ends that is given up, before it is aborted.
func (s *Session) overdue() *Leaf {
	if leaf := s.locked(); leaf != nil {
		return leaf
	}
	leaf := &Leaf{Failure: Overdue, Message: fmt.Sprintf("did not return within %s", s.limits.Deadline)}
	if s.virtual && connected(goroutine.Stacks()) {
		leaf.Failure = Connected
	}
	return leaf
}

// locked returns how a run ends in which somebody waits for a lock and nobody goes on, nil if that is not so. The clock
// of a bubble stands still then: if others in it may wait for the time, one of them may hold the lock.
func (s *Session) locked() *Leaf {
	if !s.virtual {
		return nil
	}
	switch locked, timed := waitsIn(goroutine.Stacks(), s.bubble.Load()); {
	case !locked:
		return nil
	case timed:
		return &Leaf{Failure: Withheld, Message: "waits for a lock while other goroutines of it wait for something else"}
	}
	return &Leaf{Failure: Overdue, Message: "waits for ever for a lock: nobody is left who could unlock it"}
}

// waitsIn reports of the stacks of all goroutines whether some in a bubble wait for locks while nobody there is at
// work, and whether others wait there for what the time may bring.
func waitsIn(stacks string, bubble uint64) (locked, timed bool) {
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		header, calls, _ := strings.Cut(stack, "\n")
		if _, in := goroutine.Head(header); in != bubble || bubble == 0 {
			continue
		}
		_, state, _ := strings.Cut(header, "[")
		state, _, _ = strings.Cut(state, ",")
		what, durable := strings.CutSuffix(state, " (durable)")
		switch {
		case what == "sync.Mutex.Lock", what == "sync.RWMutex.Lock", what == "sync.RWMutex.RLock":
			locked = true
		case !durable:
			return false, false
		case what == "synctest.Run", what == "synctest.Wait", what == "sync.WaitGroup.Wait", strings.HasPrefix(calls, "testing/synctest."):
		default:
			timed = true
		}
	}
	return locked, timed
}

// connected reports whether a goroutine of a bubble waits for the network.
func connected(stacks string) bool {
	return inBubbles(stacks, func(header, _ string) bool { return strings.Contains(header, "IO wait") })
}

// outsideOf returns where a goroutine of a bubble waits for the network or a file, "" if none does: the function
// outside of the standard library, with its line.
func outsideOf(stacks string, bubble uint64) string {
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		header, frames, _ := strings.Cut(stack, "\n")
		if _, in := goroutine.Head(header); in != bubble || bubble == 0 || !strings.Contains(header, "[IO wait") {
			continue
		}
		for place := range strings.SplitSeq(placeOf(frames), "; ") {
			if host, _, path := strings.Cut(place, "/"); path && strings.Contains(host, ".") {
				return place
			}
		}
	}
	return ""
}

// looksUp reports whether a goroutine of a bubble looks up a name.
func looksUp(stacks string) bool {
	return inBubbles(stacks, func(_, frames string) bool { return strings.Contains(frames, "net.(*Resolver).") })
}

// inBubbles reports whether something is so of the stack of a goroutine in any bubble.
func inBubbles(stacks string, is func(header, frames string) bool) bool {
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		header, frames, _ := strings.Cut(stack, "\n")
		if strings.Contains(header, "synctest bubble") && is(header, frames) {
			return true
		}
	}
	return false
}

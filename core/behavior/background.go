package behavior

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// A process may work between activations as well: goroutines of its own wait for something that an activation leaves
// them, or for the time. The calls that they make between activations wait until one goes on with them. So what runs at
// once is what an activation is about, and a session is always where code rests: every goroutine waits for an answer,
// for another goroutine, or for the time.

// Own tells what a process does by itself.
type Own uint8

const (
	// Asked is nothing: it handles an event or reconciles.
	Asked Own = iota
	// Works goes on with a goroutine that waits for the answer to a call.
	Works
	// Waits lets the clock go on until something happens. The run is blocked if nothing ever does.
	Waits
)

// openActive makes an instance of a strategy in a session and lets it start what it does by itself.
func openActive(ctx context.Context, strategy core.Strategy, manner Manner, limits Limits) (*Session, core.Instance, error) {
	s := newSession(limits, false)
	s.active, s.later, s.ticks = true, manner.Later, manner.Ticks
	s.of, s.beside, s.exchanging, s.reordering = manner.Of, manner.Beside, manner.Exchanges, manner.Reorders
	s.guarded.name, s.guarded.active = strategy.Describe().Name, true
	s.guarded.words = "setting up " + s.guarded.name
	if !s.guarded.runs(s.guarded.words) {
		return nil, nil, fatalSetUp(strategy, s.guarded.ended)
	}
	defer s.guarded.rests()
	ready := make(chan made, 1)
	go s.bubbled(func(b *bubble) core.Instance {
		m := b.start(strategy)
		ready <- m
		return m.instance
	})
	watch := time.NewTimer(limits.Deadline)
	defer watch.Stop()
	var err error
	select {
	case m := <-ready:
		if err = m.wrong(strategy); err == nil {
			s.instance = m.instance
			return s, m.instance, nil
		}
	case end := <-s.last:
		s.last <- end
		err = made{end: end}.wrong(strategy)
	case <-ctx.Done():
		err = ctx.Err()
	case <-watch.C:
		err = overdueSetUp(strategy, limits.Deadline, s.bubble.Load())
	}
	s.Abort()
	return nil, nil, err
}

// start makes an instance of a strategy, and starts what it does by itself, up to where it rests.
func (b *bubble) start(strategy core.Strategy) made {
	var m made
	b.contain(func() ending {
		if m.instance, m.err = setUp(strategy); m.err != nil {
			return ending{}
		}
		if active, ok := m.instance.(core.Active); ok {
			b.session.stop = active.Stop
			for _, routine := range active.Start(scribe{bubble: b}) {
				go contain(func() ending { routine(); return ending{} }, b.session.aborted.Load, b.fails)
			}
		}
		return ending{}
	}, func(end ending) { m.end = end })
	synctest.Wait()
	if failed := b.failure(); failed != nil {
		m.end = *failed
	}
	return m
}

// contain runs code in a goroutine of its own, and waits for its end.
func (b *bubble) contain(run func() ending, done func(ending)) {
	over := make(chan struct{})
	go contain(run, b.session.aborted.Load, func(end ending) {
		done(end)
		close(over)
	})
	<-over
}

// fails is how a goroutine ended that was started with an instance: a run in which it panics panics.
func (b *bubble) fails(end ending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if end.failure == Panicked && b.failed == nil {
		b.failed = &end
		b.wake()
	}
}

// begin begins a run, and returns its recorder. What goes on by itself is a part of it if it is what the run is about.
func (b *bubble) begin(a *Activation) scribe {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = nil
	b.runs++
	b.run = b.runs
	b.request = a.concerns()
	if b.own = a.Own; a.Own == Works {
		b.end = &ending{}
		b.sort()
		if turn := b.turn(a); turn >= 0 && turn < len(b.parked) {
			b.parked[turn].run = b.run
		} else {
			b.end.result.Blocked = true
		}
	}
	return scribe{bubble: b, run: b.run}
}

// turn returns the place among the calls that wait of the one that an activation goes on with, which may be none of
// theirs. b.mu is held.
func (b *bubble) turn(a *Activation) int {
	if a.Call == "" {
		return a.Turn
	}
	return slices.IndexFunc(b.parked, func(p *parked) bool {
		return p.request == a.Request && (isOf(a.Call, inMemory(p.call)) || a.Call == p.call.String())
	})
}

// Memory returns what is to be seen of an instance between two runs: what it shows, and of one that works by itself
// also what goes on in the background and the first of what the time will bring. To look ahead is the end of the
// session. It is nil if nothing is shown.
func (s *Session) Memory() map[string]string {
	if !s.active {
		return s.Shown()
	}
	return s.look(task{look: (*bubble).look})
}

// Shown returns what the instance shows, while nobody else is at work on it.
func (s *Session) Shown() map[string]string { return memoryOf(s.instance, s.of) }

// Beside returns what is to be seen, between two runs, of the memories of the other strategies of the process: the ways
// to it begin with their names. It is nil if there are none.
func (s *Session) Beside() map[string]string {
	if len(s.beside) == 0 {
		return nil
	}
	beside := func(*bubble) map[string]string {
		all := map[string]string{}
		for _, strategy := range s.beside {
			for path, value := range memoryOf(s.instance, strategy) {
				all[strategy+"/"+path] = value
			}
		}
		return all
	}
	if !s.active {
		return beside(nil)
	}
	return s.look(task{look: beside})
}

// Rest is as [Session.Memory] without what the time will bring, so that the session goes on. It is nil if the instance
// does not work by itself.
func (s *Session) Rest() map[string]string { return s.look(task{look: (*bubble).rest}) }

// Pass lets the time pass between two runs, and reports whether nothing that the instance shows changes by that.
func (s *Session) Pass(d time.Duration) bool {
	changed := s.look(task{look: func(b *bubble) map[string]string {
		before := b.shown()
		sleep(d)
		return changed(before, b.shown())
	}})
	return changed != nil && len(changed) == 0
}

// changed returns what of a memory is new, or another value than before.
func changed(before, now map[string]string) map[string]string {
	maps.DeleteFunc(now, func(path, value string) bool { was, there := before[path]; return there && was == value })
	return now
}

// look has the instance look at itself.
func (s *Session) look(t task) map[string]string {
	if !s.active || !s.guarded.runs("look") {
		return nil
	}
	defer s.guarded.rests()
	if !s.do(t) {
		return nil
	}
	all, answered := await(s, s.looked)
	if !answered {
		s.Abort()
	}
	return all
}

// foreseen is how much of what the time will bring is a part of the memory.
const foreseen = 8

// rest returns what [Session.Rest] does.
func (b *bubble) rest() map[string]string {
	all := b.memory()
	for place, n := range b.waiting() {
		all[goroutines+place+"]"] = strconv.Itoa(n)
	}
	return all
}

// look returns what [Session.Memory] does.
func (b *bubble) look() map[string]string {
	all := b.rest()
	for i, seen := range b.foresee(foreseen) {
		all[foresight+strconv.Itoa(i+1)+"]"] = seen
	}
	return all
}

// Horizon is how far the time is looked ahead where something ticks for ever that shows nothing. Elsewhere, it is a
// century.
const Horizon = 2 * time.Hour

// strides are how long the clock is let go on, again and again, to wait for the time. Who breaks off has seen enough.
// Where something ticks, a stride takes the longer the more ticks there are in it. None goes beyond what the runtime
// can count, which ends the process.
func (b *bubble) strides(yield func(time.Duration) bool) {
	const (
		century = 100 * 365 * 24 * time.Hour
		costly  = 10 * time.Millisecond
	)
	slow, watch := slowness{costly: costly}, start()
	for stride := time.Millisecond; stride < century; stride *= 2 {
		if stride > Horizon && b.session.ticks || time.Until(time.Unix(0, math.MaxInt64)) <= 2*stride {
			return
		}
		if !yield(stride) {
			return
		}
		if slow.lasts(watch.took()) {
			b.session.ticks = true
		}
	}
}

// Ticks reports whether something in the session was found to tick for ever that shows nothing, after [Session.Memory]
// or a run that lets the time pass.
func (s *Session) Ticks() bool { return s.ticks }

// elapse lets the clock go on until a goroutine makes a call, or something else is to be seen of the process. It
// returns what was seen first, nil if nothing ever is.
func (b *bubble) elapse() map[string]string {
	before := b.memory()
	for stride := range b.strides {
		b.forget()
		b.pause(stride, func() bool { return true })
		if failed := b.failure(); failed != nil {
			return map[string]string{"fails": failed.message}
		}
		if seen := changed(before, b.memory()); len(seen) > 0 {
			return seen
		}
	}
	return nil
}

// forget forgets that somebody woke the main goroutine.
func (b *bubble) forget() {
	select {
	case <-b.arrived:
	default:
	}
}

// pause lets the clock go on until somebody has woken the main goroutine with enough to go on with, or until the stride
// is over.
func (b *bubble) pause(stride time.Duration, enough func() bool) {
	timer := time.NewTimer(stride)
	defer timer.Stop()
	for waits := true; waits; {
		select {
		case <-b.arrived:
			waits = !enough()
		case <-timer.C:
			waits = false
		}
	}
	synctest.Wait()
}

// failure returns how a goroutine failed that works by itself, nil if none did.
func (b *bubble) failure() *ending {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// foresee lets the time pass as often as something happens then, up to so many times, and says what.
func (b *bubble) foresee(most int) []string {
	var all []string
	for range most {
		seen := b.elapse()
		if len(seen) == 0 {
			break
		}
		var text strings.Builder
		for _, path := range slices.Sorted(maps.Keys(seen)) {
			fmt.Fprintf(&text, "%s=%s ", path, seen[path])
		}
		all = append(all, text.String())
		if b.failure() != nil {
			break
		}
	}
	return all
}

// memory is what is to be seen of the process where it rests: what the instance shows, and the calls that wait.
func (b *bubble) memory() map[string]string {
	all := b.shown()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sort()
	for i, p := range b.parked {
		all[placeOfCall(i)] = inMemory(p.call)
	}
	return all
}

// shown is what the instance shows.
func (b *bubble) shown() map[string]string {
	all := map[string]string{}
	maps.Copy(all, memoryOf(b.instance, b.session.of))
	// The code runs on only later. The race detector does not know of that where the time wakes it, unless a timer of
	// here fires first.
	<-time.After(0)
	return all
}

// waiting returns how many goroutines of the bubble wait where, besides its main goroutine.
func (b *bubble) waiting() map[string]int {
	own, bubble := goroutine.Current()
	places := map[string]int{}
	for part := range strings.SplitSeq(goroutine.Stacks(), "\n\n") {
		head, frames, _ := strings.Cut(part, "\n")
		if id, in := goroutine.Head(head); id == own || in != bubble || strings.Contains("\n"+frames, "\ntesting/synctest.") {
			continue
		}
		places[placeOf(frames)]++
	}
	return places
}

// placeOf returns the functions that a goroutine is in, with lines.
func placeOf(frames string) string {
	var place []string
	for line := range strings.Lines(frames) {
		line = strings.TrimSuffix(line, "\n")
		// A function comes before its file and line.
		if file, isFile := strings.CutPrefix(line, "\t"); isFile {
			file, _, _ = strings.Cut(file[strings.LastIndexByte(file, '/')+1:], " ")
			place[len(place)-1] += " " + file
			continue
		}
		name, _, created := strings.Cut(line, " in goroutine ")
		if !created && strings.HasSuffix(name, ")") {
			name = name[:strings.LastIndexByte(name, '(')]
		}
		place = append(place, name)
	}
	return strings.Join(slices.DeleteFunc(place, func(frame string) bool { return strings.Contains(frame, "orrery/core/behavior.") }), "; ")
}

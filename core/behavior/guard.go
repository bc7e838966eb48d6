package behavior

import (
	"strconv"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/lookup"
)

// Code may end the process that it runs in: it calls os.Exit, panics in a goroutine that it started, overflows its
// stack, or does something else that the Go runtime does not let anybody recover from. Nothing in the process can
// contain that. A [core.Guard] in another process is told, before code runs on, where it stands, so that it knows where
// code stood when the process ended. A search that is begun again with what it knows does not let code run on from
// there.

// behind returns the point behind a point to which some texts lead.
func behind(p core.Point, texts ...string) core.Point {
	digest := xxhash.NewWithSeed(uint64(p))
	for _, text := range texts {
		_, _ = digest.WriteString(strconv.Itoa(len(text)))
		_, _ = digest.WriteString(":")
		_, _ = digest.WriteString(text)
	}
	return core.Point(digest.Sum64())
}

// guarded is the code of a session as its guard sees it. Without a guard it only waits for its turn.
type guarded struct {
	guard core.Guard
	turn  turn
	// name is who sets up the instance, and words what it does.
	name, words string
	// active tells that the instance was made in the bubble, where its code comes to other ends.
	active bool
	at     core.Point
	// ended is how code is known to end the process from where it stands.
	ended string
}

// runs notes that code runs on to where some texts lead. It returns false if it must not, as it would end the process.
func (g *guarded) runs(texts ...string) bool {
	if g.guard != nil && !g.noted(texts) {
		return false
	}
	g.turn.take()
	return true
}

// noted tells the guard that code is to run on to where some texts lead, and reports whether it may.
func (g *guarded) noted(texts []string) bool {
	if g.ended != "" {
		return false
	}
	g.at = behind(g.at, texts...)
	if how, known := g.guard.Ended(g.at); known {
		g.ended = how
		return false
	}
	g.guard.Runs(g.at, g.words)
	return true
}

// goesOn notes that code runs on behind the answer to a call, as [guarded.runs] does.
func (g *guarded) goesOn(call core.Call, response core.Response) bool {
	if g.guard == nil {
		return g.runs()
	}
	return g.runs(call.Identity(), response.Identity())
}

// rests notes that code runs no longer.
func (g *guarded) rests() {
	g.turn.give()
	if g.guard != nil {
		g.guard.Rests()
	}
}

// begins notes that code begins with an activation, as [guarded.runs] does.
func (g *guarded) begins(a Activation) bool {
	if g.guard == nil {
		return g.runs()
	}
	g.at, g.words = 0, g.name+", "+a.String()
	texts := []string{
		g.name, a.Of, strconv.Itoa(int(a.Own)), strconv.Itoa(a.Turn), a.Clock.String(), a.Passed.String(), a.Now.String(), a.Apart.String(), strconv.FormatUint(a.Seed, 10), string(a.Request),
	}
	if a.Call != "" {
		texts = append(texts, "call", a.Call)
	}
	if g.active {
		texts = append(texts, "active")
	}
	if a.Since != nil {
		texts = append(texts, "since", a.Since.Identity)
	}
	if e := a.Event; e != nil {
		texts = append(texts, "event", e.Key.String(), strconv.FormatBool(e.Missed), strconv.FormatBool(e.Initial))
		if e.Old != nil {
			texts = append(texts, "old", e.Old.Canonical())
		}
		if e.New != nil {
			texts = append(texts, "new", e.New.Canonical())
		}
	}
	return g.runs(texts...)
}

// leaf returns how a run ends that would end the process, nil if it does not.
func (g *guarded) leaf() *Leaf {
	if g.ended == "" {
		return nil
	}
	return &Leaf{Failure: Fatal, Message: g.ended}
}

// turn is when code runs that looks up names: alone, as package net answers a look-up together with one of the same
// name that goes on already. An answer that comes from the bubble of another run would end the process. Who uses it is
// one goroutine at a time.
type turn struct{ taken bool }

// alone is locked while code runs in turn.
var alone sync.Mutex

// patience is how long, in real time, code waits for its turn, and pause how long between two looks. Then it runs all
// the same: who has the turn may be held up by what is given up later.
const patience, pause = 10 * time.Second, 100 * time.Microsecond

// take waits for the turn if code is known to look up names.
func (t *turn) take() {
	if !lookup.Seen() {
		return
	}
	for began := time.Now(); !t.taken && time.Since(began) < patience; {
		if t.taken = alone.TryLock(); !t.taken {
			time.Sleep(pause)
		}
	}
}

// give leaves the turn to others.
func (t *turn) give() {
	if t.taken {
		t.taken = false
		alone.Unlock()
	}
}

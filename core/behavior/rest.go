package behavior

import (
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Rest is how a process rests in a memory.
type Rest struct {
	// Calls are those that wait for somebody to go on with them, in the order of their identities: each with what tells
	// it apart.
	Calls []string
	// Time tells that the time will bring something.
	Time bool
}

// Waits reports whether anything will go on without an activation that asks for it.
func (r Rest) Waits() bool { return len(r.Calls) > 0 || r.Time }

// For stands between the place of a call that waits among those of one request, and that request.
const For = " for "

// WaitsAsIn reports whether as many goroutines wait in a memory in each place, and the same calls, as in two others
// together, as far as that is more than in the memory of a fresh instance. Of the others, only what differs from that
// needs to be there. Nothing may wait for the time.
func WaitsAsIn(fresh, held, one, other map[string]string) bool {
	rest := RestIn(held)
	calls := append(RestIn(one).Calls, RestIn(other).Calls...)
	if rest.Time || len(rest.Calls) != len(calls) {
		return false
	}
	for _, call := range rest.Calls {
		at := slices.IndexFunc(calls, func(known string) bool { return isOf(known, call) || isOf(call, known) })
		if at < 0 {
			return false
		}
		calls = slices.Delete(calls, at, at+1)
	}
	waiting := func(text string) int {
		n, _ := strconv.Atoi(text) // or there are none, or none any longer
		return n
	}
	more := func(memory map[string]string, path string) int {
		now, differs := memory[path]
		if !differs {
			return 0
		}
		return waiting(now) - waiting(fresh[path])
	}
	for _, memory := range []map[string]string{held, one, other} {
		for path := range memory {
			if strings.HasPrefix(path, goroutines) && more(held, path) != more(one, path)+more(other, path) {
				return false
			}
		}
	}
	return true
}

// RestIn returns how a process rests in a memory.
func RestIn(memory map[string]string) Rest {
	var r Rest
	for call, waits := memory[placeOfCall(0)]; waits; call, waits = memory[placeOfCall(len(r.Calls))] {
		r.Calls = append(r.Calls, call)
	}
	_, r.Time = memory[foresight+"1]"]
	return r
}

// Originate notes in the memory that a run leaves where the calls come from that wait now and did not before: what a
// goroutine goes on with may depend on all that the run was and was answered, of which nothing is to be seen.
func (r Rest) Originate(memory map[string]string, a Activation, run string) {
	before := slices.Clone(r.Calls)
	if a.Own == Works && a.Turn < len(before) {
		before = slices.Delete(before, a.Turn, a.Turn+1)
	}
	for i, call := range RestIn(memory).Calls {
		known := slices.IndexFunc(before, func(other string) bool { return isOf(other, call) })
		if known < 0 {
			memory[placeOfCall(i)] = call + "\n" + run
			continue
		}
		memory[placeOfCall(i)] = before[known]
		before = slices.Delete(before, known, known+1)
	}
}

// isOf reports whether the text of a call that waits is that one, also if it was noted where the call comes from.
func isOf(text, apart string) bool { return text == apart || strings.HasPrefix(text, apart+"\n") }

// Unsaid reports whether what a way in a memory leads to tells states apart, and nothing to those who read of them.
func Unsaid(path string) bool {
	return strings.HasPrefix(path, goroutines) || strings.HasPrefix(path, foresight)
}

// Shown reports whether a way in a memory leads to what the instance shows, not to how the process rests.
func Shown(path string) bool { return !Unsaid(path) && !Waiting(path) }

// Waiting reports whether a way in a memory leads to a call that waits for somebody to go on with it.
func Waiting(path string) bool { return strings.HasPrefix(path, calls) }

// The ways to what is seen of a process besides what its instance shows.
const (
	calls      = "background["
	goroutines = "waiting goroutines["
	foresight  = "time["
)

// PlaceFor returns what a way in what is kept for one request is called among those of all: calls that wait are
// numbered for each request.
func PlaceFor(path string, request core.Request) string {
	if number, waits := strings.CutPrefix(path, calls); waits {
		return calls + strings.TrimSuffix(number, "]") + For + string(request) + "]"
	}
	return path
}

// Apart reports whether what is called so is kept for one request alone, see [PlaceFor], or waits for one, see [For].
func Apart(place string) bool { return strings.Contains(place, For) }

// placeOfCall is the way in a memory to one of the calls that wait.
func placeOfCall(i int) string { return calls + strconv.Itoa(i+1) + "]" }

// inMemory returns what tells a call apart that waits, in which names of versions are found.
func inMemory(call core.Call) string { return call.String() + "\n" + Plain(call) }

// concerns returns the request that what goes on behind a run has to do with, empty if that is not said.
func (a Activation) concerns() core.Request {
	if a.Event != nil || a.Own != Asked && a.Call == "" {
		return ""
	}
	return a.Request
}

package explore_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/reduction"
)

// memoryLog is a log that a test can cut off.
type memoryLog struct {
	given, added [][]byte
	complete     bool
}

// Next implements [explore.Log].
func (l *memoryLog) Next() []byte {
	if len(l.given) == 0 {
		return nil
	}
	next := l.given[0]
	l.given = l.given[1:]
	return next
}

// Add implements [explore.Log].
func (l *memoryLog) Add(entry []byte) { l.added = append(l.added, bytes.Clone(entry)) }

// End implements [explore.Log].
func (l *memoryLog) End(complete bool) { l.complete = complete }

// found is all that is told of a search.
func found(s *explore.Space) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%+v reasons %q incidents %+v files %q quiescent %v ends", s.Stats, s.Reasons(), s.Incidents(), s.Files(), s.Quiescent())
	for id := range core.StateID(s.States()) {
		fmt.Fprintf(&b, "\n%s cut=%t %d", s.Fingerprint(id), s.Cut(id), len(s.Edges(id)))
	}
	return b.String()
}

// resumed searches on from a part of a log.
func resumed(system *core.System, o explore.Options, entries [][]byte) (*explore.Space, *memoryLog, error) {
	log := &memoryLog{given: entries}
	o.Checkpoint = explore.NewCheckpoint(log)
	space, err := explore.Search(context.Background(), system, o)
	return space, log, err
}

// TestSearchesGoOn cuts the logs of searches of random systems under random conditions off after so many entries, and
// goes on from there: all that is told, and the log, must be as if the search had never ended. So it must with another
// number of workers.
func TestSearchesGoOn(t *testing.T) {
	compose := []func(uint64) (*core.System, error){random.System, random.Loose, random.Mindful, random.Concurrent, random.Dated, random.Drawing, random.Patient, random.Ledgers, random.LooseLedgers, random.Errands}
	n, batches := *systems/5, 0
	if testing.Short() {
		n /= 5
	}
	for seed := *firstSeed; n > 0; seed, n = seed+1, n-1 {
		r := rand.New(rand.NewPCG(seed, 73))
		system, err := compose[r.IntN(len(compose))](seed)
		if err != nil {
			t.Fatal(err)
		}
		o := options(1 + r.IntN(2))
		o.Bounds.States = 3000
		if r.IntN(2) == 0 {
			o.Conditions, _ = conditionsOf(r, system)
		}
		switch r.IntN(5) {
		case 0:
			o.Order = explore.DepthFirst
		case 1:
			o.Order, o.Bounds.Depth = explore.DepthFirst, 1+r.IntN(30)
		case 2:
			o.Compact = true
		case 3, 4:
			o.Reducer = reduction.Stubborn{}
			o.Merge = len(system.Interchangeable) > 0
		}
		again := fmt.Sprintf("again with -run TestSearchesGoOn -systems 2 -first-seed %d", seed)
		space, whole, err := resumed(system, o, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
		want := found(space)
		cuts := []int{0, len(whole.added)}
		for range min(4, len(whole.added)) {
			cuts = append(cuts, r.IntN(len(whole.added)))
		}
		batches += len(whole.added)
		for _, cut := range cuts {
			o.Workers = 1 + r.IntN(2)
			space, log, err := resumed(system, o, whole.added[:cut])
			if err != nil {
				t.Fatalf("going on after %d of %d entries: %v\n%s", cut, len(whole.added), err, again)
			}
			if got := found(space); got != want {
				t.Fatalf("going on after %d of %d entries: got\n%.600s\nwant\n%.600s\n%s", cut, len(whole.added), got, want, again)
			}
			if log.complete != whole.complete || len(log.given) != 0 {
				t.Fatalf("the log is said to be complete: %t, want %t; %d entries were not read\n%s", log.complete, whole.complete, len(log.given), again)
			}
		}
	}
	t.Logf("%d batches", batches)
}

// TestLimitsAreRaised ends searches by a bound on states, and goes on with a higher one, again and again. In the end
// all is as without bounds.
func TestLimitsAreRaised(t *testing.T) {
	system := counters(t, 7, 2)
	for _, reducer := range []explore.Reducer{nil, reduction.Stubborn{}} {
		o := options(2)
		o.Reducer = reducer
		space, whole, err := resumed(system, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := found(space)
		var entries [][]byte
		for bound := 1; ; bound += max(1, space.States()/6) {
			o.Bounds.States = bound
			part, log, err := resumed(system, o, entries)
			if err != nil {
				t.Fatal(err)
			}
			if len(log.added) < len(entries) {
				t.Fatalf("with %d states the log has %d entries, and had %d before", bound, len(log.added), len(entries))
			}
			entries = log.added
			if log.complete {
				if got := found(part); got != want || len(entries) != len(whole.added) {
					t.Fatalf("got\n%.600s\nand %d entries, want\n%.600s\nand %d", got, len(entries), want, len(whole.added))
				}
				break
			}
			if len(part.Reasons()) == 0 {
				t.Fatalf("the search is cut short without a reason")
			}
		}
	}
}

func diverged(err error) bool {
	return err != nil && strings.Contains(err.Error(), "the search does not go as the checkpoint says")
}

// TestForeignLogs gives searches logs of other systems, and logs in which something was changed: it is noticed, and
// nothing panics.
func TestForeignLogs(t *testing.T) {
	o := options(1)
	_, other, err := resumed(counters(t, 5, 3), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	system := counters(t, 5, 2)
	if _, _, err := resumed(system, o, other.added); !diverged(err) {
		t.Errorf("the log of another system: got the error %v", err)
	}
	for _, reducer := range []explore.Reducer{nil, reduction.Stubborn{}} {
		o.Reducer = reducer
		space, own, err := resumed(system, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := space.Stats
		r := rand.New(rand.NewPCG(1, 73))
		noticed := 0
		for range 60 {
			changed := slices.Clone(own.added)
			i := r.IntN(len(changed))
			changed[i] = bytes.Clone(changed[i])
			switch at := r.IntN(len(changed[i])); r.IntN(3) {
			case 0:
				changed[i] = changed[i][:at]
			default:
				changed[i][at] ^= 1 << r.IntN(8)
			}
			space, _, err := resumed(system, o, changed)
			switch {
			case diverged(err):
				noticed++
			case err != nil:
				t.Fatal(err)
			case space.Stats != want:
				t.Fatalf("got %+v, want %+v", space.Stats, want)
			}
		}
		if noticed < 40 {
			t.Errorf("%d of 60 changes were noticed", noticed)
		}
	}
}

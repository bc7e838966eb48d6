package resident

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestTolerate wants much garbage to be tolerated while little is in use, no more than ever while much is, and things
// to be as before in the end.
func TestTolerate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	restore := Tolerate()
	if got := percentage(); got <= usual {
		t.Errorf("%d %% are tolerated with little in use", got)
	}
	Tolerate()() // changes nothing
	if got := percentage(); got <= usual {
		t.Errorf("%d %% are tolerated after somebody else has", got)
	}
	large := make([]byte, 2*tolerated)
	if got := settled(usual); got != usual {
		t.Errorf("%d %% are tolerated with much in use", got)
	}
	runtime.KeepAlive(large)
	const more = usual + 1
	if got := settled(more); got < more {
		t.Errorf("%d %% are tolerated with little in use again", got)
	}
	restore()
	if got := settled(usual); got != usual {
		t.Errorf("%d %% are tolerated afterwards", got)
	}
}

// settled collects garbage until so many percent are tolerated, or at least that many if it is more than is usual, for
// some seconds at most. It returns how many are.
func settled(want uint64) uint64 {
	got := percentage()
	for range 200 {
		if got == want || want > usual && got > want {
			break
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		got = percentage()
	}
	return got
}

// TestTolerateAsToldByOthers wants the percentage to be left alone that somebody has chosen.
func TestTolerateAsToldByOthers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for _, chosen := range []int{20, 400, -1} {
		debug.SetGCPercent(chosen)
		restore := Tolerate()
		if got := debug.SetGCPercent(chosen); got != chosen {
			t.Errorf("%d %% are tolerated, want %d", got, chosen)
		}
		restore()
		if got := debug.SetGCPercent(chosen); got != chosen {
			t.Errorf("%d %% are tolerated afterwards, want %d", got, chosen)
		}
	}
}

func TestFitting(t *testing.T) {
	for live, want := range map[uint64]int{0: 6400, 1 << 20: 6400, 32 << 20: 200, 64 << 20: 100, 1 << 40: 100} {
		if got := fitting(live); got != want {
			t.Errorf("with %d bytes in use %d %% are tolerated, want %d", live, got, want)
		}
	}
}

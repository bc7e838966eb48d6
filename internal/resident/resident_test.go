package resident_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/orrery-dev/orrery/internal/resident"
)

func TestForeign(t *testing.T) {
	got := resident.Foreign()
	if runtime.GOOS != "linux" {
		if got != 0 {
			t.Errorf("it is %d, want 0 where nobody tells", got)
		}
		return
	}
	// Some of this program is resident, and it has a few MiB.
	if got < 256<<10 || got > 256<<20 {
		t.Errorf("%d bytes", got)
	}
}

func TestKeep(t *testing.T) {
	const mib = 1 << 20
	now := func() int64 { return debug.SetMemoryLimit(-1) }
	defer debug.SetMemoryLimit(now())
	debug.SetMemoryLimit(math.MaxInt64)
	resident.Keep(0)
	if now() != math.MaxInt64 {
		t.Error("no limit is one")
	}
	restore := resident.Keep(1000 * mib)
	outer := now()
	if outer > 900*mib || outer < 900*mib-resident.Foreign()-mib {
		t.Errorf("the runtime is left %d MiB of 1000", outer/mib)
	}
	resident.Keep(2000 * mib)()
	inner := resident.Keep(2000 * mib)
	if now() != outer {
		t.Errorf("a higher limit within a lower one leaves %d MiB", now()/mib)
	}
	inner()
	restore()
	if now() != math.MaxInt64 {
		t.Error("the limit stays")
	}
	defer resident.Keep(1)()
	if now() != 16*mib {
		t.Errorf("with next to no limit the runtime is left %d bytes", now())
	}
}

func TestPeak(t *testing.T) {
	if got := resident.Peak(); got != 0 && got < 1<<20 {
		t.Errorf("a Go process in %d bytes", got)
	}
}

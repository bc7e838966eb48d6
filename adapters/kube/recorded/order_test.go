package recorded_test

import (
	"strconv"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube/recorded"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// TestOrderOfRecordedVersions: where a search begins in a recording, what a cache shows and what it has not shown yet
// are in the order of their age if versions are to be.
func TestOrderOfRecordedVersions(t *testing.T) {
	folder, entry := recordLostUpdate(t), seatsEntry(t)
	system, err := entry.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	name, at, err := recorded.SplitMoment(before(t, entry, folder, "default/b"))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := analysis.Files(name)
	if err != nil {
		t.Fatal(err)
	}
	begun, err := recorded.Begin(system, sources, at, recorded.LaterUsers)
	if err != nil {
		t.Fatal(err)
	}
	behind := begun.Initial[0].Underway.Processes[0].Behind
	if len(behind) == 0 {
		t.Fatal("no cache is behind")
	}
	ordered := begun.Store.(core.Ordering).Ordered()
	for _, missing := range behind {
		versions := ordered.Normalize(missing.Key, []core.Content{missing.From, missing.To}, nil)
		alone := ordered.Normalize(missing.Key, []core.Content{missing.To}, nil)
		if numberOf(t, versions[0]) >= numberOf(t, versions[1]) {
			t.Errorf("%s: %s comes before %s", missing.Key, versions[0].Canonical(), versions[1].Canonical())
		}
		if versions[1].Canonical() == alone[0].Canonical() {
			t.Errorf("%s: %s is counted as if nothing had come before it", missing.Key, versions[1].Canonical())
		}
	}
}

// numberOf returns the resource version of an object.
func numberOf(t *testing.T, content core.Content) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(content.(core.Tagged).Tag(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

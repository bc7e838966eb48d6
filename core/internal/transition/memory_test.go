package transition

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memories"
	"github.com/orrery-dev/orrery/core/state"
)

func TestDifferences(t *testing.T) {
	for _, test := range []struct{ from, to, want map[string]string }{
		{nil, nil, map[string]string{}},
		{map[string]string{"a": "1"}, map[string]string{"a": "1"}, map[string]string{}},
		{map[string]string{"a": "1"}, map[string]string{"a": "2"}, map[string]string{"a": "2"}},
		{map[string]string{"a": "1", "b": ""}, map[string]string{"c": ""}, map[string]string{"a": memories.Gone, "b": memories.Gone, "c": ""}},
	} {
		if got := memories.Differences(test.from, test.to); !maps.Equal(got, test.want) {
			t.Errorf("from %q to %q: %q", test.from, test.to, got)
		}
	}
	noisy := &domain{memory: memory{fresh: map[string]string{"a": "1", "b": "1"}, noise: map[string]bool{"b": true, "d": true}, beside: map[string]string{"x": "1"}, besideNoise: map[string]bool{"y": true}}}
	if got := noisy.changed(map[string]string{"a": "2", "b": "2", "c": "1", "d": "1"}); !maps.Equal(got, map[string]string{"a": "2", "c": "1"}) {
		t.Errorf("what has changed is %q", got)
	}
	if got := noisy.changedBeside(map[string]string{"x": "2", "y": "1"}); !maps.Equal(got, map[string]string{"x": "2"}) {
		t.Errorf("what has changed beside is %q", got)
	}
}

func TestLeadsThrough(t *testing.T) {
	for path, want := range map[string]bool{
		"R.count": true, "R.count.total": true, "R.count[3]": true, "R.counts": false, "R": false, "R.c": false, "cache": true, "cache[x].count": true, "caches": false, "x.cache": false,
		".count": false, "[count]": false,
	} {
		if got := leadsThrough(path, []string{"R.count", "cache"}); got != want {
			t.Errorf("%s leads through: %t", path, got)
		}
	}
	if leadsThrough("a", nil) {
		t.Error("nothing is led through")
	}
}

// TestUnignored leaves out what makes no difference, by names with the member of the process and without, and with the
// process and without.
func TestUnignored(t *testing.T) {
	p := &Process{Name: "both", Members: []*Actor{{Description: core.Description{Name: "one"}}, {Description: core.Description{Name: "two"}}}}
	l := &Learner{Machine: &Machine{System: &core.System{IgnoredMemory: []string{"S.cache"}}, Conditions: Conditions{IgnoredMemory: []string{"R.count", "both/R.seen", "one/R.own", "other/R.kept"}}}}
	contents := map[string]string{}
	for _, path := range []string{
		"R.count", "R.count.total", "R.counts", "one/R.count", "two/R.count[1]", "three/R.count", "S.cache", "two/S.cache", "R.seen", "one/R.seen", "one/R.own", "two/R.own", "R.own", "R.kept",
	} {
		contents[path] = "1"
	}
	got := slices.Sorted(maps.Keys(l.Machine.unignored(&domain{Name: "both", Process: p}, contents)))
	if want := []string{"R.counts", "R.kept", "R.own", "three/R.count", "two/R.own"}; !slices.Equal(got, want) {
		t.Errorf("what counts is %q, want %q", got, want)
	}
}

// TestIdentityOf has contents be told apart by what they are, and none have no identity.
func TestIdentityOf(t *testing.T) {
	all := []map[string]string{nil, {"a": "1"}, {"a": "2"}, {"b": "1"}, {"a": "1", "b": "1"}, {"a": `1"\n"b"="1`}, {"a=\"1\"\nb": "1"}}
	seen := map[string]int{}
	for i, contents := range all {
		id := memories.Identity(contents)
		if other, same := seen[id]; same || (id == "") != (i == 0) {
			t.Errorf("%q and %q have the identity %q", contents, all[other], id)
		}
		seen[id] = i
	}
	if got := textsOf(map[string]string{"b": "2", "a": "1"}); !slices.Equal(got, []string{"a", "1", "b", "2"}) {
		t.Errorf("the texts are %q", got)
	}
}

// TestGrows has a memory be taken to have no end only if the same fields have changed in each of many runs.
func TestGrows(t *testing.T) {
	for _, test := range []struct {
		name   string
		runs   int
		change func(i int) map[string]string // contents after run i, from 1
		want   []string
	}{
		{"long enough", longest, func(i int) map[string]string { return map[string]string{"n": fmt.Sprint(i)} }, []string{"n"}},
		{"not long enough", longest - 1, func(i int) map[string]string { return map[string]string{"n": fmt.Sprint(i)} }, nil},
		{"two fields of maps", longest + 5, func(i int) map[string]string {
			return map[string]string{"n": fmt.Sprint(i), fmt.Sprintf("seen[%d]", i): "", "still": "1"}
		}, []string{"n", "seen"}},
		{"one run changed nothing", longest, func(i int) map[string]string { return map[string]string{"n": fmt.Sprint(max(i, longest-lasting+2))} }, nil},
		{"at first nothing was changed", longest, func(i int) map[string]string { return map[string]string{"n": fmt.Sprint(max(i, longest-lasting))} }, []string{"n"}},
		{"at last nothing was changed", longest, func(i int) map[string]string { return map[string]string{"n": fmt.Sprint(min(i, longest-1))} }, nil},
	} {
		d := &domain{memory: memory{contents: []map[string]string{nil}, values: map[string]state.Value{"": 0}}}
		var history []behavior.Run
		var since *behavior.Memory
		for i := 1; i <= test.runs; i++ {
			run := behavior.Run{Activation: behavior.Activation{Since: since}, Leaf: &behavior.Leaf{Memory: state.Value(i)}}
			history = append(history, run)
			d.contents = append(d.contents, test.change(i))
			since = &behavior.Memory{Identity: fmt.Sprint(i)}
			d.values[since.Identity] = state.Value(i)
		}
		if got := d.grows(history); !slices.Equal(got, test.want) {
			t.Errorf("%s: these grow: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestOutlives has what fresh instances have in common with others be noise, and be told once.
func TestOutlives(t *testing.T) {
	m := &Machine{System: &core.System{}, Conditions: Conditions{IgnoredMemory: []string{"c"}}}
	d := &domain{Name: "web", Process: &Process{}, memory: memory{fresh: map[string]string{"a[1]": "1"}, noise: map[string]bool{}}}
	if m.outlives(d, map[string]string{"a[1]": "1"}) || len(d.noise)+len(m.Doubts)+len(m.outlived) > 0 {
		t.Errorf("nothing outlives, and it is said that %q", m.Doubts)
	}
	if !m.outlives(d, map[string]string{"a[1]": "2", "a[2]": "1", "b": "1"}) {
		t.Error("something outlives its instances")
	}
	if got := slices.Sorted(maps.Keys(d.noise)); !slices.Equal(got, []string{"a[1]", "a[2]", "b"}) {
		t.Errorf("the noise is %q", got)
	}
	if len(m.Doubts) != 2 || !strings.HasPrefix(m.Doubts[0], "web keeps a outside of its instances") || !strings.HasPrefix(m.Doubts[1], "web keeps b outside") || !slices.Equal(m.outlived, m.Doubts) {
		t.Errorf("it is said that %q and that %q", m.Doubts, m.outlived)
	}
	if m.outlives(d, map[string]string{"a[1]": "3", "b": "1"}) {
		t.Error("what is noise outlives")
	}
	if m.outlives(d, map[string]string{"a[1]": "3", "b": "1", "c.d": "1"}); len(m.outlived) != 2 || !d.noise["c.d"] {
		t.Errorf("it is said of what makes no difference: %q", m.outlived)
	}
	m.Doubts = nil
	if m.leaveOut(d, map[string]string{"a[7]": "1"}, d.noise); len(m.outlived) != 2 || m.Doubts != nil {
		t.Errorf("it is said again: %q", m.Doubts)
	}
}

// TestDoubts has each thing be said once, and of a sort the first.
func TestDoubts(t *testing.T) {
	m := &Machine{}
	m.doubt("%s", "a")
	m.doubt("%s", "a")
	m.doubtFirst("web talks", "in %s", "x")
	m.doubtFirst("web talks", "in %s", "y")
	m.doubtFirst("web waits", "in %s", "y")
	if want := []string{"a", "web talks in x", "web waits in y"}; !slices.Equal(m.Doubts, want) {
		t.Errorf("the doubts are %q", m.Doubts)
	}
	m.read("web", "main.go:3")
	m.read("web", "main.go:3")
	m.read("db", "main.go:3")
	if want := []string{"web reads in main.go:3", "db reads in main.go:3"}; !slices.Equal(m.Files, want) {
		t.Errorf("the files are %q", m.Files)
	}
}

// TestRoots has roots be found by their numbers.
func TestRoots(t *testing.T) {
	one := &behavior.Node{}
	r := roots{nil, one}
	if r.at(0) != nil || r.at(1) != one || r.at(2) != nil || roots(nil).at(0) != nil {
		t.Error("a root is not where its number is")
	}
}

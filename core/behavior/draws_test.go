package behavior

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// put is a call that writes contents.
type put struct{ aim, contents string }

func (p put) Identity() string  { return p.aim + "\n" + p.contents }
func (p put) String() string    { return p.aim }
func (put) Source() core.Source { return core.Live }
func (p put) Aim() string       { return p.aim }
func (p put) Contents() string  { return p.contents }

// asking is the path of a run with some calls.
func asking(calls ...core.Call) Path {
	var path Path
	for _, call := range calls {
		path = append(path, &Edge{From: &Node{Call: call}})
	}
	return path
}

// TestParting has a run that draws other values part from one where one of its texts differs: in the aim of a call, in
// what it writes, or in what it keeps.
func TestParting(t *testing.T) {
	path := asking(put{"create web", "name: abc"}, put{"create job", "owner: abc"})
	calls := []core.Call{put{"delete web", "name: abc"}, put{"create job", "owner: kkk"}}
	for text, want := range []Divergence{
		{Recorded: "create web", Observed: "delete web", After: 0},
		{Recorded: "create web", Observed: "delete web", After: 0},
		{Recorded: "create job with \"owner: abc\"", Observed: "create job with \"owner: kkk\"", After: 1},
		{Recorded: "create job with \"owner: abc\"", Observed: "create job with \"owner: kkk\"", After: 1},
		{Recorded: "keeps one thing in memory", Observed: "keeps another one", After: 2},
	} {
		if got := path.Parting(calls, text); got.Recorded != want.Recorded || got.Observed != want.Observed || got.After != want.After {
			t.Errorf("at text %d they part at %+v", text, got)
		}
	}
}

// TestSeeds has each stretch of each variation of a run draw from another seed, which is always the same.
func TestSeeds(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(3) {
		for variation := range 3 {
			for answers := range 3 {
				a := Activation{Seed: seed, Variation: variation}
				if of := a.SeedOf(answers); of != a.SeedOf(answers) || seen[of] {
					t.Errorf("stretch %d of variation %d draws from %d, as others do", answers, variation, of)
				} else {
					seen[of] = true
				}
			}
		}
	}
}

// TestOnlyDates has a run that parts from another one do nothing but to name another time, or more than that.
func TestOnlyDates(t *testing.T) {
	const noon, night = "2000-01-01T12:00:00Z", "2000-01-01T23:00:00Z"
	run := Run{Path: asking(put{"put a", "x"}, put{"put b", "at: " + noon})}
	for _, test := range []struct {
		name string
		d    Divergence
		want bool
	}{
		{"another time", Divergence{After: 1, Call: put{"put b", "at: " + night}}, true},
		{"another aim", Divergence{After: 1, Call: put{"put c", "at: " + night}}, false},
		{"other contents", Divergence{After: 1, Call: put{"put b", "from: " + night}}, false},
		{"it ends", Divergence{After: 1, Ended: &Leaf{}}, false},
		{"behind the end", Divergence{After: 2, Call: put{"put b", "at: " + night}}, false},
	} {
		if got := test.d.OnlyDates(run); got != test.want {
			t.Errorf("%s: it only names another time: %t", test.name, got)
		}
	}
}

// TestOvertakes has a later call be answered before an earlier one as was found out, or else as it seems.
func TestOvertakes(t *testing.T) {
	unknown := &Leaf{}
	if !unknown.overtakes(2, 1, true) || unknown.overtakes(2, 1, false) || unknown.heeds() {
		t.Error("what was not found out is not as it seems")
	}
	known := &Leaf{Overtaking: map[int]Overtaking{1: {by: []int{2}}}}
	if !known.overtakes(2, 1, false) || known.overtakes(3, 1, true) || known.overtakes(2, 0, true) || known.heeds() {
		t.Error("what was found out is as it seems")
	}
	heeded := &Leaf{Overtaking: map[int]Overtaking{1: {by: []int{2}, heeded: true}}}
	if !heeded.overtakes(2, 1, false) || !heeded.overtakes(3, 1, true) || heeded.overtakes(3, 1, false) || !heeded.heeds() {
		t.Error("where the code goes another way, there are no more")
	}
}

// TestPlaceOf has goroutines be told apart by the functions that they are in, with their lines, and by where they were
// made; not by what they were given.
func TestPlaceOf(t *testing.T) {
	const stack = "example.com/web.(*Server).poll(0xc000010000, {0x1, 0x2})\n\t/home/user/web/server.go:41 +0x1d\n" +
		"github.com/orrery-dev/orrery/core/behavior.run(...)\n\t/x/behavior/bubble.go:3 +0x2\n" +
		"created by example.com/web.(*Server).Start in goroutine 7\n\t/home/user/web/server.go:20 +0x88\n"
	const want = "example.com/web.(*Server).poll server.go:41; created by example.com/web.(*Server).Start server.go:20"
	if got := placeOf(stack); got != want {
		t.Errorf("the place is %q, want %q", got, want)
	}
	if got := placeOf("main.f(0x1)\n\t/f.go:3 +0x1\n...5 frames elided...\nmain.g()\n\t/f.go:9 +0x1\n"); got != "main.f f.go:3; ...5 frames elided...; main.g f.go:9" {
		t.Errorf("the place is %q", got)
	}
	if got := placeOf("created by example.com/web.loop(...) in goroutine 7\n\t/w.go:2\n"); got != "created by example.com/web.loop(...) w.go:2" {
		t.Errorf("the place is %q", got)
	}
}

// TestPaths has the calls of a path be told in order.
func TestPaths(t *testing.T) {
	a, b := put{"put a", "x"}, put{"put b", "y"}
	path := asking(a, b)
	for i, answer := range []named{"yes", "no"} {
		path[i].Response = answer
	}
	if got := path.Calls(); !slices.Equal(got, []string{"put a → yes", "put b → no"}) {
		t.Errorf("the calls are %q", got)
	}
	if got := asking(a, b).Asked(); !slices.Equal(got, []core.Call{a, b}) {
		t.Errorf("the calls are %v", got)
	}
}

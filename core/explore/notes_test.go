package explore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// list is a log for tests.
type list struct {
	given, added [][]byte
	ends         []bool
}

// Next implements [Log].
func (l *list) Next() []byte {
	if len(l.given) == 0 {
		return nil
	}
	next := l.given[0]
	l.given = l.given[1:]
	return next
}

// Add implements [Log].
func (l *list) Add(entry []byte) { l.added = append(l.added, bytes.Clone(entry)) }

// End implements [Log].
func (l *list) End(complete bool) { l.ends = append(l.ends, complete) }

// TestNotesAreReplayed notes what a worker found of a state, and reads it again: it is the same, but for steps to
// states that are known, which only matter where somebody sleeps or depths matter. Whatever is cut off behind is
// noticed.
func TestNotesAreReplayed(t *testing.T) {
	space, _, _ := ways{0: {1, 2, 3}, 1: {0}, 2: {4}, 3: {2}, 4: {4}}.search(t, Options{}, 0)
	type step struct {
		to     core.StateID
		isNew  bool
		asleep []int
	}
	for _, test := range []struct {
		sleeps, depths bool
		e              expansion
		asleep         []int
		steps          []step
		back           bool
	}{
		{false, false, expansion{from: 1, steps: 3}, nil, []step{{2, true, nil}, {3, true, nil}, {4, false, nil}}, false},
		{false, false, expansion{from: 2, steps: 2, reduced: true}, nil, []step{{2, false, nil}, {4, true, nil}}, true},
		{false, false, expansion{from: 2, steps: 1, quiescent: true, back: true}, nil, nil, true},
		{false, false, expansion{from: 2, steps: 1, level: true}, nil, []step{{1, false, nil}, {4, false, nil}}, true},
		{true, false, expansion{from: 1, steps: 300}, []int{0, 2}, []step{{2, true, []int{1}}, {0, false, nil}, {4, false, []int{0, 1, 2}}}, false},
		{true, false, expansion{from: 0, steps: 0, reduced: true}, []int{1}, nil, false},
		{false, true, expansion{from: 1, steps: 2}, nil, []step{{0, false, nil}, {3, true, nil}}, false},
	} {
		s := &search{Space: space}
		s.sleeps.needed, s.depths.needed = test.sleeps, test.depths
		c := &Checkpoint{}
		of := &chunk{agents: append([]int{9}, test.asleep...)}
		e := test.e
		e.asleep = agentRange{1, int32(len(of.agents))}
		n := c.expansion(s, of, &e)
		for _, step := range test.steps {
			n.successor(step.to, step.isNew, step.asleep)
		}
		n.done()
		whole := slices.Clone(c.entry)
		for length := range whole {
			r := replayer{search: s, rest: whole[:length]}
			if r.expansion(&chunk{}, &expansion{from: e.from}); !r.bad {
				t.Errorf("%+v: %d of %d bytes are enough", test, length, len(whole))
			}
		}
		r, to, got := replayer{search: s, rest: append(whole, 0xff)}, chunk{successors: make([]store.Lookup, 2), asleep: make([]agentRange, 2)}, expansion{from: e.from}
		r.expansion(&to, &got)
		if r.bad || len(r.rest) != 1 || !got.complete || got.steps != e.steps || got.reduced != e.reduced || got.level != e.level || got.quiescent != e.quiescent || got.back != test.back {
			t.Errorf("%+v comes back as %+v, with %d bytes left", test, got, len(r.rest)-1)
		}
		if got.begin != 2 || got.end != len(to.successors) || test.sleeps && !slices.Equal(to.agentsIn(got.asleep), test.asleep) {
			t.Errorf("%+v comes back as %+v, with %v asleep", test, got, to.agentsIn(got.asleep))
		}
		i := got.begin
		for _, step := range test.steps {
			if !step.isNew && !test.sleeps && !test.depths {
				continue
			}
			l := to.successors[i]
			row := space.store.Encoded(space.store.At(step.to), nil)
			switch {
			case l.Found == step.isNew || l.Found && l.Ref != store.Ref(step.to):
				t.Errorf("%+v: step %d is found: %t, at %d", test, i-2, l.Found, l.Ref)
			case step.isNew && (!bytes.Equal(to.rows[l.Begin:l.End], row) || l.Hash != space.Fingerprint(step.to).Lo):
				t.Errorf("%+v: the row of step %d is %x with the hash %x, want %x", test, i-2, to.rows[l.Begin:l.End], l.Hash, row)
			case test.sleeps && !slices.Equal(to.agentsIn(to.asleep[i]), step.asleep):
				t.Errorf("%+v: behind step %d %v sleep", test, i-2, to.agentsIn(to.asleep[i]))
			}
			i++
		}
		if i != got.end {
			t.Errorf("%+v: %d steps come back, want %d", test, got.end-2, i-2)
		}
	}
	var none *notes
	none.successor(1, true, nil)
	none.done()
}

// TestForeignNotes reads what no search of the system can have noted.
func TestForeignNotes(t *testing.T) {
	space, _, _ := ways{0: {1}, 1: {0}}.search(t, Options{}, 0)
	s := &search{Space: space, batch: newBatch(0)}
	s.sleeps.needed = true
	parent := slices.Clip(space.store.Encoded(0, nil))
	length := byte(len(parent))
	for _, test := range []struct {
		delta []byte
		bad   bool
	}{
		{[]byte{length, 0, 0}, false}, {[]byte{0, length, 0}, false}, {[]byte{1, length - 1, 0}, false},
		{[]byte{length + 1, 0, 0}, true}, {[]byte{0, length + 1, 0}, true}, {[]byte{1, length, 0}, true}, {[]byte{1, length + 1, 0}, true}, {[]byte{length, 0, 1}, true}, {[]byte{length, 0}, true}, {nil, true},
		{[]byte{0, 0, 3, 0xff, 0xff, 0xff}, true},
	} {
		r := replayer{search: s, rest: test.delta}
		c := chunk{rows: []byte{7}}
		l := store.Lookup{}
		if r.delta(&c, &l, parent); r.bad != test.bad || !r.bad && (!bytes.Equal(c.rows[l.Begin:l.End], parent) || l.Begin != 1) {
			t.Errorf("%v is taken for foreign: %t, want %t, and is %x", test.delta, r.bad, test.bad, c.rows[l.Begin:l.End])
		}
		if r = (replayer{search: s, rest: test.delta, bad: true}); !test.bad {
			if r.delta(&c, &l, parent); !r.bad {
				t.Error("what was foreign before is no more")
			}
		}
	}
	last := byte(space.machine.Agents - 1)
	for _, test := range []struct {
		agents []byte
		bad    bool
	}{{[]byte{0}, false}, {[]byte{1, last}, false}, {[]byte{1, last + 1}, true}, {[]byte{2, last}, true}} {
		r := replayer{search: s, rest: test.agents}
		if r.agents(&chunk{}); r.bad != test.bad {
			t.Errorf("the agents %v are taken for foreign: %t, want %t", test.agents, r.bad, test.bad)
		}
	}
	// There are as many as are said to be, however many that are.
	endless := binary.AppendUvarint(nil, 1<<50)
	r := replayer{search: s, rest: endless}
	if r.agents(&chunk{}); !r.bad {
		t.Error("agents without end are not taken for foreign")
	}
	r = replayer{search: s, rest: slices.Concat([]byte{noted, 1, 0}, endless)}
	if r.expansion(&chunk{}, &expansion{}); !r.bad {
		t.Error("successors without end are not taken for foreign")
	}
	for _, replayed := range []bool{true, false} {
		s.batch.replayed = replayed
		for ref, foreign := range map[store.Ref]bool{0: false, 1: false, 2: replayed, 9: replayed} {
			r, err := s.successorAt(&store.Lookup{Ref: ref})
			if (err != nil) != foreign || err == nil && r != ref {
				t.Errorf("state %d of 2 is found at %d: %v", ref, r, err)
			}
		}
	}
	for _, c := range []*Checkpoint{nil, {}, {next: []byte{searchEntry}}, {next: []byte{batchEntry}, cut: true}} {
		if c.replays() {
			t.Errorf("%+v has the next batch", c)
		}
	}
	// A batch of as many states is read, and tells whether the next one was taken before.
	s.sleeps.needed = false
	s.batch.states = []waiting{{id: 0}, {id: 1}}
	for _, test := range []struct {
		entry                []byte
		overlapping, foreign bool
	}{
		{[]byte{batchEntry, 0, 2, 0, 0}, false, false}, {[]byte{batchEntry, 1, 2, 0, 0}, true, false},
		{[]byte{batchEntry, 0, 1, 0}, false, true}, {[]byte{batchEntry, 0, 3, 0, 0, 0}, false, true}, {[]byte{batchEntry, 0, 2, 0}, false, true}, {[]byte{batchEntry}, false, true},
	} {
		b := newBatch(0)
		b.states = append(b.states, s.batch.states...)
		c := &Checkpoint{next: test.entry}
		overlapping, err := c.replay(s, b)
		if errors.Is(err, errDiverged) != test.foreign || overlapping != test.overlapping || b.replayed == test.foreign {
			t.Errorf("of the entry %v it is said that it is foreign: %v; the next batch was taken: %t", test.entry, err, overlapping)
		}
		if _, e := b.at(1); err == nil && (e.complete || e.from != 1) {
			t.Errorf("of the entry %v, the second state is %+v", test.entry, e)
		}
	}
}

// TestEntriesAreCompared begins searches and ends batches with a log that has what is noted, or something else.
func TestEntriesAreCompared(t *testing.T) {
	space, _, _ := ways{0: {1}, 1: {0}}.search(t, Options{}, 0)
	s := &search{Space: space, batch: newBatch(0)}
	s.batch.states = []waiting{{id: 0}, {id: 1}}
	noted := &list{}
	c := NewCheckpoint(noted)
	if err := c.begin(s); err != nil || c.replays() {
		t.Fatal(err)
	}
	c.open(s)
	c.skip()
	c.skip()
	if err := c.close(s); err != nil {
		t.Fatal(err)
	}
	elsewhere, _, _ := ways{0: {1}, 1: {0}}.search(t, Options{}, 1)
	other := &list{}
	if err := NewCheckpoint(other).begin(&search{Space: elsewhere}); err != nil || bytes.Equal(other.added[0], noted.added[0]) {
		t.Error("a search that begins elsewhere is noted as this one")
	}
	c.end(false)
	c.end(true)
	c.end(false)
	if len(noted.added) != 2 || !slices.Equal(noted.ends, []bool{true, false, true}) {
		t.Fatalf("%d entries are noted, and the ends are %v", len(noted.added), noted.ends)
	}
	if err := errors.Join(c.begin(s), c.close(s)); err != nil || len(noted.added) != 2 || !c.cut {
		t.Error("behind a search that was cut short something is noted")
	}
	for name, test := range map[string]struct {
		change         func(*search, [][]byte)
		begins, closes bool
	}{
		"the same":          {func(*search, [][]byte) {}, true, true},
		"a reducer":         {func(s *search, _ [][]byte) { s.options.Reducer = oneAtATime{} }, false, false},
		"another start":     {func(_ *search, entries [][]byte) { entries[0][2]++ }, false, false},
		"another count":     {func(s *search, _ [][]byte) { s.Stats.Transitions++ }, true, false},
		"another end":       {func(s *search, _ [][]byte) { s.Stats.Terminal++ }, true, false},
		"what is quiescent": {func(s *search, _ [][]byte) { s.quiescent = append(s.quiescent, 0) }, true, false},
		"one state less":    {func(s *search, _ [][]byte) { s.batch.states = s.batch.states[:1] }, true, false},
		"overlapping":       {func(s *search, _ [][]byte) { s.overlapping = true }, true, false},
	} {
		again := &list{given: [][]byte{slices.Clone(noted.added[0]), slices.Clone(noted.added[1])}}
		copied := *space
		s := &search{Space: &copied, batch: &batch{states: s.batch.states}}
		test.change(s, again.given)
		c := NewCheckpoint(again)
		if err := c.begin(s); (err == nil) != test.begins || err != nil && !errors.Is(err, errDiverged) {
			t.Errorf("%s: the search begins with %v", name, err)
		}
		if !test.begins {
			continue
		}
		if !c.replays() {
			t.Errorf("%s: the batch is not there", name)
		}
		s.batch.replayed = true
		c.open(s)
		c.skip()
		c.skip()
		err := c.close(s)
		if (err == nil) != test.closes || err != nil && !errors.Is(err, errDiverged) {
			t.Errorf("%s: the batch ends with %v", name, err)
		}
		if test.closes && (c.replays() || !slices.EqualFunc(again.added, noted.added, bytes.Equal)) {
			t.Errorf("%s: %d entries are noted, and there are more: %t", name, len(again.added), c.replays())
		}
	}
	var nobody *Checkpoint
	nobody.open(s)
	nobody.skip()
	nobody.stored(1)
	nobody.end(true)
	if err := errors.Join(nobody.begin(s), nobody.close(s)); err != nil || nobody.replays() || nobody.expansion(s, nil, nil) != nil {
		t.Error("nobody notes something")
	}
}

// TestStatesAreDigested has the digest of states be another one for others, and in another order.
func TestStatesAreDigested(t *testing.T) {
	seen := map[uint64]string{}
	for _, states := range [][]uint64{{}, {1}, {2}, {1, 2}, {2, 1}, {1, 2, 3}, {2, 1, 3}, {1 << 63}, {1, 1}} {
		c := &Checkpoint{}
		for _, print := range states {
			c.stored(print)
		}
		if other, known := seen[c.digest]; known {
			t.Errorf("%v and %s have the same digest", states, other)
		}
		seen[c.digest] = fmt.Sprint(states)
	}
}

// TestGoesOn has a search go on while there are states to expand, or some that have to be opened, and end when its time
// is over.
func TestGoesOn(t *testing.T) {
	ended, end := context.WithCancelCause(t.Context())
	end(errTime)
	for _, test := range []struct {
		name   string
		ctx    context.Context
		change func(*search)
		want   bool
		reason string
	}{
		{"nothing is left", t.Context(), func(*search) {}, false, ""},
		{"states wait", t.Context(), func(s *search) { s.frontier.push(waiting{}) }, true, ""},
		{"states are ahead", t.Context(), func(s *search) { s.overlapping = true }, true, ""},
		{"some have to be opened", t.Context(), func(s *search) { s.partial.Add(0); s.cut.Add(0) }, true, ""},
		{"some would have to be opened", ended, func(s *search) { s.partial.Add(0); s.cut.Add(0) }, false, "the search reached the time limit (0s): raise --max-time (Options.MaxTime), or make the system smaller"},
	} {
		space, _, _ := ways{0: {1}, 1: {0}}.search(t, Options{}, 0)
		s := &search{Space: space, context: test.ctx, frontier: &queue{}, batch: newBatch(0)}
		test.change(s)
		if got := s.goesOn(); got != test.want || s.cutShort != (test.reason != "") {
			t.Errorf("%s: the search goes on: %t, and is cut short: %t", test.name, got, s.cutShort)
		}
		if got := fmt.Sprint(s.reasons); got != "["+test.reason+"]" {
			t.Errorf("%s: the reasons are %s", test.name, got)
		}
	}
}

// TestBoundsAreHit says which bound was hit, if one was.
func TestBoundsAreHit(t *testing.T) {
	space, _, _ := ways{0: {1}, 1: {0}}.search(t, Options{}, 0)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		name   string
		change func(*search)
		want   string
	}{
		{"none", func(*search) {}, ""},
		{"an interruption", func(s *search) { s.context = ended }, "the search was interrupted"},
		{"what has no bound", func(s *search) { s.machine.Unbounded = "there is no end of it" }, "there is no end of it"},
		{"memory", func(s *search) { s.meter.limit = 1 << 20 }, "the search reached the memory limit (1 MiB): raise --max-memory (Options.MaxMemory), or make the system smaller"},
		{"memory, later", func(s *search) { s.meter.limit, s.meter.next = 1<<20, 1<<62 }, ""},
		{"memory for a table", func(s *search) {
			s.meter.limit, s.meter.next, s.table = 1<<20, 1<<62, store.NewFull()
			for range batchLen {
				s.frontier.push(waiting{})
			}
		}, "the search reached the memory limit (1 MiB): raise --max-memory (Options.MaxMemory), or make the system smaller"},
	} {
		copied, machine, told := *space, *space.machine, 0
		copied.machine, copied.table = &machine, nil
		s := &search{Space: &copied, context: t.Context(), frontier: &queue{}, batch: newBatch(0), began: time.Now()}
		s.options.Logger = space.learner.Logger
		s.options.Progress = func(p Progress) {
			if told++; p.States != 2 || p.Transitions != 2 || p.Depth != 1 || p.Memory <= 0 || p.Frontier != 0 {
				t.Errorf("%s: %+v is told", test.name, p)
			}
		}
		test.change(s)
		if got := s.exhausted(); got != test.want || (told > 0) != (test.name == "none") {
			t.Errorf("%s: %q was hit, and progress is told %d times", test.name, got, told)
		}
	}
	// Without a limit tables get as long as it takes for eight new states behind each that waits in a batch.
	for _, waits := range []int{1, 700, batchLen, 3 * batchLen} {
		table := store.NewFull()
		s := &search{Space: &Space{table: table}, frontier: &queue{waiting: make([]waiting, waits)}}
		if want := 8 * min(waits, batchLen); !s.enlarge() || table.GrowthFor(want) != 0 || table.GrowthFor(3*want+6000) == 0 {
			t.Errorf("with %d states that wait, there is no room for %d, or for far more", waits, want)
		}
	}
}

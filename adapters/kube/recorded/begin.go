package recorded

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// Storing is the store of a system whose search can begin in recordings: a [kube.Server], or one with something around
// it.
type Storing interface {
	Model
	// Start is what the clock shows when a search begins.
	Start() time.Time
	// Keeps reports whether objects of a kind are the server's.
	Keeps(core.Kind) bool
	// Stored returns an object as the server would have stored it, with its times moved. Before is how many versions of
	// the object were there before: the search brings that to the smallest numbers that tell those apart which somebody
	// shows.
	Stored(o live.Object, moved time.Duration, before int) (core.Content, error)
	// WithRecords returns objects with the records that the server keeps of them.
	WithRecords([]core.Object) []core.Object
}

var _ Storing = (*kube.Server)(nil)

// Later says which writes that others made later in the recordings users may make in a search.
type Later string

// What can be played of what others wrote later.
const (
	// LaterUsers are the writes of all who are not recorded, but for components of Kubernetes and writes of nothing but
	// a status.
	LaterUsers Later = "users"
	// LaterAll are all writes that no recorded controller made.
	LaterAll Later = "all"
	// LaterNone leaves the scenario of the system as it is.
	LaterNone Later = "none"
)

// Begin returns a system like another one of which a search begins at a moment of recordings, with the objects that
// were there, and with the controllers in the midst of what they did: requests in their queues, timers, and caches that
// were behind. What is not known of that is among the assumptions of the result, or, if it can make a difference, a
// reason why a search is not conclusive.
//
// The error says what to change: recordings that are damaged or incomplete before the moment, objects of kinds that the
// system does not know.
func Begin(system *core.System, sources []analysis.Source, at Moment, later Later) (*core.System, error) {
	store, ok := system.Store.(Storing)
	if !ok {
		return nil, fmt.Errorf("recordings are of controllers of Kubernetes, and the store of %s is a %T: name a system whose controllers were recorded", system.Name, system.Store)
	}
	if later != LaterUsers && later != LaterAll && later != LaterNone {
		return nil, fmt.Errorf("there is no choice %q of what others wrote later: use %q, %q or %q", later, LaterUsers, LaterAll, LaterNone)
	}
	b := &beginning{store: store, system: system, moment: at, all: histories{}, stored: map[*version]core.Content{}}
	notes, err := b.read(sources)
	if err != nil {
		return nil, err
	}
	if err := b.sound(notes); err != nil {
		return nil, err
	}
	b.locate()
	begun := *system
	initial := core.Initial{Underway: &core.Underway{}}
	if initial.Objects, err = b.objects(); err != nil {
		return nil, err
	}
	if initial.Underway.Processes, err = b.atWork(); err != nil {
		return nil, err
	}
	begun.Initial = []core.Initial{initial}
	b.tell(initial.Underway)
	if later != LaterNone {
		if begun.Scenario, err = b.actions(later); err != nil {
			return nil, err
		}
		begun.Implied, begun.Changes = nil, nil
	}
	begun.Assumptions = slices.Concat(system.Assumptions, b.assumptions)
	begun.Unmodelled = slices.Concat(system.Unmodelled, b.reasons)
	return &begun, begun.Validate()
}

// Test is what [ForTest] needs of a test: a *testing.T, or what Ginkgo has in its place.
type Test interface {
	Helper()
	Fatalf(format string, args ...any)
}

// ForTest returns a system that begins in a recording, named as "RECORDING" or "RECORDING@MOMENT" (see [ParseMoment]),
// with what users did later as its scenario. It fails the test if it cannot.
func ForTest(t Test, system *core.System, recording string) *core.System {
	t.Helper()
	name, at, err := SplitMoment(recording)
	if err != nil {
		t.Fatalf("the recording cannot be begun in: %v", err)
	}
	sources, err := analysis.Files(name)
	if err != nil {
		t.Fatalf("the recording cannot be read: %v", err)
	}
	begun, err := Begin(system, sources, at, LaterUsers)
	if err != nil {
		t.Fatalf("the search cannot begin in %s: %v", recording, err)
	}
	return begun
}

// beginning finds out what was going on at a moment.
type beginning struct {
	store     Storing
	system    *core.System
	moment    Moment
	all       histories
	processes []*process
	// time is what the clocks showed at the moment, and rv the newest version that the server is known to have had.
	time time.Time
	rv   uint64
	// stored are versions as the server would have stored them.
	stored map[*version]core.Content

	assumptions, reasons []string
}

func (b *beginning) assume(format string, args ...any) {
	b.assumptions = append(b.assumptions, fmt.Sprintf(format, args...))
}

func (b *beginning) because(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(b.reasons, text) {
		b.reasons = append(b.reasons, text)
	}
}

// read goes through recordings: first to see how far they go and what became of objects, then to see what was going on
// at the moment.
func (b *beginning) read(sources []analysis.Source) (analysis.Notes, error) {
	if len(sources) == 0 {
		return analysis.Notes{}, errors.New("there is no recording to begin in: name one")
	}
	histories := &validator{all: b.all}
	entries := map[*process]time.Duration{}
	var now *process
	notes, err := analysis.Walk(sources, func(at analysis.Place, entry live.Entry) error {
		if at.First {
			now = newProcess(at.Header)
			b.processes = append(b.processes, now)
		}
		if now.extend(entry); b.moment.Entry > 0 {
			if n, t := when(entry); n == b.moment.Entry {
				entries[now] = t
			}
		}
		return histories.collect(at, entry)
	})
	if err != nil {
		return notes, err
	}
	histories.attribute()
	if err := b.cuts(entries); err != nil {
		return notes, err
	}
	var objects []live.Object
	next := -1
	_, err = analysis.Walk(sources, func(at analysis.Place, entry live.Entry) error {
		if at.First {
			next++
		}
		if o, is := entry.(live.Object); is {
			if at.Object == 1 {
				objects = objects[:0]
			}
			objects = append(objects, o)
			return nil
		}
		b.processes[next].take(entry, objects)
		return nil
	})
	return notes, err
}

// cuts finds the moment in the recording of each process.
func (b *beginning) cuts(entries map[*process]time.Duration) error {
	first, last := b.processes[0], b.processes[0]
	for _, p := range b.processes {
		if p.header.Started.Before(first.header.Started) {
			first = p
		}
		if p.header.Started.Add(p.last).After(last.header.Started.Add(last.last)) {
			last = p
		}
	}
	end := last.header.Started.Add(last.last)
	switch {
	case !b.moment.given:
		b.time = end
	case b.moment.Entry > 0:
		if len(b.processes) > 1 {
			return fmt.Errorf("each of the %d recorded processes has an entry %d of its own: give a time, such as @12.5s", len(b.processes), b.moment.Entry)
		}
		at, found := entries[first]
		if !found {
			return fmt.Errorf("the recording has no entry %d: its last one is %d", b.moment.Entry, first.number)
		}
		b.time = first.header.Started.Add(at)
		first.cut.entry = b.moment.Entry
	case !b.moment.Time.IsZero():
		b.time = b.moment.Time
	default:
		b.time = first.header.Started.Add(b.moment.At)
	}
	if b.time.Before(first.header.Started) || b.time.After(end) {
		return fmt.Errorf("the recording goes from %s to %s, %s later, and %s is not within it", first.header.Started.UTC().Format(time.RFC3339Nano), end.UTC().Format(time.RFC3339Nano), end.Sub(first.header.Started), b.moment)
	}
	for _, p := range b.processes {
		p.cut.at = b.time.Sub(p.header.Started)
	}
	if len(b.processes) > 1 {
		b.assume("The clocks of the recorded processes are taken to agree.")
	}
	return nil
}

// sound returns an error if it is not known what was going on at the moment.
func (b *beginning) sound(notes analysis.Notes) error {
	for _, p := range b.processes {
		switch {
		case p.cut.at < 0:
		case p.header.Part > 1:
			return fmt.Errorf("the recording of %s begins with its part %d, so that neither its queues nor its caches are known: give all parts, and record with room for more (Files)", p.name(), p.header.Part)
		case p.header.Share > 0 && p.header.Share < 1:
			return fmt.Errorf("only a share of the objects of %s is recorded: record all of them (leave out Share)", p.name())
		case p.missing != "":
			return fmt.Errorf("entries are missing in the recording of %s, %s, so that it is not known what was going on at %s: choose a moment before that", p.name(), p.missing, b.moment)
		case p.missingLater != "":
			b.because("Entries are missing in the recording of %s, %s: what others had written by the moment at which the search begins may be among them. Choose a moment further away from that.", p.name(), p.missingLater)
		}
		for _, reason := range p.unseen {
			b.because("The recording of %s says: %s.", p.name(), strings.TrimSuffix(reason, "."))
		}
	}
	for _, said := range notes.Said {
		if !slices.ContainsFunc(b.reasons, func(reason string) bool { return strings.Contains(reason, said) }) {
			b.assume("Of the recording is to be said: %s.", clean(said))
		}
	}
	return nil
}

// locate finds out which version the server had come to.
func (b *beginning) locate() {
	for _, p := range b.processes {
		if p.cut.at >= 0 {
			b.rv = max(b.rv, p.newest)
		}
	}
	for _, p := range b.processes {
		for _, asked := range p.deleted {
			b.deleted(asked)
		}
	}
}

// deleted makes sure that what a recorded call had deleted is gone, or on its way.
func (b *beginning) deleted(asked sighting) {
	if v := b.all.deletion(asked); v != nil {
		b.rv = max(b.rv, v.rv)
		return
	}
	h := b.all[asked.key]
	switch i := len(h) - 1; {
	case i < 0 || h[i].gone || deleting(h[i].object):
	case len(metaOf(h[i].object).Finalizers) > 0:
		b.because("%s had been deleted, and what that made of it is not in the recording: it is taken to be there as before.", asked.key)
	default:
		b.rv = max(b.rv, h[i].rv+1)
		b.all[asked.key] = append(h, &version{rv: b.rv, uid: h[i].uid, object: live.Object{Key: asked.key}, gone: true})
	}
}

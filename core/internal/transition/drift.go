package transition

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/state"
)

// A run may leave other numbers in memory at another time: how long something took, or what a bucket has in tokens again. That by itself is no wait for a time.
// It is one if something is done in another way because of that. So the memory that a run leaves at another time, a drifted one, is taken along with the one
// that the search goes on with: each run that is known to begin there is made from the drifted one as well, at once and when a long time has passed again. It
// has to do the same, and what it leaves may have drifted, too.

// drifted is what is in memory if time has passed before some of the runs of a history.
type drifted struct {
	// history are the runs, with the clocks that they see, and ahead is how far the clock of the last one is ahead.
	history []behavior.Run
	ahead   time.Duration
	// text tells it apart from others, whatever the time is.
	text string
	// minor tells that it differs in nothing but times from the memory that it has drifted from, and renewed that a run had set one of these that it had left
	// alone before.
	minor, renewed bool
	// by and run are what has left another memory first, and parting is how.
	by      *Actor
	run     behavior.Run
	parting *behavior.Divergence
}

const (
	// mostDrifted is how many memories are taken along with one. Where there are more, the controller waits for a time, as far as can be seen.
	mostDrifted = 64
	// mostMinor is how many of these there are that differ in times only, which is what most controllers keep.
	mostMinor = 4
)

// left is a memory that a run left when the clock had moved.
type left struct {
	contents map[string]string
	at       shift
	// parting is where it is another one than the run left before, minor tells that it differs from that in nothing but times, and renewed that the run has set
	// a time that it had left alone.
	parting        *behavior.Divergence
	minor, renewed bool
}

// drifts returns the way to where a memory has drifted from another one, empty if it has not: either nothing in it has changed, or all times that are in it
// have moved as the clock has. It is minor if only times have changed, some with the clock and some not.
func drifts(here, there map[string]string, now, then time.Duration) (way string, minor bool) {
	moved := false
	ways := slices.Sorted(maps.Keys(here))
	ways = append(ways, slices.Sorted(maps.Keys(there))...)
	for _, path := range ways {
		was, kept := here[path]
		is, keeps := there[path]
		if kept != keeps || !behavior.SameButForTimes(was, is) {
			return path, false
		}
		if way == "" && was != is {
			way = path
		}
		moved = moved || behavior.Relative(was, now) != behavior.Relative(is, then)
	}
	if !moved {
		return "", false
	}
	return way, way != ""
}

// clockOf is how far from its beginning the clock is when a run begins.
func clockOf(run behavior.Run) time.Duration {
	return behavior.Tick + run.Activation.Passed + run.Activation.Apart + run.Activation.Clock
}

// later stands before when a memory was come to, if that is not at first.
const later = "\x00after "

// dated tells a memory apart from the same one at another time, as an instance that has come to it later does not get back: its identity names when its newest
// run began, unless the run has left the memory as it was.
func dated(identity string, run behavior.Run) string {
	since := run.Activation.Since
	if identity == "" {
		return identity
	}
	passed := run.Activation.Passed + run.Activation.Apart
	if since != nil {
		if before, _, _ := strings.Cut(since.Identity, later); before == identity {
			return since.Identity
		}
		for _, earlier := range since.Histories[0] {
			passed = max(passed, earlier.Activation.Passed+earlier.Activation.Apart)
		}
	}
	if passed > 0 {
		identity += later + passed.String()
	}
	return identity
}

// keepsOther returns the memory that a run leaves when the clock has moved, nil if it has not drifted from what it left before.
func (l *Learner) keepsOther(a *Actor, run behavior.Run, later followed, at shift) *left {
	if later.contents == nil {
		return nil
	}
	here, now := a.domain.contents[run.Leaf.Memory], clockOf(run)
	way, minor := drifts(here, later.contents, now, now+at.start+at.run)
	if way == "" {
		return nil
	}
	return &left{later.contents, at, keepsAt(run, here, later.contents, func(path, _, _ string) bool { return path == way }), minor, false}
}

// drift takes along the memory that a run leaves when a long time has passed, unless that is searched, and those that it leaves in between.
func (l *Learner) drift(a *Actor, run behavior.Run, later *left) error {
	searched := l.searchesAfter(a, run)
	if !searched {
		if err := l.takeAlong(a, run, later); err != nil {
			return err
		}
	}
	if later.minor {
		return nil
	}
	for _, by := range calendar.Spans() {
		if searched && l.passes(by, run.Activation.Passed) {
			continue
		}
		parting, sooner, err := l.lookAt(a, run, a.domain.shift(by))
		switch {
		case err != nil:
			return err
		case parting != nil && searched:
			return l.severalTimes(a, run, by, parting.Recorded, parting.Observed, later.parting.Observed)
		case parting != nil:
			return l.awaits(a, run, parting)
		case sooner == nil, searched && maps.EqualFunc(sooner.contents, later.contents, behavior.SameButForTimes):
			continue
		}
		if err := l.takeAlong(a, run, sooner); err != nil {
			return err
		}
	}
	return nil
}

// takeAlong takes the memory along that a run has left when the clock had moved.
func (l *Learner) takeAlong(a *Actor, run behavior.Run, other *left) error {
	var history []behavior.Run
	if since := run.Activation.Since; since != nil {
		history = since.Histories[0]
	}
	v := &drifted{ahead: other.at.start + other.at.run, minor: other.minor, renewed: other.renewed, by: a, run: run, parting: other.parting}
	if with := other.at.with; with > 0 {
		history = slices.Clone(history)
		for i := range history {
			if history[i].Activation.Passed == with {
				history[i].Activation.Clock += v.ahead
			}
		}
	}
	return l.follows(a.domain, v.after(history, run, other.contents), run.Leaf.Memory)
}

// after returns the memory behind a run, which was made with the clock ahead.
func (v drifted) after(history []behavior.Run, run behavior.Run, contents map[string]string) *drifted {
	run.Activation.Clock += v.ahead
	v.history = append(slices.Clip(history), run)
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		text.WriteString(path + "=" + behavior.Relative(contents[path], clockOf(run)) + "\n")
	}
	v.text = text.String()
	return &v
}

// follows takes a drifted memory along with one, and makes all runs from it that are known to begin with that one.
func (l *Learner) follows(d *domain, v *drifted, with state.Value) error {
	type along struct {
		*drifted
		with state.Value
	}
	waiting := []along{{v, with}}
	for len(waiting) > 0 {
		next := waiting[0]
		waiting = waiting[1:]
		added, err := l.add(d, next.drifted, next.with)
		if err != nil {
			return err
		}
		if !added {
			continue
		}
		for _, b := range d.begun[next.with] {
			err := l.from(next.drifted, b, func(v *drifted) { waiting = append(waiting, along{v, b.Leaf.Memory}) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// add notes a drifted memory beside one, and reports whether it was not known.
func (l *Learner) add(d *domain, v *drifted, with state.Value) (bool, error) {
	minor := 0
	for _, known := range d.drifted[with] {
		if known.text == v.text {
			return false, nil
		}
		if known.minor {
			minor++
		}
	}
	switch n := len(d.drifted[with]); {
	case v.by.Waits.Why != "", v.minor && (minor == mostMinor || n >= mostDrifted):
		return false, nil
	case n >= mostDrifted:
		return false, l.awaits(v.by, v.run, v.parting)
	}
	d.drifted[with] = append(d.drifted[with], v)
	return true, nil
}

// along makes a new run from the memories that were taken along with the one that it begins with.
func (l *Learner) along(a *Actor, run behavior.Run) error {
	d := a.domain
	for _, v := range d.drifted[d.valueOf(run.Activation.Since)] {
		var next []*drifted
		if err := l.from(v, begun{a, run}, func(v *drifted) { next = append(next, v) }); err != nil {
			return err
		}
		for _, v := range next {
			if err := l.follows(d, v, run.Leaf.Memory); err != nil {
				return err
			}
		}
	}
	return nil
}

// from makes a run from a drifted memory, and tells what memories it leaves that have drifted. It makes it at once and after a long time, unless that is
// searched, or a time in between has passed, of which there is one. If the run does something else, somebody waits for a time.
func (l *Learner) from(v *drifted, b begun, tell func(*drifted)) error {
	if b.Leaf.Failure.Stuck() || l.Fickle(b.actor) || v.by.Waits.Why != "" {
		return nil
	}
	delays := []time.Duration{0, behavior.Epoch}
	if l.searchesAfter(v.by, v.run) || v.ahead < behavior.Epoch {
		delays = delays[:1]
	}
	for _, delay := range delays {
		ahead := *v
		ahead.ahead += delay
		f, led, err := l.fromAt(&ahead, b)
		if err != nil {
			return err
		}
		if !led {
			continue
		}
		parting, written := f.shows(b.Run)
		if parting == nil && written && v.renewed {
			parting, err = l.tellsRenewed(b, f, ahead.ahead)
		}
		if err != nil {
			return err
		}
		if parting != nil {
			return l.decides(v, b, parting)
		}
		here, now := b.actor.domain.contents[b.Leaf.Memory], clockOf(b.Run)
		way, minor := drifts(here, f.contents, now, now+ahead.ahead)
		if ahead.minor = minor && !v.renewed; way != "" || v.renewed && !maps.Equal(here, f.contents) {
			tell(ahead.after(v.history, b.Run, f.contents))
		}
	}
	return nil
}

// tellsRenewed returns where a run that was made from a memory in which a time was renewed names another time than it does without that, nil if it does not.
func (l *Learner) tellsRenewed(b begun, renewed followed, ahead time.Duration) (*behavior.Divergence, error) {
	plain, err := l.follow(b.actor, b.Run, shift{run: ahead})
	if err != nil || plain.parting != nil {
		return plain.parting, err
	}
	for i, call := range renewed.calls {
		if call.Identity() != plain.calls[i].Identity() {
			return &behavior.Divergence{Recorded: call.String(), Observed: call.String() + " with a newer time", After: i, Call: call}, nil
		}
	}
	return nil, nil
}

// fromAt takes a fresh instance to a drifted memory, and then along a run with its clock as far ahead. It reports whether it has come there.
func (l *Learner) fromAt(v *drifted, b begun) (f followed, led bool, err error) {
	session, err := l.fresh(b.actor, 0)
	if err != nil {
		return followed{}, false, err
	}
	defer session.Abort()
	for _, run := range v.history {
		if _, parting, err := session.Follow(l.Context, run); parting != nil || err != nil {
			return followed{}, false, err
		}
	}
	run := b.Run
	run.Activation.Clock += v.ahead
	l.count(run.Activation)
	f.calls, f.parting, err = session.Follow(l.Context, run)
	if err == nil && f.parting == nil {
		f.contents = l.contents(b.actor.domain, session.Memory())
	}
	return f, true, err
}

// decides notes that a run does something else because of what another one has left in memory at another time, which was that one's waiting for a time.
func (l *Learner) decides(v *drifted, b begun, parting *behavior.Divergence) error {
	// Is it because of the time?
	again, err := l.follow(b.actor, b.Run, shift{})
	if err != nil {
		return err
	}
	if other, _ := again.shows(b.Run); other != nil {
		return nil
	}
	then := *v.parting
	then.Observed += " and then, " + b.Activation.String() + ", " + parting.Observed + " where it else " + parting.Recorded
	if l.searchesAfter(v.by, v.run) || v.ahead < 0 {
		v.by.Waits.Is("", "%s waits for several times, and those between the first and the last were not searched: %s, now: %s; then: %s", v.by.Name, v.run.Activation, then.Recorded, then.Observed)
		return nil
	}
	return l.awaits(v.by, v.run, &then)
}

// since finds out of a path that code takes when time has passed whether it takes it as soon as it does something else than before: where two runs go on that
// part from a third one at the same place is seen only by going along one of them. There are several times else that the actor waits for.
func (l *Learner) since(a *Actor, run behavior.Run) error {
	if !a.awaits || a.Waits.Why != "" || a.domain.manner.Active || l.Fickle(a) { // of whom nobody knows whether it is because of the time
		return nil
	}
	for _, span := range l.Machine.calendar.Last(run.Activation.Passed) {
		before, _, err := l.sooner(a, run, -span)
		switch {
		case err != nil:
			return err
		case before == nil:
			continue
		}
		look := func(by time.Duration) (*behavior.Divergence, *left, error) { return l.sooner(a, run, by-span) }
		ways, err := l.partings(a, run, before, 0, look)
		if err != nil {
			return err
		}
		parting, by, err := l.amid(a, run, ways, run.Activation.Passed-span, glimpse{0, before}, glimpse{span, nil}, look)
		if err != nil {
			return err
		}
		if parting != nil && !behavior.SameButForTimes(parting.Observed, parting.Recorded) { // an object may be named by the time
			return l.severalTimes(a, run, by, before.Observed, parting.Observed, parting.Recorded)
		}
	}
	return nil
}

// sooner is as [Learner.lookAt] for a time before that of a run. The clock of an instance that remembers something does not go back, so what it has done when
// the long time had passed it does sooner, too. If that does not lead to the run, nothing can be said of it.
func (l *Learner) sooner(a *Actor, run behavior.Run, by time.Duration) (*behavior.Divergence, *left, error) {
	since := run.Activation.Since
	if since == nil {
		return l.lookAt(a, run, shift{start: by})
	}
	at := shift{run: by, with: run.Activation.Passed}
	session, strayed, err := l.bring(a, since, 0, at)
	if err != nil || strayed != nil {
		return nil, nil, err
	}
	session.Abort()
	return l.lookAt(a, run, at)
}

const (
	// mostSpans is how many spans pass in a search at most besides the long time.
	mostSpans = 3
	// fine is how many times shorter than the time until then a time is that nobody looks for.
	fine = 1000
)

// lengths are durations and numbers in a text: what follows from how much time has passed is another one after each span.
var lengths = regexp.MustCompile(`([0-9.]+(h|ms|m|µs|ns|s))+|[0-9.]+`)

// severalTimes notes that an actor does one thing now, another one when a span has passed, and a third one much later. It ends a search in which that span does
// not pass: it has to be begun again, unless what it does differs by how much time has passed.
func (l *Learner) severalTimes(a *Actor, run behavior.Run, span time.Duration, now, then, later string) error {
	counts := then != later && lengths.ReplaceAllLiteralString(then, "long") == lengths.ReplaceAllLiteralString(later, "long")
	if passing := l.Machine.Conditions.Spans; !counts && l.Searching && !a.Background && !a.domain.manner.Ticks && len(passing) < mostSpans && !slices.Contains(passing, span) {
		return &unexpectedSpan{span}
	}
	if name := a.Strategy.Describe().Name; !counts && l.Searching && !a.Background && !a.domain.manner.Ticks && !slices.Contains(l.Machine.Conditions.Sooner, name) {
		return &unexpectedHaste{name}
	}
	a.Waits.Is("", "%s waits for several times, and those between the first and the last were not searched: %s, now: %s; then: %s; later: %s", a.Name, run.Activation, now, then, later)
	return nil
}

// between finds out whether an actor does something else between now and much later than at any time that is searched: there are several times then that it
// waits for.
func (l *Learner) between(a *Actor, run behavior.Run, later *behavior.Divergence) error {
	if l.Fickle(a) {
		return nil
	}
	look := func(by time.Duration) (*behavior.Divergence, *left, error) {
		return l.lookAt(a, run, a.domain.shift(by))
	}
	ways, err := l.partings(a, run, later, behavior.Epoch, look)
	if err != nil {
		return err
	}
	parting, by, err := l.amid(a, run, ways, run.Activation.Passed, glimpse{0, nil}, glimpse{behavior.Epoch, later}, look)
	if err != nil || parting == nil {
		return err
	}
	return l.severalTimes(a, run, by, parting.Recorded, parting.Observed, later.Observed)
}

// glimpse is where a run parts from what it does at its own time when so much has passed, nil if it does not.
type glimpse struct {
	by      time.Duration
	parting *behavior.Divergence
}

// amid looks at a run at the times in between two, and returns where it parts first in another way than some, and at the times that are searched, and when; nil
// if it does not. The memories that it leaves then are taken along, where that is not searched. Between two times at which it goes two ways it is to be seen as
// well whether it goes a third one.
func (l *Learner) amid(a *Actor, run behavior.Run, ways []*behavior.Divergence, from time.Duration, first, last glimpse, look func(by time.Duration) (*behavior.Divergence, *left, error)) (*behavior.Divergence, time.Duration, error) {
	known := func(parting *behavior.Divergence) bool {
		return parting == nil || slices.ContainsFunc(ways, func(way *behavior.Divergence) bool { return parting.Alike(way) })
	}
	seen := []glimpse{first}
	for _, by := range l.withDue(run, slices.Concat(calendar.Spans(), l.Machine.Conditions.Spans)) {
		if by >= last.by {
			break
		}
		parting, left, err := look(by)
		switch {
		case err != nil:
			return nil, 0, err
		case l.passes(by, from):
			if parting != nil {
				ways = append(ways, parting)
			}
		case left != nil:
			if err := l.takeAlong(a, run, left); err != nil {
				return nil, 0, err
			}
		case !known(parting):
			return parting, by, nil
		}
		seen = append(seen, glimpse{by, parting})
	}
	if l.forks(a, run.Activation) {
		return nil, 0, nil
	}
	for i, end := range append(seen, last)[1:] {
		parting, by, err := l.third(run, seen[i], end, look)
		if err != nil || !known(parting) {
			return parting, by, err
		}
	}
	return nil, 0, nil
}

// third returns where a run parts in a third way between two times, and when, nil if it goes but the two ways that it goes then. It comes as close to where it
// turns from one to the other as the timer of the run does, or as a small part of the time until then.
func (l *Learner) third(run behavior.Run, from, until glimpse, look func(by time.Duration) (*behavior.Divergence, *left, error)) (*behavior.Divergence, time.Duration, error) {
	same := func(one, other *behavior.Divergence) bool {
		return one == other || one != nil && other != nil && one.Alike(other)
	}
	step := max(l.due(run), from.by/fine, time.Second)
	for until.by-from.by > step && !same(from.parting, until.parting) {
		by := calendar.Amid(from.by, until.by)
		parting, _, err := look(by)
		switch {
		case err != nil:
			return nil, 0, err
		case same(parting, from.parting):
			from.by = by
		case same(parting, until.parting):
			until.by = by
		default:
			return parting, by, nil
		}
	}
	return nil, 0, nil
}

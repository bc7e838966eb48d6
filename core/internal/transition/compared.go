package transition

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// Names of versions say at first nothing of their age: what is shown of a version is then the same whenever it is written. Code that asks which of two is newer
// would get a wrong answer. And all objects are created at the same time, so that code which asks which of two is older gets the answer that neither is. And
// what their store counts of them begins from one again as soon as nobody refers to it where the store looks. So each new path is audited with other names, as
// if all that is older were newer, with other times, and with larger numbers. Code that does something else is searched with names in the order of their age,
// with objects of different ages as well, and with all that was counted.

// unexpectedOrder is a controller that compares versions by their names, which say nothing of their age. Noted tells that one of them stood in an object, which
// it says nothing of in any search.
type unexpectedOrder struct {
	Controller string
	Noted      bool
}

// Error implements error.
func (u *unexpectedOrder) Error() string { return u.Controller + " compares versions" }

// expect implements [unexpected]. What was found of the others may have come of the wrong order.
func (u *unexpectedOrder) expect(c *Conditions) bool {
	if c.Ordered && (!u.Noted || c.Noted) {
		return false
	}
	c.afresh(func(c *Conditions) { c.Ordered, c.Noted = true, c.Noted || u.Noted })
	return true
}

// unexpectedCounts are kinds of which a controller keeps numbers that their store has counted up where the store does not know that they stand.
type unexpectedCounts struct {
	Controller string
	Kinds      []core.Kind
}

// Error implements error.
func (u *unexpectedCounts) Error() string {
	return u.Controller + " heeds how much was counted of " + Listed(u.Kinds)
}

// expect implements [unexpected]. What was found of the others may have come of wrong numbers.
func (u *unexpectedCounts) expect(c *Conditions) bool {
	counted := withKinds(c.Counted, u.Kinds)
	if len(counted) == len(c.Counted) {
		return false
	}
	c.afresh(func(c *Conditions) { c.Counted = counted })
	return true
}

// withKinds returns kinds with some more, in order, each once.
func withKinds(known, more []core.Kind) []core.Kind {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(known, more))))
}

// compares finds out whether what a run does depends on the order of the names of versions, or on which objects, or what was written into them, are older, and
// reports whether it does. It ends a search in which names are in no order, if it depends on that: it has to be begun again.
func (l *Learner) compares(a *Actor, run behavior.Run) (bool, error) {
	if a.User || !l.Searching && !l.Following || l.Fickle(a) {
		return false, nil
	}
	runs := upTo(run)
	if slices.ContainsFunc(runs, a.domain.chooses) {
		return false, nil
	}
	noted, err := l.comparesNoted(a, runs)
	if err != nil {
		return false, err
	}
	if later, err := l.comparesStart(a, runs); later || err != nil {
		return later, err
	}
	for _, others := range l.others(a, runs) {
		if divergence, err := l.otherwise(a, runs, others, nil); err != nil {
			return false, err
		} else if divergence == nil {
			continue
		}
		if err := l.counts(a, runs); err != nil {
			return false, err
		}
		compares := noted
		for _, what := range []func(*Actor, []behavior.Run) (bool, error){l.comparesVersions, l.comparesUIDs, l.comparesTimes, l.comparesAges} {
			found, err := what(a, runs)
			if err != nil {
				return false, err
			}
			compares = compares || found
		}
		return compares, nil
	}
	return noted, nil
}

// upTo returns the runs of an instance that lead to what it remembers when a run begins, and the run.
func upTo(run behavior.Run) []behavior.Run {
	if since := run.Activation.Since; since != nil {
		return append(slices.Clone(since.Histories[0]), run)
	}
	return []behavior.Run{run}
}

// others returns what else runs are shown, once all together: names of versions, and uids, in another order, objects of which each is older, or younger, than
// the one before, those that are younger than what was written, and objects of which more was counted.
func (l *Learner) others(a *Actor, runs []behavior.Run) []behavior.Otherwise {
	var falling behavior.Together
	if l.Machine.orders {
		if names := behavior.TagsIn(runs).Exchanged(l.Machine.Conditions.Ordered); names != nil {
			falling = append(falling, behavior.Renamed{Names: core.NewRetagging(names)})
		}
	}
	if uids := behavior.ChosenIn(runs).Exchanged(false); uids != nil {
		falling = append(falling, behavior.Renamed{Names: core.NewRetagging(uids)})
	}
	var all []behavior.Otherwise
	if l.Machine.aging != nil {
		ages := behavior.AgesIn(runs, l.Machine.aging.Ages())
		rising, turned := ages.AllInOrder(false), ages.AllInOrder(true)
		if len(l.Machine.Conditions.Apart) > 0 {
			kinds := l.together(a, ages)
			rising, turned = ages.WrittenInOrder(false, kinds), ages.WrittenInOrder(true, kinds)
		}
		if rising != nil {
			all, falling = append(all, rising), append(falling, turned)
		}
		if after := ages.After(l.together(a, ages)); after != nil {
			all = append(all, after)
		}
	}
	if l.Machine.counting != nil {
		if further := behavior.FurtherIn(runs, l.Machine.counting); further != nil {
			falling = append(falling, further)
		}
	}
	if len(falling) > 0 {
		all = append(all, falling)
	}
	return all
}

// counts finds out of which kinds it makes a difference to what runs do how much their store has counted. It ends a search in which that is counted anew.
func (l *Learner) counts(a *Actor, runs []behavior.Run) error {
	if l.Machine.counting == nil {
		return nil
	}
	found := unexpectedCounts{Controller: a.Strategy.Describe().Name}
	for _, kind := range behavior.CountedIn(runs, l.Machine.counting) {
		divergence, err := l.otherwise(a, runs, behavior.FurtherIn(runs, l.Machine.counting, kind), nil)
		if err != nil {
			return err
		}
		if divergence != nil {
			found.Kinds = append(found.Kinds, kind)
		}
	}
	if len(found.Kinds) > 0 {
		return &found
	}
	return nil
}

// comparesVersions finds out whether what runs do depends on the order of the names of versions.
func (l *Learner) comparesVersions(a *Actor, runs []behavior.Run) (bool, error) {
	if !l.Machine.orders {
		return false, nil
	}
	shown := behavior.TagsIn(runs)
	divergence, err := l.heedsNames(a, runs, shown, shown.Exchanged(l.Machine.Conditions.Ordered))
	if err != nil {
		return false, err
	}
	if divergence != nil && !l.Machine.Conditions.Ordered {
		return false, &unexpectedOrder{Controller: a.Strategy.Describe().Name}
	}
	if divergence != nil {
		l.Machine.doubtFirst(a.Name+" compares versions of different objects", "by their names, %s, now: %s; in another order: %s. Only those of one object are in the order of their age here, so what comes of it was not searched: compare those of one object",
			runs[len(runs)-1].Activation, divergence.Recorded, divergence.Observed)
	}
	return divergence != nil, nil
}

// comparesNoted finds out whether what runs do depends on the order of the names of versions that controllers have written into objects, and of others.
func (l *Learner) comparesNoted(a *Actor, runs []behavior.Run) (bool, error) {
	if !l.Machine.orders {
		return false, nil
	}
	shown, noted := l.Machine.notedIn(runs)
	for _, others := range shown.Beside(noted) {
		if divergence, err := l.heedsNames(a, runs, noted, others); divergence != nil || err != nil {
			return false, cmp.Or(err, error(&unexpectedOrder{Controller: a.Strategy.Describe().Name, Noted: true}))
		}
	}
	return l.comparesReturned(a, runs)
}

// comparesReturned finds out whether what runs do depends on whether versions that are shown are those which objects beside them have noted.
func (l *Learner) comparesReturned(a *Actor, runs []behavior.Run) (bool, error) {
	both := l.Machine.notedBesides(runs)
	if len(both) == 0 {
		return false, nil
	}
	divergence, err := l.otherwise(a, runs, behavior.NewRenoted(both.Nudged()), nil)
	if divergence == nil || err != nil {
		return false, err
	}
	for _, key := range slices.SortedFunc(maps.Keys(both), core.Key.Compare) {
		l.Machine.heedNoted(a, key.Kind)
	}
	return true, nil
}

// notedBesides returns the names of versions that are shown in some runs and stand in other objects that are shown there.
func (m *Machine) notedBesides(runs []behavior.Run) behavior.Tags {
	if len(m.notes.of) == 0 {
		return nil
	}
	shown, both := behavior.TaggedIn(runs), behavior.Tags{}
	for key, contents := range shown {
		for _, content := range contents {
			if name := content.Tag(); m.notes.of[name] == key && besides(shown, key, name) {
				both[key] = append(both[key], name)
			}
		}
	}
	return both
}

// besides reports whether a name stands in what is shown of another object than its own.
func besides(shown map[core.Key][]core.Tagged, of core.Key, name string) bool {
	for key, contents := range shown {
		if key != of && slices.ContainsFunc(contents, func(content core.Tagged) bool { return strings.Contains(content.Canonical(), name) }) {
			return true
		}
	}
	return false
}

// lookBack finds out whether the step has led an object back to a version that another object has noted. A server would name it anew, and here it has the name
// that stands there.
func (w *Walker) lookBack() error {
	m := w.Machine
	if len(m.notes.of) == 0 {
		return nil
	}
	for _, t := range w.Touched {
		key, isObject := m.Vocabulary.Key(t.Cell)
		if !isObject || w.Value(t.Cell) == t.Was || m.notes.cameBack[key.Kind] != (core.Key{}) {
			continue
		}
		tagged, named := m.Vocabulary.Content(t.Cell, w.Value(t.Cell)).(core.Tagged)
		switch {
		case !named || m.notes.of[tagged.Tag()] != key || !w.stands(tagged.Tag(), t.Cell):
		case w.Learn != nil:
			m.notes.cameBack[key.Kind] = key
			m.heedReturn(key.Kind)
		case w.Ahead:
			return ErrUnknown // the searching goroutine has to note it
		}
	}
	return nil
}

// stands reports whether an object besides one has the name of a version in it.
func (w *Walker) stands(name string, beside state.Cell) bool {
	for c := range w.Machine.Vocabulary.Cells() {
		cell := state.Cell(c)
		key, isObject := w.Machine.Vocabulary.Key(cell)
		if !isObject || cell == beside || w.Value(cell) == 0 {
			continue
		}
		if strings.Contains(w.Machine.Vocabulary.Content(cell, w.Value(cell)).Canonical(), name) || strings.Contains(key.Name, name) {
			return true
		}
	}
	return false
}

// heedNoted notes who heeds whether a version of a kind is the one that was noted.
func (m *Machine) heedNoted(a *Actor, kind core.Kind) {
	if m.notes.heeded[kind] == "" {
		m.notes.heeded[kind] = a.Name
		m.heedReturn(kind)
	}
}

// heedReturn notes that what comes of versions of a kind which come back is not searched, if they do and somebody heeds that.
func (m *Machine) heedReturn(kind core.Kind) {
	key, heeded := m.notes.cameBack[kind], m.notes.heeded[kind]
	if key != (core.Key{}) && heeded != "" {
		m.doubtFirst(heeded+" heeds whether a version is the one that was noted", "in another object, and %s becomes again what it was when it was noted: a server gives it another version then, and here it has that one, so what comes of it was not searched: note the generation, or a hash of what matters", key)
	}
}

// heedsNames returns where runs do something else because versions have other names, nil if they do not, or if there are no others. What they do may follow
// from all the names that are given, such as a checksum.
func (l *Learner) heedsNames(a *Actor, runs []behavior.Run, all behavior.Tags, others map[string]string) (*behavior.Divergence, error) {
	if others == nil {
		return nil, nil
	}
	return l.heeds(a, runs, behavior.Renamed{Names: core.NewRetagging(others)}, behavior.Renamed{Names: core.NewRetagging(all.Shifted())})
}

// comparesUIDs finds out whether what runs do depends on the order of names that the store has chosen as it liked, such as uids. They are in one order in all
// searches.
func (l *Learner) comparesUIDs(a *Actor, runs []behavior.Run) (bool, error) {
	chosen := behavior.ChosenIn(runs)
	exchanged := chosen.Exchanged(false)
	if exchanged == nil {
		return false, nil
	}
	divergence, err := l.heeds(a, runs, behavior.Renamed{Names: core.NewRetagging(exchanged)}, behavior.Renamed{Names: core.NewRetagging(chosen.Nudged())})
	if divergence != nil {
		l.Machine.doubtFirst(a.Name+" heeds the order of uids,", "which a server makes at random: %s, now: %s; in another order: %s. Only one order was searched: order objects by their names", runs[len(runs)-1].Activation, divergence.Recorded, divergence.Observed)
	}
	return divergence != nil, err
}

// comparesAges finds out whether what runs do depends on which of some objects are older, and records their kinds.
func (l *Learner) comparesAges(a *Actor, runs []behavior.Run) (bool, error) {
	if l.Machine.aging == nil || len(l.Machine.Conditions.Apart) > 0 {
		return false, nil
	}
	ages := behavior.AgesIn(runs, l.Machine.aging.Ages())
	for _, kinds := range ages.Groups() {
		for _, turned := range []bool{false, true} {
			others := ages.InOrder(turned, kinds)
			if others == nil {
				break
			}
			divergence, err := l.heeds(a, runs, others, ages.Alike(kinds))
			if err != nil {
				return false, err
			}
			if divergence != nil {
				l.Machine.compareAges(a, kinds)
				return true, nil
			}
		}
	}
	return false, nil
}

// comparesTimes finds out whether what runs do depends on which of the times that objects show, besides those of their creation, is earlier, and records their
// kinds.
func (l *Learner) comparesTimes(a *Actor, runs []behavior.Run) (bool, error) {
	if l.Machine.aging == nil {
		return false, nil
	}
	ages := behavior.AgesIn(runs, l.Machine.aging.Ages())
	together := l.together(a, ages)
	for _, kinds := range ages.Groups() {
		if !slices.ContainsFunc(kinds, func(kind core.Kind) bool { return slices.Contains(together, kind) }) {
			continue
		}
		for _, others := range []behavior.Otherwise{ages.WrittenInOrder(false, kinds), ages.WrittenInOrder(true, kinds), ages.After(kinds)} {
			if others == nil {
				continue
			}
			divergence, err := l.heeds(a, runs, others, ages.Before(kinds))
			if err != nil {
				return false, err
			}
			if divergence == nil {
				continue
			}
			if l.Machine.compareTimes(a, kinds); len(l.Machine.Conditions.Apart) > 0 && a.untimed() {
				l.Machine.doubtFirst(a.Name+" compares times", "in objects, and no time passes for it: %s, now: %s; where they are seconds apart: %s", runs[len(runs)-1].Activation, divergence.Recorded, divergence.Observed)
			}
			return true, nil
		}
	}
	return false, nil
}

// together returns the kinds of which an actor may be shown times that are the same although they are not written at once.
func (l *Learner) together(a *Actor, ages behavior.Ages) []core.Kind {
	kinds := ages.Kinds()
	if a.untimed() {
		return kinds
	}
	return slices.DeleteFunc(kinds, func(kind core.Kind) bool { return slices.Contains(l.Machine.Conditions.Apart, kind) })
}

// heeds returns where runs do something else because of the order of what is chosen in another way, nil if they do not. What is something else in the same
// order, too, follows from a name or a time itself, such as a checksum of it, and does not count. All the rest does.
func (l *Learner) heeds(a *Actor, runs []behavior.Run, others, same behavior.Otherwise) (*behavior.Divergence, error) {
	divergence, err := l.otherwise(a, runs, others, nil)
	if divergence == nil || err != nil {
		return nil, err
	}
	sums := map[string]bool{}
	other, err := l.otherwise(a, runs, same, func(place string) bool { sums[place] = true; return true })
	if other != nil || err != nil {
		return nil, err
	}
	if len(sums) > 0 {
		divergence, err = l.otherwise(a, runs, others, func(place string) bool { return sums[place] })
	}
	return divergence, err
}

// indifferent reports whether a run does the same on the instance of its session where the order of the names of versions, and of the ages of objects, is
// another one. It returns the session, or another one that has come as far if that is over.
func (l *Learner) indifferent(session *behavior.Session, a *Actor, run behavior.Run) (*behavior.Session, bool, error) {
	runs := []behavior.Run{run}
	if _, noted := l.Machine.notedIn(runs); noted != nil || len(l.Machine.notedBesides(runs)) > 0 {
		return session, false, nil
	}
	all := l.others(a, runs)
	if len(all) == 0 || l.forks(a, run.Activation) || a.User || a.domain.manner.Active {
		return session, len(all) == 0 && !a.domain.manner.Active, nil
	}
	differs := func(others behavior.Otherwise) (bool, error) {
		l.count(run.Activation)
		divergence, err := session.Otherwise(l.Context, run, others, nil)
		return divergence != nil || err == nil && l.leavesOtherwise(a.domain, session, run, others, nil) != nil, err
	}
	for _, others := range all {
		switch differs, err := differs(others); {
		case err != nil:
			return session, false, err
		case !differs:
			continue
		}
		session.Abort()
		session, err := l.Open(a, nil)
		if err != nil {
			return nil, false, err
		}
		divergence, err := l.again(session, run, 1)
		if divergence != nil {
			if err = l.diagnose(a, []behavior.Run{run}, 0, divergence); err == nil {
				err = ErrStopped
			}
		}
		return session, false, err
	}
	return session, true, nil
}

// chooses reports whether a run goes on with one of several calls that wait: which one that is follows from what they name.
func (d *domain) chooses(run behavior.Run) bool {
	return run.Activation.Own == behavior.Works && len(d.rest[d.valueOf(run.Activation.Since)].Calls) > 1
}

// otherwise takes a fresh instance along runs as they are if something else is chosen, and returns where it does more than to use that, or leaves another
// memory. A function may excuse calls that write something else and places in memory; nil excuses none.
func (l *Learner) otherwise(a *Actor, runs []behavior.Run, others behavior.Otherwise, excused func(place string) bool) (*behavior.Divergence, error) {
	return l.persist(runs[len(runs)-1], func() (*behavior.Divergence, error) { return l.otherwiseOnce(a, runs, others, excused) })
}

// otherwiseOnce is as [Learner.otherwise] for code that chance may lead somewhere else.
func (l *Learner) otherwiseOnce(a *Actor, runs []behavior.Run, others behavior.Otherwise, excused func(place string) bool) (*behavior.Divergence, error) {
	session, err := l.fresh(a, 0)
	if err != nil {
		return nil, err
	}
	defer session.Abort()
	var writing func(core.Call) bool
	if excused != nil {
		writing = func(recorded core.Call) bool { return excused("the call " + recorded.Identity()) }
	}
	for _, run := range runs {
		l.count(run.Activation)
		if divergence, err := session.Otherwise(l.Context, run, others, writing); divergence != nil || err != nil {
			return divergence, err
		}
	}
	return l.leavesOtherwise(a.domain, session, runs[len(runs)-1], others, excused), nil
}

// leavesOtherwise returns where the memory of an instance that was taken along a run with something else chosen is another one than what the run leaves, but
// for that; nil if it is not. What is left counts even if nothing was found to be kept so far: it may be kept because of that only.
func (l *Learner) leavesOtherwise(d *domain, session *behavior.Session, run behavior.Run, others behavior.Otherwise, excused func(place string) bool) *behavior.Divergence {
	if d.fresh == nil {
		return nil
	}
	memory := session.Memory()
	if memory == nil {
		return nil
	}
	d.originate(memory, run)
	left, found := behavior.Leaves(others, d.contents[run.Leaf.Memory], l.contents(d, memory))
	return keepsAt(run, left, found, func(path, here, there string) bool { return here != there && (excused == nil || !excused(path)) })
}

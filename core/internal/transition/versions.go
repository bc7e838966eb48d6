package transition

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// normalize brings what the step touched to its canonical form.
func (w *Walker) normalize() error {
	if w.Machine.Holds {
		return w.normalizeTogether()
	}
	for i := range w.Touched {
		c := w.Touched[i].Cell
		w.Set(c, w.Machine.Vocabulary.Normalized(c, w.Vector[c]))
	}
	return nil
}

// normalizeTogether brings all versions that can be seen of the objects which the step had to do with to their canonical
// forms. Those which a run in flight was shown cannot be renamed, as nobody can change what
// it remembers; they are when it has ended. Nor can those that memory names: only the others are.
func (w *Walker) normalizeTogether() error {
	for _, c := range w.concerned() {
		if w.pinned(c) {
			continue
		}
		remembered := w.remembered(c)
		slices.Sort(remembered)
		remembered = slices.Compact(remembered)
		versions := append(w.visible(c), remembered...)
		if stored := w.Value(c); stored != 0 {
			versions = append(versions, stored)
		}
		slices.Sort(versions)
		versions = slices.Compact(versions)
		if len(versions) > 0 && versions[0] == 0 {
			versions = versions[1:]
		}
		if len(versions) == 0 {
			continue
		}
		normal, known := w.Machine.Vocabulary.Normalization(c, versions, remembered, w.Buffer)
		if !known {
			if w.Learn == nil {
				return ErrUnknown
			}
			normal = w.Machine.Vocabulary.Normalize(c, versions, remembered)
		}
		if normal.Same {
			continue
		}
		w.Set(c, normal.Of(w.Value(c)))
		if err := w.rename(c, normal); err != nil {
			return err
		}
	}
	return nil
}

// rename brings the versions of an object in all backlogs to their canonical forms.
func (w *Walker) rename(c state.Cell, normal *state.Normalization) error {
	key, _ := w.Machine.Vocabulary.Key(c)
	for _, v := range w.Machine.Views[key.Kind] {
		if w.Value(v.Cell()) == 0 {
			continue
		}
		after, known := v.Renamed(w.Value(v.Cell()), c, normal)
		if !known {
			if w.Learn == nil {
				return ErrUnknown
			}
			after = v.Rename(w.Value(v.Cell()), c, normal)
		}
		w.Set(v.Cell(), after)
	}
	return nil
}

// concerned returns the objects of which the step may have changed what versions can be seen: those that it wrote, those in
// backlogs before it, and those that the runs it ended were shown.
func (w *Walker) concerned() []state.Cell {
	var cells []state.Cell
	for _, t := range w.Touched {
		if _, isObject := w.Machine.Vocabulary.Key(t.Cell); isObject {
			cells = append(cells, t.Cell)
		} else if v := w.Machine.viewAt(t.Cell); v != nil {
			cells = v.AppendCells(cells, t.Was)
		}
		for _, v := range w.letGo(t) {
			cells = append(cells, v.cell)
		}
	}
	for _, p := range w.released {
		for _, v := range p.held {
			cells = append(cells, v.cell)
		}
	}
	slices.Sort(cells)
	return slices.Compact(cells)
}

// Names of versions say at first nothing of their age: what is shown of a version is then the same whenever it is written. Code that asks which of two is newer would get a wrong answer. And all objects are
// created at the same time, so that code which asks which of two is older gets the answer that neither is. And what their store counts of them begins from one again as soon as nobody refers to it where the store looks. So each new path
// is audited with other names, as if all that is older were newer, with other times, and with larger numbers. Code that does something else is searched with names in the order of their age, with objects of different ages as well, and with
// all that was counted.

// unexpectedOrder is a controller that compares versions by their names, which say nothing of their age. Noted tells that one of them stood in an object, which it says nothing of in any search.
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

// compares finds out whether what a run does depends on the order of the names of versions, or on which objects are older, and reports whether on the latter. It ends a search in which names are in no order, if it depends on that: it has to be begun again.
func (l *Learner) compares(a *Actor, run behavior.Run) (ages bool, err error) {
	if a.User || !l.Searching && !l.Following || l.Fickle(a) {
		return false, nil
	}
	var runs []behavior.Run
	if since := run.Activation.Since; since != nil {
		runs = slices.Clone(since.Histories[0])
	}
	runs = append(runs, run)
	if slices.ContainsFunc(runs, a.domain.chooses) {
		return false, nil
	}
	if err := l.comparesNoted(a, runs); err != nil {
		return false, err
	}
	for _, others := range l.others(runs) {
		if divergence, err := l.otherwise(a, runs, others, nil); err != nil {
			return false, err
		} else if divergence == nil {
			continue
		}
		if err := l.counts(a, runs); err != nil {
			return false, err
		}
		if err := l.comparesVersions(a, runs); err != nil {
			return false, err
		}
		return l.comparesAges(a, runs)
	}
	return false, nil
}

// others returns what else runs are shown, once all together: names of versions in another order, objects of which each is older, or younger, than the one before, and objects of which more was counted.
func (l *Learner) others(runs []behavior.Run) []behavior.Otherwise {
	var falling behavior.Together
	if l.Machine.orders {
		if names := behavior.TagsIn(runs).Exchanged(l.Machine.Conditions.Ordered); names != nil {
			falling = append(falling, behavior.Renamed{Names: core.NewRetagging(names)})
		}
	}
	var all []behavior.Otherwise
	if l.Machine.aging != nil {
		ages := behavior.AgesIn(runs, l.Machine.aging.Ages())
		if rising := ages.InOrder(false, nil); rising != nil {
			all, falling = append(all, rising), append(falling, ages.InOrder(true, nil))
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
func (l *Learner) comparesVersions(a *Actor, runs []behavior.Run) error {
	if !l.Machine.orders {
		return nil
	}
	shown := behavior.TagsIn(runs)
	divergence, err := l.heedsNames(a, runs, shown, shown.Exchanged(l.Machine.Conditions.Ordered))
	if err != nil {
		return err
	}
	if divergence != nil && !l.Machine.Conditions.Ordered {
		return &unexpectedOrder{Controller: a.Strategy.Describe().Name}
	}
	if divergence != nil {
		l.Machine.doubtFirst(a.Name+" compares versions of different objects", "by their names, %s, now: %s; in another order: %s. Only those of one object are in the order of their age here, so what comes of it was not searched: compare those of one object",
			runs[len(runs)-1].Activation, divergence.Recorded, divergence.Observed)
	}
	return nil
}

// comparesNoted finds out whether what runs do depends on the order of the names of versions that controllers have written into objects, and of others.
func (l *Learner) comparesNoted(a *Actor, runs []behavior.Run) error {
	if !l.Machine.orders {
		return nil
	}
	shown, noted := l.Machine.notedIn(runs)
	for _, others := range shown.Beside(noted) {
		if divergence, err := l.heedsNames(a, runs, noted, others); divergence != nil || err != nil {
			return cmp.Or(err, error(&unexpectedOrder{Controller: a.Strategy.Describe().Name, Noted: true}))
		}
	}
	return nil
}

// heedsNames returns where runs do something else because versions have other names, nil if they do not, or if there are no others. What they do may follow from all the names that are given, such as a checksum.
func (l *Learner) heedsNames(a *Actor, runs []behavior.Run, all behavior.Tags, others map[string]string) (*behavior.Divergence, error) {
	if others == nil {
		return nil, nil
	}
	return l.heeds(a, runs, behavior.Renamed{Names: core.NewRetagging(others)}, behavior.Renamed{Names: core.NewRetagging(all.Shifted())})
}

// comparesAges finds out whether what runs do depends on which of some objects are older, and records their kinds.
func (l *Learner) comparesAges(a *Actor, runs []behavior.Run) (bool, error) {
	if l.Machine.aging == nil {
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

// heeds returns where runs do something else because of the order of what is chosen in another way, nil if they do not. What is something else in the same order, too, follows from a name or
// a time itself, such as a checksum of it, and does not count. All the rest does.
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

// noting records the names of versions that a call writes into objects, of those that are shown to its run or remembered. Where names are in no order, they are the same whenever a version is written, but for equal ones. Otherwise it returns
// that a call is not modelled which writes one that may get another name as soon as nobody else knows it: names in objects pin nothing. Where it is known that somebody compares those in objects with others, it returns that for any name.
func (l *Learner) noting(w *Walker, a *Actor, activation behavior.Activation, call core.Call, writes []behavior.Write) error {
	m := l.Machine
	if !m.orders || a.User || len(writes) == 0 {
		return nil
	}
	var known []version
	shown := behavior.TaggedIn([]behavior.Run{{Activation: activation, Path: w.path[w.base:]}})
	for _, key := range slices.SortedFunc(maps.Keys(shown), core.Key.Compare) {
		c := m.Vocabulary.Object(key)
		for _, content := range shown[key] {
			known = append(known, version{cell: c, value: m.Vocabulary.Intern(c, content)})
		}
	}
	known = append(known, a.domain.held[a.domain.valueOf(activation.Since)]...)
	for _, write := range writes {
		content := m.Vocabulary.Content(write.Cell, write.To)
		if content == nil || m.System.Store.Outcome(write.Key, content) == nil {
			continue
		}
		for _, v := range known {
			name := m.Vocabulary.Content(v.cell, v.value).(core.Tagged).Tag()
			if !strings.Contains(content.Canonical(), name) {
				continue
			}
			key, _ := m.Vocabulary.Key(v.cell)
			if m.Conditions.Noted || m.Conditions.Ordered && m.Vocabulary.Normalized(v.cell, v.value) != v.value {
				return &core.Unsupported{Call: call.String(), Reason: fmt.Sprintf("it writes into %s which version of %s there is, and the names of versions in objects are not kept in order, as is needed for controllers that compare versions: note the generation, or a hash of what matters", write.Key, key)}
			}
			m.noted[name] = key
		}
	}
	return nil
}

// notedIn returns the names of versions that are shown in some runs, and all of them together with those which controllers have written into objects that are shown. It returns none if there are no more of them.
func (m *Machine) notedIn(runs []behavior.Run) (shown, all behavior.Tags) {
	if len(m.noted) == 0 {
		return nil, nil
	}
	var texts strings.Builder
	shown = behavior.Tags{}
	for key, contents := range behavior.TaggedIn(runs) {
		for _, content := range contents {
			shown[key] = append(shown[key], content.Tag())
			texts.WriteString(content.Canonical())
		}
	}
	all = maps.Clone(shown)
	for name, key := range m.noted {
		if !slices.Contains(all[key], name) && strings.Contains(texts.String(), name) {
			all[key] = append(slices.Clip(all[key]), name)
		}
	}
	if maps.EqualFunc(all, shown, slices.Equal) {
		return nil, nil
	}
	return shown, all
}

// indifferent reports whether a run does the same on the instance of its session where the order of the names of versions, and of the ages of objects, is another one. It returns the session, or another one that has come as far if
// that is over.
func (l *Learner) indifferent(session *behavior.Session, a *Actor, run behavior.Run) (*behavior.Session, bool, error) {
	runs := []behavior.Run{run}
	if _, noted := l.Machine.notedIn(runs); noted != nil {
		return session, false, nil
	}
	all := l.others(runs)
	if len(all) == 0 || a.User || a.domain.manner.Active {
		return session, len(all) == 0, nil
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

// otherwise takes a fresh instance along runs as they are if something else is chosen, and returns where it does more than to use that, or leaves another memory. A function may
// excuse calls that write something else and places in memory; nil excuses none.
func (l *Learner) otherwise(a *Actor, runs []behavior.Run, others behavior.Otherwise, excused func(place string) bool) (*behavior.Divergence, error) {
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

// leavesOtherwise returns where the memory of an instance that was taken along a run with something else chosen is another one than what the run leaves, but for that; nil if it is not. What
// is left counts even if nothing was found to be kept so far: it may be kept because of that only.
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

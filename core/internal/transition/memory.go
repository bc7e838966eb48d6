package transition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memories"
	"github.com/orrery-dev/orrery/core/state"
)

// memory is what instances keep from one run to the next, as a cell of the state, or one for each request: see [part].
// Values of the cells number what instances have shown of theirs; 0 is that of a fresh instance. A memory that is not
// known to be put to use has no cell, and is always fresh.
type memory struct {
	// used tells that it is known to be put to use.
	used bool
	// memories are by value, with contents, what is different in each from that of a fresh instance. Values are by
	// identity.
	memories []*behavior.Memory
	contents []map[string]string
	// held are the versions of objects that each memory names, and known these and one version of each object whose
	// identity it has noted.
	held, known [][]version
	values      map[string]state.Value
	// begun are the runs that were learned from each memory, and drifted those that are taken along with it.
	begun   map[state.Value][]begun
	drifted map[state.Value][]*drifted
	// fresh is what a fresh instance shows, nil if instances do not show their memory. noise is what not even fresh
	// instances have in common.
	fresh map[string]string
	noise map[string]bool
	// sampled tells that several fresh instances were compared since something was found to be remembered.
	sampled bool
	// beside and its noise are so of the other memories of the process.
	beside      map[string]string
	besideNoise map[string]bool
}

// newMemory returns a memory of which fresh instances showed something.
func (m *Machine) newMemory(name string, active bool, shown, beside []map[string]string) memory {
	y := memory{used: active || slices.Contains(m.Conditions.Remembering, name), memories: []*behavior.Memory{nil}, contents: []map[string]string{nil}, held: [][]version{nil}, known: [][]version{nil}, values: map[string]state.Value{"": 0}, begun: map[state.Value][]begun{}, drifted: map[state.Value][]*drifted{}, noise: map[string]bool{}, besideNoise: map[string]bool{}}
	if len(shown) > 1 {
		y.fresh = shown[0]
		memories.Unlike(y.noise, shown)
	}
	if len(beside) > 1 {
		y.beside = beside[0]
		memories.Unlike(y.besideNoise, beside)
	}
	return y
}

// valueOf returns the value that stands for a memory, nil for that of a fresh instance.
func (d *domain) valueOf(m *behavior.Memory) state.Value {
	if m == nil {
		return 0
	}
	return d.values[m.Identity]
}

// remembers reports whether anything is known to be kept.
func (d *domain) remembers() bool { return d.used }

// roots are the roots of the behavior trees of one activation, by the memory and the moment in which it begins.
type roots []*behavior.Node

// at returns the root of a number, nil if there is none yet.
func (r roots) at(number int) *behavior.Node {
	if number >= len(r) {
		return nil
	}
	return r[number]
}

// root returns the root of an activation in the state of the walker, and what it remembers there of a part of its
// memory, nil if it is not known to remember anything.
func (w *Walker) root(a *Actor, of *roots, its *part, at moment) (*behavior.Node, *behavior.Memory, error) {
	memory := state.Value(0)
	if its != nil {
		memory = w.recall(its)
	}
	root, err := w.rootFrom(of, memory, at)
	return root, a.domain.memories[memory], err
}

// rootFrom returns the root of an activation that begins with a memory.
func (w *Walker) rootFrom(of *roots, memory state.Value, at moment) (*behavior.Node, error) {
	number := w.Machine.root(memory, at)
	root := of.at(number)
	if root == nil {
		if w.Learn == nil {
			return nil, ErrUnknown
		}
		for number >= len(*of) {
			*of = append(*of, nil)
		}
		root = &behavior.Node{}
		(*of)[number] = root
	}
	return root, nil
}

// root numbers the roots of an activation.
func (m *Machine) root(memory state.Value, at moment) int {
	return int(memory)*m.moments() + at.number
}

// recall returns what a part of a memory holds in the state of the walker, on which the step depends.
func (w *Walker) recall(p *part) state.Value {
	if w.StepCache.Tracing {
		w.depend(p.cell)
	}
	if !slices.Contains(w.Recalled, p.cell) {
		w.Recalled = append(w.Recalled, p.cell)
	}
	return w.Value(p.cell)
}

// outlived finds out whether fresh instances remember what others did, or are not alike when they are made, and leaves
// it out of their memory. Several are made where there is a difference, and at first: in two, what is left to chance
// may well be the same.
func (l *Learner) outlived(a *Actor) (bool, error) {
	d := a.domain
	memory, err := l.remembers(a, nil)
	if err != nil || d.sampled && len(d.changed(memory)) == 0 {
		return false, err
	}
	d.sampled = true
	shown, before := []map[string]string{memory}, len(d.noise)
	for range samples {
		other, err := l.remembers(a, nil)
		if err != nil {
			return false, err
		}
		if other != nil { // nothing is to be seen of who was stopped on the way
			shown = append(shown, other)
		}
	}
	memories.Unlike(d.noise, shown)
	l.Machine.outlives(d, memory)
	return len(d.noise) > before, nil
}

// outlives reports whether a fresh instance remembers something, and says so: that is kept outside of instances.
func (m *Machine) outlives(d *domain, memory map[string]string) bool {
	memories.Shuffled(d.noise, d.fresh, memory)
	changed := d.changed(memory)
	m.leaveOut(d, changed, d.noise)
	return len(changed) > 0
}

// leaveOut leaves out, as noise, what was found to have changed in fresh instances, and says so of what may make a
// difference.
func (m *Machine) leaveOut(d *domain, changed map[string]string, noise map[string]bool) {
	for path := range changed {
		noise[path] = true
	}
	for _, field := range slices.Sorted(maps.Keys(fieldsOf(m.unignored(d, maps.Clone(changed))))) {
		text := fmt.Sprintf("%s keeps %s outside of its instances: all that ever ran share it, and no crash loses it, so what it makes of it was not searched. "+
			"Make it anew each time the controller is set up", d.Name, field)
		if !slices.Contains(m.outlived, text) {
			m.outlived = append(m.outlived, text)
			m.doubt("%s", text)
		}
	}
}

// remember finds out what an instance remembers behind a run, and adds it to what is known to be remembered. It ends a
// search that did not know that anything is, or that others share it: it has to be begun again.
func (l *Learner) remember(a *Actor, session *behavior.Session, run behavior.Run) error {
	d := a.domain
	if d.byRequest && (run.Leaf.Failure != behavior.None || run.Leaf.Mutated != "") {
		return d.whole() // which an instance may not do that has done all the rest, too
	}
	if d.fresh == nil || run.Leaf.Failure.Stuck() {
		return nil
	}
	left, err := l.recognize(a, session, run)
	if left == nil || err != nil {
		return err
	}
	memory, contents, identity := left.memory, left.contents, left.identity
	if identity != "" && !d.remembers() {
		return &unexpectedMemory{Memory: d.Name, outlived: l.Machine.outlived}
	}
	value, known := d.values[identity]
	if !known {
		value = state.Value(len(d.memories))
	}
	if d.byRequest {
		if behavior.RestIn(memory).Time {
			return d.whole()
		}
		if err := d.claim(run, value, contents); err != nil {
			return err
		}
	}
	since := run.Activation.Since
	from := d.valueOf(since)
	if d.remembers() {
		d.begun[from] = append(d.begun[from], begun{a, run})
	}
	history := upTo(run)
	if !known {
		d.values[identity] = value
		for _, p := range d.parts {
			l.Machine.Vocabulary.Extend(p.cell, identity)
		}
		d.memories, d.contents = append(d.memories, &behavior.Memory{Identity: identity}), append(d.contents, contents)
		named := l.named(identity, history)
		d.held, d.known = append(d.held, named), append(d.known, append(slices.Clip(named), l.Machine.identified(identity)...))
		d.rest = append(d.rest, behavior.RestIn(memory))
		l.Machine.awake(d.part(d.owner(value)))
	}
	run.Leaf.Memory = value
	if err := l.learnLap(d, run, from, value); err != nil || value == 0 {
		return err
	}
	m := d.memories[value]
	if since == m || len(m.Histories) == mostWays {
		return nil
	}
	m.Histories = append(m.Histories, history)
	if fields := d.grows(history); len(fields) > 0 && l.Machine.Unbounded == "" {
		l.Machine.Unbounded = fmt.Sprintf("the memory of %s is another one after each of %d runs in a row, so the states may have no end: %s changed each time. "+
			"If it makes no difference to what the controller does, leave it out with --ignore-memory %s (Options.IgnoreMemory)",
			d.Name, lasting, strings.Join(fields, ", "), fields[0])
	}
	if err := l.retrace(d, value); err != nil {
		return err
	}
	switch {
	case d.byRequest && len(m.Histories) == 1:
		return l.surround(d, value)
	case d.hides():
		return l.leadBy(d, value, run, history)
	}
	return nil
}

// remains are what a run has left in memory, what of that differs from a fresh instance, and the identity of the memory
// that this is.
type remains struct {
	memory, contents map[string]string
	identity         string
}

// recognize returns what a run has left, nil if it cannot be seen.
func (l *Learner) recognize(a *Actor, session *behavior.Session, run behavior.Run) (*remains, error) {
	d := a.domain
	if err := l.reaches(a, session); err != nil {
		return nil, err
	}
	memory, err := l.seen(a, session, run)
	if memory == nil || err != nil {
		return nil, err
	}
	d.originate(memory, run)
	contents := l.contents(d, memory)
	if _, known := d.values[dated(memories.Identity(contents), run)]; !known {
		outlived, err := l.outlived(a)
		if err != nil {
			return nil, err
		}
		if outlived {
			contents = l.contents(d, memory)
		}
	}
	return &remains{memory, contents, dated(memories.Identity(contents), run)}, nil
}

// A memory that was never the same on a long way, because of the same fields, is taken to have no end.
const (
	// longest is how many runs it takes at least to get there, and lasting in how many of the last ones a field has
	// changed.
	longest = 64
	lasting = 48
)

// grows returns the fields that change in each of the last runs of a long history, none if it is not that long.
func (d *domain) grows(history []behavior.Run) []string {
	if history = behindStart(history); len(history) < longest {
		return nil
	}
	fields := map[string]int{}
	for _, run := range history[len(history)-lasting:] {
		before := d.valueOf(run.Activation.Since)
		for field := range fieldsOf(memories.Differences(d.contents[before], d.contents[run.Leaf.Memory])) {
			fields[field]++
		}
	}
	maps.DeleteFunc(fields, func(_ string, times int) bool { return times < lasting })
	return slices.Sorted(maps.Keys(fields))
}

// fieldsOf returns the fields that ways lead through, without what of maps and lists.
func fieldsOf(contents map[string]string) map[string]bool {
	fields := map[string]bool{}
	for path := range contents {
		fields[fieldOf(path)] = true
	}
	return fields
}

// fieldOf returns the field that a way leads through first, without what of a map or a list.
func fieldOf(path string) string {
	field, _, _ := strings.Cut(path, "[")
	return field
}

// named returns the versions that were shown on a history and that a memory names.
func (l *Learner) named(identity string, history []behavior.Run) []version {
	var versions []version
	shown := behavior.TaggedIn(history)
	for _, key := range slices.SortedFunc(maps.Keys(shown), core.Key.Compare) {
		for _, content := range shown[key] {
			if strings.Contains(identity, content.Tag()) {
				c := l.Machine.Vocabulary.Object(key)
				versions = append(versions, version{cell: c, value: l.Machine.Vocabulary.Intern(c, content)})
			}
		}
	}
	return versions
}

// identities are what tells objects apart from those that are created in their places, each with a version of its
// object, as far as contents were looked at.
type identities struct {
	versions map[string]version
	// looked is how many contents of each cell were looked at.
	looked []int
}

// identified returns a version of each object whose identity a memory has noted: one that is created in its place has
// to have another one.
func (m *Machine) identified(memory string) []version {
	i := &m.identities
	if i.versions == nil {
		i.versions = map[string]version{}
	}
	for c := range m.Vocabulary.Cells() {
		cell := state.Cell(c)
		if len(i.looked) == c {
			i.looked = append(i.looked, 0)
		}
		if _, isObject := m.Vocabulary.Key(cell); !isObject {
			continue
		}
		for ; i.looked[c] < m.Vocabulary.Values(cell); i.looked[c]++ {
			value := state.Value(i.looked[c])
			content, ok := m.Vocabulary.Content(cell, value).(core.Identified)
			if !ok {
				continue
			}
			for _, identity := range content.Identities() {
				if i.versions[identity] == (version{}) {
					i.versions[identity] = version{cell: cell, value: value}
				}
			}
		}
	}
	var versions []version
	for _, identity := range slices.Sorted(maps.Keys(i.versions)) {
		if strings.Contains(memory, identity) {
			versions = append(versions, i.versions[identity])
		}
	}
	return versions
}

// remembered returns the versions of an object that are remembered in the state of the walker, by their own names.
func (w *Walker) remembered(c state.Cell) []state.Value {
	return w.inMemory(c, func(p *part) [][]version { return p.held })
}

// inMemory returns those of the versions of an object that memories have, as a function says, which memory has in the
// state of the walker.
func (w *Walker) inMemory(c state.Cell, versionsOf func(*part) [][]version) []state.Value {
	var versions []state.Value
	for _, p := range w.Machine.parts {
		for _, v := range versionsOf(p)[w.Value(p.cell)] {
			if v.cell == c {
				versions = append(versions, v.value)
			}
		}
	}
	return versions
}

// letGo returns the versions that were remembered before the step of the walker, by their own names or by those of
// their objects.
func (w *Walker) letGo(t state.Touch) []version {
	for _, p := range w.Machine.parts {
		if p.cell == t.Cell {
			return p.known[t.Was]
		}
	}
	return nil
}

// retrace audits some of what is known to be done with a memory on an instance that came to the memory by another
// history, the newest. If it does something else, there is more to the memory than the instance shows.
func (l *Learner) retrace(d *domain, memory state.Value) error {
	way := len(d.memories[memory].Histories) - 1
	for _, known := range d.begun[memory][:min(mostRetraced, len(d.begun[memory]))] {
		if known.Leaf.Failure.Stuck() || l.Fickle(known.actor) {
			continue
		}
		divergence, err := l.anew(known.actor, known.Run, 1, way)
		if err != nil {
			return err
		}
		if divergence != nil && (!d.manner.Active || !divergence.OnlyDates(known.Run)) { // its clock is where the history has brought it
			l.diverged(known.actor, known.Activation, known.Path, divergence, core.Memory, nil)
		}
	}
	return nil
}

// mostRetraced is how many runs from a memory are audited for each history that leads there.
const mostRetraced = 16

// begun is a run of an actor from a memory.
type begun struct {
	actor *Actor
	behavior.Run
}

// mostWays is how many histories to one memory are kept.
const mostWays = 3

// contents returns what is different in a memory of an instance from that of a fresh one.
func (l *Learner) contents(d *domain, memory map[string]string) map[string]string {
	return l.Machine.unignored(d, d.changed(memory))
}

// unignored leaves out the contents of a memory that make no difference. Ways that begin with the name of a member of
// the process may be named with it and without.
func (m *Machine) unignored(d *domain, contents map[string]string) map[string]string {
	ignored := slices.Concat(m.Conditions.IgnoredMemory, m.System.IgnoredMemory)
	for _, part := range ignored {
		if within, its := strings.CutPrefix(part, d.Name+"/"); its {
			ignored = append(ignored, within)
		}
	}
	maps.DeleteFunc(contents, func(path, _ string) bool {
		return leadsThrough(path, ignored) || slices.ContainsFunc(d.Process.Members, func(a *Actor) bool {
			return leadsThrough(strings.TrimPrefix(path, a.Name+"/"), ignored)
		})
	})
	return contents
}

// changed returns what is different in a memory from that of a fresh instance, but not between two fresh ones.
func (d *domain) changed(memory map[string]string) map[string]string {
	found := memories.Differences(d.fresh, memory)
	maps.DeleteFunc(found, func(path, _ string) bool { return d.noise[path] })
	return found
}

// leadsThrough reports whether a way leads to one of some parts, or through it.
func leadsThrough(path string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool {
		rest, through := strings.CutPrefix(path, part)
		return through && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// MemoryCells returns the cells of the memories that are known to be put to use.
func (m *Machine) MemoryCells() []state.Cell {
	var cells []state.Cell
	for _, p := range m.parts {
		cells = append(cells, p.cell)
	}
	return cells
}

// Memories returns what was found to be kept, in the order of the system.
func (m *Machine) Memories() []core.MemoryReport {
	var all []core.MemoryReport
	for _, d := range m.remembering {
		fields := map[string]bool{}
		for _, contents := range d.contents {
			for path := range contents {
				if behavior.Shown(path) {
					fields[fieldOf(path)] = true
				}
			}
		}
		all = append(all, core.MemoryReport{
			Controller: d.Name, Contents: len(d.memories) - 1, Fields: slices.Sorted(maps.Keys(fields)), ByRequest: d.byRequest, Background: d.manner.Active, Ticks: d.manner.Ticks,
			Versions: slices.ContainsFunc(d.held, func(held []version) bool { return len(held) > 0 }),
		})
	}
	return all
}

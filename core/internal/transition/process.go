package transition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// process is what keeps one memory: the code of a strategy from the start of an instance to its crash. Its memory is a cell of the state, whose
// values number what instances have shown of theirs; 0 is that of a fresh instance. A process that is not known to keep any has no cell, and is
// always fresh.
type process struct {
	name string
	// cell is that of the memory.
	cell state.Cell
	// memories are by value, with contents, what is different in each from that of a fresh instance. Values are by identity.
	memories []*behavior.Memory
	contents []map[string]string
	// held are the versions of objects that each memory names.
	held   [][]version
	values map[string]state.Value
	// begun are the runs that were learned from each memory but the fresh one.
	begun map[state.Value][]begun
	// fresh is what a fresh instance shows, nil before one was looked at. noise is what not even two fresh instances have in common.
	fresh map[string]string
	noise map[string]bool
	// opaque tells that instances do not show their memory.
	opaque bool
}

// remembers reports whether the process is known to keep memory.
func (p *process) remembers() bool { return p.cell != nowhere }

// addProcess returns the process of a new actor.
func (m *Machine) addProcess(a *Actor) *process {
	p := &process{name: a.Name, cell: nowhere, memories: []*behavior.Memory{nil}, contents: []map[string]string{nil}, held: [][]version{nil}, values: map[string]state.Value{"": 0}, begun: map[state.Value][]begun{}}
	if slices.Contains(m.Conditions.Remembering, p.name) {
		p.cell = m.Vocabulary.Note("memory of " + p.name)
		m.remembering = append(m.remembering, p)
	}
	return p
}

// roots are the roots of the behavior trees of one activation, by the memory in which it begins.
type roots []*behavior.Node

// at returns the root for a memory, nil if there is none yet.
func (r roots) at(memory state.Value) *behavior.Node {
	if int(memory) >= len(r) {
		return nil
	}
	return r[memory]
}

// root returns the root of an activation in the state of the walker, and what the process remembers there.
func (w *Walker) root(a *Actor, of *roots) (*behavior.Node, *behavior.Memory, error) {
	p := a.process
	if !p.remembers() {
		return (*of)[0], nil, nil
	}
	if w.StepCache.Tracing {
		w.depend(p.cell)
	}
	if !slices.Contains(w.Recalled, p.cell) {
		w.Recalled = append(w.Recalled, p.cell)
	}
	memory := w.Value(p.cell)
	root := of.at(memory)
	if root == nil {
		if w.Learn == nil {
			return nil, nil, ErrUnknown
		}
		for int(memory) >= len(*of) {
			*of = append(*of, nil)
		}
		root = &behavior.Node{}
		(*of)[memory] = root
	}
	return root, p.memories[memory], nil
}

// UnexpectedMemory ends a search in which a process was found to keep memory that was not known to.
type UnexpectedMemory struct{ Process string }

// Error implements error.
func (u *UnexpectedMemory) Error() string {
	return u.Process + " keeps memory from one run to the next"
}

// remember finds out what an instance remembers behind a run, and adds it to what the process is known to remember. It ends a search that did not
// know that the process remembers anything: it has to be begun again.
func (l *Learner) remember(a *Actor, instance core.Instance, run behavior.Run) error {
	p := a.process
	if a.User || p.opaque {
		return nil
	}
	contents, err := l.contents(a, instance)
	if err != nil || p.opaque {
		return err
	}
	identity := identityOf(contents)
	if identity != "" && !p.remembers() {
		return &UnexpectedMemory{Process: p.name}
	}
	if shared := sharedOf(instance, contents); shared != "" {
		l.Machine.doubt("%s keeps %s in memory, which other controllers of its set-up can reach: what they see of it was not searched. "+
			"If they make no use of it, leave it out with --ignore-memory %s (Options.IgnoreMemory)", p.name, shared, shared)
	}
	value, known := p.values[identity]
	if since := run.Activation.Since; since != nil {
		before := p.values[since.Identity]
		p.begun[before] = append(p.begun[before], begun{a, run})
	}
	run.Leaf.Memory = value
	if known && value == 0 {
		return nil
	}
	since := run.Activation.Since
	history := []behavior.Run{run}
	if since != nil {
		history = append(slices.Clone(since.Histories[0]), run)
	}
	if !known {
		value = l.Machine.Vocabulary.Extend(p.cell, identity)
		p.values[identity] = value
		p.memories, p.contents = append(p.memories, &behavior.Memory{Identity: identity}), append(p.contents, contents)
		p.held = append(p.held, l.named(identity, history))
		run.Leaf.Memory = value
	}
	m := p.memories[value]
	if since == m || len(m.Histories) == mostWays {
		return nil
	}
	m.Histories = append(m.Histories, history)
	if fields := p.grows(history); len(fields) > 0 && l.Machine.Unbounded == "" {
		l.Machine.Unbounded = fmt.Sprintf("the memory of %s is another one after each of %d runs in a row, so the states may have no end: %s changed each time. "+
			"If it makes no difference to what the controller does, leave it out with --ignore-memory %s (Options.IgnoreMemory)",
			p.name, lasting, strings.Join(fields, ", "), fields[0])
	}
	return l.retrace(a, value)
}

// A memory that was never the same on a long way, because of the same fields, is taken to have no end.
const (
	// longest is how many runs it takes at least to get there, and lasting in how many of the last ones a field has changed.
	longest = 64
	lasting = 48
)

// grows returns the fields that change in each of the last runs of a long history, none if it is not that long.
func (p *process) grows(history []behavior.Run) []string {
	if len(history) < longest {
		return nil
	}
	fields := map[string]int{}
	for _, run := range history[len(history)-lasting:] {
		before := state.Value(0)
		if since := run.Activation.Since; since != nil {
			before = p.values[since.Identity]
		}
		for field := range fieldsOf(differences(p.contents[before], p.contents[run.Leaf.Memory])) {
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
	note := func(key core.Key, content core.Content) {
		tagged, ok := content.(core.Tagged)
		if !ok || tagged.Tag() == "" || !strings.Contains(identity, tagged.Tag()) {
			return
		}
		c := l.Machine.Vocabulary.Object(key)
		if v := (version{cell: c, value: l.Machine.Vocabulary.Intern(c, content)}); !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	for _, run := range history {
		if e := run.Activation.Event; e != nil {
			note(e.Key, e.Old)
			note(e.Key, e.New)
		}
		for _, edge := range run.Path {
			for _, object := range shownBy(edge.Response) {
				note(object.Key, object.Content)
			}
		}
	}
	return versions
}

// inMemory returns the versions that the processes remember in the state of the walker.
func (w *Walker) inMemory() []version {
	var versions []version
	for _, p := range w.Machine.remembering {
		versions = append(versions, p.held[w.Value(p.cell)]...)
	}
	return versions
}

// remembered returns the versions of an object that the processes remember in the state of the walker.
func (w *Walker) remembered(c state.Cell) []state.Value {
	var versions []state.Value
	for _, v := range w.inMemory() {
		if v.cell == c {
			versions = append(versions, v.value)
		}
	}
	return versions
}

// letGo returns the versions that a process remembered before the step of the walker.
func (w *Walker) letGo(t Touch) []version {
	for _, p := range w.Machine.remembering {
		if p.cell == t.Cell {
			return p.held[t.Was]
		}
	}
	return nil
}

// sharedOf returns a field among contents that other strategies can reach, empty if there is none.
func sharedOf(instance core.Instance, contents map[string]string) string {
	sharing, ok := instance.(core.Sharing)
	if !ok || len(contents) == 0 {
		return ""
	}
	shared := sharing.Shared()
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		if leadsThrough(path, shared) {
			return fieldOf(path)
		}
	}
	return ""
}

// retrace audits some of what is known to be done with a memory on an instance that came to the memory by another history, the newest. If it
// does something else, there is more to the memory than the instance shows.
func (l *Learner) retrace(a *Actor, memory state.Value) error {
	p := a.process
	way := len(p.memories[memory].Histories) - 1
	for _, known := range p.begun[memory][:min(mostRetraced, len(p.begun[memory]))] {
		if known.Leaf.Failure.Stuck() || l.Fickle(known.actor) {
			continue
		}
		divergence, err := l.anew(known.actor, known.Run, 1, way)
		if err != nil {
			return err
		}
		if divergence != nil {
			l.diverged(known.actor, known.Activation, known.Path, divergence, core.Memory, nil)
		}
	}
	return nil
}

// mostRetraced is how many runs from a memory are audited for each history that leads there.
const mostRetraced = 16

// begun is a run of an actor from a memory of its process.
type begun struct {
	actor *Actor
	behavior.Run
}

// mostWays is how many histories to one memory are kept.
const mostWays = 3

// contents returns what is different in the memory of an instance from that of a fresh one.
func (l *Learner) contents(a *Actor, instance core.Instance) (map[string]string, error) {
	p := a.process
	introspective, shows := instance.(core.Introspective)
	if !shows {
		p.opaque = true
		return nil, nil
	}
	if err := l.compareFresh(a); err != nil {
		return nil, err
	}
	return l.unignored(p.changed(introspective.Memory())), nil
}

// unignored leaves out the contents of a memory that make no difference.
func (l *Learner) unignored(contents map[string]string) map[string]string {
	maps.DeleteFunc(contents, func(path, _ string) bool {
		return leadsThrough(path, l.Machine.Conditions.IgnoredMemory) || leadsThrough(path, l.Machine.System.IgnoredMemory)
	})
	return contents
}

// compareFresh finds out what fresh instances of an actor show, once. It leaves nothing if they do not show their memory.
func (l *Learner) compareFresh(a *Actor) error {
	p := a.process
	if p.fresh != nil {
		return nil
	}
	one, err := l.remembers(a, nil)
	if one == nil || err != nil {
		return err
	}
	other, err := l.remembers(a, nil)
	if err != nil {
		return err
	}
	p.fresh, p.noise = one, map[string]bool{}
	for path := range differences(one, other) {
		p.noise[path] = true
	}
	return nil
}

// changed returns what is different in a memory from that of a fresh instance, but not between two fresh ones.
func (p *process) changed(memory map[string]string) map[string]string {
	found := differences(p.fresh, memory)
	maps.DeleteFunc(found, func(path, _ string) bool { return p.noise[path] })
	return found
}

// leadsThrough reports whether a way leads to one of some parts, or through it.
func leadsThrough(path string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool {
		rest, through := strings.CutPrefix(path, part)
		return through && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// identityOf returns what tells contents apart, empty if there are none.
func identityOf(contents map[string]string) string {
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		fmt.Fprintf(&text, "%q=%q\n", path, contents[path])
	}
	return text.String()
}

// MemoryCells returns the cells of the memories of those processes that are known to keep any.
func (m *Machine) MemoryCells() []state.Cell {
	var cells []state.Cell
	for _, p := range m.remembering {
		cells = append(cells, p.cell)
	}
	return cells
}

// Memories returns what processes were found to keep, in the order of the system.
func (m *Machine) Memories() []core.MemoryReport {
	var all []core.MemoryReport
	for _, p := range m.remembering {
		fields := map[string]bool{}
		for _, contents := range p.contents {
			maps.Copy(fields, fieldsOf(contents))
		}
		all = append(all, core.MemoryReport{Controller: p.name, Contents: len(p.memories) - 1, Fields: slices.Sorted(maps.Keys(fields))})
	}
	return all
}

// differences returns what is different in a memory from another one: the values there, by the ways to them, and what is no longer there.
func differences(from, to map[string]string) map[string]string {
	found := map[string]string{}
	for path, value := range to {
		if was, there := from[path]; !there || was != value {
			found[path] = value
		}
	}
	for path := range from {
		if _, there := to[path]; !there {
			found[path] = gone
		}
	}
	return found
}

// gone stands for a value that is no longer there.
const gone = "\x00"

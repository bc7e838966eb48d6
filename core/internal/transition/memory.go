package transition

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// memory is what a process keeps from one run to the next, as a cell of the state. Its values number what instances have shown of theirs; 0 is that of
// a fresh instance. A process that is not known to keep any has no cell, and is always fresh.
type memory struct {
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
	// fresh is what a fresh instance shows, nil if instances do not show their memory. noise is what not even two fresh instances have in common.
	fresh map[string]string
	noise map[string]bool
}

// newMemory returns the memory of a process of which two fresh instances showed something, with a cell if it is known to keep any.
func (m *Machine) newMemory(process string, active bool, shown []map[string]string) memory {
	y := memory{cell: nowhere, memories: []*behavior.Memory{nil}, contents: []map[string]string{nil}, held: [][]version{nil}, values: map[string]state.Value{"": 0}, begun: map[state.Value][]begun{}, noise: map[string]bool{}}
	if active || slices.Contains(m.Conditions.Remembering, process) {
		y.cell = m.Vocabulary.Note("memory of " + process)
	}
	if len(shown) > 1 {
		y.fresh = shown[0]
		for path := range differences(shown[0], shown[1]) {
			y.noise[path] = true
		}
	}
	return y
}

// valueOf returns the value that stands for a memory, nil for that of a fresh instance.
func (p *Process) valueOf(m *behavior.Memory) state.Value {
	if m == nil {
		return 0
	}
	return p.values[m.Identity]
}

// remembers reports whether the process is known to keep memory.
func (p *Process) remembers() bool { return p.cell != nowhere }

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
	p := a.Process
	if !p.remembers() {
		return (*of)[0], nil, nil
	}
	memory := w.recall(p)
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

// recall returns the memory of a process in the state of the walker, on which the step depends.
func (w *Walker) recall(p *Process) state.Value {
	if w.StepCache.Tracing {
		w.depend(p.cell)
	}
	if !slices.Contains(w.Recalled, p.cell) {
		w.Recalled = append(w.Recalled, p.cell)
	}
	return w.Value(p.cell)
}

// outlived finds out whether fresh instances remember what others did, and leaves it out of their memory.
func (l *Learner) outlived(a *Actor) (bool, error) {
	memory, err := l.remembers(a, nil)
	if err != nil {
		return false, err
	}
	return l.Machine.outlives(a.Process, memory), nil
}

// outlives reports whether a fresh instance of a process remembers something, and says so: that is kept outside of instances.
func (m *Machine) outlives(p *Process, memory map[string]string) bool {
	changed := p.changed(memory)
	for path := range changed {
		p.noise[path] = true
	}
	for _, field := range slices.Sorted(maps.Keys(fieldsOf(changed))) {
		text := fmt.Sprintf("%s keeps %s outside of its instances: all that ever ran share it, and no crash loses it, so what it makes of it was not searched. "+
			"Make it anew each time the controller is set up", p.Name, field)
		if !slices.Contains(m.outlived, text) {
			m.outlived = append(m.outlived, text)
			m.doubt("%s", text)
		}
	}
	return len(changed) > 0
}

// unexpectedMemory ends a search in which a process was found to keep memory that was not known to.
type unexpectedMemory struct {
	Process string
	// outlived is what instances were found to have in common.
	outlived []string
}

// Error implements error.
func (u *unexpectedMemory) Error() string {
	return u.Process + " keeps memory from one run to the next"
}

// unexpectedBackground ends a search in which a process was found to work between activations that was not known to, or in which something ticks.
type unexpectedBackground struct {
	Process string
	ticks   bool
}

// Error implements error.
func (u *unexpectedBackground) Error() string { return u.Process + " works between its activations" }

// Unexpected reports whether an error is the end of a step because something was not known of a process that has to be.
func Unexpected(err error) bool {
	var memory *unexpectedMemory
	var background *unexpectedBackground
	return errors.As(err, &memory) || errors.As(err, &background)
}

// remember finds out what an instance remembers behind a run, and adds it to what the process is known to remember. It ends a search that did not
// know that the process remembers anything: it has to be begun again.
func (l *Learner) remember(a *Actor, session *behavior.Session, run behavior.Run) error {
	p := a.Process
	if p.fresh == nil || run.Leaf.Failure.Stuck() {
		return nil
	}
	memory, err := l.seen(a, session, run)
	if memory == nil || err != nil {
		return err
	}
	if p.manner.Active && p.Members[0].Opaque {
		d := digester{sha256.New()}
		d.run(run)
		p.rest[p.valueOf(run.Activation.Since)].Originate(memory, run.Activation, hex.EncodeToString(d.Sum(nil)[:8]))
	}
	contents := l.contents(p, memory)
	if _, known := p.values[identityOf(contents)]; !known {
		outlived, err := l.outlived(a)
		if err != nil {
			return err
		}
		if outlived {
			contents = l.contents(p, memory)
		}
	}
	identity := identityOf(contents)
	if identity != "" && !p.remembers() {
		return &unexpectedMemory{Process: p.Name, outlived: l.Machine.outlived}
	}
	value, known := p.values[identity]
	since := run.Activation.Since
	from := p.valueOf(since)
	if since != nil {
		p.begun[from] = append(p.begun[from], begun{a, run})
	}
	run.Leaf.Memory = value
	if known {
		if err := l.learnLap(p, run, from, value); err != nil || value == 0 {
			return err
		}
	}
	history := []behavior.Run{run}
	if since != nil {
		history = append(slices.Clone(since.Histories[0]), run)
	}
	if !known {
		value = l.Machine.Vocabulary.Extend(p.cell, identity)
		p.values[identity] = value
		p.memories, p.contents = append(p.memories, &behavior.Memory{Identity: identity}), append(p.contents, contents)
		p.held = append(p.held, l.named(identity, history))
		p.rest = append(p.rest, behavior.RestIn(memory))
		l.Machine.awake(p)
		run.Leaf.Memory = value
		if err := l.learnLap(p, run, from, value); err != nil {
			return err
		}
	}
	m := p.memories[value]
	if since == m || len(m.Histories) == mostWays {
		return nil
	}
	m.Histories = append(m.Histories, history)
	if fields := p.grows(history); len(fields) > 0 && l.Machine.Unbounded == "" {
		l.Machine.Unbounded = fmt.Sprintf("the memory of %s is another one after each of %d runs in a row, so the states may have no end: %s changed each time. "+
			"If it makes no difference to what the controller does, leave it out with --ignore-memory %s (Options.IgnoreMemory)",
			p.Name, lasting, strings.Join(fields, ", "), fields[0])
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
func (p *Process) grows(history []behavior.Run) []string {
	if len(history) < longest {
		return nil
	}
	fields := map[string]int{}
	for _, run := range history[len(history)-lasting:] {
		before := p.valueOf(run.Activation.Since)
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

// stirred is a change on which the event handlers of a controller have acted, and whether they have changed the memory.
type stirred struct {
	by      *handling
	changed bool
}

// stir notes that event handlers have enqueued something or changed the memory that their process shares. If others have for the same change, and
// memory was changed, it matters who comes first and what is done in between, which is not searched.
func (w *Walker) stir(h *handling, changed bool) error {
	before, p := w.stirred, h.actor.Process
	w.stirred = stirred{h, changed}
	if before.by == nil || before.by.change != h.change || before.by.actor.Process != p || before.by.actor == h.actor || !before.changed && !changed || p.unordered {
		return nil
	}
	if w.Learn == nil {
		return ErrUnknown
	}
	p.unordered = true
	w.Machine.doubt("the event handlers of %s and %s both act on changes of %s and share memory, and what happens between them, or if they come in the other order, was not searched",
		before.by.actor.Name, h.actor.Name, h.event.Key.Kind)
	return nil
}

// retrace audits some of what is known to be done with a memory on an instance that came to the memory by another history, the newest. If it
// does something else, there is more to the memory than the instance shows.
func (l *Learner) retrace(a *Actor, memory state.Value) error {
	p := a.Process
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

// contents returns what is different in the memory of an instance of a process from that of a fresh one.
func (l *Learner) contents(p *Process, memory map[string]string) map[string]string {
	return l.unignored(p, p.changed(memory))
}

// unignored leaves out the contents of a memory of a process that make no difference. Ways that begin with the name of a member may be named
// with it and without.
func (l *Learner) unignored(p *Process, contents map[string]string) map[string]string {
	ignored := slices.Concat(l.Machine.Conditions.IgnoredMemory, l.Machine.System.IgnoredMemory)
	maps.DeleteFunc(contents, func(path, _ string) bool {
		return leadsThrough(path, ignored) || slices.ContainsFunc(p.Members, func(a *Actor) bool {
			within, its := strings.CutPrefix(path, a.Name+"/")
			return its && leadsThrough(within, ignored)
		})
	})
	return contents
}

// changed returns what is different in a memory from that of a fresh instance, but not between two fresh ones.
func (p *Process) changed(memory map[string]string) map[string]string {
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
			for path := range contents {
				if behavior.Shown(path) {
					fields[fieldOf(path)] = true
				}
			}
		}
		all = append(all, core.MemoryReport{Controller: p.Name, Contents: len(p.memories) - 1, Fields: slices.Sorted(maps.Keys(fields)), Background: p.manner.Active, Ticks: p.manner.Ticks})
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

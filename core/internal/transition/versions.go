package transition

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// ClientView is a state as somebody's client shows it. It implements [behavior.Cells].
type ClientView struct {
	view.ClientView
	Walker *Walker
	// Actor is whose client it is, nil for what reads the store itself.
	Actor *Actor
}

var _ behavior.Cells = (*ClientView)(nil)

// Project implements [behavior.Cells]. A walker that learns finds out what is shown.
func (s *ClientView) Project(p *state.Projection, c state.Cell) (state.Value, bool) {
	shown, known := s.ClientView.Project(p, c)
	if known || s.Walker.Learn == nil {
		return shown, known
	}
	return s.Walker.Machine.Vocabulary.Project(p, c, s.Value(c)), true
}

// AppendSignature implements [behavior.Cells]. A walker that learns finds out what is selected.
func (s *ClientView) AppendSignature(buffer []byte, kind core.Kind, namespace string, selection *state.Selection) ([]byte, bool) {
	begin := len(buffer)
	signature, known := s.ClientView.AppendSignature(buffer, kind, namespace, selection)
	if known || s.Walker.Learn == nil {
		return signature, known
	}
	s.List(kind, namespace, selection)
	return s.ClientView.AppendSignature(buffer[:begin], kind, namespace, selection)
}

// AppendHeld implements [behavior.Cells].
func (s *ClientView) AppendHeld(buffer []byte, c state.Cell) []byte {
	for _, value := range s.Walker.held(c) {
		buffer = binary.AppendUvarint(buffer, uint64(value))
	}
	return buffer
}

// held returns the versions of an object that views and runs in flight hold besides the one that is there, in the
// order of their values.
func (w *Walker) held(c state.Cell) []state.Value {
	if !w.Machine.Holds {
		return nil
	}
	versions := w.visible(c)
	for _, it := range w.Machine.Items {
		if p := w.Flight(it); p != nil {
			versions = p.appendHeld(versions, c)
		}
	}
	versions = append(versions, w.inMemory(c, func(p *part) [][]version { return p.known })...)
	slices.Sort(versions)
	stored := w.Value(c)
	return slices.DeleteFunc(slices.Compact(versions), func(v state.Value) bool { return v == 0 || v == stored })
}

// visible returns the versions of an object that views show or wait for, some more than once.
func (w *Walker) visible(c state.Cell) []state.Value {
	var versions []state.Value
	key, _ := w.Machine.Vocabulary.Key(c)
	for _, v := range w.Machine.Views[key.Kind] {
		versions = v.AppendVersions(versions, w.Value(v.Cell()), c)
	}
	return versions
}

func (p *point) appendHeld(versions []state.Value, c state.Cell) []state.Value {
	for _, v := range p.held {
		if v.cell == c {
			versions = append(versions, v.value)
		}
	}
	return versions
}

// pinned reports whether a run in flight holds a version of an object, so that its names must stay.
func (w *Walker) pinned(c state.Cell) bool {
	for _, it := range w.Machine.Items {
		if p := w.Flight(it); p != nil && slices.ContainsFunc(p.held, func(v version) bool { return v.cell == c }) {
			return true
		}
	}
	return false
}

// tracker shows a store the state of a walker, and notes what it looks at.
type tracker struct {
	client *ClientView
	reads  []behavior.Read
	// known are the reads without what they saw, nil as long as there are few.
	known map[behavior.Read]bool
}

var (
	_ core.Selective  = (*tracker)(nil)
	_ core.Projecting = (*tracker)(nil)
	_ core.Caching    = (*tracker)(nil)
)

// ReadsCache implements [core.Caching].
func (t *tracker) ReadsCache(who string, kind core.Kind) {
	m := t.client.Walker.Machine
	if slices.ContainsFunc(m.Processes, func(p *Process) bool { return m.Conditions.rule(p.Name, kind) != view.Fresh() }) {
		m.doubt("%s reads %s from a cache, and what it does when that is stale was not searched: have it read from the API server, or leave --stale for %s out", who, kind, kind)
	}
}

func (t *tracker) note(read behavior.Read) {
	if t.noted(read) {
		return
	}
	t.reads = append(t.reads, read)
	if t.known != nil {
		t.known[read.Question()] = true
	}
}

// noted reports whether it was looked at before.
func (t *tracker) noted(read behavior.Read) bool {
	const many = 32
	if t.known == nil && len(t.reads) > many {
		t.known = make(map[behavior.Read]bool, 2*many)
		for _, known := range t.reads {
			t.known[known.Question()] = true
		}
	}
	if t.known != nil {
		return t.known[read.Question()]
	}
	return slices.ContainsFunc(t.reads, read.Asks)
}

// Get implements [core.Snapshot].
func (t *tracker) Get(key core.Key) core.Content {
	vocabulary := t.client.Walker.Machine.Vocabulary
	c := vocabulary.Object(key)
	value := t.client.Value(c)
	t.note(behavior.Read{Cell: c, Value: value})
	return vocabulary.Content(c, value)
}

// Project implements [core.Projecting].
func (t *tracker) Project(key core.Key, of core.Projection) core.Content {
	vocabulary := t.client.Walker.Machine.Vocabulary
	c, p := vocabulary.Object(key), vocabulary.Projection(key.Kind, of)
	shown := vocabulary.Project(p, c, t.client.Value(c))
	t.note(behavior.Read{Cell: c, Value: shown, Projection: p})
	return p.Content(shown)
}

// List implements [core.Snapshot].
func (t *tracker) List(kind core.Kind, namespace string) []core.Object {
	return t.list(kind, namespace, nil)
}

// Select implements [core.Selective].
func (t *tracker) Select(kind core.Kind, namespace string, selection core.Selection) []core.Object {
	return t.list(kind, namespace, t.client.Walker.Machine.Vocabulary.Selection(kind, namespace, selection))
}

func (t *tracker) list(kind core.Kind, namespace string, selection *state.Selection) []core.Object {
	objects := t.client.List(kind, namespace, selection)
	signature, _ := t.client.AppendSignature(nil, kind, namespace, selection)
	t.note(behavior.Read{Listed: true, Kind: kind, Namespace: namespace, Selection: selection, Signature: string(signature)})
	return objects
}

// Held implements [core.Snapshot]. What the run itself was shown does not have to be noted: it depends on where the
// run is.
func (t *tracker) Held(key core.Key) []core.Content {
	w := t.client.Walker
	c := w.Machine.Vocabulary.Object(key)
	held := w.held(c)
	if w.Machine.Holds {
		t.note(behavior.Read{Held: true, Cell: c, Signature: string(t.client.AppendHeld(nil, c))})
	}
	var contents []core.Content
	for _, value := range held {
		contents = append(contents, w.Machine.Vocabulary.Content(c, value))
	}
	for _, edge := range w.path[w.base:] {
		for _, object := range shownBy(edge.Response) {
			if object.Key == key {
				contents = append(contents, object.Content)
			}
		}
	}
	return contents
}

// answer returns the answer to the call of a node, as planned.
func (w *Walker) answer(a *Actor, activation behavior.Activation, node *behavior.Node, number int, p plan) (*behavior.Answered, error) {
	if len(a.Process.Views) == 0 || node.Call.Source() != core.Cached {
		return w.answerFrom(w.Live, a, activation, node)
	}
	client := w.clients[a.Index]
	answered, err := w.answerFrom(client, a, activation, node)
	if err != nil || activation.Event != nil {
		return answered, err
	}
	behind := w.behindItself(a.Process, answered.Reads)
	switch {
	case len(behind) == 0:
		return answered, nil
	case !slices.Contains(p.abreast, number):
		w.missed = append(w.missed, number)
		return answered, nil
	}
	for _, v := range behind {
		for v.Waiting(w.Value(v.Cell())) > 0 {
			if err := w.receive(a.Process, v); err != nil {
				return nil, err
			}
		}
	}
	return w.answerFrom(client, a, activation, node)
}

// answerFrom returns what a client answers to the call of a node.
func (w *Walker) answerFrom(client *ClientView, a *Actor, activation behavior.Activation, node *behavior.Node) (*behavior.Answered, error) {
	cells := behavior.Cells(client)
	if w.StepCache.Tracing {
		cells = traced{client}
	}
	answered := node.Look(cells, w.Buffer)
	switch {
	case answered != nil:
		return answered, nil
	case w.Learn == nil:
		return nil, ErrUnknown
	}
	return w.Learn.answer(client, a, activation, node)
}

// unexpectedViews are kinds that controllers have read through their caches of which they were not known to have views
// that may lag behind.
type unexpectedViews struct{ Caches []CachedKind }

// Error implements error.
func (u *unexpectedViews) Error() string {
	var texts []string
	for _, c := range u.Caches {
		texts = append(texts, fmt.Sprintf("%s reads %s", c.Controller, c.Kind))
	}
	return "kinds are read through caches without being watched: " + strings.Join(texts, ", ")
}

func (u *unexpectedViews) expect(c *Conditions) bool {
	c.Caches = append(slices.Clip(c.Caches), u.Caches...)
	return true
}

// cached notes what an actor read through its cache. It ends a search that did not let the views of these kinds lag
// behind as the conditions allow: it has to be begun again. Once a search is over, code runs only in states in which no
// change is waiting for anybody, so that a view more would show the same.
func (l *Learner) cached(a *Actor, call core.Call, reads []behavior.Read) error {
	if a.User {
		return nil
	}
	d := a.Strategy.Describe()
	beside, known := call.(core.Beside)
	var found []CachedKind
	for _, r := range reads {
		kind := r.Kind
		if !r.Listed {
			key, _ := l.Machine.Vocabulary.Key(r.Cell)
			kind = key.Kind
		}
		if known && beside.Beside() && l.Machine.Conditions.rule(d.ProcessName(), kind) != view.Fresh() {
			l.Machine.doubtFirst(fmt.Sprintf("%s reads %s from another cache than the one whose events it gets", d.Name, kind),
				"(it reads the kind in another form than it watches). Each may be behind the other, and here both are one: what comes of an event before the other cache has the change was not searched. Watch and read the kind in one form: all of it, or builder.OnlyMetadata and metav1.PartialObjectMetadata")
		}
		if a.Process.caches(kind) {
			continue
		}
		a.Cached = append(a.Cached, kind)
		if l.Machine.Conditions.rule(d.ProcessName(), kind) != view.Fresh() {
			found = append(found, CachedKind{Controller: d.Name, Kind: kind})
		}
	}
	if len(found) == 0 || !l.Searching {
		return nil
	}
	return &unexpectedViews{found}
}

// ask lets a store answer. A panic of the store is an error.
func ask(store core.Store, look core.Snapshot, call core.Call) (answer core.Answer, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("the store panicked: %v (at %s)", value, goroutine.Culprit())
		}
	}()
	return store.Answer(look, call)
}

// normalize ends a step: it brings what the step touched to its canonical form.
func (w *Walker) normalize() error {
	if len(w.Machine.Conditions.Apart) > 0 {
		if err := w.tick(); err != nil {
			return err
		}
	}
	if w.Machine.Holds {
		return w.normalizeTogether()
	}
	for i := range w.Touched {
		c := w.Touched[i].Cell
		w.Set(c, w.Machine.Vocabulary.Normalized(c, w.Vector[c]))
	}
	return nil
}

// normalizeTogether brings all versions that can be seen of the objects which the step had to do with to their
// canonical forms. Those which a run in flight was shown cannot be renamed, as nobody can change what it remembers;
// they are when it has ended. Nor can those that memory names: only the others are.
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

// concerned returns the objects of which the step may have changed what versions can be seen: those that it wrote,
// those in backlogs before it, and those that the runs it ended were shown.
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

// notedVersions are what is known of the versions that controllers note in objects.
type notedVersions struct {
	// of are the objects that these are versions of, by their names.
	of map[string]core.Key
	// heeded says of each kind who heeds whether a version is the one that was noted, and cameBack which object of it
	// became what it was when it was noted.
	heeded   map[core.Kind]string
	cameBack map[core.Kind]core.Key
}

// noting records the names of versions that a call writes into objects, of those that are shown to its run or
// remembered. Where names are in no order, they are the same whenever a version is written, but for equal ones.
// Otherwise it returns that a call is not modelled which writes one that may get another name as soon as nobody else
// knows it: names in objects pin nothing. Where it is known that somebody compares those in objects with others, it
// returns that for any name.
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
			if !strings.Contains(content.Canonical(), name) && !strings.Contains(write.Key.Name, name) {
				continue
			}
			key, _ := m.Vocabulary.Key(v.cell)
			if m.Conditions.Noted || m.Conditions.Ordered && m.Vocabulary.Normalized(v.cell, v.value) != v.value {
				return &core.Unsupported{Call: call.String(), Reason: fmt.Sprintf("it writes into %s which version of %s there is, and the names of versions in objects are not kept in order, as is needed for controllers that compare versions: note the generation, or a hash of what matters", write.Key, key)}
			}
			m.notes.of[name] = key
			if _, versioned := content.(core.Tagged); !versioned {
				m.heedNoted(a, key.Kind) // what is beside the API server may compare it by itself
			}
		}
	}
	return nil
}

// notedIn returns the names of versions that are shown in some runs, and all of them together with those which
// controllers have written into objects that are shown. It returns none if there are no more of them.
func (m *Machine) notedIn(runs []behavior.Run) (shown, all behavior.Tags) {
	if len(m.notes.of) == 0 {
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
	for name, key := range m.notes.of {
		if !slices.Contains(all[key], name) && strings.Contains(texts.String(), name) {
			all[key] = append(slices.Clip(all[key]), name)
		}
	}
	if maps.EqualFunc(all, shown, slices.Equal) {
		return nil, nil
	}
	return shown, all
}

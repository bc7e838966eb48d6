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

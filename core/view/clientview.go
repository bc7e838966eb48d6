package view

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// ClientView is a state as one controller sees it: through its views the kinds that it
// watches or caches, and all else as it is in the store. What it shows of single objects and
// in lists agrees.
type ClientView struct {
	vocabulary *state.Vocabulary
	vector     *state.Vector
	views      []*View
}

// NewClientView returns a client view of a vector through views, at most one for each kind. It
// shows the vector as it is whenever it is asked.
func NewClientView(vocabulary *state.Vocabulary, vector *state.Vector, views []*View) ClientView {
	return ClientView{vocabulary: vocabulary, vector: vector, views: views}
}

// Value returns what a cell shows.
func (g *ClientView) Value(c state.Cell) state.Value {
	stored := g.stored(c)
	if len(g.views) == 0 {
		return stored
	}
	key, isObject := g.vocabulary.Key(c)
	if !isObject {
		return stored
	}
	if v := g.view(key.Kind); v != nil {
		return v.Shown(g.stored(v.cell), c, stored)
	}
	return stored
}

// Project returns the number of the part that the cell of an object shows, and false if it is not known.
func (g *ClientView) Project(p *state.Projection, c state.Cell) (state.Value, bool) {
	return p.Shown(c, g.Value(c))
}

// AppendSignature appends the signature of a list: the cells it shows, with their values. It returns false where it is
// not known whether something is selected.
func (g *ClientView) AppendSignature(buffer []byte, kind core.Kind, namespace string, selection *state.Selection) ([]byte, bool) {
	v := g.view(kind)
	var backlog state.Value
	if v != nil {
		backlog = g.stored(v.cell)
	}
	for _, c := range g.vocabulary.Kind(kind) {
		shown := g.stored(c)
		if backlog != 0 {
			shown = v.Shown(backlog, c, shown)
		}
		if shown == 0 {
			continue
		}
		if namespace != "" {
			if key, _ := g.vocabulary.Key(c); key.Namespace != namespace {
				continue
			}
		}
		selected, known := selection.Selected(c, shown)
		if !known {
			return buffer, false
		}
		if selected {
			buffer = state.AppendSigned(buffer, c, shown)
		}
	}
	return buffer, true
}

// view returns the view of a kind, nil if the kind is not watched.
func (g *ClientView) view(kind core.Kind) *View {
	for _, v := range g.views {
		if v.kind == kind {
			return v
		}
	}
	return nil
}

func (g *ClientView) stored(c state.Cell) state.Value {
	if int(c) >= len(*g.vector) {
		return 0
	}
	return (*g.vector)[c]
}

// List returns the selected objects of a kind that the client view shows, in the order of their keys. An
// empty namespace means all namespaces.
func (g *ClientView) List(kind core.Kind, namespace string, selection *state.Selection) []core.Object {
	var objects []core.Object
	for _, c := range g.vocabulary.Kind(kind) {
		key, _ := g.vocabulary.Key(c)
		value := g.Value(c)
		if value == 0 || namespace != "" && namespace != key.Namespace {
			continue
		}
		if g.vocabulary.Evaluate(selection, c, value) {
			objects = append(objects, core.Object{Key: key, Content: g.vocabulary.Content(c, value)})
		}
	}
	return objects
}

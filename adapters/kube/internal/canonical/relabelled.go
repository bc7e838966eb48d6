package canonical

import (
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

// none is no choice.
const none = -1

// segment is a part of a text: a choice of the server, or what stands there in any case.
type segment struct {
	literal string
	choice  int
}

// text is a text in which choices of the server may stand.
type text []segment

// render is the text with labels in place of the choices.
func (t text) render(label func(int) string) string {
	switch {
	case len(t) == 0:
		return ""
	case len(t) == 1 && t[0].choice == none:
		return t[0].literal
	}
	var b strings.Builder
	for _, s := range t {
		if s.choice == none {
			b.WriteString(s.literal)
		} else {
			b.WriteString(label(s.choice))
		}
	}
	return b.String()
}

// mentions adds the choices in a text.
func (t text) mentions(choices map[int]bool) {
	for _, s := range t {
		if s.choice != none {
			choices[s.choice] = true
		}
	}
}

// node is a value with choices of the server in it.
type node struct {
	// scalar is a value that is no text, no object and no list.
	scalar                   any
	isText, isObject, isList bool
	text                     text
	// names are those of the fields of an object; items are their values, or the items of a list.
	names   []text
	items   []*node
	listing listing
}

// mentions adds the choices in a value.
func (n *node) mentions(choices map[int]bool) {
	n.text.mentions(choices)
	for _, name := range n.names {
		name.mentions(choices)
	}
	for _, item := range n.items {
		item.mentions(choices)
	}
}

// value is the value with labels in place of the choices. Items whose order means nothing are in the order that these
// give them.
func (n *node) value(label func(int) string) any {
	switch {
	case n.isText:
		return n.text.render(label)
	case n.isObject:
		fields := make(map[string]any, len(n.items))
		for i, item := range n.items {
			fields[n.names[i].render(label)] = item.value(label)
		}
		return fields
	case n.isList:
		items := make([]any, len(n.items))
		for i, item := range n.items {
			items[i] = item.value(label)
		}
		n.listing.sort(items)
		return items
	}
	return n.scalar
}

// relabelled is an object of an outcome with choices of the server in it.
type relabelled struct {
	kind            core.Kind
	namespace, name text
	tree            *node
	// mentioned are the choices in it, in order.
	mentioned []int
}

// render is the object as text with labels in place of the choices.
func (o *relabelled) render(label func(int) string) string {
	value := []any{string(o.kind), o.namespace.render(label), o.name.render(label), o.tree.value(label)}
	return string(jsontree.Canonical(value))
}

// has reports whether a choice is in the object.
func (o *relabelled) has(choice int) bool {
	_, found := slices.BinarySearch(o.mentioned, choice)
	return found
}

package kube

import (
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

// The server counts the generations of objects, and [Server.Normalize] counts them anew. Code that notes one where that
// does not look for it would take a new generation for the one that it has noted, so those of such a kind have to stay
// as they were counted. A search finds that out by showing others.

// CountGenerations keeps the generations of objects of some kinds as the server has counted them. Without it, an object
// whose generation has been observed has generation 1 again, so that undoing a change leads back to where the system
// was: only its status, by the name observedGeneration, can tell that it has been observed. A search finds out by
// itself that a controller notes generations in other places, such as an annotation, another object, a text like
// "2-5f9c", or its memory, and counts on then. The option is for properties that look at them so. A system in which
// controllers change the spec of such an object again and again has no end then. Kinds are named as in findings, such
// as "Widget.example.com". [NewServer] returns an error for one that is not served.
func CountGenerations(kinds ...core.Kind) Option {
	return func(s *settings) { s.counting = append(s.counting, kinds...) }
}

// Counted implements [core.Counting]: generations, and those that a status has observed.
func (s *Server) Counted(kinds []core.Kind) core.Store {
	other := *s
	other.form = s.form.Counting(kinds)
	return &other
}

// Further implements [core.Counting].
func (s *Server) Further(by map[core.Key]int) core.Further { return further{s, by} }

// further are larger generations of some objects.
type further struct {
	server *Server
	by     map[core.Key]int
}

// Content implements [core.Further].
func (f further) Content(key core.Key, content core.Content) core.Content {
	if content == nil || f.by[key] == 0 {
		return content
	}
	return f.server.form.Further(key.Kind, content, f.by[key])
}

// Response implements [core.Further].
func (f further) Response(of core.Response) core.Response {
	r, ok := of.(*Response)
	if !ok {
		return of
	}
	return r.shown(func(key core.Key, tree map[string]any) map[string]any {
		f.server.form.Raise(key.Kind, tree, f.by[key])
		return tree
	})
}

// Call implements [core.Further]. What a body writes is in canonical form then, if it is an object.
func (f further) Call(of core.Call) core.Call {
	r, ok := of.(*Request)
	if !ok || len(r.Body) == 0 {
		return of
	}
	resource, err := f.server.registry.Find(r.Kind)
	if err != nil {
		return of
	}
	var body map[string]any
	if utiljson.Unmarshal(r.Body, &body) != nil {
		return of
	}
	key := core.Key{Kind: resource.Name, Namespace: r.Namespace, Name: r.nameInWords()}
	f.server.form.Lower(key.Kind, body, f.by[key])
	other := *r
	other.Body = jsontree.Canonical(body)
	return &other
}

package core

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Kind names a kind of object in the words of its store, for example "Pod" or
// "JobSet.jobset.x-k8s.io". It is opaque to the core.
type Kind string

// Key names one object of a store. Namespace is empty for objects that have
// none.
type Key struct {
	Kind      Kind   `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String returns "kind namespace/name", or "kind name" without a namespace.
func (k Key) String() string {
	var b strings.Builder
	if k.Kind != "" {
		b.WriteString(string(k.Kind))
		b.WriteByte(' ')
	}
	if k.Namespace != "" {
		b.WriteString(k.Namespace)
		b.WriteByte('/')
	}
	b.WriteString(k.Name)
	return b.String()
}

// Compare orders keys by kind, namespace and name.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		cmp.Compare(k.Kind, other.Kind),
		cmp.Compare(k.Namespace, other.Namespace),
		cmp.Compare(k.Name, other.Name),
	)
}

// Content is what one version of an object holds. Contents are immutable: nobody
// may change one after it was handed to the core, nor what it returned.
type Content interface {
	// Canonical returns the text that identifies the content: two contents are
	// the same version of an object exactly if their canonical texts are equal.
	Canonical() string

	// Fields returns the content as a tree of map[string]any, []any and
	// scalars, for field-by-field differences and for output. Callers must not
	// change it.
	Fields() any
}

// Identified is a [Content] of an object with names that no other object ever has, such as a uid: they tell it apart
// from one that is created later.
type Identified interface {
	Content

	// Identities returns these names. They must be a function of the content, and long enough not to be found in other
	// texts by chance.
	Identities() []string

	// Chosen returns the one of them that the store has chosen as it liked, and that says nothing of the object, such
	// as a uid; empty if there is none.
	Chosen() string
}

// Tagged is a [Content] that shows a name of this very version, such as a resource version. Who keeps the name may
// refer to the version by it.
type Tagged interface {
	Content

	// Tag returns the name. It must be a function of the content, and long enough not to be found in other texts by
	// chance.
	Tag() string

	// Retagged returns the content as it would be shown if versions had other names, itself among them. It is for the
	// eyes of controllers: it never gets into a store.
	Retagged(names *Retagging) Content
}

// Retagging is other names of versions in place of some. It is safe for concurrent use.
type Retagging struct {
	replacer *strings.Replacer
	noted    bool
}

// NewRetagging returns the retagging of names, each to another one. It may exchange names.
func NewRetagging(names map[string]string) *Retagging {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		pairs = append(pairs, name, names[name])
	}
	return &Retagging{replacer: strings.NewReplacer(pairs...)}
}

// Noted returns the retagging of what has noted these names only: versions keep their own.
func (r *Retagging) Noted() *Retagging { return &Retagging{replacer: r.replacer, noted: true} }

// OnlyNoted reports whether versions keep their own names.
func (r *Retagging) OnlyNoted() bool { return r.noted }

// Tag returns the name of a version as it is shown with the version itself.
func (r *Retagging) Tag(name string) string {
	if r.noted {
		return name
	}
	return r.In(name)
}

// In returns a text with the other names wherever names stand in it.
func (r *Retagging) In(text string) string { return r.replacer.Replace(text) }

// Doubtful is a [Content] that its store took without checking all that is in it, so that the
// real world might have refused it.
type Doubtful interface {
	Content

	// Unchecked returns the paths of the fields that nobody checked, in order, none if all
	// were, and what the user can do to have them checked. It must be a function of the content.
	Unchecked() (fields []string, remedy string)
}

// Object is an object at one version.
type Object struct {
	Key     Key
	Content Content
}

package specification

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/orrery-dev/orrery/core"
)

// File is what a property file holds.
type File struct {
	Properties []core.Property
	// Comparisons are rules for comparing objects. They are for all properties of a check that compare objects, and not
	// for those of the file: give them to the check.
	Comparisons []core.Comparison
}

// ReadFile reads the properties of a property file that holds nothing else. The error tells all mistakes in it.
func (t Terms) ReadFile(path string) ([]core.Property, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return t.Read(path, text)
}

// Read reads the properties of a property file that has this name and text, and holds nothing else: for comparisons use
// [Terms.Parse]. The error joins all mistakes in it, in the order of their places; each is a [*Mistake].
func (t Terms) Read(name string, text []byte) ([]core.Property, error) {
	f, err := t.parse(name, text, "properties")
	return f.Properties, err
}

// OpenFile reads a property file. The error tells all mistakes in it.
func (t Terms) OpenFile(path string) (File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	if !utf8.Valid(text) || bytes.ContainsRune(text, 0) {
		return File{}, fmt.Errorf("%s: this is not a text: give a property file, in YAML", path)
	}
	return t.Parse(path, text)
}

// Parse reads a property file that has this name and text. The error joins all mistakes in it, in the order of
// their places; each is a [*Mistake].
func (t Terms) Parse(name string, text []byte) (File, error) {
	return t.parse(name, text, "properties", "compare")
}

// parse reads a property file with some sections. Any other is a mistake: comparisons that were dropped would not leave
// anything out.
func (t Terms) parse(name string, text []byte, sections ...string) (File, error) {
	d := newDocument(name, string(text))
	root := d.parse()
	if root == nil {
		return File{}, d.err()
	}
	top := d.section(root, "a property file", sections...)
	if len(d.mistakes) == 0 && len(top.list("properties")) == 0 && len(top.list("compare")) == 0 {
		d.mistake(d.place(root), "it contains no properties: write a list of them in the field properties")
	}
	var taken []string
	for _, p := range t.Properties {
		taken = append(taken, p.Name)
	}
	var all []core.Property
	for _, node := range top.list("properties") {
		e := &entry{section: d.section(node, "a property", entryFields()...), terms: t}
		p, ok := e.property()
		if ok {
			all = append(all, p)
		}
		switch name := e.name; {
		case name == "" && ok && slices.ContainsFunc(all[:len(all)-1], func(q core.Property) bool { return q.Name == p.Name }):
			d.mistake(d.place(e.field("property")), "the property %q is in the file already: remove one, or give it a name", p.Name)
		case name != "" && slices.Contains(taken, name):
			d.mistake(d.place(e.field("name")), "there is a property %q already: give this one another name", name)
		default:
			taken = append(taken, cmp.Or(name, p.Name))
		}
	}
	comparisons := d.comparisons(top)
	if err := d.err(); err != nil {
		return File{}, err
	}
	return File{Properties: all, Comparisons: comparisons}, nil
}

// err joins the mistakes in the order of their places, nil if there is none.
func (d *document) err() error {
	slices.SortStableFunc(d.mistakes, (*Mistake).compare)
	errs := make([]error, len(d.mistakes))
	for i, m := range d.mistakes {
		errs[i] = m
	}
	return errors.Join(errs...)
}

package analysis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// Fight is a field that goes back and forth: that got a value which it had before it was changed the last time.
type Fight struct {
	Object core.Key `json:"object"`
	Field  string   `json:"field"`
	// Returns is how often that happened.
	Returns int `json:"returns"`
	// Changes are the last changes of the field, the earliest first.
	Changes []FieldChange `json:"changes"`
	// Writers are all who changed the field, with how often.
	Writers map[string]int `json:"writers"`
}

// FieldChange is one change of a field.
type FieldChange struct {
	ResourceVersion string `json:"rv"`
	// Value is JSON, empty if the field was removed.
	Value string `json:"value"`
	// Writer is the controller, or who else wrote it, as far as that is known.
	Writer string `json:"writer"`
}

// contested is a field of an object that has changed at least once since it is known.
type contested struct {
	now, before string
	returns     int
	changes     []FieldChange
	writers     map[string]int
}

// watched is an object whose fields are followed. Its last versions are kept, so that what is told late finds its
// place.
type watched struct {
	order  uint64
	values map[string]string
	fields map[string]*contested
}

// changesLimit is how many changes of a field are kept.
const changesLimit = 8

// pendingVersions is how many versions of all objects wait for a write to claim them: an event can tell of a version
// before its write is answered.
const pendingVersions = 512

// seen is a version of an object in a form. What a cache leaves out is no change, so the versions of each form are
// compared with one another.
type seen struct {
	Version
	form string
}

// unclaimed is a version whose fields have not been looked at yet.
type unclaimed struct {
	version seen
	writer  string
	value   json.RawMessage
}

// fights follows fields of all objects of all processes: of each version once, in the order in which they become known.
type fights struct {
	objects map[followed]*watched
	waiting []*unclaimed
	by      map[seen]*unclaimed
	// several tells that there are several processes: each has a key of its own for the digests of what is redacted.
	several bool
}

// followed is an object in a form.
type followed struct {
	core.Key
	form string
}

// Fights returns the fields that went back and forth at least so many times, the worst first.
func Fights(sources []Source, atLeast int) ([]Fight, Notes, error) {
	f := &fights{objects: map[followed]*watched{}, by: map[seen]*unclaimed{}}
	values := map[*process][]json.RawMessage{} // of the objects of the current file that are still needed
	first := map[*process]int{}
	notes, err := read(sources, visitor{
		entry: func(p *process, entry live.Entry) error {
			f.several = p.label != ""
			switch e := entry.(type) {
			case live.Object:
				if len(p.objects) == 1 {
					values[p], first[p] = nil, 0
				}
				if len(values[p]) >= 2*pendingVersions {
					values[p] = slices.Clone(values[p][pendingVersions:])
					first[p] += pendingVersions
				}
				values[p] = append(values[p], e.Value)
			case live.Event:
				if e.Type != live.Deleted {
					f.sees(seen{p.version(e.Object), p.form(e.Object)}, at0(values[p], e.Object-1-first[p]), "")
				}
			case live.Call:
				writer := ""
				if r := p.running[e.Reconcile]; r != nil && e.Writes() && !p.unchanged {
					if writer = r.Begin.Controller; p.label != "" {
						writer += " in " + p.label
					}
				} else if e.Reconcile == 0 && e.Writes() && !p.unchanged {
					writer = e.Client
				}
				for _, number := range e.Answer {
					f.sees(seen{p.version(number), p.form(number)}, at0(values[p], number-1-first[p]), writer)
				}
			}
			return nil
		},
		ends: func(p *process) error {
			f.claim(0)
			delete(values, p)
			return nil
		},
	})
	return f.result(atLeast), notes, err
}

// at0 returns an element, nil if it is not there any more.
func at0(values []json.RawMessage, i int) json.RawMessage {
	if i < 0 || i >= len(values) {
		return nil
	}
	return values[i]
}

// sees takes a version of an object, with who wrote it if that is known.
func (f *fights) sees(v seen, value json.RawMessage, writer string) {
	for _, form := range formsOf() {
		if u := f.by[seen{v.Version, form}]; u != nil {
			u.writer = cmp.Or(u.writer, writer)
			writer = u.writer
		}
	}
	if f.by[v] != nil || value == nil || v.order() == 0 {
		return
	}
	u := &unclaimed{v, writer, value}
	f.by[v] = u
	f.waiting = append(f.waiting, u)
	if len(f.waiting) >= 2*pendingVersions {
		f.claim(pendingVersions)
	}
}

// claim looks at all versions but the last ones, each object's in their order.
func (f *fights) claim(leave int) {
	ready := slices.Clone(f.waiting[:max(0, len(f.waiting)-leave)])
	f.waiting = slices.Clone(f.waiting[len(ready):])
	slices.SortStableFunc(ready, func(a, b *unclaimed) int { return cmp.Compare(a.version.order(), b.version.order()) })
	for _, u := range ready {
		delete(f.by, u.version)
		f.changes(u)
	}
}

// changes compares a version with the one before.
func (f *fights) changes(u *unclaimed) {
	tree := decodeTree(u.value)
	which := followed{u.version.Key, u.version.form}
	o := f.objects[which]
	if tree == nil || o != nil && o.order >= u.version.order() {
		return
	}
	values := map[string]string{}
	leaves("", tree, func(path, value string) {
		if f.several && strings.HasPrefix(value, `"redacted:`) {
			value = `"redacted"`
		}
		values[path] = value
	})
	if o == nil {
		f.objects[which] = &watched{order: u.version.order(), values: values, fields: map[string]*contested{}}
		return
	}
	writer := cmp.Or(u.writer, lastManager(tree), "somebody who is not recorded")
	change := func(path, before, now string) {
		c := o.fields[path]
		if c == nil {
			c = &contested{now: before, before: "\x00", writers: map[string]int{}}
			o.fields[path] = c
		}
		if now == c.before {
			c.returns++
		}
		c.now, c.before = now, c.now
		c.writers[writer]++
		if c.changes = append(c.changes, FieldChange{u.version.ResourceVersion, now, writer}); len(c.changes) > changesLimit {
			c.changes = slices.Delete(c.changes, 0, 1)
		}
	}
	for path, now := range values {
		if before := o.values[path]; before != now {
			change(path, before, now)
		}
	}
	for path, before := range o.values {
		if _, still := values[path]; !still {
			change(path, before, "")
		}
	}
	o.order, o.values = u.version.order(), values
}

// lastManager names who wrote a version that no recorded controller wrote: the field manager with the latest time, if
// there is one.
func lastManager(tree any) string {
	object, _ := tree.(map[string]any)
	meta, _ := object["metadata"].(map[string]any)
	managers, _ := meta["managedFields"].([]any)
	name, latest := "", ""
	for _, entry := range managers {
		manager, _ := entry.(map[string]any)
		at, _ := manager["time"].(string)
		if who, _ := manager["manager"].(string); who != "" && at >= latest {
			name, latest = who, at
		}
	}
	if name == "" {
		return ""
	}
	return "field manager " + name
}

func (f *fights) result(atLeast int) []Fight {
	found := []Fight{}
	for of, o := range f.objects {
		for field, c := range o.fields {
			if served := f.objects[followed{of.Key, live.Served}]; of.form != live.Served && served != nil && served.fields[field] != nil && served.fields[field].returns >= c.returns {
				continue // it is the same one
			}
			if c.returns >= atLeast {
				found = append(found, Fight{of.Key, field, c.returns, c.changes, c.writers})
			}
		}
	}
	slices.SortFunc(found, func(a, b Fight) int {
		return cmp.Or(cmp.Compare(b.Returns, a.Returns), a.Object.Compare(b.Object), strings.Compare(a.Field, b.Field))
	})
	return found
}

// Words says how often the field went back.
func (f Fight) Words() string { return fmt.Sprintf("went back %d times", f.Returns) }

// Text writes a fight over some lines.
func (f Fight) Text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s %s\n", clean(f.Object.String()), clean(f.Field), f.Words())
	for _, c := range f.Changes {
		value := c.Value
		if value == "" {
			value = "nothing"
		}
		fmt.Fprintf(w, "    @%-10s  %s by %s\n", clean(c.ResourceVersion), clean(shortened(value)), clean(c.Writer))
	}
}

// shortened returns the start of a text that is long.
func shortened(s string) string {
	const longest = 80
	runes := []rune(s)
	if len(runes) <= longest {
		return s
	}
	return string(runes[:longest-1]) + "…"
}

package fieldrules

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.rules
var files embed.FS

// Table is what the tables say.
type Table struct {
	kinds map[string]*shape
	// statuses are about updates of the status of kinds.
	statuses map[string]*shape
	types    map[string]*shape
	// checked says which fields of a kind are.
	checked map[string]*Coverage
}

// shape is what is wanted of the objects of one type.
type shape struct {
	members []*member
}

// member is one line of a type.
type member struct {
	path []segment
	// rules are applied in order, until one fails.
	rules []rule
	// shapes are the types that what is found is held against as well.
	shapes []*shape
	// told is how messages name what is found, if not by its path.
	told string
	// dropped tells that what is found is taken away.
	dropped bool
}

// segment is one step of a path: into a field, and from there perhaps on to all that is in it.
type segment struct {
	name string
	into inside
}

// inside is where a path goes on from a field.
type inside int

const (
	itself inside = iota
	items
	values
	keys
)

// Read reads the tables.
func Read() (*Table, error) {
	names, err := fs.Glob(files, "*.rules")
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts[name] = string(text)
	}
	return read(texts, checkedFields)
}

// read reads tables by the names of their files, and the list of what is checked.
func read(texts map[string]string, checked string) (*Table, error) {
	r := &reader{
		table:      &Table{kinds: map[string]*shape{}, statuses: map[string]*shape{}, types: map[string]*shape{}},
		dictionary: newDictionary(),
		known:      map[string]bool{},
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		r.read(name, texts[name])
	}
	r.at = "the tables"
	for _, name := range r.wanted {
		if !r.known[name] {
			r.fail("no table has a type %s", name)
		}
	}
	r.errs = append(r.errs, r.table.readChecked(checked))
	return r.table, errors.Join(r.errs...)
}

// Kinds returns the kinds that the tables are about, in order.
func (t *Table) Kinds() []string {
	names := make([]string, 0, len(t.kinds))
	for name := range t.kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Of returns the rules for a kind, "Kind" or "Kind.group". There may be none in them.
func (t *Table) Of(kind string) *Rules {
	return &Rules{shape: t.kinds[kind]}
}

// OfStatus returns the rules for updates of the status of a kind. There may be none in them.
func (t *Table) OfStatus(kind string) *Rules {
	return &Rules{shape: t.statuses[kind]}
}

// reader reads tables.
type reader struct {
	table      *Table
	dictionary dictionary
	// at is where it reads.
	at string
	// known are the types that were read, and wanted those that were named.
	known  map[string]bool
	wanted []string
	errs   []error
}

func (r *reader) fail(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(r.at+": "+format, args...))
}

func (r *reader) read(file, text string) {
	var current *shape
	for i, line := range strings.Split(text, "\n") {
		r.at = fmt.Sprintf("%s:%d", file, i+1)
		line, _, _ = strings.Cut(line, "#")
		words := wordPattern.FindAllString(line, -1)
		switch {
		case len(words) == 0:
		case !strings.HasPrefix(line, " "):
			current = r.begin(words)
		case current == nil:
			r.fail("a line of no type")
		default:
			current.members = append(current.members, r.member(words))
		}
	}
}

// wordPattern finds words, with what is in brackets behind them.
var wordPattern = regexp.MustCompile(`[^\s(]+(\([^)]*\)\S*)?`)

// begin begins a type or a kind.
func (r *reader) begin(words []string) *shape {
	if tops := map[string]map[string]*shape{"kind": r.table.kinds, "status": r.table.statuses}[words[0]]; tops != nil && len(words) == 2 {
		if tops[words[1]] != nil {
			r.fail("a second %s %s", words[0], words[1])
		}
		tops[words[1]] = &shape{}
		return tops[words[1]]
	}
	if len(words) != 1 || r.known[words[0]] {
		r.fail("a type begins with its name alone, once")
	}
	r.known[words[0]] = true
	return r.named(words[0])
}

// named returns the type of a name, which may be read later.
func (r *reader) named(name string) *shape {
	s := r.table.types[name]
	if s == nil {
		s = &shape{}
		r.table.types[name] = s
		r.wanted = append(r.wanted, name)
	}
	return s
}

func (r *reader) member(words []string) *member {
	m := &member{}
	if _, _, isRule := cutArguments(words[0]); !isRule {
		m.path = r.path(words[0])
		words = words[1:]
	}
	for _, word := range words {
		name, arguments, _ := cutArguments(word)
		switch {
		case word == "dropped":
			m.dropped = true
		case name == "as":
			m.told = arguments
		case word[0] >= 'A' && word[0] <= 'Z':
			m.shapes = append(m.shapes, r.named(word))
		default:
			made, err := r.dictionary.rule(name, arguments)
			if err != nil {
				r.fail("%s: %w", word, err)
				continue
			}
			m.rules = append(m.rules, made)
		}
	}
	return m
}

// cutArguments takes a word apart into a name and what is in brackets behind it.
func cutArguments(word string) (name, arguments string, found bool) {
	name, arguments, found = strings.Cut(word, "(")
	return name, strings.TrimSuffix(arguments, ")"), found
}

func (r *reader) path(text string) []segment {
	var path []segment
	for _, part := range strings.Split(text, ".") {
		s := segment{name: part}
		for suffix, into := range map[string]inside{"[]": items, "{}": values, "{key}": keys} {
			if name, found := strings.CutSuffix(part, suffix); found {
				s = segment{name, into}
			}
		}
		path = append(path, s)
	}
	return path
}

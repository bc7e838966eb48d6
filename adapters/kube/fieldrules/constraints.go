package fieldrules

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rule returns what is wrong with what was found, and whether the rest of the line is not about it.
type rule func(found) (wrong field.ErrorList, done bool)

// dictionary has what the words of the tables mean.
type dictionary struct {
	formats     map[string]format
	checks      map[string]func(found) field.ErrorList
	constraints map[string]func(words []string) rule
}

func newDictionary() dictionary {
	return dictionary{formats: formats(), checks: checks(), constraints: constraints()}
}

// rule makes the rule of a name and of what is in brackets behind it.
func (d dictionary) rule(name, arguments string) (rule, error) {
	words := strings.Fields(arguments)
	if strings.Contains(arguments, "|") {
		words = strings.Split(arguments, "|")
	}
	if least, most, ok, err := parseRange(name); ok || err != nil {
		return within(least, most), err
	}
	if format, known := d.formats[name]; known {
		return wellFormed(format), nil
	}
	switch name {
	case "if", "unless":
		condition, err := parseCondition(arguments)
		return func(f found) (field.ErrorList, bool) { return nil, condition.holds(f.in) == (name == "unless") }, err
	case "check":
		check, known := d.checks[arguments]
		if !known {
			return nil, errors.New("there is no such check")
		}
		return func(f found) (field.ErrorList, bool) {
			if !f.there {
				return nil, true
			}
			return check(f), false
		}, nil
	}
	made, known := d.constraints[name]
	if !known {
		return nil, errors.New("there is no such rule")
	}
	return made(words), nil
}

// constraints are the rules that are not formats, by their names.
func constraints() map[string]func(words []string) rule {
	return map[string]func([]string) rule{
		"required":    required,
		"filled":      func([]string) rule { return filled },
		"nonzero":     func([]string) rule { return nonzero },
		"is":          is,
		"new":         func([]string) rule { return func(f found) (field.ErrorList, bool) { return nil, !f.in.isNew() } },
		"optional":    func([]string) rule { return func(f found) (field.ErrorList, bool) { return nil, empty(f.value) } },
		"given":       func([]string) rule { return func(f found) (field.ErrorList, bool) { return nil, !f.there } },
		"forbidden":   func([]string) rule { return forbidden },
		"unset":       func([]string) rule { return unset },
		"in":          in,
		"only":        func(words []string) rule { return one(words, true) },
		"not":         func(words []string) rule { return one(words, false) },
		"not-if":      notIf,
		"prefix":      prefix,
		"max-length":  maxLength,
		"max-items":   maxItems,
		"unique":      func(fields []string) rule { return unique(fields, false) },
		"unique-set":  func(fields []string) rule { return unique(fields, true) },
		"one":         func(words []string) rule { return count(words, true, true, refuseUnion) },
		"one-value":   func(words []string) rule { return count(words, true, true, invalidUnion) },
		"some":        func(words []string) rule { return count(words, true, false, refuseUnion) },
		"some-value":  func(words []string) rule { return count(words, true, false, invalidUnion) },
		"at-most-one": func(words []string) rule { return count(words, false, true, refuseUnion) },
		"allowed":     allowed,
	}
}

// list is one error in a list.
func list(err *field.Error) field.ErrorList { return field.ErrorList{err} }

// required wants a value to be there, and text and lists not to be empty. The words are the
// message.
func required(words []string) rule {
	message := strings.Join(words, " ")
	return func(f found) (field.ErrorList, bool) {
		switch f.value.(type) {
		case map[string]any, bool, int64:
			return nil, false
		}
		if !empty(f.value) {
			return nil, false
		}
		return list(field.Required(f.path, message)), true
	}
}

// nonzero wants a number that has to be given.
func nonzero(f found) (field.ErrorList, bool) {
	if empty(f.value) {
		return list(field.Required(f.path, "")), true
	}
	return nil, false
}

// filled wants what required wants, and calls it a wrong value.
func filled(f found) (field.ErrorList, bool) {
	if empty(f.value) {
		return list(field.Invalid(f.path, "", "must not be empty")), true
	}
	return nil, false
}

func forbidden(f found) (field.ErrorList, bool) {
	if items, isList := f.value.([]any); !f.there || isList && len(items) == 0 {
		return nil, false
	}
	return list(field.Forbidden(f.path, "may not be set here")), true
}

func unset(f found) (field.ErrorList, bool) {
	if !f.there {
		return nil, false
	}
	return list(field.Invalid(f.path, f.value, "may not be set here")), true
}

func in(words []string) rule {
	return func(f found) (field.ErrorList, bool) {
		if !f.there || slices.Contains(words, text(f.value)) {
			return nil, false
		}
		return list(field.NotSupported(f.path, text(f.value), words)), true
	}
}

// is wants what in wants of a value that may be left out, if empty text is not one of the words.
func is(words []string) rule {
	return func(f found) (field.ErrorList, bool) {
		if slices.Contains(words, text(orEmpty(f.value))) {
			return nil, false
		}
		return list(field.NotSupported(f.path, text(orEmpty(f.value)), words)), true
	}
}

// one wants a value to be one of the words, or to be none of them. Without words the value
// is not to be empty.
func one(words []string, wanted bool) rule {
	if len(words) == 0 {
		words = []string{""}
	}
	return func(f found) (field.ErrorList, bool) {
		if wanted != slices.Contains(words, text(orEmpty(f.value))) && (f.there || wanted) {
			must := "must be"
			if !wanted {
				must = "must not be"
			}
			return list(field.Invalid(f.path, f.value, fmt.Sprintf("%s one of %q", must, words))), true
		}
		return nil, false
	}
}

func orEmpty(value any) any {
	if value == nil {
		return ""
	}
	return value
}

func notIf(words []string) rule {
	return func(f found) (field.ErrorList, bool) {
		if f.there && slices.Contains(words, text(f.value)) {
			return list(field.Forbidden(f.path, "may not be "+text(f.value)+" here")), true
		}
		return nil, false
	}
}

func prefix(words []string) rule {
	return func(f found) (field.ErrorList, bool) {
		if !f.there || strings.HasPrefix(text(f.value), words[0]) {
			return nil, false
		}
		return list(field.NotSupported(f.path, text(f.value), words)), true
	}
}

func maxLength(words []string) rule {
	most, _ := strconv.Atoi(words[0])
	return func(f found) (field.ErrorList, bool) {
		if s, ok := f.value.(string); ok && len(s) > most {
			return list(field.TooLong(f.path, "", most)), true
		}
		return nil, false
	}
}

func maxItems(words []string) rule {
	most, _ := strconv.Atoi(words[0])
	return func(f found) (field.ErrorList, bool) {
		if items, ok := f.value.([]any); ok && len(items) > most {
			return list(field.TooMany(f.path, len(items), most)), true
		}
		return nil, false
	}
}

// unique wants no two items of a list to agree in some of their fields, or, without fields,
// to be the same. Items in which these fields are empty are only compared if told so.
func unique(fields []string, emptyToo bool) rule {
	return func(f found) (field.ErrorList, bool) {
		items, _ := f.value.([]any)
		seen := map[string]bool{}
		var errs field.ErrorList
		for i, item := range items {
			key, at := text(item), f.path.Index(i)
			if object, ok := item.(map[string]any); ok {
				var parts []string
				for _, name := range fields {
					parts = append(parts, text(orEmpty(object[name])))
				}
				key = strings.Join(parts, "\x00")
				if len(fields) == 1 {
					at = at.Child(fields[0])
				}
			}
			if strings.Trim(key, "\x00") == "" && !emptyToo {
				continue
			}
			if seen[key] {
				errs = append(errs, field.Duplicate(at, strings.ReplaceAll(key, "\x00", ", ")))
			}
			seen[key] = true
		}
		return errs, false
	}
}

// count wants some of the fields of an object to be there, or not more than one. What comes
// before a colon is what messages call such a field.
func count(words []string, some, single bool, refuse union) rule {
	fields, called := words, "one of "+strings.Join(words, ", ")
	if i := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, ":") }); i >= 0 {
		fields, called = words[i+1:], "a "+strings.TrimSuffix(strings.Join(words[:i+1], " "), ":")
	}
	return func(f found) (field.ErrorList, bool) {
		var errs field.ErrorList
		n := 0
		for _, name := range fields {
			if f.in.object[name] == nil {
				continue
			}
			if n++; n > 1 && single {
				errs = append(errs, refuse.more(f.path, name, "may not specify more than one: "+strings.Join(fields, ", ")))
			}
		}
		if n == 0 && some {
			errs = append(errs, refuse.none(f.path, "must specify "+called))
		}
		return errs, false
	}
}

// union is how it is told that none or more than one of some fields is there.
type union struct {
	more func(at *field.Path, name, message string) *field.Error
	none func(at *field.Path, message string) *field.Error
}

var (
	refuseUnion = union{
		more: func(at *field.Path, name, message string) *field.Error {
			return field.Forbidden(child(at, name), message)
		},
		none: field.Required,
	}
	invalidUnion = union{
		more: func(at *field.Path, _, message string) *field.Error { return field.Invalid(at, "", message) },
		none: func(at *field.Path, message string) *field.Error { return field.Invalid(at, "", message) },
	}
)

func allowed(fields []string) rule {
	return func(f found) (field.ErrorList, bool) {
		object, _ := f.value.(map[string]any)
		var errs field.ErrorList
		for name, value := range object {
			if !slices.Contains(fields, name) && !empty(value) {
				errs = append(errs, field.Forbidden(child(f.path, name), "cannot be set"))
			}
		}
		slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
		return errs, false
	}
}

// parseRange reads a range such as 1..5, 0.. or ..9.
func parseRange(word string) (least, most int64, ok bool, err error) {
	from, to, ok := strings.Cut(word, "..")
	if !ok {
		return 0, 0, false, nil
	}
	least, most = math.MinInt64, math.MaxInt64
	if from != "" {
		least, err = strconv.ParseInt(from, 10, 64)
	}
	if to != "" && err == nil {
		most, err = strconv.ParseInt(to, 10, 64)
	}
	return least, most, true, err
}

// within wants a number to be in a range.
func within(least, most int64) rule {
	must := fmt.Sprintf("must be between %d and %d, inclusive", least, most)
	if most == math.MaxInt64 {
		must = fmt.Sprintf("must be greater than or equal to %d", least)
	}
	return func(f found) (field.ErrorList, bool) {
		n, ok := f.value.(int64)
		if !ok || n >= least && n <= most {
			return nil, false
		}
		return list(field.Invalid(f.path, n, must)), true
	}
}

// condition is about a field beside what a rule is about.
type condition struct {
	outward int
	path    []string
	values  []string
}

func parseCondition(text string) (condition, error) {
	var c condition
	for strings.HasPrefix(text, "^") {
		c.outward++
		text = text[1:]
	}
	name, values, compared := strings.Cut(text, "=")
	if name == "" {
		return c, errors.New("it names no field")
	}
	c.path = strings.Split(name, ".")
	if compared {
		c.values = strings.Split(values, "|")
	}
	return c, nil
}

func (c condition) holds(in *scope) bool {
	for range c.outward {
		if in == nil {
			return false
		}
		in = in.outer
	}
	if in == nil {
		return false
	}
	var value any = in.object
	for _, name := range c.path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	if c.values == nil {
		switch value.(type) {
		case map[string]any, int64:
			return true
		}
		return !empty(value)
	}
	return slices.Contains(c.values, text(orEmpty(value)))
}

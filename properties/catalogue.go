package properties

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Catalogue returns the properties that need to know nothing of a system. They can be asked for by their names.
func Catalogue() []core.Property {
	return slices.Concat(Convergent(), []core.Property{NoDeadlock(), DeletionCompletes(), NoOrphans(), OneWriter()}, Conduct(), Undisturbed())
}

// form is the name of a property with words in capitals for what it has to know.
type form struct {
	text string
	make func(parts map[string]string) (core.Property, error)
}

// forms are those of the properties that need to know something, but no Go function.
func forms() []form {
	kind := func(parts map[string]string) core.Kind { return core.Kind(parts["KIND"]) }
	return []form{
		{"at most N of kind KIND", func(parts map[string]string) (core.Property, error) {
			n, err := strconv.ParseUint(parts["N"], 10, 31)
			if err != nil {
				return core.Property{}, fmt.Errorf("%q is not a number of objects: use 0, 1, 2 and so on", parts["N"])
			}
			return AtMost(int(n), kind(parts)), nil
		}},
		{"the status of KIND follows its spec", func(parts map[string]string) (core.Property, error) {
			return StatusFollowsSpec(kind(parts)), nil
		}},
		{"KIND: PATH never goes back", func(parts map[string]string) (core.Property, error) {
			return Monotone(kind(parts), parts["PATH"]), nil
		}},
		{"KIND: PATH never goes back in the order VALUES", func(parts map[string]string) (core.Property, error) {
			var order []any
			for _, value := range separated(parts["VALUES"]) {
				order = append(order, value)
			}
			return Monotone(kind(parts), parts["PATH"], order...), nil
		}},
		{"each KIND is named by PATH of OWNER", func(parts map[string]string) (core.Property, error) {
			return NoLeaks(kind(parts), core.Kind(parts["OWNER"]), parts["PATH"]), nil
		}},
		{"one writer for each field but PATHS", func(parts map[string]string) (core.Property, error) {
			return OneWriter(separated(parts["PATHS"])...), nil
		}},
	}
}

// separated returns the parts of a list with commas.
func separated(list string) []string {
	parts := strings.Split(list, ",")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return parts
}

// Forms returns the names of properties that have to know something: what is written in capitals stands for it. VALUES
// and PATHS are lists with commas.
func Forms() []string {
	var texts []string
	for _, f := range forms() {
		texts = append(texts, f.text)
	}
	return texts
}

// parts returns what a name has for the words in capitals, and false if it is not of the form.
func (f form) parts(name string) (map[string]string, bool) {
	var words []string
	pattern := regexp.MustCompile(`\b[A-Z]+\b`).ReplaceAllStringFunc(f.text, func(word string) string {
		words = append(words, word)
		switch word {
		case "VALUES", "PATHS":
			return "(.+)"
		case "KIND":
			return `([^\s:]+)`
		}
		return `(\S+)`
	})
	found := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(name)
	if found == nil {
		return nil, false
	}
	parts := map[string]string{}
	for i, word := range words {
		parts[word] = found[i+1]
	}
	return parts, true
}

// Named returns the property of a name, which is one of the [Catalogue] or of one of the [Forms], and false if there is
// none. The kind that is meant by a word, kindOf tells; the error is its own, or that of another part of the name.
func Named(name string, kindOf func(string) (core.Kind, error)) (core.Property, bool, error) {
	all := Catalogue()
	if i := slices.IndexFunc(all, func(p core.Property) bool { return p.Name == name }); i >= 0 {
		return all[i], true, nil
	}
	for _, f := range forms() {
		parts, fits := f.parts(name)
		if !fits {
			continue
		}
		for _, about := range []string{"KIND", "OWNER"} {
			word, mentioned := parts[about]
			if !mentioned {
				continue
			}
			kind, err := kindOf(word)
			if err != nil {
				return core.Property{}, true, err
			}
			parts[about] = string(kind)
		}
		p, err := f.make(parts)
		if err == nil {
			err = p.Mistake
		}
		return p, true, err
	}
	return core.Property{}, false, nil
}

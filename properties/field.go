package properties

import (
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// field is a field of an object, or all of the object if the path is empty.
type field struct {
	key  core.Key
	path string
}

// String returns the field as violations name it: "kind namespace/name: path".
func (f field) String() string {
	if f.path == "" {
		return f.key.String()
	}
	return f.key.String() + ": " + f.path
}

// pattern names the field without what tells one object from another of its kind, or one item of a list from
// another. Fields of one pattern are written by the same code.
func (f field) pattern() string {
	return string(f.key.Kind) + ": " + withoutPositions(f.path)
}

// withoutPositions leaves out the numbers of list items in a path. Names of fields stay, also where they stand in brackets.
func withoutPositions(path string) string {
	var b strings.Builder
	bracket, quoted, escaped := false, false, false
	for _, r := range path {
		switch {
		case quoted:
			quoted = r != '"' || escaped
			escaped = r == '\\' && !escaped
		case r == '"':
			quoted = true
		case r == '[' || r == ']':
			bracket = r == '['
		case bracket && r >= '0' && r <= '9':
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// tally tells whether the field only counts what is done to others: it says nothing by itself.
func (f field) tally() bool {
	switch f.path {
	case "metadata.generation", "metadata.resourceVersion":
		return true
	}
	return strings.HasPrefix(f.path, "metadata.managedFields") || f.path == "observedGeneration" || strings.HasSuffix(f.path, ".observedGeneration")
}

// ChangedFields names the fields that an effect changes, as violations name them.
func ChangedFields(effect core.Effect) []string {
	return namesOf(changed(effect))
}

// changed returns the fields that an effect changes. A created or deleted object counts as one field.
func changed(effect core.Effect) []field {
	var fields []field
	for _, change := range effect.Changes {
		if change.Before == nil || change.After == nil {
			fields = append(fields, field{key: change.Key})
			continue
		}
		for _, path := range core.ChangedPaths(change.Before.Fields(), change.After.Fields()) {
			fields = append(fields, field{change.Key, path})
		}
	}
	return fields
}

func namesOf(fields []field) []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.String())
	}
	return names
}

// objectOf names the object of the first of some fields, empty if there is none.
func objectOf(fields []field) string {
	if len(fields) == 0 {
		return ""
	}
	return fields[0].key.String()
}

// manyNames is how many names a sentence can hold.
const manyNames = 4

// enumerate joins words as in a sentence, all of them.
func enumerate(words []string) string {
	switch len(words) {
	case 0:
		return "nobody"
	case 1:
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// briefly joins words as in a sentence. If there are too many for one, it counts the rest.
func briefly(words []string, one, many string) string {
	if len(words) <= manyNames {
		return enumerate(words)
	}
	shown := manyNames - 1
	return strings.Join(words[:shown], ", ") + " and " + counted(len(words)-shown, one, many)
}

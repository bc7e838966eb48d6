package properties

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// difference is one way in which an outcome differs from another: an object that only one of them has, or a field of an
// object that both have.
type difference struct {
	field
	which    whichHas
	from, to any
}

// whichHas says which of two outcomes have the object that a difference is about.
type whichHas uint8

const (
	bothHave whichHas = iota
	onlyFirst
	onlySecond
)

// String says the difference as a line of the details of a violation.
func (d difference) String() string {
	switch d.which {
	case onlyFirst:
		return fmt.Sprintf("%s exists only in the first outcome.", d.key)
	case onlySecond:
		return fmt.Sprintf("%s exists only in the second outcome.", d.key)
	}
	return fmt.Sprintf("%s is %s in the first outcome, %s in the second.", d.field, core.FieldText(d.from), core.FieldText(d.to))
}

// unexpected says in a few words how the first outcome differs from the second, which is the expected one.
func (d difference) unexpected() string {
	switch d.which {
	case onlyFirst:
		return fmt.Sprintf("%s should not exist", d.key)
	case onlySecond:
		return fmt.Sprintf("%s is missing", d.key)
	}
	return fmt.Sprintf("%s differs", d.field)
}

// severity orders differences: objects come before fields, and what was asked for before what is reported.
func (d difference) severity() int {
	switch {
	case d.which != bothHave:
		return 0
	case below(d.path, "status"):
		return 3
	case below(d.path, "metadata"):
		return 2
	}
	return 1
}

// patternNames names differences as parts of causes: by the kind of the object, its name without what tells it from
// others that the same code makes, and the field.
type patternNames struct {
	// names are left out of the names of objects, the longest first.
	names []string
	// directed tells that it matters which of the outcomes has an object.
	directed bool
}

func (p patternNames) of(d difference) string {
	name, what := numberless(nameless(d.key.Name, p.names...)), withoutPositions(d.path)
	switch {
	case d.which == bothHave:
	case p.directed && d.which == onlySecond:
		what = "is missing"
	default:
		what = "exists"
	}
	return fmt.Sprintf("%s %s: %s", d.key.Kind, name, what)
}

// all returns the patterns of differences, in order, each once.
func (p patternNames) all(differences []difference) []string {
	var all []string
	for _, d := range differences {
		all = append(all, p.of(d))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// differences returns how two outcomes differ, in the order of the keys and paths.
func differences(one, other Outcome) []difference {
	keys := slices.Collect(maps.Keys(one.Objects))
	for key := range other.Objects {
		if _, known := one.Objects[key]; !known {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, core.Key.Compare)
	var all []difference
	for _, key := range keys {
		a, inOne := one.Objects[key]
		b, inOther := other.Objects[key]
		switch {
		case !inOther:
			all = append(all, difference{field: field{key: key}, which: onlyFirst})
		case !inOne:
			all = append(all, difference{field: field{key: key}, which: onlySecond})
		default:
			for _, change := range core.DiffFields(a, b) {
				all = append(all, difference{field: field{key, change.Path}, from: change.From, to: change.To})
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	// What is no difference of fields, such as that of a nil list from an empty one, is one of the object.
	for _, key := range keys {
		if a, b := one.Objects[key], other.Objects[key]; fmt.Sprintf("%#v", a) != fmt.Sprintf("%#v", b) {
			all = append(all, difference{field: field{key: key}, from: a, to: b})
		}
	}
	return all
}

// bySeverity returns differences with the most serious first.
func bySeverity(differences []difference) []difference {
	sorted := slices.Clone(differences)
	slices.SortStableFunc(sorted, func(a, b difference) int { return a.severity() - b.severity() })
	return sorted
}

// nearest returns which of some outcomes differs least from another, and how: the fewest objects that only one of them
// has, then the fewest fields. There must be one.
func nearest(outcomes []Outcome, to Outcome) (Outcome, []difference) {
	var best Outcome
	var least []difference
	var takes []int
	for _, o := range outcomes {
		// Most objects of most outcomes are equal: what is clearly further away is not compared field by field.
		if far := distance(to, o); takes != nil && slices.Compare(far, takes) > 0 {
			continue
		}
		all := differences(to, o)
		if now := weights(all); takes == nil || slices.Compare(now, takes) < 0 {
			best, least, takes = o, all, now
		}
	}
	return best, least
}

// distance is a lower bound of the weights of the differences between two outcomes.
func distance(one, other Outcome) []int {
	lone := 0
	for key := range one.Objects {
		if _, known := other.Objects[key]; !known {
			lone++
		}
	}
	return []int{2*lone + len(other.Objects) - len(one.Objects)}
}

// weights says how much outcomes differ: by how many objects, and by how many fields of each severity.
func weights(differences []difference) []int {
	n := make([]int, 4)
	for _, d := range differences {
		n[d.severity()]++
	}
	return n
}

// fieldsOf returns the fields that differ.
func fieldsOf(differences []difference) []field {
	var fields []field
	for _, d := range differences {
		fields = append(fields, d.field)
	}
	return fields
}

// linesOf says the differences, one line for each.
func linesOf(differences []difference) []string {
	var lines []string
	for _, d := range differences {
		lines = append(lines, d.String())
	}
	return lines
}

// requestNames returns the names that the requests of controllers are made of, the longest first; of all controllers if
// none is given.
func requestNames(g core.Graph, controllers ...string) []string {
	var names []string
	for _, item := range g.Items() {
		if len(controllers) == 0 || slices.Contains(controllers, strings.TrimSuffix(item.Strategy, core.SecondInstance(""))) {
			names = append(names, namesIn(item.Request)...)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if n := len(b) - len(a); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(names)
}

package story

import (
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Entries returns the differences in what controllers keep in memory with those of an entry of a map or list as one,
// where it is new or gone as a whole: its fields are told as one value.
func Entries(changes []core.MemoryChange) []core.MemoryChange {
	var told []core.MemoryChange
	for len(changes) > 0 {
		n := alike(changes)
		if n > 1 {
			told = append(told, asOne(changes[:n]))
		} else {
			told = append(told, changes[0])
		}
		changes = changes[n:]
	}
	return told
}

// alike returns how many of the first differences are fields of one entry that all came or went, at least one.
func alike(changes []core.MemoryChange) int {
	first := changes[0]
	entry, _, within := cutEntry(first.Field)
	if !within || first.From != nil && first.To != nil {
		return 1
	}
	n := 1
	for n < len(changes) {
		next := changes[n]
		at, _, within := cutEntry(next.Field)
		if !within || at != entry || (next.From == nil) != (first.From == nil) || (next.To == nil) != (first.To == nil) ||
			next.Controller != first.Controller || next.Event != first.Event || next.Lost != first.Lost {
			break
		}
		n++
	}
	return n
}

// cutEntry returns the entry of a map or list that a field is in, and the way from there, and false if it is in none.
func cutEntry(field string) (entry, rest string, within bool) {
	i := strings.LastIndex(field, "].")
	if i < 0 {
		return "", "", false
	}
	return field[:i+1], field[i+2:], true
}

// asOne tells the fields of an entry as one value. Of one that is gone nobody needs to know them.
func asOne(changes []core.MemoryChange) core.MemoryChange {
	one := changes[0]
	one.Field, _, _ = cutEntry(one.Field)
	var fields []string
	for _, c := range changes {
		_, name, _ := cutEntry(c.Field)
		value := c.To
		if value == nil {
			value = c.From
		}
		text := *value
		if text == "" {
			text = `""`
		}
		fields = append(fields, name+": "+text)
	}
	whole := "{" + strings.Join(fields, ", ") + "}"
	switch {
	case one.From == nil:
		one.To = &whole
	case one.Lost:
		one.From = &whole
	default:
		whole = "{…}"
		one.From = &whole
	}
	return one
}

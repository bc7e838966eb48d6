package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// cause tells apart what goes wrong for different reasons: one defect is to be one finding, however many objects it
// shows in. It is made of what stays the same if the same code goes wrong on another object: the controllers, and the
// fields without the names of objects. Each property says what its causes are made of.
type cause string

func causeOf(parts ...string) cause { return cause(strings.Join(parts, "\x00")) }

// patterns returns the patterns of fields, in order, each once.
func patterns(fields []field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.pattern())
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), "\x01")
}

// causes are the violations of a property, one for each cause: the one that is told first.
type causes struct {
	order []cause
	told  map[cause]*instance
}

// instance is a violation that stands for others of the same cause.
type instance struct {
	violation core.Violation
	// what it is about, and what the others are about.
	what   string
	others []string
}

// known notes what a violation is about, and reports whether one of the same cause was told before: then it need not be
// told.
func (c *causes) known(why cause, what string) bool {
	one := c.told[why]
	if one == nil {
		return false
	}
	if what != one.what && !slices.Contains(one.others, what) {
		one.others = append(one.others, what)
	}
	return true
}

// tell tells a violation of a cause that was not known.
func (c *causes) tell(why cause, what string, v core.Violation) {
	if c.told == nil {
		c.told = map[cause]*instance{}
	}
	c.told[why] = &instance{violation: v, what: what}
	c.order = append(c.order, why)
}

// mostTold is how many violations of a property are told: more than anybody reads. The last one says how many more
// there are.
const mostTold = 16

// violations returns what was told, in that order, with a word on the others of each cause.
func (c *causes) violations() []core.Violation {
	var violations []core.Violation
	for _, why := range c.order[:min(len(c.order), mostTold)] {
		one := c.told[why]
		v := one.violation
		if n := len(one.others); n > 0 {
			v.Details = append(slices.Clip(v.Details), "And "+counted(n, "more like this: ", "more like this: ")+briefly(one.others, "more", "more")+".")
		}
		violations = append(violations, v)
	}
	if more := c.order[len(violations):]; len(more) > 0 {
		last := &violations[len(violations)-1]
		var abouts []string
		for _, why := range more {
			if about := c.told[why].what; about != "" && !slices.Contains(abouts, about) {
				abouts = append(abouts, about)
			}
		}
		last.Details = append(slices.Clip(last.Details), fmt.Sprintf("%s not shown: about %s.",
			counted(len(more), "more finding is", "more findings are"), briefly(abouts, "more", "more")))
	}
	return violations
}

// nameless returns a text without names: where one stands as a word of its own, the text of another object of the same
// kind has another.
func nameless(text string, names ...string) string {
	for _, name := range names {
		text = withoutWord(text, name)
	}
	return text
}

func withoutWord(text, word string) string {
	if word == "" {
		return text
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		end := at + len(word)
		alone := (at == 0 || !wordly(text[at-1])) && (end >= len(text) || !wordly(text[end]))
		if alone && strings.HasPrefix(text[at:], word) {
			b.WriteString("…")
			at = end
			continue
		}
		b.WriteByte(text[at])
		at++
	}
	return b.String()
}

// wordly reports whether a character is part of a word.
func wordly(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// namesIn returns the names that a request is made of.
func namesIn(request core.Request) []string { return strings.Split(string(request), "/") }

// numberless returns a text with the same sign for each number.
func numberless(text string) string {
	var b strings.Builder
	number := false
	for _, r := range text {
		digit := r >= '0' && r <= '9'
		switch {
		case !digit:
			b.WriteRune(r)
		case !number:
			b.WriteByte('#')
		}
		number = digit
	}
	return b.String()
}

package ltl

import (
	"fmt"

	"github.com/orrery-dev/orrery/internal/excerpt"
)

// Mistake is an error in a formula, with its place.
type Mistake struct {
	// Formula is the whole text, From and To the bytes of it that are wrong.
	Formula  string
	From, To int
	// Message says what is wrong and what to change.
	Message string
}

// Error says what is wrong and shows the line of the formula with the place marked below.
func (m *Mistake) Error() string {
	return fmt.Sprintf("formula, %s: %s\n%s", excerpt.Place(m.Formula, m.From), m.Message, excerpt.Of(m.Formula, m.From, m.To))
}

// mistake is a [Mistake] at a place of a text.
func mistake(text string, at span, format string, args ...any) error {
	return &Mistake{Formula: text, From: at.from, To: at.to, Message: fmt.Sprintf(format, args...)}
}

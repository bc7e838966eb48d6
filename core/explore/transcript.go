package explore

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// transcript listens to a walker and writes down what code is given and does.
type transcript struct {
	inattentive
	text, step strings.Builder
}

// began implements [listener]: what was tried before is not what is told.
func (t *transcript) began() { t.step.Reset() }

// called implements [listener].
func (t *transcript) called(a *actor, activation behavior.Activation, call told) {
	asked := call.node.Call.Identity()
	if aimed, ok := call.node.Call.(core.Aimed); ok {
		asked = aimed.Aim() + " " + aimed.Contents() // as text, whatever the identity makes of it
	}
	fmt.Fprintf(&t.step, "%s %s: %s → %s\n", a.Name, activation, asked, call.response.Identity())
}

// ended implements [listener].
func (t *transcript) ended(a *actor, activation behavior.Activation, _ behavior.Path, leaf *behavior.Leaf) {
	fmt.Fprintf(&t.step, "%s %s %s\n", a.Name, activation, leaf)
}

// wording finds the words of a text, among them names and numbers.
var wording = regexp.MustCompile(`[0-9A-Za-z]+(?:[-._][0-9A-Za-z]+)*`)

// alikeButFor tells whether two texts are the same but for words: wherever the first has the one the second has the other, and neither is
// a number or among the words that are old to its text.
func alikeButFor(oldToOne, oldToOther map[string]bool, one, other string) bool {
	if wording.ReplaceAllLiteralString(one, "x") != wording.ReplaceAllLiteralString(other, "x") {
		return false
	}
	ones, others := wording.FindAllString(one, -1), wording.FindAllString(other, -1)
	there, back := map[string]string{}, map[string]string{}
	for i, a := range ones {
		b := others[i]
		if known, ok := there[a]; ok && known != b {
			return false
		}
		if known, ok := back[b]; ok && known != a {
			return false
		}
		there[a], back[b] = b, a
		if a != b && (oldToOne[a] || oldToOther[b] || numeric(a) || numeric(b)) {
			return false
		}
	}
	return true
}

// numeric tells whether a word may count something. What counts is short, in contrast to what stands for a version.
func numeric(word string) bool {
	const mostDigits = 8
	return len(word) <= mostDigits && strings.Trim(word, "0123456789.-_") == ""
}

package regression

import (
	"fmt"
	"go/format"
	"strings"
)

// Alone returns the source of a test that runs a finding of a record again, where nothing is known of the code of the
// check: the system is for the user to make, and the test fails until it is.
func Alone(pinned Pinned, system string, finding int) ([]byte, error) {
	var b strings.Builder
	comment(&b, fmt.Sprintf("Put this file beside your check, into its package, and the record into %s.", pinned.Record))
	fmt.Fprintf(&b, "package check_test\n\nimport (\n\"testing\"\n\n%q\n%q\n)\n\n", modulePath, modulePath+"/core")
	comment(&b, fmt.Sprintf("%s runs again what a check of %s found, and fails as long as it happens: %s", pinned.Name, pinned.Of, oneLine(pinned.Summary)))
	fmt.Fprintf(&b, "func %s(t *testing.T) {\n", pinned.Name)
	comment(&b, fmt.Sprintf("Make the system as the check does: %s.", oneLine(system)))
	fmt.Fprintf(&b, "var system *core.System\norrery.ReplayFile(t, system, %q, %d)\n}\n", pinned.Record, finding)
	return format.Source([]byte(b.String()))
}

// TestName makes a name for a test of any text.
func TestName(text string) string {
	var b strings.Builder
	begins := true
	for _, r := range text {
		switch {
		case r != '_' && !isWord(r):
			begins = true
		case begins:
			b.WriteString(strings.ToUpper(string(r)))
			begins = false
		default:
			b.WriteRune(r)
		}
	}
	if name := b.String(); strings.HasPrefix(name, "Test") {
		return name
	}
	return "Test" + b.String()
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

package inspect

import (
	"os"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/examples/toggle"
	"github.com/orrery-dev/orrery/record"
)

// TestScreenOfTheDocumentation checks that the screen which the documentation shows is the one that its readers come
// to.
func TestScreenOfTheDocumentation(t *testing.T) {
	const file = "../../docs/counterexamples.md"
	documentation, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	system, err := toggle.System(false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, orrery.Options{Params: map[string]string{"fixed": "0"}})
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, recorded(t, &result.Report, result.Graph.(record.Graph), 100), 80, 24)
	s.load()
	s.press("enter", "down", "down")
	if screen := trimmed(s.screen()); !strings.Contains(string(documentation), "```text\n"+strings.TrimRight(screen, "\n")+"\n```\n") {
		t.Errorf("%s shows another screen than this one:\n%s", file, screen)
	}
}

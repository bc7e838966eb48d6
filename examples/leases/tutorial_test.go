package leases

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

const (
	root     = "../.."
	tutorial = "docs/your-own-adapter.md"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestTutorialOutput(t *testing.T) {
	transcript.CompareDocument(t, root, tutorial, Catalog(), *update)
}

// TestTutorialCode wants the code of the tutorial to be that of this package, and its commands to be those whose output it shows.
func TestTutorialCode(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, tutorial))
	if err != nil {
		t.Fatal(err)
	}
	for _, commands := range transcript.CompareCode(t, root, tutorial) {
		for command := range strings.Lines(commands) {
			command = strings.ReplaceAll(strings.TrimSpace(command), "'", "")
			if strings.HasPrefix(command, "go run ./cmd/orrery check leases") && !strings.Contains(string(text), "is the output of "+command+" -->") {
				t.Errorf("the tutorial does not show the output of %s", command)
			}
		}
	}
}

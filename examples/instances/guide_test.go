package instances

import (
	"testing"

	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

// TestGuide wants the code of the page on parts of the world to be that of the files that it names.
func TestGuide(t *testing.T) { transcript.CompareCode(t, "../..", "docs/external.md") }

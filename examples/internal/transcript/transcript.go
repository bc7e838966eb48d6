// Package transcript keeps true what the examples show of the command: the output
// in their golden files, and what their READMEs quote of it.
package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
)

// quote finds a golden file that a README names, the command that it is the output
// of, and the block that quotes it.
var quote = regexp.MustCompile("(?s)<!-- (testdata/\\S+) is the output of go run \\S+ ([^\n]+) -->\n```\n(.*?)```\n")

// Compare runs the commands that README.md in the folder of the test quotes. It
// compares the output of each, but for the last line, which holds times, with its
// golden file, or writes that file anew. It compares the quote with the output too:
// a line with … stands for lines that are left out.
func Compare(t *testing.T, entries []catalog.Entry, update bool) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	quotes := quote.FindAllStringSubmatch(string(readme), -1)
	if len(quotes) == 0 {
		t.Fatal("README.md quotes no command")
	}
	for _, found := range quotes {
		file, command, quoted := found[1], found[2], found[3]
		t.Run(command, func(t *testing.T) {
			output := run(t, entries, command)
			compareFile(t, filepath.FromSlash(file), output, update)
			if part, found := missing(quoted, output); found {
				t.Errorf("README.md quotes\n%s\nwhich is not there, or in another place, in\n%s", part, output)
			}
		})
	}
}

// run returns what a command line prints, without the last line.
func run(t *testing.T, entries []catalog.Entry, command string) string {
	t.Helper()
	var output, said bytes.Buffer
	code := cli.Run(t.Context(), strings.Fields(command), cli.Streams{Out: &output, Err: &said}, entries)
	if code != cli.ExitHolds && code != cli.ExitViolated {
		t.Fatalf("exit code %d: %s%s", code, &said, &output)
	}
	text := strings.TrimSuffix(output.String(), "\n")
	return text[:strings.LastIndexByte(text, '\n')+1]
}

func compareFile(t *testing.T, file, output string, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(output), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if output != string(want) {
		t.Errorf("the output is not %s but:\n%s", file, output)
	}
}

// missing returns the first part of a quote that is not in the output, or not behind
// the parts before it, and false if there is none.
func missing(quoted, output string) (part string, found bool) {
	for part := range strings.SplitSeq(quoted, "…\n") {
		_, rest, known := strings.Cut(output, part)
		if !known {
			return part, true
		}
		output = rest
	}
	return "", false
}

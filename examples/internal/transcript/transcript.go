// Package transcript keeps true what the examples and the documents about them show: the
// output of the command in golden files, and what they quote of it and of the code.
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
var quote = regexp.MustCompile("(?s)<!-- (\\S*testdata/\\S+) is the output of go run \\S+ ([^\n]+) -->\n```\n(.*?)```\n")

// Compare runs the commands that README.md in the folder of the test quotes. It
// compares the output of each, but for the last line, which holds times, with its
// golden file, or writes that file anew. It compares the quote with the output too:
// a line with … stands for lines that are left out.
func Compare(t *testing.T, entries []catalog.Entry, update bool) {
	t.Helper()
	CompareDocument(t, ".", "README.md", entries, update)
}

// CompareDocument does for a document what [Compare] does for README.md. The document, and the golden files that it names, are given
// from the root, a folder.
func CompareDocument(t *testing.T, root, document string, entries []catalog.Entry, update bool) {
	t.Helper()
	quotes := quote.FindAllStringSubmatch(read(t, root, document), -1)
	if len(quotes) == 0 {
		t.Fatalf("%s quotes no command", document)
	}
	for _, found := range quotes {
		file, command, quoted := found[1], found[2], found[3]
		t.Run(command, func(t *testing.T) {
			output := run(t, entries, command)
			compareFile(t, filepath.Join(root, filepath.FromSlash(file)), output, update)
			if part, found := missing(quoted, output); found {
				t.Errorf("%s quotes\n%s\nwhich is not there, or in another place, in\n%s", document, part, output)
			}
		})
	}
}

func read(t *testing.T, root, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
	part, _, found = follow(quoted, output)
	return part, found
}

// follow does as [missing], and returns what of the output is behind the quote.
func follow(quoted, output string) (part, rest string, missing bool) {
	for part := range strings.SplitSeq(quoted, "…\n") {
		_, behind, known := strings.Cut(output, part)
		if !known {
			return part, output, true
		}
		output = behind
	}
	return "", output, false
}

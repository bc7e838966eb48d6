package lint

import (
	"bytes"
	"fmt"
	"go/format"
	"regexp"
	"strings"
)

// A longer file holds two concepts, and a larger package two rooms. Tests do not count as files of a package.
const (
	maxLines = 500
	maxFiles = 25
)

// checkFormat wants Go source as gofmt leaves it.
func checkFormat(t *tree, complain complain) {
	for _, f := range t.source(true) {
		if formatted, err := format.Source(f.text); err != nil || !bytes.Equal(formatted, f.text) {
			complain(f.path, "run gofmt -w on it")
		}
	}
}

// checkSize refuses files that hold more than one concept, and packages that nobody can oversee.
func checkSize(t *tree, complain complain) {
	count := map[string]int{}
	for _, f := range t.source(false) {
		if count[f.folder()]++; count[f.folder()] == maxFiles+1 {
			complain(f.folder(), "more than %d files are too many: split the package by concept", maxFiles)
		}
	}
	for _, f := range t.source(true) {
		if lines := bytes.Count(f.text, []byte("\n")); lines > maxLines {
			complain(f.path, "%d lines are too many: split it by concept, at %d at most", lines, maxLines)
		}
	}
}

// forbidden is text that must not be left behind.
type forbidden struct {
	pattern *regexp.Regexp
	why     string
}

// leftovers lists it.
func leftovers() []forbidden {
	return []forbidden{
		{regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK|WIP)\b`), "do it, or name the gap in the documents"},
		{regexp.MustCompile(`(^|[\s"'(=])/(root|home|Users)/`), "a path of one machine is of no use on another"},
		{regexp.MustCompile(`^(<<<<<<<|=======$|>>>>>>>)`), "resolve the conflict"},
	}
}

// checkWords refuses leftovers in any text but that of this rule and its fixture.
func checkWords(t *tree, complain complain) {
	for _, f := range t.files {
		if f.path == "internal/lint/text_test.go" || f.path == "internal/lint/testdata/words.txtar" {
			continue
		}
		for number, line := range strings.Split(string(f.text), "\n") {
			for _, word := range leftovers() {
				if found := word.pattern.FindString(line); found != "" {
					complain(fmt.Sprintf("%s:%d", f.path, number+1), "%q must not stay: %s", strings.TrimSpace(found), word.why)
				}
			}
		}
	}
}

package lint

import (
	"fmt"
	"path"
	"strings"
)

// checkModules refuses replacements in the root module, which whoever depends on it
// would not get. A module below it may replace the root with the tree it is in, and
// nothing else.
func checkModules(t *tree, complain complain) {
	for _, f := range t.files {
		if path.Base(f.path) != "go.mod" || strings.Contains(f.path, "testdata/") {
			continue
		}
		inBlock := false
		for number, line := range strings.Split(string(f.text), "\n") {
			words := strings.Fields(line)
			switch {
			case len(words) == 0:
				continue
			case words[0] == ")":
				inBlock = false
				continue
			case words[0] == "replace" && len(words) == 2 && words[1] == "(":
				inBlock = true
				continue
			case words[0] == "replace":
				words = words[1:]
			case !inBlock:
				continue
			}
			if f.folder() == "." || strings.Join(words, " ") != module+" => "+upwards(f.folder()) {
				complain(fmt.Sprintf("%s:%d", f.path, number+1), "no replacements: depend on a released version")
			}
		}
	}
}

// upwards is the way from a folder to the root.
func upwards(folder string) string {
	return strings.Repeat("../", strings.Count(folder, "/")) + ".."
}

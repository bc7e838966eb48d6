package lint

import (
	"fmt"
	"path"
	"strings"
)

// checkModules refuses replacements in the root module, which whoever depends on it
// would not get. A module below it may replace modules of the house with the tree that it
// is in, and modules with a released version of theirs that it cannot require, as another one
// asks for a newer one.
func checkModules(t *tree, complain complain) {
	for _, f := range t.files {
		if path.Base(f.path) != "go.mod" || strings.Contains(f.path, "testdata/") {
			continue
		}
		inBlock := false
		for number, line := range strings.Split(string(f.text), "\n") {
			line, _, _ = strings.Cut(line, "//")
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
			if f.folder() == "." || !isOwnTree(f.folder(), words) && !isOlder(words) {
				complain(fmt.Sprintf("%s:%d", f.path, number+1), "no replacements: depend on a released version")
			}
		}
	}
}

// isOlder reports whether the words of a replacement lead from a module to a version of it.
func isOlder(words []string) bool {
	const replacement = 4 // a module, an arrow, and the module with a version
	return len(words) == replacement && words[1] == "=>" && words[2] == words[0]
}

// isOwnTree reports whether the words of a replacement in a folder lead from a module of the
// house to where it is.
func isOwnTree(folder string, words []string) bool {
	const replacement = 3 // a module, an arrow, and a folder
	if len(words) != replacement || words[1] != "=>" {
		return false
	}
	own, ours := inHouse(words[0])
	return ours && strings.HasPrefix(words[2], "../") && path.Join(folder, words[2]) == own
}

package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// remedy finds in a text what a reason asks the user to change: "--max-states (Options.MaxStates)".
var remedy = regexp.MustCompile(`--([a-z-]+) \(Options\.(\w+)\)`)

// checkReasons wants the flags and options that texts name to exist: flags are declared in package cli, options are
// fields of the root package's Options.
func checkReasons(t *tree, complain complain) {
	flags, options := map[string]bool{}, map[string]bool{}
	for _, f := range t.source(false) {
		switch f.folder() {
		case "cli":
			eachText(f.syntax, func(text *ast.BasicLit) { flags[strings.Trim(text.Value, `"`)] = true })
		case ".":
			for _, d := range declarations(f.syntax) {
				if name, is := strings.CutPrefix(d.name, "Options."); is {
					options[name] = true
				}
			}
		}
	}
	for _, f := range t.source(false) {
		eachText(f.syntax, func(text *ast.BasicLit) {
			for _, found := range remedy.FindAllStringSubmatch(text.Value, -1) {
				if !flags[found[1]] {
					complain(t.at(text), "there is no flag --%s: name one that there is", found[1])
				}
				if !options[found[2]] {
					complain(t.at(text), "there is no option Options.%s: name one that there is", found[2])
				}
			}
		})
	}
}

// eachText calls a function with the string literals of a file.
func eachText(file *ast.File, call func(*ast.BasicLit)) {
	ast.Inspect(file, func(node ast.Node) bool {
		if text, ok := node.(*ast.BasicLit); ok && text.Kind == token.STRING {
			call(text)
		}
		return true
	})
}

package scaffold

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// imports are what the test imports.
type imports struct {
	// names are by path, and taken are the names that nothing else may have.
	names map[string]string
	taken map[string]bool
}

func newImports(taken []string) *imports {
	i := &imports{names: map[string]string{}, taken: map[string]bool{}}
	for _, name := range taken {
		i.taken[name] = true
	}
	return i
}

// name returns the name of a package in the test, the suggested one unless another package has it.
func (i *imports) name(suggested, path string) string {
	if known := i.names[path]; known != "" {
		return known
	}
	i.names[path] = i.reserve(suggested)
	return i.names[path]
}

// reserve returns a name that nothing else has, the suggested one if it is free.
func (i *imports) reserve(suggested string) string {
	name := suggested
	for n := 2; i.taken[name]; n++ {
		name = fmt.Sprintf("%s%d", suggested, n)
	}
	i.taken[name] = true
	return name
}

// source returns the imports that code uses as Go source: those of the standard library, those of others, and those of
// the project and of Orrery. Others were named for code that was given up.
func (i *imports) source(own, code string) string {
	groups := [3][]string{}
	used := packagesIn(code)
	for _, path := range slices.Sorted(maps.Keys(i.names)) {
		if !used[i.names[path]] {
			continue
		}
		host, _, _ := strings.Cut(path, "/")
		group := 1
		switch {
		case path == own || strings.HasPrefix(path, own+"/"):
			group = 2
		case !strings.Contains(host, "."):
			group = 0
		}
		line := fmt.Sprintf("%q", path)
		if name := i.names[path]; name != path[strings.LastIndexByte(path, '/')+1:] {
			line = name + " " + line
		}
		groups[group] = append(groups[group], line)
	}
	var b strings.Builder
	b.WriteString("import (\n")
	for n, group := range groups {
		if n > 0 && len(group) > 0 {
			b.WriteString("\n")
		}
		for _, line := range group {
			b.WriteString(line + "\n")
		}
	}
	b.WriteString(")\n")
	return b.String()
}

// packagesIn returns the names in whose place packages stand in code, and those of variables.
func packagesIn(code string) map[string]bool {
	names := map[string]bool{}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+code, parser.SkipObjectResolution)
	if err != nil {
		return names
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if selected, ok := node.(*ast.SelectorExpr); ok {
			if of, ok := selected.X.(*ast.Ident); ok {
				names[of.Name] = true
			}
		}
		return true
	})
	return names
}

package lint

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// mention finds a name in code quotes in Markdown that is given with the folder of its package: `core/explore.Search`,
// `core/explore.search.loop`. The folder of the root is called orrery.
var mention = regexp.MustCompile("`([a-z][a-z0-9/]*)\\.([A-Za-z]\\w*(?:\\.\\w+)?)`")

// checkMentions wants names of the code in the documents to exist. Decisions are exempt: they tell how things were.
func checkMentions(t *tree, complain complain) {
	known := map[string]map[string]bool{}
	for _, f := range t.source(false) {
		folder := f.folder()
		if folder == "." {
			folder = "orrery"
		}
		if known[folder] == nil {
			known[folder] = map[string]bool{}
		}
		for _, d := range declarations(f.syntax) {
			known[folder][d.name] = true
		}
	}
	for _, f := range t.files {
		if path.Ext(f.path) != ".md" || strings.HasPrefix(f.path, "docs/decisions/") || strings.Contains(f.path, "testdata/") {
			continue
		}
		for number, line := range strings.Split(string(f.text), "\n") {
			for _, found := range mention.FindAllStringSubmatch(line, -1) {
				folder, name := found[1], found[2]
				if names := known[folder]; names != nil && !names[name] && path.Ext("."+name) != ".go" {
					complain(fmt.Sprintf("%s:%d", f.path, number+1), "there is no %s in %s: name what is there now", name, folder)
				}
			}
		}
	}
}

// declared is a name that a file declares.
type declared struct {
	name string
	node ast.Node
}

// declarations returns the names that a file declares: at the top level, and with the name of the type before it each
// method and each field.
func declarations(file *ast.File) []declared {
	var names []declared
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d) + "." + name
			}
			names = append(names, declared{name, d})
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, declared{name.Name, name})
					}
				case *ast.TypeSpec:
					names = append(names, declared{spec.Name.Name, spec})
					for _, member := range members(spec.Type) {
						names = append(names, declared{spec.Name.Name + "." + member.Name, member})
					}
				}
			}
		}
	}
	return names
}

// members returns the names of the fields of a struct and of the methods of an interface.
func members(expression ast.Expr) []*ast.Ident {
	var list *ast.FieldList
	switch e := expression.(type) {
	case *ast.StructType:
		list = e.Fields
	case *ast.InterfaceType:
		list = e.Methods
	default:
		return nil
	}
	var names []*ast.Ident
	for _, field := range list.List {
		names = append(names, field.Names...)
	}
	return names
}

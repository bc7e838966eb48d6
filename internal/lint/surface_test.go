package lint

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// forUsers reports whether the exported names of a folder are for users, who are not in the repository. The names of
// all others are for packages of the house.
func forUsers(folder string) bool {
	engine := []string{"core/behavior", "core/view", "core/state", "core/effort", "core/scc", "core/explore"}
	internal := strings.HasPrefix(folder, "internal/") || strings.Contains(folder, "/internal/")
	return !slices.Contains(engine, folder) && !internal || folder == "internal/readme" // which has what the README shows
}

// checkSurface wants exported names, other than those for users, to be used by another package: at the top level that
// very name, and of exported types the name of each method and field. Exempt are types that another exported
// declaration of the package names, constants that are declared together with one that is used, and methods that an
// interface asks for.
func checkSurface(t *tree, complain complain) {
	top, members, promised := namesInUse(t)
	for _, files := range t.packages() {
		folder := files[0].folder()
		if forUsers(folder) {
			continue
		}
		named := namedInSignatures(files)
		enumerated := enumerations(files, func(name string) bool { return top[folder+"."+name] })
		for _, f := range files {
			for _, d := range declarations(f.syntax) {
				owner, member, isMember := strings.Cut(d.name, ".")
				switch {
				case !ast.IsExported(owner) || isMember && !ast.IsExported(member):
				case !isMember && !top[folder+"."+owner] && !named[owner] && !enumerated[owner] && !slices.Contains(usedOutside, folder+"."+owner):
					complain(t.at(d.node), "nobody outside uses %s: do not export it", owner)
				case isMember && !usedElsewhere(members[member], folder) && !promised[member] && !slices.Contains(standardMethods, member):
					complain(t.at(d.node), "nobody outside uses %s: do not export it", d.name)
				}
			}
		}
	}
}

// standardMethods are methods that interfaces of libraries ask for.
var standardMethods = []string{"Error", "String", "Len", "Less", "Swap", "Push", "Pop", "ConvertFieldLabel", "Gather", "Unregister"}

// usedOutside are names that only a program in testdata uses.
var usedOutside = []string{"core/behavior.Start"}

// namedInSignatures returns the names that occur in what exported functions take and return, and in what exported types
// consist of.
func namedInSignatures(files []*file) map[string]bool {
	names := map[string]bool{}
	note := func(within ast.Node, except string) {
		ast.Inspect(within, func(node ast.Node) bool {
			if name, ok := node.(*ast.Ident); ok && name.Name != except {
				names[name.Name] = true
			}
			return true
		})
	}
	for _, f := range files {
		for _, declaration := range f.syntax.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() {
					note(d.Type, "")
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if named, ok := spec.(*ast.TypeSpec); ok && named.Name.IsExported() {
						note(named, named.Name.Name)
					}
				}
			}
		}
	}
	return names
}

// enumerations returns the constants that are declared together with one that is used.
func enumerations(files []*file, used func(name string) bool) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		for _, declaration := range f.syntax.Decls {
			d, ok := declaration.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				continue
			}
			var together []string
			for _, spec := range d.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					together = append(together, name.Name)
				}
			}
			if slices.ContainsFunc(together, used) {
				for _, name := range together {
					names[name] = true
				}
			}
		}
	}
	return names
}

func usedElsewhere(folders map[string]bool, folder string) bool {
	return len(folders) > 1 || len(folders) == 1 && !folders[folder]
}

// namesInUse returns the names at the top level of packages that other packages use, as "folder.Name"; for each name
// that is selected or given a value the folders where that is; and the names of the methods of interfaces.
func namesInUse(t *tree) (top map[string]bool, members map[string]map[string]bool, promised map[string]bool) {
	top, members, promised = map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}
	for _, f := range t.source(true) {
		imported := importsByName(f.syntax)
		selected := func(name string) {
			if members[name] == nil {
				members[name] = map[string]bool{}
			}
			members[name][f.folder()] = true
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.SelectorExpr:
				if from, ok := n.X.(*ast.Ident); ok && imported[from.Name] != "" {
					if own := f.isTest() && imported[from.Name] == f.folder(); !own {
						top[imported[from.Name]+"."+n.Sel.Name] = true
					}
				}
				selected(n.Sel.Name)
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok {
					selected(key.Name)
				}
			case *ast.InterfaceType:
				for _, method := range n.Methods.List {
					for _, name := range method.Names {
						promised[name.Name] = true
					}
				}
			}
			return true
		})
	}
	return top, members, promised
}

// importsByName returns the folders of the packages of the house that a file imports, by the names that it gives them.
func importsByName(file *ast.File) map[string]string {
	folders := map[string]string{}
	for _, spec := range file.Imports {
		from, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !strings.HasPrefix(from, module+"/") {
			continue
		}
		name := path.Base(from)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		folders[name] = strings.TrimPrefix(from, module+"/")
	}
	return folders
}

// checkFacade wants what the root package exports to name no type of the engine: users import the root, core, and
// adapters.
func checkFacade(t *tree, complain complain) {
	for _, f := range t.source(false) {
		if f.folder() != "." {
			continue
		}
		imported := importsByName(f.syntax)
		for _, shown := range signatures(f.syntax) {
			ast.Inspect(shown, func(node ast.Node) bool {
				selector, ok := node.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if from, ok := selector.X.(*ast.Ident); ok && imported[from.Name] != "" && !forUsers(imported[from.Name]) {
					complain(t.at(selector), "users see %s.%s, which is of the engine: give them a type of the root package or of core", from.Name, selector.Sel.Name)
				}
				return true
			})
		}
	}
}

// signatures returns what users see of the types in a file: what exported functions take and return, and the exported
// fields of exported types.
func signatures(file *ast.File) []ast.Node {
	var shown []ast.Node
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
				shown = append(shown, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				named, ok := spec.(*ast.TypeSpec)
				if !ok || !named.Name.IsExported() {
					continue
				}
				structure, ok := named.Type.(*ast.StructType)
				if !ok {
					shown = append(shown, named.Type)
					continue
				}
				for _, field := range structure.Fields.List {
					if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
						shown = append(shown, field.Type)
					}
				}
			}
		}
	}
	return shown
}

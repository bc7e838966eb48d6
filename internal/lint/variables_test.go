package lint

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// checkInits refuses functions that run by being linked in.
func checkInits(t *tree, complain complain) {
	for _, f := range t.source(true) {
		for _, declaration := range f.syntax.Decls {
			if f.path == "testflags.go" {
				continue // flags of tests are read before any caller has a say
			}
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil && function.Name.Name == "init" {
				complain(t.at(function), "no init functions: let the caller say what is to happen")
			}
		}
	}
}

// checkVariables refuses state at package level. There may be errors, regular
// expressions, embedded files, and tables that nobody writes to; and a sync.Once, a
// sync.Mutex or an atomic.Bool, for what a library or the runtime keeps once for a process.
func checkVariables(t *tree, complain complain) {
	for _, files := range t.packages() {
		written := writes(t, files)
		for _, f := range files {
			for _, declaration := range f.syntax.Decls {
				variables, ok := declaration.(*ast.GenDecl)
				if !ok || variables.Tok != token.VAR {
					continue
				}
				for _, spec := range variables.Specs {
					checkVariable(t, variables, spec.(*ast.ValueSpec), written, complain)
				}
			}
		}
	}
}

func checkVariable(t *tree, declaration *ast.GenDecl, spec *ast.ValueSpec, written map[token.Pos]bool, complain complain) {
	for i, name := range spec.Names {
		switch {
		case name.Name == "_", isEmbedded(declaration, spec), isGuard(spec.Type):
		case i >= len(spec.Values) || !isConstant(spec.Values[i]):
			complain(t.at(name), "%s is state at package level: pass it where it is needed", name.Name)
		case written[name.Pos()]:
			complain(t.at(name), "%s is written to: a table at package level must stay as it is", name.Name)
		}
	}
}

func isEmbedded(declaration *ast.GenDecl, spec *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{declaration.Doc, spec.Doc} {
		if doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") }) {
			return true
		}
	}
	return false
}

func isGuard(expression ast.Expr) bool {
	named, ok := expression.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := named.X.(*ast.Ident)
	return ok && slices.Contains([]string{"sync.Once", "sync.Mutex", "atomic.Bool"}, from.Name+"."+named.Sel.Name)
}

// isConstant reports whether a value can be taken for a constant as long as nobody
// writes to it: a literal, an error, or a regular expression.
func isConstant(value ast.Expr) bool {
	switch value := value.(type) {
	case *ast.CompositeLit, *ast.BasicLit:
		return true
	case *ast.CallExpr:
		function, ok := value.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		from, ok := function.X.(*ast.Ident)
		if !ok {
			return false
		}
		switch from.Name + "." + function.Sel.Name {
		case "errors.New", "fmt.Errorf", "regexp.MustCompile":
			return true
		}
	}
	return false
}

// writes returns where the variables of a package are declared that something in it
// writes to, or takes the address of.
func writes(t *tree, files []*file) map[token.Pos]bool {
	uses := resolve(t, files)
	written := map[token.Pos]bool{}
	write := func(target ast.Expr) {
		if object := uses[root(target)]; object != nil {
			written[object.Pos()] = true
		}
	}
	for _, f := range files {
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.AssignStmt:
				for _, target := range node.Lhs {
					write(target)
				}
			case *ast.IncDecStmt:
				write(node.X)
			case *ast.RangeStmt:
				write(node.Key)
				write(node.Value)
			case *ast.UnaryExpr:
				if node.Op == token.AND {
					write(node.X)
				}
			case *ast.CallExpr:
				if called, ok := node.Fun.(*ast.Ident); ok && len(node.Args) > 0 && (called.Name == "delete" || called.Name == "clear") {
					write(node.Args[0])
				}
			}
			return true
		})
	}
	return written
}

// root returns the variable that an expression is a part of, nil if it is none.
func root(expression ast.Expr) *ast.Ident {
	switch e := expression.(type) {
	case *ast.Ident:
		return e
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return nil
}

// resolve returns what the names in a package stand for. Nothing is imported: what
// comes from elsewhere stays unknown, and errors about it do not matter.
func resolve(t *tree, files []*file) map[*ast.Ident]types.Object {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{
		Importer: noImports{},
		Error:    func(error) {},
	}
	var syntax []*ast.File
	for _, f := range files {
		syntax = append(syntax, f.syntax)
	}
	// The error is one of those that do not matter.
	_, _ = config.Check(files[0].folder(), t.positions, syntax, info)
	return info.Uses
}

// noImports imports nothing.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) {
	return nil, errors.New("nothing is imported")
}

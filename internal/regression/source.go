package regression

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

const (
	modulePath = "github.com/orrery-dev/orrery"
	ginkgoPath = "github.com/onsi/ginkgo"
)

// Check is the source of a check in a test: a call of orrery.Check or orrery.CheckWith.
type Check struct {
	files   *token.FileSet
	file    *ast.File
	imports []imported
	// path leads from the call to the file, and call is it.
	path []ast.Node
	call *ast.CallExpr
	// declared are the names at the top level of the package, of all its files.
	declared map[string]bool
}

// imported is an import of the file: what it is called there ("." if its names are used as they are), and its path.
type imported struct{ name, path string }

// Find finds the check in a file that is at a line.
func Find(file string, line int) (*Check, error) {
	c := &Check{files: token.NewFileSet(), declared: map[string]bool{}}
	var err error
	if c.file, err = parser.ParseFile(c.files, file, nil, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	for _, spec := range c.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := guessedName(path)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		c.imports = append(c.imports, imported{name, path})
	}
	ast.Inspect(c.file, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok && c.isCheck(call) && c.line(call.Pos()) <= line && line <= c.line(call.End()) {
			c.call = call
		}
		return true
	})
	if c.call == nil {
		return nil, fmt.Errorf("%s:%d is no call of orrery.Check or orrery.CheckWith: call it in the test itself, or write the test by hand", filepath.Base(file), line)
	}
	c.path, _ = astutil.PathEnclosingInterval(c.file, c.call.Pos(), c.call.End())
	return c, c.declare(filepath.Dir(file))
}

// guessedName is what a package is most likely called.
func guessedName(path string) string {
	parts := strings.Split(path, "/")
	last := parts[len(parts)-1]
	if _, err := strconv.Atoi(strings.TrimPrefix(last, "v")); err == nil && strings.HasPrefix(last, "v") && len(parts) > 1 {
		// Of a module's later version it is the part before; of an API of Kubernetes it is the version.
		if !strings.HasPrefix(path, "k8s.io/") {
			last = parts[len(parts)-2]
		}
	}
	return strings.ReplaceAll(strings.TrimPrefix(last, "go-"), "-", "_")
}

func (c *Check) line(at token.Pos) int { return c.files.Position(at).Line }

// isCheck reports whether a call is of a check.
func (c *Check) isCheck(call *ast.CallExpr) bool {
	name := ""
	switch called := call.Fun.(type) {
	case *ast.SelectorExpr:
		if from, ok := called.X.(*ast.Ident); ok && c.pathOf(from.Name) == modulePath {
			name = called.Sel.Name
		}
	case *ast.Ident:
		if slices.Contains(c.imports, imported{".", modulePath}) {
			name = called.Name
		}
	}
	return name == "Check" && len(call.Args) >= 2 || name == "CheckWith" && len(call.Args) >= 3
}

// pathOf returns the path of the package that a name stands for, empty if it stands for none.
func (c *Check) pathOf(name string) string {
	for _, i := range c.imports {
		if i.name == name {
			return i.path
		}
	}
	return ""
}

// declare notes what the package declares.
func (c *Check) declare(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		file, err := parser.ParseFile(c.files, name, nil, parser.SkipObjectResolution)
		if err != nil || file.Name.Name != c.file.Name.Name {
			continue // of another package, or of none
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					c.declared[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, name := range namesIn(d) {
					c.declared[name] = true
				}
			}
		}
	}
	return nil
}

// namesIn returns the names that a declaration declares.
func namesIn(d *ast.GenDecl) []string {
	var names []string
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, spec.Name.Name)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// system is the argument that is the system, and test the one that is the test.
func (c *Check) system() ast.Expr {
	if name := c.call.Fun; len(c.call.Args) > 2 && strings.HasSuffix(nameOf(name), "With") {
		return c.call.Args[2]
	}
	return c.call.Args[1]
}

func (c *Check) test() ast.Expr { return c.call.Args[0] }

// nameOf returns the name of what is called.
func nameOf(called ast.Expr) string {
	switch called := called.(type) {
	case *ast.SelectorExpr:
		return called.Sel.Name
	case *ast.Ident:
		return called.Name
	}
	return ""
}

// ginkgo returns what stands before the names of Ginkgo, such as "ginkgo.", and whether the check is in a spec of
// Ginkgo.
func (c *Check) ginkgo() (before string, ok bool) {
	call, ok := c.test().(*ast.CallExpr)
	if !ok || nameOf(call.Fun) != "GinkgoT" && nameOf(call.Fun) != "GinkgoTB" {
		return "", false
	}
	if selected, ok := call.Fun.(*ast.SelectorExpr); ok {
		if from, ok := selected.X.(*ast.Ident); ok {
			return from.Name + ".", true
		}
	}
	return "", true
}

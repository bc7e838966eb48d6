package scaffold

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// copier writes code of the project so that it means the same in the test.
type copier struct {
	project *Project
	imports *imports
	// inside is the package that the test is part of, nil if it is in one of its own.
	inside *pkg
	// missing is what was left out or replaced, and what to do about it.
	missing []string
	// made are the variables of the test, by what defines them, and ahead the statements that do, in order.
	made  map[statement]string
	ahead []statement
}

// statement defines a variable of the test as one of the project is defined. It may be an error instead.
type statement struct {
	of, code string
	fails    bool
}

func (c *copier) miss(format string, args ...any) {
	c.missing = append(c.missing, fmt.Sprintf(format, args...))
}

// scope is where code comes from: a file, the body of a function, and what the manager is called there.
type scope struct {
	in      *source
	within  place
	manager string
	// defined is the variable that the code defines: in it, the name stands for something else, mostly for a package.
	defined string
}

// defining returns the scope of code that defines a variable.
func (s scope) defining(variable string) scope {
	s.defined = variable
	return s
}

// expression returns an expression as it is written in the test. What keeps it from being copied is returned, if
// anything does.
func (c *copier) expression(from scope, e ast.Expr, depth int) (code, obstacle string) {
	before := len(c.ahead)
	defer func() {
		if obstacle != "" {
			c.giveUp(before)
		}
	}()
	copied, err := parser.ParseExpr(c.text(e))
	if err != nil {
		return "", "code that does not compile"
	}
	// The keys of a map are values; those of other literals are names of fields.
	inMap := map[ast.Node]bool{}
	ast.Inspect(copied, func(node ast.Node) bool {
		if literal, ok := node.(*ast.CompositeLit); ok {
			if _, isMap := literal.Type.(*ast.MapType); isMap {
				for _, element := range literal.Elts {
					inMap[element] = true
				}
			}
		}
		return true
	})
	holder := &ast.ParenExpr{X: copied}
	astutil.Apply(holder, func(cursor *astutil.Cursor) bool {
		switch node := cursor.Node().(type) {
		case *ast.FuncLit:
			obstacle = "a function"
			return false
		case *ast.Ident:
			if cursor.Name() == "Sel" || cursor.Name() == "Key" && !inMap[cursor.Parent()] {
				return false
			}
			replaced, why := c.name(from, node.Name, depth)
			if why != "" {
				obstacle = why
				return false
			}
			cursor.Replace(replaced)
			return false
		case *ast.CallExpr:
			switch {
			case c.isType(from.in, node.Fun, runtimePath, "SetupSignalHandler"), c.isType(from.in, node.Fun, runtimePath+"/pkg/manager/signals", "SetupSignalHandler"):
				cursor.Replace(c.background())
				return false
			case c.configures(from.in, node.Fun):
				cursor.Replace(fromManager("GetConfig")) // which does not end the process where there is no cluster
				return false
			}
		}
		return obstacle == ""
	}, nil)
	if obstacle != "" {
		return "", obstacle
	}
	return c.text(holder.X), ""
}

// fromManager is what a method of the manager returns.
func fromManager(method string) ast.Expr {
	return &ast.CallExpr{Fun: &ast.SelectorExpr{X: ast.NewIdent("mgr"), Sel: ast.NewIdent(method)}}
}

func (c *copier) background() ast.Expr {
	return &ast.CallExpr{Fun: c.selector("context", "context", "Background")}
}

// name returns what stands in the test for a name in the project's code.
func (c *copier) name(from scope, name string, depth int) (stands ast.Expr, obstacle string) {
	switch {
	case name == from.manager:
		return ast.NewIdent("mgr"), ""
	case types.Universe.Lookup(name) != nil:
		return ast.NewIdent(name), ""
	}
	if name != from.defined && from.within.declares(name) {
		return c.variable(from.defining(name), name, depth)
	}
	if imported := from.in.importOf(name); imported != "" {
		return ast.NewIdent(c.imports.name(name, imported)), ""
	}
	declared := packageValue(from.in.of, name)
	if declared != nil && len(declared.Values) == 1 && strings.HasSuffix(c.text(declared.Values[0]), "runtime.NewScheme()") {
		return fromManager("GetScheme"), ""
	}
	switch {
	case !from.in.of.has(name):
	case from.in.of == c.inside:
		return ast.NewIdent(name), ""
	case ast.IsExported(name) && from.in.of.name != "main":
		return c.selector(from.in.of.name, from.in.of.path, name), ""
	}
	return nil, name
}

// configures reports whether a function returns how to reach the API server, as main.go finds it out.
func (c *copier) configures(in *source, function ast.Expr) bool {
	for _, path := range []string{runtimePath, runtimePath + "/pkg/client/config"} {
		for _, name := range []string{"GetConfigOrDie", "GetConfig", "GetConfigWithContext"} {
			if c.isType(in, function, path, name) {
				return true
			}
		}
	}
	return c.isType(in, function, "k8s.io/client-go/tools/clientcmd", "BuildConfigFromFlags") || c.isType(in, function, "k8s.io/client-go/rest", "InClusterConfig")
}

// ofKubernetes reports whether a function is one of the libraries of Kubernetes.
func ofKubernetes(in *source, function ast.Expr) bool {
	selected, ok := function.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := selected.X.(*ast.Ident)
	if !ok {
		return false
	}
	host, _, _ := strings.Cut(in.importOf(from.Name), "/")
	return host == "k8s.io" || host == "sigs.k8s.io"
}

// makes reports whether an expression may be another value each time: what several controllers are given has to be one.
func makes(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.CallExpr, *ast.CompositeLit:
			found = true
		}
		return !found
	})
	return found
}

// define returns the variable of the test for a definition.
func (c *copier) define(s statement) string {
	if c.made[s] == "" {
		if c.made == nil {
			c.made = map[statement]string{}
		}
		c.made[s] = c.imports.reserve(s.of)
		c.ahead = append(c.ahead, s)
	}
	return c.made[s]
}

// giveUp forgets the variables that were defined for code which cannot be copied as a whole.
func (c *copier) giveUp(from int) {
	for _, s := range c.ahead[from:] {
		delete(c.imports.taken, c.made[s])
		delete(c.made, s)
	}
	c.ahead = c.ahead[:from]
}

// variable returns what stands for a local variable: what it is made of, if that can be copied. Of a flag that is its
// default, and of a client that could not be made a variable of the test. What else may fail to be made mostly reaches
// out to a world that the check does not have.
func (c *copier) variable(from scope, name string, depth int) (stands ast.Expr, obstacle string) {
	made, call := from.within.definition(name), from.within.fallible(name)
	switch {
	case depth == 0, made == nil && call == nil:
		return nil, name
	case made == nil && c.configures(from.in, call.Fun):
		return fromManager("GetConfig"), ""
	case made == nil && !ofKubernetes(from.in, call.Fun):
		return nil, name
	case made == nil:
		code, obstacle := c.expression(from, call, depth-1)
		if obstacle != "" {
			return nil, name
		}
		return ast.NewIdent(c.define(statement{name, code, true})), ""
	}
	code, obstacle := c.expression(from, flagged(from.within.body, name, made), depth-1)
	if obstacle != "" {
		return nil, name
	}
	if from.within.uses(name) > 1 && makes(made) && !strings.HasPrefix(code, "mgr.") && !strings.HasSuffix(code, ".Background()") {
		return ast.NewIdent(c.define(statement{of: name, code: code})), ""
	}
	copied, err := parser.ParseExpr(code)
	if err != nil {
		return nil, name
	}
	return copied, ""
}

// packageValue returns the declaration of a variable or constant of a package.
func packageValue(of *pkg, name string) *ast.ValueSpec {
	for _, f := range of.files {
		for _, d := range f.syntax.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				if v := value(g, name); v != nil {
					return v
				}
			}
		}
	}
	return nil
}

// selector returns an exported name of a package as it is written in the test.
func (c *copier) selector(suggested, path, name string) ast.Expr {
	if c.inside != nil && c.inside.path == path {
		return ast.NewIdent(name)
	}
	return &ast.SelectorExpr{X: ast.NewIdent(c.imports.name(suggested, path)), Sel: ast.NewIdent(name)}
}

// text returns code as it is printed.
func (c *copier) text(node ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), node); err != nil {
		return ""
	}
	return b.String()
}

// flagDefault returns the default of the flag that a variable is for, nil if it is for none.
func flagDefault(within ast.Node, name string) (found ast.Expr) {
	eachFlag(within, func(filled, standard ast.Expr) {
		if isNamed(filled, name) {
			found = standard
		}
	})
	return found
}

// flagged returns what a variable is made of with the defaults of the flags that are for its fields.
func flagged(within ast.Node, name string, made ast.Expr) ast.Expr {
	literal, ok := made.(*ast.CompositeLit)
	if !ok {
		return made
	}
	filled := *literal
	eachFlag(within, func(field, standard ast.Expr) {
		selected, ok := field.(*ast.SelectorExpr)
		if ok && isNamed(selected.X, name) && elementOf(&filled, selected.Sel.Name) == nil {
			filled.Elts = append(slices.Clip(filled.Elts), &ast.KeyValueExpr{Key: ast.NewIdent(selected.Sel.Name), Value: standard})
		}
	})
	return &filled
}

// eachFlag calls a function with what each flag is for and with its default.
func eachFlag(within ast.Node, visit func(filled, standard ast.Expr)) {
	ast.Inspect(within, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		const arguments = 4 // where the value goes, the name, the default, and what it is for
		if !ok || len(call.Args) < arguments {
			return true
		}
		called, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !strings.HasSuffix(called.Sel.Name, "Var") {
			return true
		}
		if address, ok := call.Args[0].(*ast.UnaryExpr); ok && address.Op == token.AND {
			visit(address.X, call.Args[2])
		}
		return true
	})
}

// zero returns a value for a parameter that nothing is known of but its type.
func (c *copier) zero(in *source, t ast.Expr) string {
	if name, ok := t.(*ast.Ident); ok {
		switch name.Name {
		case "string":
			return `""`
		case "bool":
			return "false"
		case "int", "int32", "int64":
			return "0"
		}
	}
	if c.isType(in, t, "context", "Context") {
		return c.text(c.background())
	}
	nothing := scope{in: in, within: place{body: &ast.BlockStmt{}}}
	if star, pointer := t.(*ast.StarExpr); pointer && c.project.declaresStruct(in, star.X) {
		if code, obstacle := c.expression(nothing, star.X, 0); obstacle == "" {
			return "&" + code + "{}"
		}
	}
	code, obstacle := c.expression(nothing, t, 0)
	if obstacle != "" {
		return "nil"
	}
	return "*new(" + code + ")"
}

// declaresStruct reports whether a type is a struct of the project.
func (p *Project) declaresStruct(in *source, t ast.Expr) bool {
	if _, generic := t.(*ast.IndexExpr); generic {
		return false
	}
	of, name := p.namedType(in, t)
	if of == nil {
		return false
	}
	declared, _ := of.structure(name)
	return declared != nil
}

// suggested returns what the manager has for a field or a parameter of a type.
func (c *copier) suggested(in *source, t ast.Expr, controller string) (code string, ok bool) {
	pointed := false
	if star, isPointer := t.(*ast.StarExpr); isPointer {
		t, pointed = star.X, true
	}
	const clientPath = runtimePath + "/pkg/client"
	for _, made := range []struct {
		path, name string
		pointed    bool
		by         string
	}{
		{"k8s.io/client-go/kubernetes", "Interface", false, "NewForConfigOrDie"},
		{"k8s.io/client-go/kubernetes", "Clientset", true, "NewForConfigOrDie"},
		{"k8s.io/client-go/dynamic", "Interface", false, "NewForConfigOrDie"},
		{"k8s.io/client-go/metadata", "Interface", false, "NewForConfigOrDie"},
		{"k8s.io/client-go/discovery", "DiscoveryInterface", false, "NewDiscoveryClientForConfigOrDie"},
	} {
		if pointed == made.pointed && c.isType(in, t, made.path, made.name) {
			return c.text(c.selector(guessedName(made.path), made.path, made.by)) + "(mgr.GetConfig())", true
		}
	}
	for _, known := range []struct {
		path, name string
		pointed    bool
		code       string
	}{
		{clientPath, "Client", false, "mgr.GetClient()"},
		{clientPath, "Writer", false, "mgr.GetClient()"},
		{clientPath, "Reader", false, "mgr.GetAPIReader()"},
		{"k8s.io/apimachinery/pkg/runtime", "Scheme", true, "mgr.GetScheme()"},
		{"k8s.io/apimachinery/pkg/api/meta", "RESTMapper", false, "mgr.GetRESTMapper()"},
		{"k8s.io/client-go/rest", "Config", true, "mgr.GetConfig()"},
		{"k8s.io/client-go/tools/record", "EventRecorder", false, fmt.Sprintf("mgr.GetEventRecorderFor(%q)", controller)},
		{"k8s.io/client-go/tools/events", "EventRecorder", false, fmt.Sprintf("mgr.GetEventRecorder(%q)", controller)},
		{"github.com/go-logr/logr", "Logger", false, "mgr.GetLogger()"},
		{runtimePath, managerType, false, "mgr"},
		{runtimePath + "/pkg/manager", managerType, false, "mgr"},
		{runtimePath + "/pkg/cache", "Cache", false, "mgr.GetCache()"},
	} {
		if pointed == known.pointed && c.isType(in, t, known.path, known.name) {
			return known.code, true
		}
	}
	return "", false
}

// isType reports whether a type, or a function, is a named one of a package of others.
func (c *copier) isType(in *source, t ast.Expr, path, name string) bool {
	selected, ok := t.(*ast.SelectorExpr)
	if !ok || selected.Sel.Name != name {
		return false
	}
	from, ok := selected.X.(*ast.Ident)
	return ok && in.importOf(from.Name) == path
}

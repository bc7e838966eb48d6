package scaffold

import (
	"go/ast"
	"slices"
	"strings"
)

// What registers controllers and webhooks on a manager, and where it comes from.
const (
	runtimePath = "sigs.k8s.io/controller-runtime"
	managerType = "Manager"
)

// setup is a function of the project that takes a manager and registers something on it.
type setup struct {
	in   *source
	decl *ast.FuncDecl
	// receiver is the name of the type whose method it is, empty for a plain function.
	receiver string
	webhook  bool
	// besides is how much it returns besides an error.
	besides int
}

func (s *setup) name() string { return s.decl.Name.Name }

// findSetups finds the functions that register controllers or webhooks on a manager they get, and those that call such
// functions with it.
func (p *Project) findSetups() {
	known := map[*ast.FuncDecl]bool{}
	for again := true; again; {
		again = false
		p.eachFunction(func(f *source, decl *ast.FuncDecl) {
			if known[decl] || decl.Name.Name == "" || managerOf(f, decl) < 0 || !returnsError(decl) {
				return
			}
			controllers, webhooks := registersIn(f, decl.Body)
			if !controllers && !webhooks && !p.callsSetup(f, decl.Body) {
				return
			}
			known[decl], again = true, true
			p.setups = append(p.setups, &setup{in: f, decl: decl, receiver: receiverOf(decl), webhook: webhooks && !controllers, besides: decl.Type.Results.NumFields() - 1})
		})
	}
}

// eachFunction goes through the functions of the project that have a body, in order. Those that variables of a package
// have in their values, such as what a command runs, have no name.
func (p *Project) eachFunction(visit func(*source, *ast.FuncDecl)) {
	for _, f := range p.sources() {
		for _, d := range f.syntax.Decls {
			switch decl := d.(type) {
			case *ast.FuncDecl:
				if decl.Body != nil {
					visit(f, decl)
				}
			case *ast.GenDecl:
				ast.Inspect(decl, func(node ast.Node) bool {
					literal, ok := node.(*ast.FuncLit)
					if ok {
						visit(f, &ast.FuncDecl{Name: ast.NewIdent(""), Type: literal.Type, Body: literal.Body})
					}
					return !ok
				})
			}
		}
	}
}

// managerOf returns which parameter of a function is a manager, -1 if none is.
func managerOf(f *source, decl *ast.FuncDecl) int {
	return slices.IndexFunc(parameters(decl), func(t ast.Expr) bool {
		selected, ok := t.(*ast.SelectorExpr)
		if !ok || selected.Sel.Name != managerType {
			return false
		}
		from, ok := selected.X.(*ast.Ident)
		imported := ""
		if ok {
			imported = f.importOf(from.Name)
		}
		return imported == runtimePath || imported == runtimePath+"/pkg/manager"
	})
}

// importOf returns the path of the package that a name stands for in a file, empty if it is none.
func (f *source) importOf(name string) string {
	if imported, ok := f.imports[name]; ok {
		return imported
	}
	return ""
}

// parameters returns the types of the parameters of a function, one for each.
func parameters(decl *ast.FuncDecl) []ast.Expr {
	var types []ast.Expr
	for _, field := range decl.Type.Params.List {
		for range max(1, len(field.Names)) {
			types = append(types, field.Type)
		}
	}
	return types
}

// returnsError reports whether the last of what a function returns is an error.
func returnsError(decl *ast.FuncDecl) bool {
	results := decl.Type.Results
	return results.NumFields() > 0 && isNamed(results.List[len(results.List)-1].Type, "error")
}

// receiverOf returns the name of the type whose method a function is, empty if it is none.
func receiverOf(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return ""
	}
	return typeName(decl.Recv.List[0].Type)
}

// typeName returns the name at the root of a type.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	}
	return ""
}

// registersIn reports whether code builds controllers, or webhooks.
func registersIn(f *source, body ast.Node) (controllers, webhooks bool) {
	ast.Inspect(body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch builderOf(f, call) {
		case "controller":
			controllers = true
		case "webhook":
			webhooks = true
		}
		return true
	})
	return controllers, webhooks
}

// builderOf returns what a call begins to build on a manager: "controller", "webhook", or nothing.
func builderOf(f *source, call *ast.CallExpr) string {
	called := call.Fun
	if index, ok := called.(*ast.IndexExpr); ok {
		called = index.X
	}
	selected, ok := called.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	from, ok := selected.X.(*ast.Ident)
	if !ok || !strings.HasPrefix(f.importOf(from.Name), runtimePath) {
		return ""
	}
	switch selected.Sel.Name {
	case "NewControllerManagedBy", "ControllerManagedBy", "TypedControllerManagedBy":
		return "controller"
	case "NewWebhookManagedBy", "WebhookManagedBy":
		return "webhook"
	case "New", "NewTyped":
		if f.importOf(from.Name) == runtimePath+"/pkg/controller" {
			return "controller"
		}
	}
	return ""
}

// callsSetup reports whether code calls one of the set-ups that are known.
func (p *Project) callsSetup(f *source, body ast.Node) bool {
	found := false
	ast.Inspect(body, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok && p.setupCalled(f, body, call) != nil {
			found = true
		}
		return !found
	})
	return found
}

// setupCalled returns the set-up that a call in some code is of, nil if it is of none.
func (p *Project) setupCalled(f *source, body ast.Node, call *ast.CallExpr) *setup {
	within := place{body, call.Pos()}
	switch called := call.Fun.(type) {
	case *ast.Ident:
		return p.setupNamed(f.of, "", called.Name)
	case *ast.SelectorExpr:
		if from, ok := called.X.(*ast.Ident); ok {
			if imported := f.importOf(from.Name); imported != "" && within.definition(from.Name) == nil && within.fallible(from.Name) == nil {
				return p.setupNamed(p.packageAt(imported), "", called.Sel.Name)
			}
		}
		if of, name := p.typeOf(f, within, called.X, maxDepth); of != nil {
			return p.setupNamed(of, name, called.Sel.Name)
		}
	}
	return nil
}

func (p *Project) setupNamed(of *pkg, receiver, name string) *setup {
	i := slices.IndexFunc(p.setups, func(s *setup) bool { return s.in.of == of && s.receiver == receiver && s.name() == name })
	if of == nil || i < 0 {
		return nil
	}
	return p.setups[i]
}

// maxDepth is how many definitions of variables are followed, one leading to the next.
const maxDepth = 4

// typeOf returns the package and the name of the type of a value, if it is a type of the project and can be told from
// how the value is made.
func (p *Project) typeOf(f *source, within place, value ast.Expr, depth int) (*pkg, string) {
	if depth == 0 {
		return nil, ""
	}
	switch v := value.(type) {
	case *ast.ParenExpr:
		return p.typeOf(f, within, v.X, depth)
	case *ast.UnaryExpr:
		return p.typeOf(f, within, v.X, depth)
	case *ast.CompositeLit:
		return p.namedType(f, v.Type)
	case *ast.Ident:
		if made := within.definition(v.Name); made != nil {
			return p.typeOf(f, within, made, depth-1)
		}
		if call := within.fallible(v.Name); call != nil {
			return p.resultOf(f, call)
		}
	case *ast.CallExpr:
		return p.resultOf(f, v)
	}
	return nil, ""
}

// namedType returns the package and the name of a type of the project.
func (p *Project) namedType(f *source, t ast.Expr) (*pkg, string) {
	switch t := t.(type) {
	case *ast.Ident:
		return f.of, t.Name
	case *ast.StarExpr:
		return p.namedType(f, t.X)
	case *ast.IndexExpr:
		return p.namedType(f, t.X)
	case *ast.SelectorExpr:
		if from, ok := t.X.(*ast.Ident); ok {
			return p.packageAt(f.importOf(from.Name)), t.Sel.Name
		}
	}
	return nil, ""
}

// resultOf returns the type of what a call returns first: of new, or of a function of the project.
func (p *Project) resultOf(f *source, call *ast.CallExpr) (*pkg, string) {
	of, name := f.of, ""
	switch called := call.Fun.(type) {
	case *ast.Ident:
		if name = called.Name; name == "new" && len(call.Args) == 1 {
			return p.namedType(f, call.Args[0])
		}
	case *ast.SelectorExpr:
		if from, ok := called.X.(*ast.Ident); ok {
			of, name = p.packageAt(f.importOf(from.Name)), called.Sel.Name
		}
	}
	if in, decl := of.function(name); decl != nil && decl.Type.Results != nil && len(decl.Type.Results.List) > 0 {
		return p.namedType(in, decl.Type.Results.List[0].Type)
	}
	return nil, ""
}

// within returns the set-ups that a registration runs: its own, and those that it calls.
func (p *Project) within(r *registration) []*setup {
	if r.setup == nil {
		return nil
	}
	all := []*setup{r.setup}
	for i := 0; i < len(all); i++ {
		s := all[i]
		ast.Inspect(s.decl.Body, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok {
				if called := p.setupCalled(s.in, s.decl.Body, call); called != nil && !slices.Contains(all, called) {
					all = append(all, called)
				}
			}
			return true
		})
	}
	return all
}

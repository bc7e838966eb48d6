package scaffold

import (
	"fmt"
	"go/ast"
	"strings"
)

// call returns the code that registers what a registration does, an expression that is an error. It is empty if there
// is none.
func (c *copier) call(r *registration) string {
	from := scope{in: r.in, within: r.within, manager: r.manager}
	if r.setup == nil {
		return c.builtOnTheSpot(r, from)
	}
	s := r.setup
	switch {
	case s.in.of.name == "main" && c.inside != s.in.of,
		c.inside != s.in.of && !s.exported():
		c.miss("%s (%s) cannot be called from another package: export it, and call it in the set-up", s.title(), c.project.at(s.decl))
		return ""
	case s.receiver == "":
		return c.text(c.selector(s.in.of.name, s.in.of.path, s.name())) + c.arguments(r, from)
	}
	return c.receiver(r, from) + "." + s.name() + c.arguments(r, from)
}

// exported tells whether another package can call the set-up.
func (s *setup) exported() bool {
	return ast.IsExported(s.name()) && (s.receiver == "" || ast.IsExported(s.receiver))
}

// title names a set-up as people do.
func (s *setup) title() string {
	if s.receiver == "" {
		return s.in.of.name + "." + s.name()
	}
	return s.in.of.name + "." + s.receiver + "." + s.name()
}

// builtOnTheSpot copies a chain of calls that builds a controller.
func (c *copier) builtOnTheSpot(r *registration, from scope) string {
	where := c.project.at(r.call)
	const remedy = "move it into a function func(ctrl.Manager) error that main.go and the test call"
	if r.unfinished {
		c.miss("%s builds a controller there and then: %s", where, remedy)
		return ""
	}
	code, obstacle := c.expression(from, r.call, maxDepth)
	if obstacle != "" {
		c.miss("%s builds a controller with %s, which the test does not have: %s", where, obstacle, remedy)
		return ""
	}
	c.miss("%s builds a controller there and then, and the test repeats that: better %s", where, remedy)
	return code
}

// arguments returns the arguments of a set-up, in parentheses.
func (c *copier) arguments(r *registration, from scope) string {
	s := r.setup
	return c.passed(s.in, s.decl, s.title(), r.call, managerOf(s.in, s.decl), from)
}

// passed returns the arguments of a function as a call passes them, in parentheses, or what is known of their types if
// there is no call, or if it passes what cannot be copied. That which is to be the manager is.
func (c *copier) passed(in *source, decl *ast.FuncDecl, title string, call *ast.CallExpr, manager int, from scope) string {
	var all []string
	for i, t := range parameters(decl) {
		if _, variadic := t.(*ast.Ellipsis); variadic {
			break
		}
		code := "mgr"
		if i != manager {
			obstacle := "nothing"
			if call != nil && i < len(call.Args) {
				code, obstacle = c.copied(from, call.Args[i])
			}
			known := false
			if obstacle != "" {
				if code, known = c.suggested(in, t, ""); !known {
					code = c.zero(in, t)
				}
			}
			if obstacle != "" && !known && !strings.HasSuffix(code, ".Background()") {
				where := c.project.at(decl)
				if call != nil {
					where = c.project.at(call)
				}
				c.miss("argument %d of %s is %s in the test, as %s passes %s: say what the check is to use", i+1, title, code, where, obstacle)
			}
		}
		all = append(all, code)
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// constructed returns a call of a function of the project that makes a value, with what is known of the arguments that
// cannot be copied, or the variable of the test for what it returns besides an error. It is empty if the value is not
// made so.
func (c *copier) constructed(from scope, e ast.Expr) string {
	variable, results := "", 1
	call, _ := e.(*ast.CallExpr)
	if ident, named := e.(*ast.Ident); named {
		variable, from = ident.Name, from.defining(ident.Name)
		if call, _ = from.within.definition(variable).(*ast.CallExpr); call == nil {
			call, results = from.within.fallible(variable), 2
		}
	}
	if call == nil {
		return ""
	}
	of, name := from.in.of, ""
	switch called := call.Fun.(type) {
	case *ast.Ident:
		name = called.Name
	case *ast.SelectorExpr:
		if by, ok := called.X.(*ast.Ident); ok {
			of, name = c.project.packageAt(from.in.importOf(by.Name)), called.Sel.Name
		}
	}
	in, decl := of.function(name)
	if decl == nil || decl.Type.Results.NumFields() != results || of != c.inside && (!decl.Name.IsExported() || of.name == "main") {
		return ""
	}
	code := c.text(c.selector(of.name, of.path, name)) + c.passed(in, decl, of.name+"."+name, call, managerOf(in, decl), from)
	if results == 2 {
		return c.define(statement{variable, code, true})
	}
	return code
}

// copied returns an expression for the test. A variable that is a flag has its default.
func (c *copier) copied(from scope, e ast.Expr) (code, obstacle string) {
	if ident, ok := e.(*ast.Ident); ok {
		if by := flagDefault(from.within.body, ident.Name); by != nil {
			return c.expression(from, by, maxDepth)
		}
	}
	return c.expression(from, e, maxDepth)
}

// receiver returns the value whose method a set-up is, in parentheses where it needs them.
func (c *copier) receiver(r *registration, from scope) string {
	s := r.setup
	name := c.text(c.selector(s.in.of.name, s.in.of.path, s.receiver))
	declared, in := s.in.of.structure(s.receiver)
	var made ast.Expr
	if r.call != nil {
		made = from.within.literal(r.call.Fun.(*ast.SelectorExpr).X)
	}
	switch made := made.(type) {
	case *ast.CompositeLit:
		return "(&" + name + c.fields(r, from, made, declared, in) + ")"
	case nil:
		if r.call == nil {
			break
		}
		if code, obstacle := c.expression(from, r.call.Fun.(*ast.SelectorExpr).X, maxDepth); obstacle == "" {
			return code
		}
		if code := c.constructed(from, r.call.Fun.(*ast.SelectorExpr).X); code != "" {
			return code
		}
		c.miss("%s is made of what the manager has, as %s makes it in a way that cannot be copied: make it as there", s.receiver, c.project.at(r.call))
	}
	return "(&" + name + c.manufactured(r, declared, in) + ")"
}

// structure returns the declaration of a struct type, and its file.
func (of *pkg) structure(name string) (*ast.StructType, *source) {
	for _, f := range of.files {
		for _, d := range f.syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && t.Name.Name == name {
					s, _ := t.Type.(*ast.StructType)
					return s, f
				}
			}
		}
	}
	return nil, nil
}

// fields returns the fields of a reconciler as main.go sets them, in braces.
func (c *copier) fields(r *registration, from scope, made *ast.CompositeLit, declared *ast.StructType, in *source) string {
	if len(made.Elts) == 0 {
		return "{}"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, element := range made.Elts {
		pair, keyed := element.(*ast.KeyValueExpr)
		if !keyed {
			return c.manufactured(r, declared, in)
		}
		name := c.text(pair.Key)
		code, obstacle := c.copied(from, pair.Value)
		if obstacle != "" {
			suggested := false
			if t := fieldType(declared, name); t != nil {
				code, suggested = c.suggested(in, t, strings.ToLower(r.setup.receiver))
			}
			if !suggested {
				fmt.Fprintf(&b, "// %s: %s has %s here; give it what the check is to use.\n", name, c.project.at(pair), obstacle)
				c.miss("%s.%s is left out, as %s sets it by %s, which the test does not have: set it in the test", r.setup.receiver, name, c.project.at(pair), obstacle)
				continue
			}
		}
		fmt.Fprintf(&b, "%s: %s,\n", name, code)
	}
	b.WriteString("}")
	return b.String()
}

// manufactured returns those fields of a reconciler, in braces, that the manager has something for.
func (c *copier) manufactured(r *registration, declared *ast.StructType, in *source) string {
	if declared == nil {
		return "{}"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, field := range declared.Fields.List {
		for _, name := range namesOf(field) {
			if code, ok := c.suggested(in, field.Type, strings.ToLower(r.setup.receiver)); ok && (ast.IsExported(name) || c.inside == r.setup.in.of) {
				fmt.Fprintf(&b, "%s: %s,\n", name, code)
			}
		}
	}
	b.WriteString("}")
	return b.String()
}

// namesOf returns the names of a field; one that is embedded is called after its type.
func namesOf(field *ast.Field) []string {
	if len(field.Names) == 0 {
		t := field.Type
		if star, ok := t.(*ast.StarExpr); ok {
			t = star.X
		}
		switch t := t.(type) {
		case *ast.SelectorExpr:
			return []string{t.Sel.Name}
		case *ast.Ident:
			return []string{t.Name}
		}
	}
	var names []string
	for _, name := range field.Names {
		names = append(names, name.Name)
	}
	return names
}

// fieldType returns the type of a field of a struct.
func fieldType(declared *ast.StructType, name string) ast.Expr {
	if declared == nil {
		return nil
	}
	for _, field := range declared.Fields.List {
		for _, n := range namesOf(field) {
			if n == name {
				return field.Type
			}
		}
	}
	return nil
}

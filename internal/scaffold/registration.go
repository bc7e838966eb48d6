package scaffold

import (
	"go/ast"
	"slices"
)

// registration is a place that sets something up on a manager, or a set-up that nobody calls.
type registration struct {
	// setup is what is called, nil where controllers are built on the spot.
	setup *setup
	// in is the file, within the body of the function, and call what is called there; call is nil if nobody calls the
	// set-up.
	in     *source
	within place
	call   *ast.CallExpr
	// manager is the name of the manager there.
	manager string
	// unfinished tells that what is built on the spot is no single call that returns an error.
	unfinished bool
}

// findRegistrations finds where set-ups are called, other than by each other, and where controllers are built without a
// set-up. Set-ups that are called nowhere come last.
func (p *Project) findRegistrations() {
	within := map[*ast.FuncDecl]bool{}
	for _, s := range p.setups {
		within[s.decl] = true
	}
	called := map[*setup]bool{}
	p.eachFunction(func(f *source, decl *ast.FuncDecl) {
		ast.Inspect(decl.Body, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s := p.setupCalled(f, decl.Body, call); s != nil {
				if !within[decl] {
					p.registrations = append(p.registrations, &registration{setup: s, in: f, within: place{decl.Body, call.Pos()}, call: call, manager: managerAmong(call, managerOf(s.in, s.decl))})
				}
				called[s] = true
			}
			return true
		})
		if !within[decl] {
			p.findBuiltOnTheSpot(f, decl)
		}
	})
	for _, s := range p.setups {
		if !called[s] {
			p.registrations = append(p.registrations, &registration{setup: s, in: s.in, within: place{body: s.decl.Body}})
		}
	}
	slices.SortStableFunc(p.registrations, func(a, b *registration) int { return rank(a) - rank(b) })
}

// rank lets controllers come before webhooks, which are asked about what they write.
func rank(r *registration) int {
	if r.setup != nil && r.setup.webhook {
		return 1
	}
	return 0
}

// managerAmong returns the name of the manager among the arguments of a call.
func managerAmong(call *ast.CallExpr, position int) string {
	if position >= 0 && position < len(call.Args) {
		if name, ok := call.Args[position].(*ast.Ident); ok {
			return name.Name
		}
	}
	return ""
}

// findBuiltOnTheSpot finds controllers that a function which is no set-up builds.
func (p *Project) findBuiltOnTheSpot(f *source, decl *ast.FuncDecl) {
	ast.Inspect(decl.Body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if begin := chained(f, call); begin != nil {
			r := &registration{in: f, within: place{decl.Body, call.Pos()}, call: call, manager: managerAmong(begin, 0)}
			if selected, ok := call.Fun.(*ast.SelectorExpr); !ok || selected.Sel.Name != "Complete" {
				r.unfinished = true
			}
			p.registrations = append(p.registrations, r)
			return false
		}
		return true
	})
}

// chained returns the call that a chain of calls begins with, if that builds a controller.
func chained(f *source, call *ast.CallExpr) *ast.CallExpr {
	for {
		if builderOf(f, call) == "controller" {
			return call
		}
		selected, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		before, ok := selected.X.(*ast.CallExpr)
		if !ok {
			return nil
		}
		call = before
	}
}

// leftOut says what else is done with the managers on which controllers are set up, and is no part of the test.
func (p *Project) leftOut() []string {
	var all []string
	seen := map[ast.Node]bool{}
	for _, r := range p.registrations {
		if r.manager == "" || seen[r.within.body] {
			continue
		}
		seen[r.within.body] = true
		ast.Inspect(r.within.body, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			if what := p.besides(r, call); what != "" {
				all = append(all, p.at(call)+" "+what)
			}
			return true
		})
	}
	return all
}

// besides says what a call beside a registration does with the manager, nothing if that is a part of the test, or none
// of its business.
func (p *Project) besides(r *registration, call *ast.CallExpr) string {
	name, of := "", ""
	switch called := call.Fun.(type) {
	case *ast.Ident:
		if _, decl := r.in.of.function(called.Name); decl != nil {
			name = called.Name
		}
	case *ast.SelectorExpr:
		if on, ok := called.X.(*ast.CallExpr); ok {
			if asked, ok := on.Fun.(*ast.SelectorExpr); ok && isNamed(asked.X, r.manager) {
				of = asked.Sel.Name + "." + called.Sel.Name
			}
		}
		if from, ok := called.X.(*ast.Ident); ok && p.packageAt(r.in.importOf(from.Name)) != nil {
			name = from.Name + "." + called.Sel.Name
		}
	}
	gives := slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return isNamed(e, r.manager) })
	switch {
	case of == "GetFieldIndexer.IndexField":
		return "indexes a field, which the test leaves out: copy it to the beginning of each set-up whose controllers list by it"
	case of == "GetWebhookServer.Register":
		return "registers a webhook by hand, which the test leaves out: copy it to a set-up, and pass the file with its configuration with controllerruntime.WebhookConfigurations"
	case gives && name != "" && p.setupCalled(r.in, r.within.body, call) == nil:
		return "gives the manager to " + name + ", which the test does not call: copy the call to the beginning of each set-up that needs what it registers, such as indexes of fields"
	}
	return ""
}

// findSchemes finds what the project adds to its scheme: calls of functions such as AddToScheme of a package.
func (p *Project) findSchemes() {
	for _, f := range p.sources() {
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			selected, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || selected.Sel.Name != "AddToScheme" && selected.Sel.Name != "Install" {
				return true
			}
			from, ok := selected.X.(*ast.Ident)
			if !ok || f.importOf(from.Name) == "" {
				return true
			}
			added := reference{f.importOf(from.Name), selected.Sel.Name}
			if !slices.Contains(p.schemes, added) {
				p.schemes = append(p.schemes, added)
			}
			return true
		})
	}
}

// apis returns the packages of the project that declare AddToScheme, but for those that are generated with clients,
// which add what others declare.
func (p *Project) apis() []*pkg {
	var found []*pkg
	for _, folder := range p.folders() {
		if of := p.packages[folder]; of.has("AddToScheme") && of.name != "fake" && of.name != "scheme" {
			found = append(found, of)
		}
	}
	return found
}

// value returns the declaration of a variable or constant of a name, nil if there is none.
func value(d *ast.GenDecl, name string) *ast.ValueSpec {
	for _, spec := range d.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok && slices.ContainsFunc(v.Names, func(n *ast.Ident) bool { return n.Name == name }) {
			return v
		}
	}
	return nil
}

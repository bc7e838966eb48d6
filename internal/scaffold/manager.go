package scaffold

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// carried are the fields of a manager's options that its controllers see something of.
var carried = []string{"Cache", "NewCache", "Client", "NewClient", "Controller", "BaseContext"}

// addManager passes on what main.go says of the manager, as far as it matters to its controllers and can be copied.
func (t *testFile) addManager(p *Project, plan *Plan) {
	p.eachFunction(func(f *source, decl *ast.FuncDecl) {
		ast.Inspect(decl.Body, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok && len(call.Args) == 2 && p.concerns(f.of) && t.makesManager(f, call.Fun) {
				t.addOptions(p, plan, scope{in: f, within: place{decl.Body, call.Pos()}}, call.Args[1])
			}
			return true
		})
	})
}

// makesManager reports whether a function makes a manager.
func (t *testFile) makesManager(in *source, function ast.Expr) bool {
	return t.copier.isType(in, function, runtimePath, "NewManager") || t.copier.isType(in, function, runtimePath+"/pkg/manager", "New")
}

// addOptions passes on the options of a manager that was made somewhere.
func (t *testFile) addOptions(p *Project, plan *Plan, from scope, options ast.Expr) {
	made, _ := from.within.literal(options).(*ast.CompositeLit)
	if made == nil {
		plan.Missing = append(plan.Missing, fmt.Sprintf("the options of the manager (%s) are left out, as the code does not tell what they are there: say those that controllers see something of (%s) by controllerruntime.ManagerOptions",
			p.at(options), strings.Join(carried, ", ")))
		return
	}
	later := map[string]ast.Expr{}
	if variable, ok := options.(*ast.Ident); ok {
		later = fieldsSet(from.within.body, variable.Name)
	}
	var fields []string
	for _, field := range carried {
		value, why := later[field], "it is set apart from the others"
		if value == nil {
			if value = elementOf(made, field); value == nil {
				continue
			}
			code, obstacle := t.settled(from, value)
			switch {
			case field == "NewCache":
				why = "caches of one's own are not modelled, but what they hold is, if Cache says so"
			case obstacle == "":
				fields = append(fields, field+": "+code)
				continue
			default:
				why = "the test does not have " + obstacle
			}
		}
		plan.Missing = append(plan.Missing, fmt.Sprintf("%s of the manager's options (%s) is left out, as %s: say the same by controllerruntime.ManagerOptions, if it matters to controllers", field, p.at(value), why))
	}
	if len(fields) > 0 {
		name := t.copier.text(t.copier.selector("ctrl", runtimePath, "Options"))
		option := fmt.Sprintf("ManagerOptions(%s{%s})", name, strings.Join(fields, ", "))
		if !slices.Contains(t.options, option) {
			t.options = append(t.options, option)
			plan.Found = append(plan.Found, "options of the manager, as "+p.at(made)+" has them")
		}
	}
}

// settled returns an expression for the test that needs no manager.
func (t *testFile) settled(from scope, value ast.Expr) (code, obstacle string) {
	if variable, ok := value.(*ast.Ident); ok && len(fieldsSet(from.within.body, variable.Name)) > 0 {
		return "", variable.Name + ", which changes on the way"
	}
	ahead := len(t.copier.ahead)
	code, obstacle = t.copier.expression(from, value, maxDepth)
	if obstacle == "" && (len(t.copier.ahead) > ahead || strings.Contains(code, "mgr.")) {
		t.copier.giveUp(ahead)
		return "", "what the manager has"
	}
	return code, obstacle
}

// elementOf returns the value of a field in a composite literal, nil if it has none.
func elementOf(made *ast.CompositeLit, field string) ast.Expr {
	for _, element := range made.Elts {
		if pair, keyed := element.(*ast.KeyValueExpr); keyed && isNamed(pair.Key, field) {
			return pair.Value
		}
	}
	return nil
}

// fieldsSet returns the fields of a variable, by name, of which code sets anything after it was defined, each with what
// is set.
func fieldsSet(within ast.Node, variable string) map[string]ast.Expr {
	found := map[string]ast.Expr{}
	ast.Inspect(within, func(node ast.Node) bool {
		assigned, ok := node.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for _, target := range assigned.Lhs {
			if field := fieldOf(target, variable); field != "" {
				found[field] = target
			}
		}
		return true
	})
	return found
}

// fieldOf returns the field of a variable that something is part of, empty if it is part of none.
func fieldOf(e ast.Expr, variable string) string {
	for {
		switch v := e.(type) {
		case *ast.IndexExpr:
			e = v.X
		case *ast.SelectorExpr:
			if isNamed(v.X, variable) {
				return v.Sel.Name
			}
			e = v.X
		default:
			return ""
		}
	}
}

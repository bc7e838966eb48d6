package scaffold

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// place is a position in the body of a function, which says what the names of variables stand for. Without a position,
// all of the body counts.
type place struct {
	body ast.Node
	at   token.Pos
}

// assigned is a statement, or a declaration, that gives a variable one of some values.
type assigned struct {
	ast.Node
	values  []ast.Expr
	targets int
	index   int
	// failing is the call that returns the value and an error, nil if that is not how the variable gets its value.
	failing *ast.CallExpr
	// block is where the variable is defined, nil if it is only given another value.
	block ast.Node
}

// around reports whether a node goes round a position.
func around(node ast.Node, at token.Pos) bool { return node.Pos() <= at && at <= node.End() }

// assignments returns what gives a variable its values: where it is defined in the innermost block around the place,
// and where that variable is given others. There may be more of the same name elsewhere.
func (p place) assignments(name string) []assigned {
	all := p.assignmentsAnywhere(name)
	// scope returns the innermost block around a position in which the variable is defined, nil if there is none.
	scope := func(at token.Pos) ast.Node {
		var found ast.Node
		for _, a := range all {
			if a.block != nil && around(a.block, at) && (found == nil || a.block.Pos() > found.Pos()) {
				found = a.block
			}
		}
		return found
	}
	if p.at == token.NoPos {
		return all
	}
	own := scope(p.at)
	return slices.DeleteFunc(slices.Clone(all), func(a assigned) bool { return a.block != own && (a.block != nil || scope(a.Pos()) != own) })
}

// assignmentsAnywhere returns what gives variables of a name their values.
func (p place) assignmentsAnywhere(name string) []assigned {
	var all []assigned
	var visit func(block ast.Node)
	visit = func(block ast.Node) {
		note := func(node ast.Node, targets, values []ast.Expr, failing *ast.CallExpr, defines bool) {
			at := slices.IndexFunc(targets, func(target ast.Expr) bool { return isNamed(target, name) })
			if at < 0 {
				return
			}
			a := assigned{Node: node, values: values, targets: len(targets), index: at, failing: failing}
			if defines {
				a.block = block
			}
			all = append(all, a)
		}
		ast.Inspect(block, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.BlockStmt, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.CaseClause, *ast.FuncLit:
				if node != block {
					visit(node)
				}
				return node == block
			case *ast.AssignStmt:
				note(node, node.Lhs, node.Rhs, fallibleCall(node), node.Tok == token.DEFINE)
			case *ast.ValueSpec:
				var targets []ast.Expr
				for _, target := range node.Names {
					targets = append(targets, target)
				}
				note(node, targets, node.Values, nil, true)
			}
			return true
		})
	}
	visit(p.body)
	return all
}

// definition returns the value that a local variable gets where it is defined, nil if there is none or if it may get
// others.
func (p place) definition(name string) ast.Expr {
	var values []ast.Expr
	for _, a := range p.assignments(name) {
		switch {
		case len(a.values) == a.targets:
			values = append(values, a.values[a.index])
		case len(a.values) > 0:
			return nil
		}
	}
	if len(values) != 1 {
		return nil
	}
	return values[0]
}

// fallible returns the call that a local variable gets its value from where it is defined, if that returns an error
// besides. It is nil if the variable gets another value anywhere.
func (p place) fallible(name string) *ast.CallExpr {
	all := p.assignments(name)
	if len(all) != 1 || all[0].index > 0 {
		return nil
	}
	return all[0].failing
}

// fallibleCall returns the call of which a statement assigns a value and an error.
func fallibleCall(assigned *ast.AssignStmt) *ast.CallExpr {
	if len(assigned.Lhs) != 2 || len(assigned.Rhs) != 1 {
		return nil
	}
	call, ok := assigned.Rhs[0].(*ast.CallExpr)
	if failure, named := assigned.Lhs[1].(*ast.Ident); !ok || !named || !strings.Contains(strings.ToLower(failure.Name), "err") {
		return nil
	}
	return call
}

func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

// uses counts where code has a name, but for where it is defined.
func (p place) uses(name string) int {
	n := 0
	ast.Inspect(p.body, func(node ast.Node) bool {
		if ident, ok := node.(*ast.Ident); ok && ident.Name == name {
			n++
		}
		return true
	})
	return n - 1
}

// declares reports whether code declares a variable, or assigns to it.
func (p place) declares(name string) bool {
	found := false
	ast.Inspect(p.body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.AssignStmt:
			for _, target := range node.Lhs {
				if ident, ok := target.(*ast.Ident); ok && ident.Name == name {
					found = true
				}
			}
		case *ast.ValueSpec:
			for _, target := range node.Names {
				found = found || target.Name == name
			}
		case *ast.RangeStmt:
			for _, target := range []ast.Expr{node.Key, node.Value} {
				if ident, ok := target.(*ast.Ident); ok && ident.Name == name {
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// literal returns the composite literal that a value is, or that a variable is made with.
func (p place) literal(e ast.Expr) ast.Expr {
	for range maxDepth {
		switch v := e.(type) {
		case *ast.ParenExpr:
			e = v.X
		case *ast.UnaryExpr:
			e = v.X
		case *ast.CompositeLit:
			return v
		case *ast.Ident:
			if e = p.definition(v.Name); e == nil {
				return nil
			}
		default:
			return nil
		}
	}
	return nil
}

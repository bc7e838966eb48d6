package regression

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// slice is what of a test makes the system: statements in their order.
type slice struct {
	statements []ast.Stmt
	// unused are names that the statements define and that nothing mentions any more.
	unused []string
	// mentioned are all names in the statements and in the expression that is the system.
	mentioned map[string]bool
}

// slice returns the statements before the check that the system depends on. It errs by keeping more: a statement is
// kept if it defines what is needed, or mentions it.
func (c *Check) slice() (*slice, error) {
	before, outside := c.before()
	needed := names(c.system())
	kept := map[ast.Stmt]bool{}
	for again := true; again; {
		again = false
		for _, s := range before {
			if kept[s] || !slices.ContainsFunc(slices.Collect(maps.Keys(names(s))), func(n string) bool { return needed[n] && definedIn(before)[n] }) || c.checks(s) {
				continue
			}
			kept[s], again = true, true
			maps.Copy(needed, names(s))
		}
	}
	result := &slice{mentioned: needed}
	for _, s := range before {
		if kept[s] {
			result.statements = append(result.statements, s)
		}
	}
	if err := c.closed(result, before, outside); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(definedIn(result.statements))) {
		if c.mentions(result, name) < 2 {
			result.unused = append(result.unused, name)
		}
	}
	return result, nil
}

// closed returns an error if a slice depends on what a new test does not have.
func (c *Check) closed(s *slice, before []ast.Stmt, outside map[string]string) error {
	defined, all := definedIn(s.statements), definedIn(before)
	for _, name := range slices.Sorted(maps.Keys(s.mentioned)) {
		switch where := outside[name]; {
		case defined[name]:
		case where != "":
			return fmt.Errorf("the system depends on %s, %s", name, where)
		case all[name]:
			return fmt.Errorf("the system depends on %s, which an earlier check returns", name)
		}
	}
	for _, statement := range s.statements {
		if _, ginkgo := c.ginkgo(); ginkgo && prepares(statement) {
			return fmt.Errorf("the system depends on what line %d prepares for several specs", c.line(statement.Pos()))
		}
	}
	return nil
}

// prepares reports whether a statement is a call such as BeforeEach(func() {…}).
func prepares(s ast.Stmt) bool {
	expression, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := expression.X.(*ast.CallExpr)
	return ok && slices.Contains([]string{"BeforeEach", "JustBeforeEach", "BeforeAll", "AfterEach", "AfterAll", "It", "Describe", "Context", "When", "DescribeTable"}, nameOf(call.Fun))
}

// before returns the statements before the check in the blocks around it, from the outermost on, and what else names
// stand for there, in words.
func (c *Check) before() (statements []ast.Stmt, outside map[string]string) {
	outside = map[string]string{}
	parameters := func(t *ast.FuncType) {
		for _, field := range t.Params.List {
			for _, name := range field.Names {
				if test, ok := c.test().(*ast.Ident); !ok || test.Name != name.Name {
					outside[name.Name] = "a parameter"
				}
			}
		}
	}
	variables := func(s ast.Stmt) {
		if s != nil {
			for name := range definedIn([]ast.Stmt{s}) {
				outside[name] = fmt.Sprintf("a variable of the statement in line %d", c.line(s.Pos()))
			}
		}
	}
	for i := len(c.path) - 1; i > 0; i-- {
		inner := c.path[i-1]
		var list []ast.Stmt
		switch node := c.path[i].(type) {
		case *ast.FuncDecl:
			parameters(node.Type)
			if node.Recv != nil {
				for _, field := range node.Recv.List {
					for _, name := range field.Names {
						outside[name.Name] = "the receiver of the method"
					}
				}
			}
		case *ast.FuncLit:
			parameters(node.Type)
		case *ast.RangeStmt:
			for _, target := range []ast.Expr{node.Key, node.Value} {
				if name, ok := target.(*ast.Ident); ok {
					outside[name.Name] = fmt.Sprintf("the variable of the loop in line %d", c.line(node.Pos()))
				}
			}
		case *ast.ForStmt:
			variables(node.Init)
		case *ast.IfStmt:
			variables(node.Init)
		case *ast.SwitchStmt:
			variables(node.Init)
		case *ast.BlockStmt:
			list = node.List
		case *ast.CaseClause:
			list = node.Body
		}
		for _, s := range list {
			if s == inner {
				break
			}
			statements = append(statements, s)
		}
	}
	return statements, outside
}

// checks reports whether a statement has a check in it.
func (c *Check) checks(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok && c.isCheck(call) {
			found = true
		}
		return !found
	})
	return found
}

// names returns the names in some code, without those of fields and methods.
func names(node ast.Node) map[string]bool {
	all := map[string]bool{}
	each(node, func(name *ast.Ident) { all[name.Name] = true })
	return all
}

// each visits the names in some code that are no fields or methods.
func each(node ast.Node, visit func(*ast.Ident)) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			each(n.X, visit)
			return false
		case *ast.KeyValueExpr:
			if _, field := n.Key.(*ast.Ident); !field {
				each(n.Key, visit)
			}
			each(n.Value, visit)
			return false
		case *ast.Ident:
			if n.Name != "_" && types.Universe.Lookup(n.Name) == nil {
				visit(n)
			}
		}
		return true
	})
}

// mentions counts how often a name occurs in a slice and in the system.
func (c *Check) mentions(s *slice, name string) int {
	count := 0
	note := func(n *ast.Ident) {
		if n.Name == name {
			count++
		}
	}
	for _, statement := range s.statements {
		each(statement, note)
	}
	each(c.system(), note)
	return count
}

// definedIn returns the names that statements define, not those that are defined within blocks of theirs.
func definedIn(statements []ast.Stmt) map[string]bool {
	defined := map[string]bool{}
	for _, s := range statements {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				for _, target := range s.Lhs {
					if name, ok := target.(*ast.Ident); ok && name.Name != "_" {
						defined[name.Name] = true
					}
				}
			}
		case *ast.DeclStmt:
			if d, ok := s.Decl.(*ast.GenDecl); ok {
				for _, name := range namesIn(d) {
					defined[name] = true
				}
			}
		}
	}
	return defined
}

package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mutant is a small change of the code.
type mutant struct {
	number int
	// file is the path from the root of the module, and at the line in it.
	file string
	line int
	// name tells the mutant apart from all others, also when lines move: the function, what is changed, its text, and
	// which of several of the same.
	name string
	pkg  string
}

// String says where the mutant is and what it is.
func (m mutant) String() string { return fmt.Sprintf("%s:%d: %s", m.file, m.line, m.name) }

// key is what the mutant is accepted by.
func (m mutant) key() string { return m.file + ": " + m.name }

// finder finds the mutants of a file and how its text has to be changed for all of them to be in it, each behind its
// switch.
type finder struct {
	pkg      *packages.Package
	file     *ast.File
	text     []byte
	path     string
	rewrites rewrites
	next     int
	found    []mutant
	names    map[string]int
	function string
}

// find goes through the file.
func (f *finder) find() {
	f.names = map[string]int{}
	for _, d := range f.file.Decls {
		function, ok := d.(*ast.FuncDecl)
		if !ok || function.Body == nil || f.onlySpoken(function) {
			continue
		}
		f.function = f.nameOf(function)
		ast.PreorderStack(function, nil, func(n ast.Node, stack []ast.Node) bool {
			if _, types := n.(*ast.FieldList); types {
				return false // what looks like an operator there is none
			}
			f.visit(n, stack)
			return true
		})
	}
}

// onlySpoken reports whether a function only makes words: those of String methods are not what tests are to pin.
func (f *finder) onlySpoken(function *ast.FuncDecl) bool {
	return function.Recv != nil && (function.Name.Name == "String" || function.Name.Name == "Error" || function.Name.Name == "GoString")
}

func (f *finder) nameOf(function *ast.FuncDecl) string {
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return function.Name.Name
	}
	receiver := strings.TrimPrefix(f.source(function.Recv.List[0].Type), "*")
	return receiver + "." + function.Name.Name
}

func (f *finder) visit(n ast.Node, stack []ast.Node) {
	if len(stack) == 0 {
		return
	}
	parent := stack[len(stack)-1]
	switch n := n.(type) {
	case *ast.IfStmt:
		if !isEquality(n.Cond) {
			f.negate("negated", n.Cond)
		}
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.ReturnStmt:
		f.results(n, stack)
	case *ast.AssignStmt:
		f.removes(n, parent)
		f.adds(n)
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.BranchStmt:
		f.removes(n.(ast.Stmt), parent)
	}
}

// add notes a mutant of a node and returns its number.
func (f *finder) add(what string, n ast.Node) int {
	const longest = 70
	text := strings.Join(strings.Fields(f.source(n)), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	name := fmt.Sprintf("%s: %s: %s", f.function, what, text)
	f.names[name]++
	if nth := f.names[name]; nth > 1 {
		name += fmt.Sprintf(" (%d)", nth)
	}
	m := mutant{number: f.next, file: f.path, line: f.pkg.Fset.Position(n.Pos()).Line, name: name, pkg: f.pkg.PkgPath}
	f.found = append(f.found, m)
	f.next++
	return m.number
}

func (f *finder) source(n ast.Node) string {
	return string(f.text[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) offset(pos token.Pos) int { return f.pkg.Fset.Position(pos).Offset }

func (f *finder) wrap(n ast.Node, before, after string) {
	f.rewrites.wrap(f.offset(n.Pos()), f.offset(n.End()), before, after)
}

func isEquality(e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	return ok && (b.Op == token.EQL || b.Op == token.NEQ)
}

// isBool reports whether an expression has the type bool, and is decided when the code runs.
func (f *finder) isBool(e ast.Expr) bool {
	t := f.pkg.TypesInfo.Types[e]
	basic, ok := types.Unalias(t.Type).(*types.Basic)
	return ok && basic.Info()&types.IsBoolean != 0
}

func (f *finder) isConstant(e ast.Expr) bool { return f.pkg.TypesInfo.Types[e].Value != nil }

// negate makes a condition the opposite.
func (f *finder) negate(what string, e ast.Expr) {
	if f.isBool(e) {
		f.wrap(e, fmt.Sprintf("(mutantswitch.On(%d) != (", f.add(what, e)), "))")
	}
}

// calls are the operators that have a function in the switch.
func calls() map[token.Token]string {
	return map[token.Token]string{
		token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "More", token.GEQ: "AtLeast",
		token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Quo", token.REM: "Rem",
		token.AND: "And", token.OR: "Or", token.AND_NOT: "AndNot",
	}
}

func (f *finder) binary(n *ast.BinaryExpr) {
	if f.isConstant(n) {
		return
	}
	switch n.Op {
	case token.LAND, token.LOR:
		form := "(mutantswitch.On(%d) || ("
		if n.Op == token.LOR {
			form = "(!mutantswitch.On(%d) && ("
		}
		for _, operand := range []ast.Expr{n.X, n.Y} {
			if f.isBool(operand) {
				f.wrap(operand, fmt.Sprintf(form, f.add("dropped", operand)), "))")
			}
		}
		return
	case token.EQL, token.NEQ:
		f.negate("negated", n)
		return
	}
	call, ok := calls()[n.Op]
	if !ok || !f.isNumber(n.X) || !f.isNumber(n.Y) {
		return
	}
	what := "other arithmetic"
	if slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, n.Op) {
		what = "other boundary"
	}
	number := f.add(what, n)
	f.wrap(n, fmt.Sprintf("mutantswitch.%s(%d, (", call, number), "))")
	f.rewrites.replace(f.offset(n.OpPos), len(n.Op.String()), "), (")
}

// isNumber reports whether an expression is a number of a known type.
func (f *finder) isNumber(e ast.Expr) bool {
	t := f.pkg.TypesInfo.Types[e].Type
	if t == nil {
		return false
	}
	if _, parameter := types.Unalias(t).(*types.TypeParam); parameter {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsInteger|types.IsFloat) != 0
}

// adds makes an assignment take away what it adds, and the other way round.
func (f *finder) adds(n *ast.AssignStmt) {
	if n.Tok != token.ADD_ASSIGN && n.Tok != token.SUB_ASSIGN || !f.isNumber(n.Rhs[0]) || !f.isNumber(n.Lhs[0]) {
		return
	}
	typ, explicit := "", types.Unalias(f.pkg.TypesInfo.Types[n.Lhs[0]].Type)
	switch basic, ok := explicit.(*types.Basic); {
	case ok:
		typ = "[" + basic.Name() + "]"
	case f.isConstant(n.Rhs[0]):
		return // the type would have to be named
	}
	f.wrap(n.Rhs[0], fmt.Sprintf("mutantswitch.Neg%s(%d, (", typ, f.add("other sign", n)), "))")
}

// removes leaves a statement out.
func (f *finder) removes(n ast.Stmt, parent ast.Node) {
	switch parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
	default:
		return
	}
	if clause, ok := parent.(*ast.CommClause); ok && clause.Comm == n {
		return
	}
	var call *ast.CallExpr
	switch n := n.(type) {
	case *ast.AssignStmt:
		blank := func(e ast.Expr) bool { name, ok := e.(*ast.Ident); return ok && name.Name == "_" }
		if n.Tok == token.DEFINE || !slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return !blank(e) }) {
			return
		}
	case *ast.ExprStmt:
		if call, _ = n.X.(*ast.CallExpr); call == nil {
			return
		}
	case *ast.DeferStmt:
		call = n.Call
	case *ast.BranchStmt:
		if n.Tok != token.BREAK && n.Tok != token.CONTINUE {
			return
		}
	}
	if call != nil && f.isExempt(call) {
		return
	}
	f.wrap(n, fmt.Sprintf("if !mutantswitch.On(%d) { ", f.add("removed", n)), " }")
}

// isExempt reports whether nothing is to be learned from a call that is left out: what never happens if the code is
// right, and locks, which the race detector is for.
func (f *finder) isExempt(call *ast.CallExpr) bool {
	switch function := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return function.Name == "panic"
	case *ast.SelectorExpr:
		return slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock"}, function.Sel.Name)
	}
	return false
}

// results makes a function return something else: the other truth value, no error, nothing.
func (f *finder) results(n *ast.ReturnStmt, stack []ast.Node) {
	var signature *ast.FuncType
	for _, outer := range slices.Backward(stack) {
		if literal, ok := outer.(*ast.FuncLit); ok {
			signature = literal.Type
		} else if function, ok := outer.(*ast.FuncDecl); ok {
			signature = function.Type
		}
		if signature != nil {
			break
		}
	}
	if signature.Results == nil {
		return
	}
	var wanted []ast.Expr
	for _, field := range signature.Results.List {
		wanted = append(wanted, slices.Repeat([]ast.Expr{field.Type}, max(1, len(field.Names)))...)
	}
	if len(wanted) != len(n.Results) {
		return
	}
	for i, result := range n.Results {
		typ, source := f.pkg.TypesInfo.Types[wanted[i]].Type, f.source(wanted[i])
		switch {
		case types.Identical(types.Unalias(typ), types.Typ[types.Bool]):
			if !isEquality(result) {
				f.negate("other result", result)
			}
		case !f.isZero(result) && !strings.Contains(source, "\n") && f.means(wanted[i], n.Pos()):
			f.wrap(result, fmt.Sprintf("mutantswitch.Zero[%s](%d, (", source, f.add("no result", result)), "))")
		}
	}
}

// isZero reports whether an expression is the zero of its type anyway.
func (f *finder) isZero(e ast.Expr) bool {
	t := f.pkg.TypesInfo.Types[e]
	switch literal := e.(type) {
	case *ast.CompositeLit:
		_, isStruct := t.Type.Underlying().(*types.Struct)
		return isStruct && len(literal.Elts) == 0
	}
	switch {
	case t.IsNil():
		return true
	case t.Value == nil:
		return false
	case t.Value.Kind() == constant.String:
		return constant.StringVal(t.Value) == ""
	case t.Value.Kind() == constant.Int || t.Value.Kind() == constant.Float:
		return constant.Sign(t.Value) == 0
	}
	return false
}

// means reports whether the names in a type mean the same at a place as where the type is written.
func (f *finder) means(typ ast.Expr, at token.Pos) bool {
	same := true
	ast.Inspect(typ, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			same = same && f.resolves(selector.X.(*ast.Ident), at)
			return false
		}
		if name, ok := n.(*ast.Ident); ok && f.pkg.TypesInfo.Uses[name] != nil {
			same = same && f.resolves(name, at)
		}
		return true
	})
	return same
}

func (f *finder) resolves(name *ast.Ident, at token.Pos) bool {
	scope := f.pkg.Types.Scope().Innermost(at)
	if scope == nil {
		return false
	}
	_, object := scope.LookupParent(name.Name, at)
	return object == f.pkg.TypesInfo.Uses[name]
}

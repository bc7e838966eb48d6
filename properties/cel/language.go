package cel

import (
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"
)

// language is CEL as Kubernetes has it, with the libraries of version 1.36 but for authorization, which is about
// requests.
func language() (*celgo.Env, error) {
	return celgo.NewEnv(
		celgo.HomogeneousAggregateLiterals(),
		celgo.DefaultUTCTimeZone(true),
		celgo.CrossTypeNumericComparisons(true),
		celgo.OptionalTypes(),
		celgo.ASTValidators(
			celgo.ValidateDurationLiterals(),
			celgo.ValidateTimestampLiterals(),
			celgo.ValidateRegexLiterals(),
			celgo.ValidateHomogeneousAggregateLiterals(),
		),
		ext.Strings(ext.StringsVersion(2)),
		ext.Sets(),
		ext.TwoVarComprehensions(),
		ext.Lists(ext.ListsVersion(3)),
		library.URLs(),
		library.Regex(),
		library.Lists(),
		library.Quantity(),
		library.IP(),
		library.CIDR(),
		library.Format(),
		library.SemverLib(library.SemverVersion(1)),
	)
}

// maxCost bounds the evaluation of an expression, in the units of CEL: about one for each operation. It is the limit of
// Kubernetes for one expression, and a fraction of a second.
const maxCost = 1_000_000

// evaluation returns how an expression is evaluated: with its costs counted, unless it cannot cost much. To count them
// takes longer than many an expression does.
func evaluation(tree *ast.AST) []celgo.ProgramOption {
	options := []celgo.ProgramOption{celgo.EvalOptions(celgo.OptOptimize)}
	if cheap(tree.Expr(), false) {
		return options
	}
	return append(options, celgo.CostTracking(&library.CostEstimator{}), celgo.CostLimit(maxCost))
}

// cheap reports whether an expression cannot cost much more than to read it and the state a few times: it has no loop
// within a loop, nor over what a loop has made, and calls nothing but functions that do not make large values of small
// ones.
func cheap(e ast.Expr, looped bool) bool {
	all := func(looped bool, parts ...ast.Expr) bool {
		for _, part := range parts {
			if !cheap(part, looped) {
				return false
			}
		}
		return true
	}
	switch e.Kind() {
	case ast.LiteralKind, ast.IdentKind:
		return true
	case ast.SelectKind:
		return cheap(e.AsSelect().Operand(), looped)
	case ast.ListKind:
		return all(looped, e.AsList().Elements()...)
	case ast.CallKind:
		call := e.AsCall()
		return thrifty(call.FunctionName()) && (!call.IsMemberFunction() || cheap(call.Target(), looped)) && all(looped, call.Args()...)
	case ast.ComprehensionKind:
		loop := e.AsComprehension()
		return !looped && all(true, loop.IterRange(), loop.AccuInit(), loop.LoopCondition(), loop.LoopStep(), loop.Result())
	}
	return false
}

// thrifty reports whether a function takes no longer than to read its arguments, and makes nothing that is larger than
// they are.
func thrifty(function string) bool {
	switch function {
	case operators.Conditional, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.NotStrictlyFalse,
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
		operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate,
		operators.Index, operators.OptIndex, operators.OptSelect, operators.In,
		findFunction, "size", "contains", "startsWith", "endsWith", "hasValue", "value", "orValue":
		return true
	}
	return false
}

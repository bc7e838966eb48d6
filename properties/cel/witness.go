package cel

import (
	"fmt"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/orrery-dev/orrery/core"
)

// witness names the object because of which the expression is not true in a state, as the end of a sentence. It is
// empty if no single object is to blame: the expression, or what is not true of it, has to be that all objects are as
// they should.
func (p *Predicate) witness(s core.State) string {
	if key := p.blame(p.ast.NativeRep().Expr(), &scene{state: s, sources: p.sources}); key != nil {
		return fmt.Sprintf("; not of %s", key)
	}
	return ""
}

// blame returns the object because of which a part of the expression is not true, nil if there is none.
func (p *Predicate) blame(part ast.Expr, names interpreter.Activation) *core.Key {
	if part.Kind() == ast.CallKind && part.AsCall().FunctionName() == operators.LogicalAnd {
		for _, side := range part.AsCall().Args() {
			if p.valueOf(side, names) == types.False {
				return p.blame(side, names)
			}
		}
		return nil
	}
	body := everyOf(part)
	if body == nil {
		return nil
	}
	loop := part.AsComprehension()
	items, ok := p.valueOf(loop.IterRange(), names).(traits.Lister)
	if !ok {
		return nil
	}
	for it := items.Iterator(); it.HasNext() == types.True; {
		item := it.Next()
		object, ok := item.(*mapping)
		if !ok || object.key == nil {
			return nil
		}
		inside, err := celgo.NewActivation(map[string]any{loop.IterVar(): item})
		if err == nil && p.valueOf(body, interpreter.NewHierarchicalActivation(names, inside)) == types.False {
			return object.key
		}
	}
	return nil
}

// everyOf returns what x.all(…) says of each item, nil if a part of an expression is something else.
func everyOf(part ast.Expr) ast.Expr {
	if part.Kind() != ast.ComprehensionKind {
		return nil
	}
	loop := part.AsComprehension()
	begin, step := loop.AccuInit(), loop.LoopStep()
	if begin.Kind() != ast.LiteralKind || begin.AsLiteral() != types.True || loop.IterVar2() != "" ||
		step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.LogicalAnd {
		return nil
	}
	return step.AsCall().Args()[1]
}

// valueOf evaluates a part of the expression.
func (p *Predicate) valueOf(part ast.Expr, names interpreter.Activation) ref.Val {
	whole := p.ast.NativeRep()
	checked := ast.NewCheckedAST(ast.NewAST(part, whole.SourceInfo()), whole.TypeMap(), whole.ReferenceMap())
	program, err := p.language.PlanProgram(checked)
	if err != nil {
		return types.WrapErr(err)
	}
	value, _, err := program.Eval(names)
	if err != nil {
		return types.WrapErr(err)
	}
	return value
}

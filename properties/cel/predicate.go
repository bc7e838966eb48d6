package cel

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	"github.com/orrery-dev/orrery/core"
)

// Predicate is an expression that is true or false in a state. It is immutable.
type Predicate struct {
	text     string
	language *celgo.Env
	ast      *celgo.Ast
	program  celgo.Program
	sources  map[string]*source
}

// Compile reads an expression and checks it against what is known of kinds. A mistake in the expression is a
// [*Mistake], with its place; any other error is about the types.
func Compile(expression string, known Types) (*Predicate, error) {
	kinds, err := known.kinds()
	if err != nil {
		return nil, err
	}
	return compile(expression, kinds, nil)
}

// String returns the expression.
func (p *Predicate) String() string { return p.text }

// Holds reports whether the expression is true in a state. An error, which is a [*Mistake], means that it is neither
// true nor false there, for example because a field is not set: what is there to do about it is the caller's to decide,
// and not to take it for true. It reads no more of the state than it needs.
func (p *Predicate) Holds(s core.State) (bool, error) {
	return p.evaluate(&scene{state: s, sources: p.sources})
}

func (p *Predicate) evaluate(names interpreter.Activation) (bool, error) {
	value, _, err := p.program.Eval(names)
	if err != nil {
		return false, p.failed(err, names)
	}
	holds, ok := value.(types.Bool)
	if !ok {
		return false, whole(p.text, "it is of type %s, not true or false", value.Type().TypeName())
	}
	return bool(holds), nil
}

// failed says why an expression has no value, and where.
func (p *Predicate) failed(err error, names interpreter.Activation) *Mistake {
	var stopped interpreter.EvalCancelledError
	if errors.As(err, &stopped) {
		return whole(p.text, "it takes too long to evaluate: write it with fewer nested loops")
	}
	name, message := inOurWords(err.Error())
	if part := p.cause(err, names); part != nil {
		place := p.ast.NativeRep().SourceInfo().GetStartLocation(part.ID())
		return mistakeAt(p.text, place, name, message)
	}
	return whole(p.text, "%s", message)
}

// inOurWords returns what an error of the library says in the words of this package, and the name that it is about, if
// it is about one.
func inOurWords(message string) (name, said string) {
	if key, missing := strings.CutPrefix(message, "no such key: "); missing {
		return key, fmt.Sprintf("there is no %s here: ask has(…) before, or say what it is then, as in x.?%s.orValue(…)", key, key)
	}
	if function, found := strings.CutPrefix(message, "no such overload: "); found {
		operator, _ := operators.FindReverse(function)
		return "", fmt.Sprintf("%q cannot be used on what is here", cmp.Or(operator, function))
	}
	if message == "optional.none() dereference" {
		return "", "there is no such object or field here: ask hasValue() before, or say what it is then with orValue(…)"
	}
	return "", message
}

// cause returns the innermost part of the expression that has no value, nil if it is not known. The library forgets the
// place of an error that leaves a loop, so the expression is evaluated once more with all that its parts come to.
func (p *Predicate) cause(failure error, names interpreter.Activation) ast.Expr {
	program, err := p.language.Program(p.ast, celgo.EvalOptions(celgo.OptTrackState), celgo.CostLimit(maxCost))
	if err != nil {
		return nil
	}
	_, details, _ := program.Eval(names) // it fails as before
	var cause ast.Expr
	ast.PostOrderVisit(p.ast.NativeRep().Expr(), ast.NewExprVisitor(func(part ast.Expr) {
		value, _ := details.State().Value(part.ID())
		if e, failed := value.(*types.Err); failed && cause == nil && e.Error() == failure.Error() {
			cause = part
		}
	}))
	return cause
}

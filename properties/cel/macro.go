package cel

import (
	"fmt"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/orrery-dev/orrery/core"
)

// findFunction is the function that object(…) becomes. No expression can call it, as it is no name.
const findFunction = "@find"

// macros are the functions of expressions that take a name and stand for something in a state. As the name is known
// before anything runs, so is what is looked at.
func (c *compiler) macros() celgo.EnvOption {
	return celgo.Macros(
		celgo.GlobalVarArgMacro("objects", c.expandObjects),
		celgo.GlobalVarArgMacro("object", c.expandObject),
		celgo.GlobalVarArgMacro("variable", c.expandVariable),
		celgo.GlobalVarArgMacro("family", c.expandFamily),
	)
}

// literal returns the text that an argument is.
func literal(args []ast.Expr) (string, bool) {
	if len(args) == 0 || args[0].Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := args[0].AsLiteral().(types.String)
	return string(s), ok
}

// add makes an expression of a source. Its name is no name that an expression could have.
func (c *compiler) add(eh celgo.MacroExprFactory, name string, s *source) ast.Expr {
	c.sources[name] = s
	return eh.NewIdent(name)
}

func (c *compiler) expandObjects(eh celgo.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
	name, ok := literal(args)
	if !ok || len(args) > 2 {
		return nil, eh.NewError(0, `objects takes a text that names a kind, and one for a namespace if only that matters: objects("Deployment.apps", "default")`)
	}
	k, err := c.known.find(name)
	if err != nil {
		return nil, eh.NewError(args[0].ID(), err.Error())
	}
	if len(args) == 1 {
		return c.add(eh, "@objects "+string(k.name()), allOf(k.name(), "", c.shapeOf(k))), nil
	}
	namespace, ok := literal(args[1:])
	switch {
	case !ok || namespace == "":
		return nil, eh.NewError(args[1].ID(), "the namespace of objects must be a text in quotes: use filter(…) for anything else")
	case k.scope == inCluster:
		return nil, eh.NewError(args[1].ID(), fmt.Sprintf("objects of %s are in no namespace: leave it out", k.name()))
	}
	return c.add(eh, "@objects "+string(k.name())+" "+namespace, allOf(k.name(), namespace, c.shapeOf(k))), nil
}

func (c *compiler) expandObject(eh celgo.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
	name, ok := literal(args)
	if !ok || len(args) < 2 || len(args) > 3 {
		return nil, eh.NewError(0, `object takes a kind, a namespace if there is one, and a name: object("ConfigMap", "default", "settings")`)
	}
	k, err := c.known.find(name)
	if err != nil {
		return nil, eh.NewError(args[0].ID(), err.Error())
	}
	switch {
	case k.scope == inNamespaces && len(args) == 2:
		return nil, eh.NewError(args[0].ID(), fmt.Sprintf("objects of %s are in namespaces: write object(%q, namespace, name)", k.name(), k.name()))
	case k.scope == inCluster && len(args) == 3:
		return nil, eh.NewError(args[0].ID(), fmt.Sprintf("objects of %s are in no namespace: write object(%q, name)", k.name(), k.name()))
	}
	on := c.add(eh, "@shelf "+string(k.name()), shelf(k.name(), c.shapeOf(k)))
	return eh.NewCall(findFunction, append([]ast.Expr{on}, args[1:]...)...), nil
}

func (c *compiler) expandVariable(eh celgo.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
	name, ok := literal(args)
	if !ok || len(args) != 1 {
		return nil, eh.NewError(0, `variable takes one text, the name of a variable: variable("turn")`)
	}
	return c.add(eh, "@variable "+name, variable(name)), nil
}

func (c *compiler) expandFamily(eh celgo.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
	name, ok := literal(args)
	if !ok || len(args) != 1 || name == "" {
		return nil, eh.NewError(0, `family takes one text, the name of a family: family("account")`)
	}
	return c.add(eh, "@family "+name, family(core.Kind(name))), nil
}

// finding declares the function that object(…) becomes.
func finding() celgo.EnvOption {
	object := celgo.TypeParamType("T")
	find := func(args ...ref.Val) ref.Val {
		var key [2]string // namespace and name
		for i, arg := range args[1:] {
			s, ok := arg.(types.String)
			if !ok {
				return types.MaybeNoSuchOverloadErr(arg)
			}
			key[i+3-len(args)] = string(s)
		}
		return args[0].(*finder).find(key[0], key[1])
	}
	takes := func(id string, args ...*types.Type) celgo.FunctionOpt {
		return celgo.Overload(id, append([]*types.Type{shelfOf(object)}, args...), celgo.OptionalType(object))
	}
	return celgo.Function(findFunction,
		takes("find_name", celgo.StringType),
		takes("find_namespace_name", celgo.StringType, celgo.StringType),
		celgo.SingletonFunctionBinding(find),
	)
}

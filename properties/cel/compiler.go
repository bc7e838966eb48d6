package cel

import (
	"fmt"
	"maps"
	"slices"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// compiler makes one expression ready.
type compiler struct {
	text   string
	known  *kinds
	shapes *shapes
	// made are the shapes of kinds, by their names.
	made    map[string]*shape
	sources map[string]*source
	// change is what old and new in an expression about a step belong to, nil in one about a state.
	change *Change
}

// compile makes an expression ready. An error that is no [*Mistake] is about the language itself.
func compile(text string, known *kinds, change *Change) (*Predicate, error) {
	base, err := language()
	if err != nil {
		return nil, err
	}
	c := &compiler{
		text:    text,
		known:   known,
		shapes:  newShapes(base.CELTypeProvider()),
		made:    map[string]*shape{},
		sources: map[string]*source{},
		change:  change,
	}
	reading, err := base.Extend(celgo.CustomTypeProvider(c.shapes), c.macros(), finding())
	if err != nil {
		return nil, err
	}
	parsed, issues := reading.Parse(text)
	if issues.Err() != nil {
		return nil, c.first(issues)
	}
	if err := c.declare(parsed.NativeRep()); err != nil {
		return nil, err
	}
	var names []celgo.EnvOption
	for _, name := range slices.Sorted(maps.Keys(c.sources)) {
		names = append(names, celgo.Variable(name, c.sources[name].cel))
	}
	checking, err := reading.Extend(names...)
	if err != nil {
		return nil, err
	}
	checked, issues := checking.Check(parsed)
	if issues.Err() != nil {
		return nil, c.first(issues)
	}
	if t := checked.OutputType(); t.Kind() != types.BoolKind && t.Kind() != types.DynKind {
		return nil, whole(text, "it is of type %s: write what is true or false", celgo.FormatCELType(t))
	}
	program, err := checking.Program(checked, evaluation(checked.NativeRep())...)
	if err != nil {
		return nil, whole(text, "%v", err)
	}
	return &Predicate{text: text, language: checking, ast: checked, program: program, sources: c.sources}, nil
}

// shapeOf returns the shape of the objects of a kind.
func (c *compiler) shapeOf(k *kind) *shape {
	name := string(k.name())
	if c.made[name] == nil {
		c.made[name] = k.shape(c.shapes)
	}
	return c.made[name]
}

// declare finds out what the names of an expression stand for, besides those that its macros have found.
func (c *compiler) declare(tree *ast.AST) error {
	if c.change == nil {
		return c.declarePlurals(tree)
	}
	if len(c.sources) > 0 {
		return whole(c.text, "an expression about a step can only use old and new: leave out other objects")
	}
	c.change.shape = anything()
	if k := c.change.subject.known; k != nil {
		c.change.shape = c.shapeOf(k)
	}
	object := c.change.shape.cel
	c.sources = map[string]*source{"old": {cel: object}, "new": {cel: object}}
	return nil
}

// declarePlurals finds the plurals of kinds among the names of an expression. A name that a loop gives need not be one.
func (c *compiler) declarePlurals(tree *ast.AST) error {
	given := map[string]bool{}
	var idents []ast.Expr
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ComprehensionKind:
			given[e.AsComprehension().IterVar()] = true
			given[e.AsComprehension().IterVar2()] = true
		case ast.IdentKind:
			idents = append(idents, e)
		}
	}))
	for _, ident := range idents {
		name := ident.AsIdent()
		if !c.known.called(name) {
			continue
		}
		k, err := c.known.find(name)
		switch {
		case err == nil:
			c.sources[name] = allOf(k.name(), "", c.shapeOf(k))
		case !given[name]:
			return mistakeAt(c.text, tree.SourceInfo().GetStartLocation(ident.ID()), name, err.Error())
		}
	}
	return nil
}

// noField says which field is meant by one that does not exist.
func (c *compiler) noField(name string) string {
	for _, m := range c.shapes.missed {
		if m.field == name {
			return fmt.Sprintf("%s has no field %q%s", m.record.cel.TypeName(), name, suggest(name, slices.Sorted(maps.Keys(m.record.fields)), ""))
		}
	}
	return fmt.Sprintf("there is no field %q", name)
}

// noName says which name is meant by one that does not exist.
func (c *compiler) noName(name string) string {
	var names []string
	if c.change != nil {
		names = []string{"old", "new"}
	} else {
		for _, k := range c.known.all {
			names = append(names, k.plural)
		}
		names = append(names, "objects", "object", "variable", "family")
	}
	return fmt.Sprintf("nothing is called %q%s", name, suggest(name, names, ""))
}

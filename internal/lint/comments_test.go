package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// checkComments wants a comment on every package and on every exported name, which
// begins with the name.
func checkComments(t *tree, complain complain) {
	for _, files := range t.packages() {
		if !slices.ContainsFunc(files, func(f *file) bool { return f.syntax.Doc != nil }) {
			complain(files[0].folder(), "the package has no comment: say in a sentence what it is")
		}
		for _, f := range files {
			for _, declaration := range f.syntax.Decls {
				switch d := declaration.(type) {
				case *ast.FuncDecl:
					if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
						checkComment(t, d.Name, complain, d.Doc)
					}
				case *ast.GenDecl:
					checkGroup(t, d, complain)
				}
			}
		}
	}
}

// checkGroup checks a declaration of constants, variables or types. A comment on a
// group of constants or variables is one on all of them.
func checkGroup(t *tree, group *ast.GenDecl, complain complain) {
	for _, spec := range group.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				checkComment(t, spec.Name, complain, spec.Doc, group.Doc)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() && spec.Doc == nil && spec.Comment == nil && group.Doc == nil {
					complain(t.at(name), "%s has no comment", name.Name)
				}
			}
		}
	}
	if group.Tok == token.IMPORT && group.Doc != nil {
		complain(t.at(group), "imports need no comment")
	}
}

// checkComment wants one of the comments to be there, and to begin with the name.
func checkComment(t *tree, name *ast.Ident, complain complain, comments ...*ast.CommentGroup) {
	i := slices.IndexFunc(comments, func(c *ast.CommentGroup) bool { return c != nil })
	if i < 0 {
		complain(t.at(name), "%s has no comment: say what it is", name.Name)
		return
	}
	words := strings.Fields(comments[i].Text())
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 || strings.TrimRight(words[0], ".,:") != name.Name {
		complain(t.at(name), "the comment on %s does not begin with its name", name.Name)
	}
}

// receiver returns the name of the type that a method belongs to.
func receiver(method *ast.FuncDecl) string {
	expression := method.Recv.List[0].Type
	for {
		switch e := expression.(type) {
		case *ast.StarExpr:
			expression = e.X
		case *ast.IndexExpr:
			expression = e.X
		case *ast.IndexListExpr:
			expression = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

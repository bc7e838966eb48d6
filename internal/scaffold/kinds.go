package scaffold

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// handled is a kind that a controller watches.
type handled struct {
	kind, group, version string
	// own tells that the kind is of the project, and verb how the controller registers it: For, Owns or Watches.
	own  bool
	verb string
	by   string // the controller, or the package where it is built
}

// handled returns the kinds that the controllers of the project watch, in the order in which they are registered.
func (p *Project) handled() []handled {
	var all []handled
	for _, r := range p.registrations {
		for _, s := range p.within(r) {
			by := s.receiver
			if by == "" {
				by = s.name()
			}
			all = p.handledIn(all, s.in, s.decl.Body, by)
		}
		if r.setup == nil {
			all = p.handledIn(all, r.in, r.call, r.in.of.name)
		}
	}
	return all
}

// handledIn adds the kinds that the controllers watch which some code builds.
func (p *Project) handledIn(all []handled, in *source, code ast.Node, by string) []handled {
	ast.Inspect(code, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		selected, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"For", "Owns", "Watches"}, selected.Sel.Name) {
			return true
		}
		if h, ok := p.kindOf(in, call.Args[0]); ok {
			h.verb, h.by = selected.Sel.Name, by
			if !slices.Contains(all, h) {
				all = append(all, h)
			}
		}
		return true
	})
	return all
}

// kindOf returns the kind of an object such as &appsv1.Deployment{}.
func (p *Project) kindOf(in *source, object ast.Expr) (h handled, ok bool) {
	address, ok := object.(*ast.UnaryExpr)
	if !ok || address.Op != token.AND {
		return h, false
	}
	made, ok := address.X.(*ast.CompositeLit)
	if !ok {
		return h, false
	}
	of, imported := in.of, in.of.path
	var name string
	switch t := made.Type.(type) {
	case *ast.Ident:
		name = t.Name
	case *ast.SelectorExpr:
		from, ok := t.X.(*ast.Ident)
		if !ok {
			return h, false
		}
		name, imported = t.Sel.Name, in.importOf(from.Name)
		of = p.packageAt(imported)
	default:
		return h, false
	}
	if below, kubernetes := strings.CutPrefix(imported, "k8s.io/api/"); kubernetes {
		group, version, _ := strings.Cut(below, "/")
		return handled{kind: name, group: fullGroup(group), version: version}, true
	}
	if of == nil {
		return h, false
	}
	group, version := p.groupVersion(of)
	return handled{kind: name, group: group, version: version, own: true}, group != ""
}

// fullGroup is the name of a group of Kubernetes whose package is called as it is.
func fullGroup(folder string) string {
	switch folder {
	case "core":
		return ""
	case "apps", "batch", "policy", "autoscaling", "extensions":
		return folder
	case "rbac":
		return "rbac.authorization.k8s.io"
	}
	return folder + ".k8s.io"
}

// groupVersion returns the group and the version that a package with types declares, empty if it declares none.
func (p *Project) groupVersion(of *pkg) (group, version string) {
	version = path.Base(of.path)
	for _, f := range of.files {
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			made, ok := node.(*ast.CompositeLit)
			if !ok {
				return true
			}
			t, ok := made.Type.(*ast.SelectorExpr)
			if !ok || t.Sel.Name != "GroupVersion" {
				return true
			}
			for _, element := range made.Elts {
				pair, ok := element.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				key, isName := pair.Key.(*ast.Ident)
				if !isName {
					continue
				}
				switch said := p.literalText(f, pair.Value); {
				case said == "":
				case key.Name == "Group":
					group = said
				case key.Name == "Version":
					version = said
				}
			}
			return true
		})
	}
	return group, version
}

// literalText returns the text of a literal, or of a constant of the package or of another one of the project, empty if
// it is neither.
func (p *Project) literalText(in *source, e ast.Expr) string {
	of, name := in.of, ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		if from, ok := e.X.(*ast.Ident); ok {
			of, name = p.packageAt(in.importOf(from.Name)), e.Sel.Name
		}
	}
	if of != nil && name != "" {
		if declared := packageValue(of, name); declared != nil && len(declared.Values) == 1 {
			e = declared.Values[0]
		}
	}
	if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
		if said, err := strconv.Unquote(literal.Value); err == nil {
			return said
		}
	}
	return ""
}

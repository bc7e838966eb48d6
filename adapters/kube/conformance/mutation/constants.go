package mutation

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Constants are the values that string types have constants for, by the path of the
// package and the name of the type.
type Constants map[string][]string

// ReadConstants reads the source of the module k8s.io/api, which is in a folder.
func ReadConstants(folder string) (Constants, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*", "*.go"))
	if err != nil {
		return nil, err
	}
	constants := Constants{}
	for _, name := range files {
		if strings.Contains(filepath.Base(name), "generated") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		group, err := filepath.Rel(folder, filepath.Dir(name))
		if err != nil {
			return nil, err
		}
		constants.add("k8s.io/api/"+filepath.ToSlash(group), file)
	}
	if len(constants) == 0 {
		return nil, fmt.Errorf("there is no source of k8s.io/api in %s", folder)
	}
	return constants, nil
}

// add takes up the constants of a file of a package.
func (c Constants) add(path string, file *ast.File) {
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			constant := spec.(*ast.ValueSpec)
			named, ok := constant.Type.(*ast.Ident)
			if !ok || len(constant.Values) != 1 {
				continue
			}
			literal, ok := constant.Values[0].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			value, err := strconv.Unquote(literal.Value)
			key := path + "." + named.Name
			if err == nil && !slices.Contains(c[key], value) {
				c[key] = append(c[key], value)
			}
		}
	}
}

// of returns the constants of a type.
func (c Constants) of(t reflect.Type) []string { return c[t.PkgPath()+"."+t.Name()] }

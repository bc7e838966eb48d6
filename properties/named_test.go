package properties_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// asked has a name for each constructor of a property, by which it can be asked for, with what the property is called.
func asked() map[string][2]string {
	same := func(name string) [2]string { return [2]string{name, name} }
	return map[string][2]string{
		"NoPanic":           same("no panic"),
		"NoStuckReconcile":  same("no stuck reconcile"),
		"NoRunaway":         same("no runaway reconcile"),
		"NoCacheMutation":   same("no cache mutation"),
		"Deterministic":     same("deterministic reconciler"),
		"StableConvergence": same("stable convergence"),
		"SameOutcome":       same("same outcome"),
		"Fixpoint":          same("fixpoint"),
		"NoDeadlock":        same("no deadlock"),
		"CrashSafety":       same("crash safety"),
		"StalenessSafety":   same("staleness safety"),
		"DeletionCompletes": same("deletion completes"),
		"NoOrphans":         same("no orphan stays"),
		"NoLeaks":           {"each Pod is named by status.pods of Job.batch", "no Pod is leaked"},
		"OneWriter":         {"one writer for each field but status.conditions, spec.replicas", "one writer for each field"},
		"StatusFollowsSpec": same("the status of Deployment.apps follows its spec"),
		"AtMost":            same("at most 3 of kind Pod"),
		"Monotone":          {"Job.batch: status.phase never goes back in the order Pending, Done", "Job.batch: status.phase never goes back"},
	}
}

// kindOf takes every word for a kind but one.
func kindOf(word string) (core.Kind, error) {
	if word == "Pdo" {
		return "", fmt.Errorf("no kind is called %q", word)
	}
	return core.Kind(word), nil
}

// TestNamed asks for each property of the package that needs no Go function by a name.
func TestNamed(t *testing.T) {
	names := asked()
	paths, err := filepath.Glob("*.go")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, isFunc := d.(*ast.FuncDecl)
			if !isFunc || !f.Name.IsExported() || f.Recv != nil || !makesProperty(f.Type) {
				continue
			}
			name, known := names[f.Name.Name]
			if !known {
				t.Errorf("%s cannot be asked for by a name: give it one in the catalogue, and here", f.Name.Name)
				continue
			}
			delete(names, f.Name.Name)
			p, found, err := properties.Named(name[0], kindOf)
			if err != nil || !found || p.Name != name[1] || p.Validate() != nil {
				t.Errorf("%s: %q is %t %q, %v, %v", f.Name.Name, name[0], found, p.Name, err, p.Validate())
			}
		}
	}
	for name := range names {
		t.Errorf("there is no constructor %s", name)
	}
}

// makesProperty reports whether a function returns one property and takes no function.
func makesProperty(f *ast.FuncType) bool {
	if f.Results == nil || len(f.Results.List) != 1 {
		return false
	}
	result, isSelector := f.Results.List[0].Type.(*ast.SelectorExpr)
	if !isSelector || result.Sel.Name != "Property" {
		return false
	}
	for _, p := range f.Params.List {
		_, isFunc := p.Type.(*ast.FuncType)
		if name, isName := p.Type.(*ast.Ident); isFunc || isName && name.Name == "Predicate" {
			return false
		}
	}
	return true
}

// TestNamedMistakes checks what is said of names that are almost right.
func TestNamedMistakes(t *testing.T) {
	for name, want := range map[string]string{
		"at most many of kind Pod":                   `"many" is not a number of objects`,
		"at most -1 of kind Pod":                     `"-1" is not a number of objects`,
		"at most 3 of kind Pdo":                      `no kind is called "Pdo"`,
		"each Pod is named by status.x of Pdo":       `no kind is called "Pdo"`,
		"Pod: spec.x never goes back in the order":   "", // it is another form
		"Pod: spec.x never goes back in the order A": `one value, "A", is no order`,
		"the status of Pod":                          "",
	} {
		_, found, err := properties.Named(name, kindOf)
		if found != (want != "") || found && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: found %t, %v", name, found, err)
		}
	}
	for _, form := range properties.Forms() {
		if name := strings.NewReplacer("KIND", "Pod", "PATHS", "a, b", "PATH", "spec.x", "VALUES", "A, B").Replace(form); !strings.Contains(name, " N ") {
			if _, found, err := properties.Named(name, kindOf); !found || err != nil {
				t.Errorf("%q: found %t, %v", name, found, err)
			}
		}
	}
}

package iotrace

import (
	"testing"

	"github.com/orrery-dev/orrery/internal/lookup"
)

// TestStandard tells packages of the standard library from those of modules, of which some have paths without a dot.
func TestStandard(t *testing.T) {
	m := modules{undotted: []string{"operator", "corp/tools"}}
	for dir, want := range map[string]bool{
		"net/http": true, "os": true, "operators/web": true, "corp": true,
		"operator": false, "operator/web": false, "corp/tools/x": false, "main": false, "example.com/web": false,
	} {
		if got := m.standard(dir); got != want {
			t.Errorf("%s is standard: %t", dir, got)
		}
	}
	if built().standard("github.com/orrery-dev/orrery") {
		t.Error("this module is of the standard library")
	}
}

// TestWhere checks which function of a stack is named: the first of the program's own module, or else the first that is
// not of the standard library.
func TestWhere(t *testing.T) {
	m := modules{main: "example.com/operator"}
	at := func(function string) place { return place{function, "/src/dir/file.go", 7} }
	dial, library, own := at("net.Dial"), at("example.com/library.dial"), at("example.com/operator/pkg.(*R).Reconcile")
	for _, test := range []struct {
		stack []place
		want  string
	}{
		{[]place{dial, library, own}, own.function},
		{[]place{dial, library}, library.function},
		{[]place{dial, at("example.com/operators.Dial")}, "example.com/operators.Dial"},
		{[]place{dial, at(lookup.Package + ".send"), library}, library.function},
		{[]place{dial, library, at("main.main")}, "main.main"},
		{[]place{dial}, dial.function},
	} {
		if got, want := m.where(test.stack), test.want+" (dir/file.go:7)"; got != want {
			t.Errorf("%v: %q, want %q", test.stack, got, want)
		}
	}
}

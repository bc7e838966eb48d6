package pins

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// TestRaised checks what is said of a module with a requirement, by where its go.mod is and what the build has.
func TestRaised(t *testing.T) {
	const operator = "module pgregory.net/rapid\n\ngo 1.24\n\nrequire (\n\tsigs.k8s.io/controller-runtime v0.22.4\n\tk8s.io/client-go v0.34.1\n)\n"
	cache, local := t.TempDir(), t.TempDir()
	folder := filepath.Join(cache, "cache", "download", "pgregory.net", "rapid", "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(folder, "v1.2.0.mod"), filepath.Join(local, "go.mod")} {
		if err := os.WriteFile(file, []byte(operator), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runtimeOf := func(version string) *debug.Module {
		return &debug.Module{Path: "sigs.k8s.io/controller-runtime", Version: version}
	}
	own := &debug.Module{Path: "pgregory.net/rapid", Version: "v1.2.0"}
	replacing := &debug.Module{Path: own.Path, Version: "v1.2.0", Replace: &debug.Module{Path: local}}
	client := &debug.Module{Path: "k8s.io/client-go", Version: "v0.34.1"}
	for _, test := range []struct {
		name  string
		deps  []*debug.Module
		value any
		want  string
	}{
		{"a newer library", []*debug.Module{own, runtimeOf("v0.23.3"), client}, &rapid.T{}, "pgregory.net/rapid v1.2.0 requires sigs.k8s.io/controller-runtime v0.22.4 (here v0.23.3)"},
		{"a function", []*debug.Module{own, runtimeOf("v0.23.3"), client}, rapid.Bool, "controller-runtime v0.22.4"},
		{"a module that is replaced by a folder", []*debug.Module{replacing, runtimeOf("v0.23.3"), client}, &rapid.T{}, "controller-runtime v0.22.4"},
		{"the same library", []*debug.Module{own, runtimeOf("v0.22.4"), client}, &rapid.T{}, ""},
		{"a library that is replaced by the same", []*debug.Module{own, {Path: "sigs.k8s.io/controller-runtime", Version: "v0.23.3", Replace: runtimeOf("v0.22.4")}, client}, &rapid.T{}, ""},
		{"a longer path that is another module", []*debug.Module{own, {Path: "pgregory.net/rapid/other", Version: "v1.0.0"}, runtimeOf("v0.23.3")}, &goleakOption, ""},
		{"nothing", []*debug.Module{own, runtimeOf("v0.23.3")}, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := raised(&debug.BuildInfo{Deps: test.deps}, cache, []any{test.value, test.value})
			if text := strings.Join(got, "\n"); !strings.Contains(text, test.want) || (test.want == "") != (text == "") || len(got) > 1 {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// goleakOption is of a package of another module.
var goleakOption goleak.Option

// TestRaisedHere checks that the build of this test is looked at without trouble.
func TestRaisedHere(t *testing.T) {
	if got := Raised(&rapid.T{}, 1, nil, TestRaised); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

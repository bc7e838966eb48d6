package orrery_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// TestRegression lets a failing test and a failing spec write regression tests: these fail as long as the loops fight,
// and pass when they no longer do.
func TestRegression(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module")
	}
	folder := shop(t)
	run := func(want bool, args ...string) string {
		t.Helper()
		command := exec.Command("go", append([]string{"test", "-ldflags=-s -w", "-count=1", "-v"}, args...)...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
		output, err := command.CombinedOutput()
		if (err == nil) != want {
			t.Fatalf("%v passes: %t, want %t:\n%s", args, err == nil, want, output)
		}
		return string(output)
	}
	wants := func(output string, all ...string) {
		t.Helper()
		for _, text := range all {
			if !strings.Contains(output, text) {
				t.Fatalf("%q is not in:\n%s", text, output)
			}
		}
	}
	wants(run(false, "-run", "TestShop|TestSpecs", "-orrery.regression", "."),
		"the test TestShopSmallRegression1 in testshopsmallregression1_test.go runs the finding again",
		"the test TestTheShopSettlesRegression1 in testtheshopsettlesregression1_test.go runs the finding again")
	first := tree(t, folder)
	wants(run(false, "-run", "TestShop$", "-orrery.regression", "."), "the finding is pinned already, by the record testdata/orrery/TestShopSmallRegression1.orr")
	if again := tree(t, folder); again != first {
		t.Errorf("the second run has changed files:\n%s\nwere\n%s", again, first)
	}

	defective := run(false, "-run", "Regression|TestSpecs")
	wants(defective, "--- FAIL: TestShopSmallRegression1", "--- FAIL: TestSpecs/TestTheShopSettlesRegression1", "finding 1 happens again: ")

	name := filepath.Join(folder, "shop.go")
	code, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(code), "Ceiling = 2", "Ceiling = 4", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	wants(run(true, "-run", "Test"), "--- PASS: TestShopSmallRegression1", "--- PASS: TestSpecs/TestTheShopSettlesRegression1", "finding 1 no longer happens: step ")
}

// shop writes the module of the test into a folder.
func shop(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/regression/shop.txtar")
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	read := func(file string) []byte {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	module := strings.Replace(string(read("go.mod")), "module github.com/orrery-dev/orrery", "module example.com/shop", 1)
	module += fmt.Sprintf("\nrequire github.com/orrery-dev/orrery v0.0.0\nrequire github.com/onsi/ginkgo/v2 v2.0.0\n"+
		"replace github.com/orrery-dev/orrery => %s\nreplace github.com/onsi/ginkgo/v2 => ./ginkgo\n", checkout)
	archive.Files = append(archive.Files, txtar.File{Name: "go.mod", Data: []byte(module)}, txtar.File{Name: "go.sum", Data: read("go.sum")})
	folder := t.TempDir()
	if err := txtar.Write(archive, folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// tree lists the Go files and the records in a folder, with their texts.
func tree(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	for _, pattern := range []string{"*.go", "testdata/orrery/*"} {
		names, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n%x\n", filepath.Base(name), text)
		}
	}
	return b.String()
}

// failing is a test that notes how it ends.
type failing struct {
	*testing.T
	said string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(f)
}

// TestReplayFileMistakes checks what is said where a record pins nothing.
func TestReplayFileMistakes(t *testing.T) {
	fighting := scaled(bounds{"savings", 0, 2}, bounds{"availability", 3, 9})
	write := func(system *core.System) string {
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "run.orr")
		if _, err := record.WriteFile(t.Context(), file, record.Header{System: system.Name}, &result.Report, nil, 0); err != nil {
			t.Fatal(err)
		}
		return file
	}
	other := scaled(bounds{"savings", 0, 2}, bounds{"availability", 3, 9})
	other.Initial = []core.Initial{plain.Start(plain.NewVar[int]("replicas").Is(2))}
	for name, test := range map[string]struct {
		system *core.System
		file   string
		want   string
		chosen []int
	}{
		"no record":       {fighting, filepath.Join(t.TempDir(), "none.orr"), "the record cannot be read", nil},
		"no finding":      {fighting, write(scaled(bounds{"savings", 0, 2})), "has no finding to replay", nil},
		"other objects":   {other, write(fighting), "pins nothing: the system no longer starts with these objects", nil},
		"another finding": {fighting, write(fighting), "has no finding 2: it has 1", []int{2}},
	} {
		f := &failing{T: t}
		func() {
			defer func() { _ = recover() }()
			orrery.ReplayFile(f, test.system, test.file, test.chosen...)
		}()
		if !strings.Contains(f.said, test.want) {
			t.Errorf("%s: %q, want %q", name, f.said, test.want)
		}
	}
}

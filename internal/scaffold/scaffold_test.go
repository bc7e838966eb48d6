package scaffold_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/orrery-dev/orrery/internal/scaffold"
)

var update = flag.Bool("update", false, "write the golden files anew")

// project writes the project of a fixture into a folder. Its module requires what this one does, and Orrery from this
// checkout.
func project(t *testing.T, name string) string {
	t.Helper()
	folder := t.TempDir()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"multigroup": "example.com/market", "webhook": "example.com/letters"}
	path := paths[name]
	if path == "" {
		path = "example.com/" + name
	}
	text := strings.Replace(string(module), "module github.com/orrery-dev/orrery", "module "+path, 1)
	text += fmt.Sprintf("\nrequire github.com/orrery-dev/orrery v0.0.0\n\nreplace github.com/orrery-dev/orrery => %s\n", checkout)
	archive.Files = append(archive.Files, txtar.File{Name: "go.mod", Data: []byte(text)}, txtar.File{Name: "go.sum", Data: sums})
	if err := txtar.Write(archive, folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// plan returns what is to be written for the project in a folder.
func plan(t *testing.T, folder string) *scaffold.Plan {
	t.Helper()
	p, err := scaffold.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestPlan compares what is written for each project, and what is said about it, with golden files.
func TestPlan(t *testing.T) {
	for _, name := range []string{"multigroup", "webhook", "plain", "broken", "made", "command", "alias"} {
		t.Run(name, func(t *testing.T) {
			plan := plan(t, project(t, name))
			var got strings.Builder
			for _, part := range []struct {
				title string
				lines []string
			}{{"found", plan.Found}, {"missing", plan.Missing}, {"denied", plan.Denied}, {"next", plan.Next}} {
				fmt.Fprintf(&got, "%s:\n", part.title)
				for _, line := range part.lines {
					fmt.Fprintf(&got, "    %s\n", line)
				}
			}
			for _, f := range plan.Files {
				if !strings.HasPrefix(f.Path, ".github") || name == "multigroup" {
					fmt.Fprintf(&got, "-- %s --\n%s", f.Path, f.Text)
				}
			}
			golden := filepath.Join("testdata", name+".golden.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("for %s is written:\n%s", name, &got)
			}
		})
	}
}

// TestWritten compiles what is written for each project, and runs two of them, one with definitions and one with a
// webhook: the controllers settle.
func TestWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds seven projects")
	}
	for _, test := range []struct {
		name, folder string
		runs         bool
	}{{"multigroup", "./internal/controller", true}, {"webhook", "./cmd", true}, {"plain", ".", false}, {"broken", "./controllers", false}, {"made", "./internal/controller", false}, {"command", ".", false}, {"alias", "./watch", false}} {
		t.Run(test.name, func(t *testing.T) {
			folder := project(t, test.name)
			if err := plan(t, folder).Write(folder, false); err != nil {
				t.Fatal(err)
			}
			args, want := []string{"vet", test.folder}, ""
			if test.runs {
				args, want = []string{"test", "-ldflags=-s -w", "-v", "-count=1", "-run", "^TestControllersSettle$", test.folder}, "--- PASS: TestControllersSettle"
			}
			command := exec.Command("go", args...)
			command.Dir = folder
			command.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
			output, err := command.CombinedOutput()
			if err != nil || !strings.Contains(string(output), want) {
				t.Errorf("%v:\n%s", err, output)
			}
			if test.runs && !strings.Contains(string(output), "a controller crashes once: ") {
				t.Errorf("it does not say what was searched:\n%s", output)
			}
		})
	}
}

// TestNothing checks what is said of projects that no test can be written for.
func TestNothing(t *testing.T) {
	for name, informs := range map[string]bool{"nothing": false, "informs": true} {
		p, err := scaffold.Read(project(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if plan, err := p.Plan(); err == nil || !strings.Contains(err.Error(), "no controllers were found in example.com/"+name) || strings.Contains(err.Error(), "adapters/clientgo") != informs {
			t.Errorf("%+v, %v", plan, err)
		}
	}
	if _, err := scaffold.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "there is no go.mod in") {
		t.Errorf("of an empty folder: %v", err)
	}
	folder := t.TempDir()
	for module, want := range map[string]string{"go 1.25\n": "names no module", "module a b c\n": "cannot be read"} {
		if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte(module), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := scaffold.Read(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of %q: %v", module, err)
		}
	}
}

// TestNoFileIsOverwritten checks that a file which is there stays, with all others unwritten, unless the user wants it
// otherwise.
func TestNoFileIsOverwritten(t *testing.T) {
	folder := project(t, "plain")
	own := filepath.Join(folder, "orrery_test.go")
	if err := os.WriteFile(own, []byte("package main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	plan := plan(t, folder)
	if err := plan.Write(folder, false); err == nil || !strings.Contains(err.Error(), "already orrery_test.go") {
		t.Errorf("the error is %v", err)
	}
	if text, err := os.ReadFile(own); err != nil || string(text) != "package main\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(folder, ".github")); !os.IsNotExist(err) {
		t.Errorf("the workflow was written: %v", err)
	}
	if err := plan.Write(folder, true); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(own); err != nil || !strings.Contains(string(text), "TestControllersSettle") {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// TestWorkflowOfSubfolder checks that the workflow of a project in a folder of a repository is where GitHub looks for
// it.
func TestWorkflowOfSubfolder(t *testing.T) {
	from := project(t, "plain")
	repository := t.TempDir()
	folder := filepath.Join(repository, "deep", "operator")
	if err := os.Mkdir(filepath.Join(repository, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	plan := plan(t, folder)
	i := slices.IndexFunc(plan.Files, func(f scaffold.File) bool { return f.Path == "../../.github/workflows/orrery.yml" })
	if i < 0 || !strings.Contains(string(plan.Files[i].Text), "working-directory: deep/operator") || !strings.Contains(string(plan.Files[i].Text), "go-version-file: deep/operator/go.mod") {
		t.Errorf("the files are %s", plan.Files)
	}
}

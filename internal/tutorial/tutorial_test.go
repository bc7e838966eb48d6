package tutorial

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// block finds a block of the page, with the line before it if that is a comment.
var block = regexp.MustCompile("(?ms)^(?:<!-- ([^\n]*) -->\n)?```([a-z]*)\n(.*?)^```$")

// took is how long a test took, which is another time each time.
var took = regexp.MustCompile(` \(\d+\.\d+s\)`)

// soon is how many commands a reader gives at most to come to a first verdict.
const soon = 3

// TestTutorial follows the page.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a project")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	reader := newReader(t, root)
	files, commands, outputs := 0, 0, 0
	began, verdict := time.Now(), 0
	for _, found := range block.FindAllStringSubmatch(string(page), -1) {
		about, language, text := found[1], found[2], found[3]
		what, file, _ := strings.Cut(about, " ")
		switch {
		case what == "file":
			files++
			reader.write(file, text)
		case what == "function":
			files++
			reader.replace(file, text)
		case what == "output":
			outputs++
			reader.compare(text)
		case language == "sh":
			commands++
			reader.run(text)
			if verdict == 0 && strings.Contains(reader.output, "VIOLATED") {
				verdict = commands
				t.Logf("the first verdict came with command %d, after %s", commands, time.Since(began).Round(time.Second))
			}
		case language != "console":
			t.Errorf("nothing says what this is:\n%s", text)
		}
	}
	if verdict == 0 || verdict > soon {
		t.Errorf("the first verdict comes with command %d, want one of the first %d", verdict, soon)
	}
	if files != 4 || commands != 4 || outputs != 4 {
		t.Errorf("there are %d files, %d commands and %d outputs", files, commands, outputs)
	}
}

// reader follows a page in a folder.
type reader struct {
	*testing.T
	folder, programs string
	// output is what the last command has printed.
	output string
}

// newReader makes the project that kubebuilder leaves, with the module that it requires from this checkout.
func newReader(t *testing.T, root string) *reader {
	r := &reader{T: t, folder: t.TempDir(), programs: t.TempDir()}
	build := exec.Command("go", "build", "-o", r.programs, "./cmd/orrery")
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	project, err := txtar.ParseFile(filepath.Join("testdata", "project.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(module), "module github.com/orrery-dev/orrery", "module example.com/shop", 1)
	text += fmt.Sprintf("\nrequire github.com/orrery-dev/orrery v0.0.0\n\nreplace github.com/orrery-dev/orrery => %s\n", root)
	project.Files = append(project.Files, txtar.File{Name: "go.mod", Data: []byte(text)}, txtar.File{Name: "go.sum", Data: sums})
	if err := txtar.Write(project, r.folder); err != nil {
		t.Fatal(err)
	}
	return r
}

// write writes a file that the page shows as it is.
func (r *reader) write(file, text string) {
	r.Helper()
	path := filepath.Join(r.folder, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

// replace puts a function that the page shows in the place of the one whose comment begins with the same line, up to the next comment at the margin.
func (r *reader) replace(file, function string) {
	r.Helper()
	was, err := os.ReadFile(filepath.Join(r.folder, filepath.FromSlash(file)))
	if err != nil {
		r.Fatal(err)
	}
	first, _, _ := strings.Cut(function, "\n")
	before, rest, found := strings.Cut(string(was), first+"\n")
	_, after, more := strings.Cut(rest, "\n}\n\n")
	if !found || !more {
		r.Fatalf("%s has no function with the comment %q", file, first)
	}
	r.write(file, before+function+"\n"+after)
}

// run runs commands. Whether they fail shows in what they print.
func (r *reader) run(commands string) {
	r.Helper()
	command := exec.Command("sh", "-c", commands)
	command.Dir = r.folder
	command.Env = append(os.Environ(), "PATH="+r.programs+string(os.PathListSeparator)+os.Getenv("PATH"), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false -ldflags=-s")
	output, err := command.CombinedOutput()
	if err != nil && command.ProcessState == nil {
		r.Fatal(err) // it was not run at all
	}
	r.output = took.ReplaceAllString(string(output), "")
}

// compare looks for what the page shows of the last output, in its order. A line with … stands for lines that are left out.
func (r *reader) compare(shown string) {
	r.Helper()
	rest := r.output
	for part := range strings.SplitSeq(strings.TrimSuffix(shown, "\n"), "…\n") {
		_, after, found := strings.Cut(rest, part)
		if !found {
			r.Fatalf("the page shows\n%s\nwhich is not in, or not behind what it shows before, in\n%s", part, r.output)
		}
		rest = after
	}
}

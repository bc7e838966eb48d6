package tutorial

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/mod/modfile"
)

// block finds a block of the page, with the line before it if that is a comment.
var block = regexp.MustCompile("(?ms)^(?:<!-- ([^\n]*) -->\n)?```([a-z]*)\n(.*?)^```$")

// took is how long a test took, which is another time each time.
var took = regexp.MustCompile(` \(\d+\.\d+s\)`)

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
	reader := newReader(t, root, publish(t, root))
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
				t.Logf("the first verdict came with block %d, after %s", commands, time.Since(began).Round(time.Second))
			}
		case language != "console":
			t.Errorf("nothing says what this is:\n%s", text)
		}
	}
	if verdict == 0 {
		t.Error("there is no verdict")
	}
	if files != 4 || commands != 4 || outputs != 4 {
		t.Errorf("there are %d files, %d commands and %d outputs", files, commands, outputs)
	}
}

// reader follows a page in a folder.
type reader struct {
	*testing.T
	// folder is that of the project, and programs is where go install puts what the page installs.
	folder, programs string
	orrery           published
	// output is what the last command has printed.
	output string
}

// newReader makes the project that kubebuilder leaves. The module is got from a proxy.
func newReader(t *testing.T, root string, orrery published) *reader {
	r := &reader{T: t, folder: t.TempDir(), programs: t.TempDir(), orrery: orrery}
	project, err := txtar.ParseFile(filepath.Join("testdata", "project.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if err := txtar.Write(project, r.folder); err != nil {
		t.Fatal(err)
	}
	r.require(root)
	return r
}

// require gives the project's requirements the versions that the module has of them. A project requires nothing but
// what it needs without Orrery, and has no sums of anything else, so whatever a check needs more has to come from the
// commands.
func (r *reader) require(root string) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			r.Fatal(err)
		}
		return string(text)
	}
	versions, sums := map[string]string{}, map[string]string{}
	file, err := modfile.Parse("go.mod", []byte(read(filepath.Join(root, "go.mod"))), nil)
	if err != nil {
		r.Fatal(err)
	}
	for _, required := range file.Require {
		versions[required.Mod.Path] = required.Mod.Version
	}
	for line := range strings.Lines(read(filepath.Join(root, "go.sum"))) {
		path, rest, _ := strings.Cut(line, " ")
		if strings.HasPrefix(rest, versions[path]) {
			sums[path] += line
		}
	}
	own, err := modfile.Parse("go.mod", []byte(read(filepath.Join(r.folder, "go.mod"))), nil)
	if err != nil {
		r.Fatal(err)
	}
	var sum strings.Builder
	for _, required := range own.Require {
		path := required.Mod.Path
		if versions[path] == "" {
			r.Fatalf("the module does not require %s: make the project in testdata anew, with go mod tidy", path)
		}
		required.Mod.Version = versions[path]
		sum.WriteString(sums[path])
	}
	own.SetRequire(own.Require)
	text, err := own.Format()
	if err != nil {
		r.Fatal(err)
	}
	r.write("go.mod", string(text))
	r.write("go.sum", sum.String())
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

// replace puts a function that the page shows in the place of the one whose comment begins with the same line, up to
// the next comment at the margin.
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
	command.Env = append(os.Environ(), "PATH="+r.programs+string(os.PathListSeparator)+os.Getenv("PATH"), "GOBIN="+r.programs, "GOPROXY="+r.orrery.proxies, "GOSUMDB=off", "GOWORK=off",
		"GOFLAGS=-modcacherw -buildvcs=false -ldflags=-s")
	output, err := command.CombinedOutput()
	if err != nil && command.ProcessState == nil {
		r.Fatal(err) // it was not run at all
	}
	r.output = took.ReplaceAllString(string(output), "")
}

// compare looks for what the page shows of the last output, in its order. A line with … stands for lines that are left
// out.
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

package scaffold

import (
	"errors"
	"fmt"
	"go/format"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// File is a file to be written. Its path is from the folder of the project, with slashes; a workflow may be above it.
type File struct {
	Path string
	Text []byte
}

// Plan is what is to be written for a project, and what to say about it.
type Plan struct {
	Files []File
	// Found are the parts of the project that the check uses, and Missing what it lacks or may have wrong, with what to
	// do about each.
	Found, Missing []string
	// Denied says what the markers for permissions do not allow with the kinds that controllers watch, a line for each
	// kind. A check does not enforce permissions.
	Denied []string
	// Definitions are the files with custom resource definitions that the check uses, and Objects the initial objects.
	Definitions []string
	Objects     []Objects
	// Next are the commands to run now, in the folder of the project.
	Next []string
}

// Objects are initial objects of a check.
type Objects struct {
	File
	// Of is the kind of which it is one that the project has no sample of, and that is to be written. It is empty for a
	// file of samples.
	Of string
}

// few is how many registrations a test should not have more of: they are all set up for each run of a controller, and
// interleaved with each other.
const few = 8

// testName is the name of the test that is written.
const testName = "TestControllersSettle"

// Plan says what is to be written. It is an error if there is nothing to check.
func (p *Project) Plan() (*Plan, error) {
	plan := &Plan{Denied: p.denied()}
	for _, mistake := range p.Broken {
		plan.Missing = append(plan.Missing, "what this mistake hides: "+mistake)
	}
	if len(p.registrations) == 0 {
		return nil, p.nothing()
	}
	folder, inside := p.place()
	c := &copier{project: p, inside: inside, imports: newImports(taken(inside))}
	var calls []call
	for _, r := range p.registrations {
		before := len(c.ahead)
		code := c.call(r)
		if code == "" {
			c.giveUp(before)
			continue
		}
		if !slices.ContainsFunc(calls, func(other call) bool { return other.code == code }) {
			calls = append(calls, call{r, code, slices.Clone(c.ahead[before:])})
			plan.Found = append(plan.Found, p.found(r))
		}
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("no controller can be set up in a test:\n  %s", strings.Join(c.missing, "\n  "))
	}
	plan.Missing = slices.Concat(plan.Missing, p.elsewhere, c.missing, p.leftOut())
	if len(calls) > few {
		plan.Missing = append(plan.Missing, fmt.Sprintf("%d registrations at once take long to search: keep those that work together, such as one controller and those whose objects it waits for, and write a test for each such group", len(calls)))
	}
	test := &testFile{copier: c, folder: folder, calls: calls}
	test.write(p, plan)
	source, err := format.Source([]byte(test.text()))
	if err != nil {
		return nil, fmt.Errorf("the test cannot be written for what %s has: %w", p.registrations[0].in.name, err)
	}
	plan.Files = append([]File{{path.Join(folder, "orrery_test.go"), source}}, plan.Files...)
	plan.Files = append(plan.Files, p.workflow(folder))
	plan.next(p, folder)
	return plan, nil
}

// nothing says why there is nothing to check.
func (p *Project) nothing() error {
	said := "no controllers were found in %s: orrery init looks for functions that register controllers on a ctrl.Manager, such as SetupWithManager, and for ctrl.NewControllerManagedBy. Write the test by hand where controllers are set up otherwise: the README of Orrery shows one"
	if p.informs() {
		said += ". Controllers on client-go's informers and work queues, which this project seems to have, are set up by adapters/clientgo: docs/guide.md of Orrery shows how"
	}
	if len(p.Broken) > 0 {
		return fmt.Errorf(said+". These files do not compile:\n  %s", p.module.Module.Mod.Path, strings.Join(p.Broken, "\n  "))
	}
	return fmt.Errorf(said, p.module.Module.Mod.Path)
}

// informs reports whether the project has informers or work queues of client-go.
func (p *Project) informs() bool {
	return slices.ContainsFunc(p.sources(), func(f *source) bool {
		for _, imported := range f.imports {
			if imported == "k8s.io/client-go/util/workqueue" || imported == "k8s.io/client-go/informers" || imported == "k8s.io/client-go/tools/cache" {
				return true
			}
		}
		return false
	})
}

// found says what a registration is, and where.
func (p *Project) found(r *registration) string {
	what := "controller"
	switch {
	case r.setup == nil:
		return fmt.Sprintf("controller built at %s", p.at(r.call))
	case r.setup.webhook:
		what = "webhook"
	}
	if r.call == nil {
		return fmt.Sprintf("%s %s (%s), which nothing calls", what, r.setup.title(), p.at(r.setup.decl))
	}
	return fmt.Sprintf("%s %s (%s), as %s sets it up", what, r.setup.title(), p.at(r.setup.decl), p.at(r.call))
}

// place returns the folder of the test, and the package that it is part of if it is in none of its own: beside the
// set-ups, or where main.go is if they have no folder in common or are not for others.
func (p *Project) place() (folder string, inside *pkg) {
	var folders []string
	var hidden *pkg
	for _, r := range p.registrations {
		of := r.in.of
		if r.setup != nil {
			of = r.setup.in.of
		}
		if of.name == "main" {
			return of.folder, of
		}
		if r.setup == nil || !r.setup.exported() {
			hidden = of
		}
		folders = append(folders, of.folder)
	}
	if hidden != nil {
		return hidden.folder, hidden
	}
	folder = folders[0]
	for _, other := range folders[1:] {
		for folder != "." && other != folder && !strings.HasPrefix(other, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	if folder != "." || p.packages["."] != nil && p.packages["."].name != "main" {
		return folder, nil
	}
	for _, r := range p.registrations {
		if r.call != nil && r.in.of.name == "main" {
			return r.in.of.folder, r.in.of
		}
	}
	return folder, p.packages["."]
}

// taken are the names that no package may have in the test.
func taken(inside *pkg) []string {
	names := []string{"t", "mgr", "err", "add", "scheme", "system", "objects", "setUp"}
	if inside == nil {
		return names
	}
	for _, f := range inside.files {
		for _, d := range f.syntax.Decls {
			names = append(names, declaredBy(d)...)
		}
	}
	return names
}

// next adds the commands to run, and what of the project's requirements stands in the way.
func (plan *Plan) next(p *Project, folder string) {
	if p.module.Module.Mod.Path != orreryPath {
		// Also where go.mod requires Orrery already: that says nothing of what the packages that the test imports need
		// themselves.
		plan.Next = append(plan.Next, "go get -t "+inFolder(folder))
	}
	plan.Next = append(plan.Next, "go test "+inFolder(folder)+" -run '^"+testName+"$'")
	version := p.requires(runtimePath)
	if version == "" {
		plan.Missing = append(plan.Missing, "go.mod does not require "+runtimePath+" directly: the test imports it")
	}
	if advice := raised(version); advice != "" && !p.keeps {
		plan.Missing = append(plan.Missing, advice)
	}
}

// What Orrery requires of controller-runtime, and what of that and of the libraries of Kubernetes it builds with all
// the same. The table of the README has more.
const (
	requiredRuntime  = "v0.23.0"
	oldestRuntime    = "v0.22.4"
	oldestKubernetes = "v0.34.3"
)

// raised says what to do where Go would raise the version of controller-runtime that a project requires, nothing if it
// would not.
func raised(version string) string {
	if version == "" || semver.Compare(version, requiredRuntime) >= 0 {
		return ""
	}
	keep := oldestRuntime
	if semver.Compare(version, oldestRuntime) > 0 {
		keep = version
	}
	text := fmt.Sprintf("go.mod requires controller-runtime %s, which Go raises to %s or newer for Orrery. If the code does not build then: go mod edit -replace %s=%s@%s", version, semver.MajorMinor(requiredRuntime), runtimePath, runtimePath, keep)
	for _, library := range []string{"api", "apimachinery", "apiserver", "apiextensions-apiserver", "client-go"} {
		text += fmt.Sprintf(" -replace k8s.io/%s=k8s.io/%s@%s", library, library, oldestKubernetes)
	}
	return text
}

func inFolder(folder string) string {
	if folder == "." {
		return "."
	}
	return "./" + folder
}

// Write writes the files of a plan into a project, none if one of them is there already and force is not set.
func (plan *Plan) Write(root string, force bool) error {
	var there []string
	for _, f := range plan.Files {
		if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(f.Path))); err == nil {
			there = append(there, f.Path)
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if len(there) > 0 && !force {
		return fmt.Errorf("nothing was written, as there is already %s: look at what would be written with --dry-run, and overwrite with --force", strings.Join(there, " and "))
	}
	for _, f := range plan.Files {
		name := filepath.Join(root, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
		if force {
			mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		}
		if err := writeFile(name, mode, f.Text); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(name string, mode int, text []byte) error {
	file, err := os.OpenFile(name, mode, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

package scaffold

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Project is what was found in the folder of a module.
type Project struct {
	root   string
	module *modfile.File
	// keeps tells that go.mod replaces controller-runtime, and so keeps its version.
	keeps bool
	files *token.FileSet
	// packages are those of the module, by folder, without tests.
	packages map[string]*pkg
	// Broken are the mistakes in Go files, as "file:line:column: message", one for each file.
	Broken []string

	setups        []*setup
	registrations []*registration
	schemes       []reference
	// program is the one whose controllers are checked, nil if that makes no difference, and elsewhere says what others
	// set up.
	program   *program
	elsewhere []string
	manifests manifests
	// refused says of kinds why the objects that came first were refused.
	refused map[string][]string
	markers []marker
}

// pkg is a package of the project.
type pkg struct {
	folder string // from the root, with slashes
	path   string
	name   string
	files  []*source
}

// function returns a function of the package that is no method, nil if there is none of that name, or no package.
func (of *pkg) function(name string) (*source, *ast.FuncDecl) {
	if of == nil {
		return nil, nil
	}
	for _, f := range of.files {
		for _, d := range f.syntax.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Recv == nil && decl.Name.Name == name {
				return f, decl
			}
		}
	}
	return nil, nil
}

// has reports whether a package declares a name.
func (of *pkg) has(name string) bool {
	return slices.ContainsFunc(of.files, func(f *source) bool {
		return slices.ContainsFunc(f.syntax.Decls, func(d ast.Decl) bool { return slices.Contains(declaredBy(d), name) })
	})
}

// declaredBy returns the names of a package that a declaration declares. Methods are none.
func declaredBy(d ast.Decl) []string {
	var names []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// source is a Go file.
type source struct {
	of     *pkg
	name   string
	syntax *ast.File
	// imports are the paths of imported packages by the names that they have in the file.
	imports map[string]string
}

// reference is an exported name of a package.
type reference struct{ path, name string }

// Read reads the project in a folder, which has its go.mod.
func Read(folder string) (*Project, error) {
	p := &Project{root: folder, files: token.NewFileSet(), packages: map[string]*pkg{}}
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	info, failed := os.Stat(folder)
	switch {
	case failed == nil && !info.IsDir():
		return nil, fmt.Errorf("%s is a file: name the folder of a Go module", folder)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no go.mod in %s: name the folder of a Go module", folder)
	case err != nil:
		return nil, err
	}
	p.keeps = strings.Contains(string(text), runtimePath+" =>")
	if p.module, err = modfile.ParseLax("go.mod", text, nil); err != nil {
		return nil, fmt.Errorf("go.mod cannot be read: %w", err)
	}
	if p.module.Module == nil {
		return nil, fmt.Errorf("the go.mod in %s names no module: add a line such as \"module example.com/my-operator\"", folder)
	}
	if err := p.readFiles(); err != nil {
		return nil, err
	}
	for _, folder := range p.folders() {
		for _, f := range p.packages[folder].files {
			f.imports = p.importsOf(f.syntax)
		}
	}
	p.findSetups()
	p.findRegistrations()
	p.findSchemes()
	p.findMarkers()
	if p.manifests, err = readManifests(folder); err != nil {
		return nil, err
	}
	return p, nil
}

// readFiles parses the Go files of the module.
func (p *Project) readFiles() error {
	return filepath.WalkDir(p.root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != p.root && foreign(name, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		if built, err := build.Default.MatchFile(filepath.Dir(name), entry.Name()); err == nil && !built {
			return nil
		}
		return p.readFile(name)
	})
}

// besides are folders whose packages are none of the module, or are not what users run: they set up what tests and
// tools need.
var besides = []string{"vendor", "testdata", "node_modules", "test", "tests", "e2e", "hack"}

// foreign reports whether a folder has nothing that belongs in a check.
func foreign(name, base string) bool {
	if slices.Contains(besides, base) || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(name, "go.mod"))
	return err == nil
}

func (p *Project) readFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(p.root, name)
	if err != nil {
		return err
	}
	relative = filepath.ToSlash(relative)
	syntax, err := parser.ParseFile(p.files, relative, text, parser.ParseComments|parser.SkipObjectResolution)
	if mistakes := (scanner.ErrorList)(nil); errors.As(err, &mistakes) && len(mistakes) > 0 {
		p.Broken = append(p.Broken, mistakes[0].Error())
	} else if err != nil {
		p.Broken = append(p.Broken, fmt.Sprintf("%s: %v", relative, err))
	}
	if syntax == nil || syntax.Name == nil || syntax.Name.Name == "" || syntax.Name.Name == "_" || supportsTests(syntax) {
		return nil
	}
	folder := path.Dir(relative)
	of := p.packages[folder]
	if of == nil {
		of = &pkg{folder: folder, path: path.Join(p.module.Module.Mod.Path, folder), name: syntax.Name.Name}
		p.packages[folder] = of
	}
	of.files = append(of.files, &source{of: of, name: relative, syntax: syntax})
	return nil
}

// folders returns the folders of the packages, in order.
func (p *Project) folders() []string {
	folders := make([]string, 0, len(p.packages))
	for folder := range p.packages {
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	return folders
}

// sources returns all Go files, in order.
func (p *Project) sources() []*source {
	var all []*source
	for _, folder := range p.folders() {
		all = append(all, p.packages[folder].files...)
	}
	return all
}

// importsOf returns what a file imports, by name. Of packages of others the name is guessed from the path, and there
// are several guesses where nothing else has these names.
func (p *Project) importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	var guessed []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil:
		case spec.Name != nil:
			imports[spec.Name.Name] = imported
		case p.packageAt(imported) != nil:
			imports[p.packageAt(imported).name] = imported
		default:
			imports[guessedName(imported)] = imported
			guessed = append(guessed, imported)
		}
	}
	for _, imported := range guessed {
		for _, name := range otherNames(imported) {
			if imports[name] == "" {
				imports[name] = imported
			}
		}
	}
	return imports
}

// otherNames are what a package of others may be called besides what is most likely: one part of the end of its path,
// such as "nats" of "nats.go", or all of them in one word.
func otherNames(imported string) []string {
	prefix, _, _ := module.SplitPathVersion(imported)
	parts := strings.FieldsFunc(path.Base(prefix), func(r rune) bool { return r == '-' || r == '.' || r == '_' })
	return append(parts, strings.Join(parts, ""))
}

// packageAt returns the package of the project with a path, nil if it has none.
func (p *Project) packageAt(imported string) *pkg {
	own := p.module.Module.Mod.Path
	if imported == own {
		return p.packages["."]
	}
	folder, below := strings.CutPrefix(imported, own+"/")
	if !below {
		return nil
	}
	return p.packages[folder]
}

// guessedName is what a package of others is most likely called: the last part of its path that is no version.
func guessedName(imported string) string {
	prefix, _, _ := module.SplitPathVersion(imported)
	name := strings.TrimPrefix(path.Base(prefix), "go-")
	if imported == "sigs.k8s.io/controller-runtime" {
		return "controllerruntime"
	}
	return strings.NewReplacer("-", "_", ".", "_").Replace(name)
}

// at says where a node is, as "file:line".
func (p *Project) at(node ast.Node) string {
	position := p.files.Position(node.Pos())
	return fmt.Sprintf("%s:%d", position.Filename, position.Line)
}

// requires returns the version of a module that the project requires, empty if it does not.
func (p *Project) requires(path string) string {
	for _, r := range p.module.Require {
		if r.Mod.Path == path {
			return r.Mod.Version
		}
	}
	return ""
}

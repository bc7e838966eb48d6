package lint

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// module is the path of the root module.
const module = "github.com/orrery-dev/orrery"

// tree is the source text of a repository.
type tree struct {
	positions *token.FileSet
	files     []*file // in the order of their paths
	// others are the paths of files that are not text.
	others []string
}

// file is one file of text.
type file struct {
	path string // from the root of the repository, with slashes
	text []byte
	// syntax is nil unless this is Go source.
	syntax *ast.File
}

// load reads a repository. It leaves out what Git keeps for itself and files that
// are not text. What is in testdata is read as text only.
func load(repository fs.FS) (*tree, error) {
	t := &tree{positions: token.NewFileSet()}
	err := fs.WalkDir(repository, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path.Base(name) == ".git":
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		case !isText(name):
			t.others = append(t.others, name)
			return nil
		}
		f := &file{path: name}
		if f.text, err = fs.ReadFile(repository, name); err != nil {
			return err
		}
		if strings.HasSuffix(name, ".go") && !strings.Contains(name, "testdata/") {
			f.syntax, err = parser.ParseFile(t.positions, name, f.text, parser.ParseComments|parser.SkipObjectResolution)
		}
		t.files = append(t.files, f)
		return err
	})
	return t, err
}

// isText reports whether a file is one that people write and read.
func isText(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".mod", ".yml", ".yaml", ".txt", ".txtar", ".dot", ".json":
		return true
	}
	return name == "LICENSE" || strings.HasPrefix(name, ".ci/")
}

// folder is the folder of a file, "." for the root.
func (f *file) folder() string { return path.Dir(f.path) }

func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// source returns the Go files, tests only on demand.
func (t *tree) source(withTests bool) []*file {
	var files []*file
	for _, f := range t.files {
		if f.syntax != nil && (withTests || !f.isTest()) {
			files = append(files, f)
		}
	}
	return files
}

// packages returns the Go files without tests by folder, in order.
func (t *tree) packages() [][]*file {
	files := t.source(false)
	slices.SortStableFunc(files, func(a, b *file) int { return cmp.Compare(a.folder(), b.folder()) })
	var packages [][]*file
	for _, f := range files {
		if last := len(packages) - 1; last >= 0 && packages[last][0].folder() == f.folder() {
			packages[last] = append(packages[last], f)
		} else {
			packages = append(packages, []*file{f})
		}
	}
	return packages
}

// at says where a node is, as "path:line".
func (t *tree) at(node ast.Node) string {
	position := t.positions.Position(node.Pos())
	return fmt.Sprintf("%s:%d", position.Filename, position.Line)
}

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

//go:embed switch.go.txt
var switchText []byte

// workshop is where test binaries are built that have all mutants in them.
type workshop struct {
	// root is the folder of the module, and scratch one for what is built.
	root, module, scratch string
	overlay               struct{ Replace map[string]string }
	mutants               []mutant
}

// enter makes a workshop in a folder, for the module in another one.
func enter(ctx context.Context, root, scratch string) (*workshop, error) {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}}\n{{.Dir}}")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		return nil, said("find the module", err)
	}
	w := &workshop{scratch: scratch}
	w.overlay.Replace = map[string]string{}
	w.module, w.root, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return w, nil
}

// mutate finds the mutants of packages, and writes the files that have them.
func (w *workshop) mutate(ctx context.Context, patterns []string) error {
	const need = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax |
		packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps
	loaded, err := packages.Load(&packages.Config{Context: ctx, Mode: need, Dir: w.root}, patterns...)
	if err != nil {
		return err
	}
	for _, pkg := range loaded {
		for _, e := range pkg.Errors {
			return fmt.Errorf("load %s: %w", pkg.PkgPath, e)
		}
		for i, file := range pkg.Syntax {
			if err := w.rewrite(pkg, pkg.CompiledGoFiles[i], &finder{pkg: pkg, file: file, next: len(w.mutants)}); err != nil {
				return err
			}
		}
	}
	return w.write(filepath.Join(w.root, "internal", "mutation", "mutantswitch", "switch.go"), switchText)
}

func (w *workshop) rewrite(pkg *packages.Package, name string, f *finder) error {
	var err error
	if f.text, err = os.ReadFile(name); err != nil {
		return err
	}
	if f.path, err = filepath.Rel(w.root, name); err != nil {
		return err
	}
	if f.find(); len(f.found) == 0 {
		return nil
	}
	w.mutants = append(w.mutants, f.found...)
	// On the line of the package clause, so that lines keep their numbers.
	end := pkg.Fset.Position(f.file.Name.End()).Offset
	f.rewrites.replace(end, 0, fmt.Sprintf("; import %q", w.module+"/internal/mutation/mutantswitch"))
	return w.write(name, f.rewrites.apply(f.text))
}

// write puts a text in place of a file, for the builds of the workshop only.
func (w *workshop) write(name string, text []byte) error {
	substitute := filepath.Join(w.scratch, fmt.Sprintf("%d.go", len(w.overlay.Replace)))
	w.overlay.Replace[name] = substitute
	return os.WriteFile(substitute, text, 0o600)
}

// build builds the test binary of a package, and returns its name and the folder of the package. There is none if the
// package has no tests.
func (w *workshop) build(ctx context.Context, pkg string) (binary string, err error) {
	list, err := json.Marshal(w.overlay)
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(w.scratch, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return "", err
	}
	binary = filepath.Join(w.scratch, strings.NewReplacer("/", "_", ".", "_").Replace(pkg)+".test")
	command := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, pkg)
	command.Dir = w.root
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tests of %s: %w\n%s", pkg, err, out)
	}
	if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) {
		return "", nil // no tests
	}
	return binary, nil
}

// said adds to an error what the command said that failed.
func said(doing string, err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%s: %w\n%s", doing, err, exit.Stderr)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// place is a package and its folder.
type place struct {
	path, folder string
	// rapid tells that its tests use rapid.
	rapid bool
}

// packages lists packages.
func (w *workshop) packages(ctx context.Context, patterns []string) ([]place, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}\t{{.TestImports}} {{.XTestImports}}"}, patterns...)...)
	command.Dir = w.root
	out, err := command.Output()
	if err != nil {
		return nil, said("list packages", err)
	}
	var all []place
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		all = append(all, place{fields[0], fields[1], strings.Contains(fields[2], "pgregory.net/rapid")})
	}
	return all, nil
}

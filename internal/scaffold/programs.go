package scaffold

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// program is a main package of the project.
type program struct {
	main *pkg
	// has are the packages of the project that it is built of.
	has map[*pkg]bool
}

// programs returns the programs of the project, in the order of their folders.
func (p *Project) programs() []program {
	var all []program
	for _, folder := range p.folders() {
		of := p.packages[folder]
		if _, main := of.function("main"); of.name != "main" || main == nil {
			continue
		}
		one := program{main: of, has: map[*pkg]bool{of: true}}
		for next := []*pkg{of}; len(next) > 0; next = next[1:] {
			for _, f := range next[0].files {
				for _, spec := range f.syntax.Imports {
					imported := p.packageAt(strings.Trim(spec.Path.Value, `"`))
					if imported != nil && !one.has[imported] {
						one.has[imported] = true
						next = append(next, imported)
					}
				}
			}
		}
		all = append(all, one)
	}
	return all
}

// Choose keeps to the controllers of one program: that whose main package is in a folder, or the one that sets up most
// of them. What several programs have is a part of each, as is what nobody sets up yet. A program that the project does
// not have, or that sets up nothing, is an error.
func (p *Project) Choose(folder string) error {
	all := p.programs()
	setsUp := func(one program) int {
		n := 0
		for _, r := range p.registrations {
			if one.has[r.in.of] {
				n += max(1, len(p.within(r)))
			}
		}
		return n
	}
	var chosen *program
	for i := range all {
		switch one := &all[i]; {
		case folder != "" && path.Clean(folder) == one.main.folder:
			chosen = one
		case folder == "" && (chosen == nil || setsUp(*one) > setsUp(*chosen)):
			chosen = one
		}
	}
	switch {
	case chosen == nil && folder != "":
		return fmt.Errorf("there is no main package in %s: name the folder of one, such as %s", folder, p.folderOfProgram(all))
	case chosen == nil || folder == "" && setsUp(*chosen) == 0:
		return nil
	case setsUp(*chosen) == 0:
		return fmt.Errorf("the program in %s sets up no controllers: name the folder of one that does, such as %s", folder, p.folderOfProgram(all))
	}
	of := func(r *registration) *program { // of several, that with the fewest packages
		least := &program{}
		for i := range all {
			if one := &all[i]; one.has[r.in.of] && (least.main == nil || len(one.has) < len(least.has)) {
				least = one
			}
		}
		if chosen.has[r.in.of] || least.main == nil && r.call == nil {
			return chosen
		}
		return least
	}
	others := map[*pkg][]string{}
	p.registrations = slices.DeleteFunc(p.registrations, func(r *registration) bool {
		by := of(r)
		if by != chosen && by.main != nil && r.setup != nil {
			others[by.main] = append(others[by.main], r.setup.title())
		}
		return by != chosen
	})
	p.program = chosen
	for _, one := range all {
		if names := others[one.main]; len(names) > 0 {
			slices.Sort(names)
			p.elsewhere = append(p.elsewhere, fmt.Sprintf("%s is a program of its own, and what it sets up is left out (%s): for a test of that, orrery init --program %s", one.main.folder, strings.Join(slices.Compact(names), ", "), one.main.folder))
		}
	}
	return nil
}

// folderOfProgram returns the folder of a program that sets up controllers, or else of any.
func (p *Project) folderOfProgram(all []program) string {
	for _, one := range all {
		if slices.ContainsFunc(p.registrations, func(r *registration) bool { return one.has[r.in.of] }) {
			return one.main.folder
		}
	}
	return "cmd"
}

// concerns reports whether a package is part of the program whose controllers are checked, as far as that is known.
func (p *Project) concerns(of *pkg) bool { return p.program == nil || p.program.has[of] }

// supportsTests reports whether a file is there for tests, though it is none: what it sets up is not what users run.
func supportsTests(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		imported := strings.Trim(spec.Path.Value, `"`)
		for _, framework := range []string{"testing", runtimePath + "/pkg/envtest", "github.com/onsi/ginkgo", "github.com/onsi/gomega", "github.com/stretchr/testify"} {
			if imported == framework || framework != "testing" && strings.HasPrefix(imported, framework+"/") {
				return true
			}
		}
		return false
	})
}

package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// rule is one rule of the house.
type rule struct {
	// name names the fixture: testdata/NAME.txtar.
	name  string
	check func(*tree, complain)
}

// complain takes a complaint: where, what is wrong, and what to do about it.
type complain func(where, format string, args ...any)

func rules() []rule {
	return []rule{
		{"imports", checkImports},
		{"places", checkPlaces},
		{"names", checkNames},
		{"inits", checkInits},
		{"variables", checkVariables},
		{"comments", checkComments},
		{"format", checkFormat},
		{"size", checkSize},
		{"words", checkWords},
		{"modules", checkModules},
		{"links", checkLinks},
		{"mentions", checkMentions},
		{"reasons", checkReasons},
		{"surface", checkSurface},
		{"facade", checkFacade},
	}
}

// complaints returns what a rule has to say of a tree.
func (r rule) complaints(t *tree) []string {
	var all []string
	r.check(t, func(where, format string, args ...any) {
		all = append(all, where+": "+fmt.Sprintf(format, args...))
	})
	return all
}

// TestHouseRules holds the repository against the rules.
func TestHouseRules(t *testing.T) {
	house, err := load(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	if len(house.packages()) < 10 {
		t.Fatalf("only %d packages were found: this is not the whole repository", len(house.packages()))
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, complaint := range r.complaints(house) {
				t.Error(complaint)
			}
		})
	}
}

// TestRulesCanFail holds a fixture that breaks it against each rule. The file "want"
// of a fixture has the complaints, one a line.
func TestRulesCanFail(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			archive, err := txtar.ParseFile(filepath.Join("testdata", r.name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			files := fstest.MapFS{}
			var want []string
			for _, f := range archive.Files {
				if f.Name == "want" {
					want = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
					continue
				}
				files[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			if len(want) == 0 || len(files) == 0 {
				t.Fatal("the fixture needs files, and a file want with at least one complaint")
			}
			broken, err := load(files)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.complaints(broken); !slices.Equal(got, want) {
				t.Errorf("the rule complains\n  %s\nand should\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
			}
		})
	}
}

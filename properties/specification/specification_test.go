package specification_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/ltl"
	"github.com/orrery-dev/orrery/properties/specification"
)

var update = flag.Bool("update", false, "write the golden files anew")

// lamp is a system of two variables: a controller counts x from 0 to 2 and is done, and another one switches the lamp
// on and off for ever if it flickers, or switches it on once.
func lamp(t testing.TB, flickers bool) *core.System {
	t.Helper()
	x, on := plain.NewVar[int]("x"), plain.NewVar[bool]("on")
	system, err := plain.Model{
		Name:    "lamp",
		Initial: []core.Initial{plain.Start(x.Is(0), on.Is(false))},
		Controllers: []plain.Controller{
			{Name: "counter", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
				now := x.Get(w)
				x.Set(w, min(now+1, 2))
				return core.Result{Requeue: now < 2}
			}},
			{Name: "switch", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
				on.Set(w, !flickers || !on.Get(w))
				return core.Result{Requeue: flickers}
			}},
		},
		Properties: []core.Property{
			properties.Always("x is small", func(s core.State) bool { return x.Get(s) <= 2 }),
			properties.Always("the lamp is off", func(s core.State) bool { return !on.Get(s) }),
			properties.StableConvergence(),
		},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// check checks a system against some properties only, and returns the verdicts on them.
func check(t *testing.T, system *core.System, given []core.Property) (*core.Report, map[string]core.Verdict) {
	t.Helper()
	system.Properties = given
	result, err := orrery.Run(context.Background(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]core.Verdict{}
	for _, p := range result.Report.Properties {
		verdicts[p.Name] = p.Verdict
	}
	return &result.Report, verdicts
}

func TestFormulas(t *testing.T) {
	for _, test := range []struct {
		formula         string
		steady, flicker core.Verdict
	}{
		{"F G settled", core.Holds, core.Violated},
		{"G F !quiescent", core.Violated, core.Holds},
		{"G 'x is small'", core.Holds, core.Holds},
		{"G 'the lamp is off'", core.Violated, core.Violated},
		{"F G !'the lamp is off'", core.Holds, core.Violated},
		{`F 'variable("x") == 2'`, core.Holds, core.Holds},
		{`"variable(\"on\")" leads to "the lamp is off"`, core.Violated, core.Holds},
		{`X 'variable("on") || variable("x") == 1'`, core.Holds, core.Holds},
		{`G 'variable("y") == 2'`, core.Violated, core.Violated},
	} {
		for _, flickers := range []bool{false, true} {
			system := lamp(t, flickers)
			p, err := specification.Of(system).Formula(test.formula)
			if err != nil {
				t.Errorf("%s: %v", test.formula, err)
				continue
			}
			want := test.steady
			if flickers {
				want = test.flicker
			}
			if report, verdicts := check(t, system, []core.Property{p}); verdicts[p.Name] != want {
				t.Errorf("%s, flickering %t: got %s %q, want %s", test.formula, flickers, verdicts[p.Name], report.Reasons, want)
			}
		}
	}
}

func TestMistakenFormulas(t *testing.T) {
	for _, test := range []struct{ formula, want string }{
		{"F (", "formula, column 4: the formula ends where an atom or a formula in parentheses should follow\n  F (\n     ^"},
		{"G F setled", "formula, column 5: there is no atom \"setled\": did you mean \"settled\"?"},
		{"G 'x is smal'", `formula, column 6: this is not one of the atoms "quiescent", "terminal", "settled", "x is small", "the lamp is off", and not a valid expression`},
		{`G ("pods.all(p, p.spec.nodName == '')" -> F settled)`, "  G (\"pods.all(p, p.spec.nodName == '')\" -> F settled)\n                         ^^^^^^^"},
		// With escapes in between, the whole expression is marked.
		{`G "pods.all(p, p.spec.nodName == \"\")"`, "formula, column 3:"},
	} {
		_, err := specification.Of(lamp(t, false)).Formula(test.formula)
		var m *ltl.Mistake
		if !errors.As(err, &m) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got\n%v\nwant\n%s", test.formula, err, test.want)
		}
	}
}

// TestInvariantWithTheNameOfAnAtom checks that an invariant does not stand in the way of what is built in, or of a
// file's own atom, and that one that panics is not true.
func TestInvariantWithTheNameOfAnAtom(t *testing.T) {
	panics := core.Property{Name: "panics", Invariant: func(core.State) error { panic("oh") }}
	terms := specification.Terms{Properties: []core.Property{
		{Name: "settled", Invariant: func(core.State) error { return errors.New("no") }},
		{Name: "quiescent", Invariant: func(core.State) error { return errors.New("no") }},
		panics,
	}}
	var given []core.Property
	for _, formula := range []string{"F G (settled && quiescent)", "G !panics"} {
		p, err := terms.Formula(formula)
		if err != nil {
			t.Fatal(err)
		}
		given = append(given, p)
	}
	own, err := terms.Read("own.yaml", []byte("properties: [{name: own, formula: G panics, atoms: {panics: 'true'}}]"))
	if err != nil {
		t.Fatal(err)
	}
	given = append(given, own...)
	if report, _ := check(t, lamp(t, false), given); report.Verdict != core.Holds {
		t.Errorf("got %s: %+v", report.Verdict, report.Properties)
	}
}

// definitions is a store that knows one kind.
type definitions struct {
	core.Store
	definition *apiextensionsv1.CustomResourceDefinition
}

func (definitions) Scheme() *runtime.Scheme { return runtime.NewScheme() }

func (d definitions) Definitions() []*apiextensionsv1.CustomResourceDefinition {
	return []*apiextensionsv1.CustomResourceDefinition{d.definition}
}

// TestKindsOfTheStore checks that expressions are held against the kinds that the system's store serves.
func TestKindsOfTheStore(t *testing.T) {
	lantern := &apiextensionsv1.CustomResourceDefinition{}
	lantern.Name = "lanterns.example.com"
	lantern.Spec.Group, lantern.Spec.Names.Kind, lantern.Spec.Names.Plural = "example.com", "Lantern", "lanterns"
	lantern.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Storage: true, Served: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type:       "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"lit": {Type: "boolean"}},
		}},
	}}
	terms := specification.Of(&core.System{Store: definitions{definition: lantern}})
	if _, err := terms.Formula(`F "lanterns.all(l, l.lit)"`); err != nil {
		t.Error(err)
	}
	if _, err := terms.Formula(`F "lanterns.all(l, l.lid)"`); err == nil || !strings.Contains(err.Error(), "did you mean lit?") {
		t.Errorf("got %v", err)
	}
	if _, err := (specification.Terms{}).Formula(`F "lanterns.all(l, l.lit)"`); err == nil {
		t.Error("lanterns are known without a definition")
	}
	// A definition that cannot be used is told where it is used first.
	lantern.Spec.Versions[0].Storage = false
	_, err := terms.Formula(`F "pods.size() == 0"`)
	_, inFile := terms.Read("lanterns.yaml", []byte("properties: [{name: a, always: pods.size() == 0}]"))
	for _, err := range []error{err, inFile} {
		if err == nil || !strings.Contains(err.Error(), "no version is the storage version") {
			t.Errorf("got %v", err)
		}
	}
}

func TestFile(t *testing.T) {
	system := lamp(t, false)
	given, err := specification.Of(system).ReadFile(filepath.Join("testdata", "lamp.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	report, verdicts := check(t, system, given)
	for _, p := range given {
		want := core.Holds
		if strings.HasPrefix(p.Name, "not ") {
			want = core.Violated
		}
		if verdicts[p.Name] != want {
			t.Errorf("%s: got %s, want %s", p.Name, verdicts[p.Name], want)
		}
	}
	if doc := given[0].Doc; doc != "The counter never goes too far." {
		t.Errorf("the first property is described as %q", doc)
	}
	if len(given) != 12 || report.Warnings() != 1 || report.Verdict != core.Violated {
		t.Errorf("got %d properties, %d warnings, verdict %s", len(given), report.Warnings(), report.Verdict)
	}
	if _, err := specification.Of(system).ReadFile(filepath.Join("testdata", "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestDocumented reads the files that the documents show.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "property-files.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```yaml\n")
	shown, _, _ = strings.Cut(shown, "```")
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	comment := regexp.MustCompile(`(?m)^//\tproperties:\n(//\t.*\n)+`).FindString(string(source))
	for name, text := range map[string]string{"the page": shown, "the comment": strings.ReplaceAll(comment, "//\t", "")} {
		if given, err := (specification.Terms{}).Read(name, []byte(text)); err != nil || len(given) == 0 {
			t.Errorf("%s: %d properties, %v", name, len(given), err)
		}
	}
}

// TestMistakenFiles reads the files of an archive and compares their mistakes with those that stand there behind each.
func TestMistakenFiles(t *testing.T) {
	path := filepath.Join("testdata", "mistakes.txtar")
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	taken := specification.Terms{Properties: []core.Property{properties.StableConvergence()}}
	golden := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		name, isInput := strings.CutSuffix(f.Name, ".yaml")
		if !isInput {
			continue
		}
		given, err := taken.Parse(f.Name, f.Data)
		if err == nil || given.Properties != nil || given.Comparisons != nil {
			t.Errorf("%s is read without an error", f.Name)
			continue
		}
		got := txtar.File{Name: name + ".txt", Data: []byte(err.Error() + "\n")}
		golden.Files = append(golden.Files, f, got)
		i := slices.IndexFunc(archive.Files, func(other txtar.File) bool { return other.Name == got.Name })
		if !*update && (i < 0 || string(archive.Files[i].Data) != string(got.Data)) {
			t.Errorf("%s: got\n%s", f.Name, got.Data)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(golden), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzRead reads any text. Whatever is read is well-formed, and whatever is wrong has a place in the text.
func FuzzRead(f *testing.F) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "mistakes.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(file.Data)
	}
	good, err := os.ReadFile(filepath.Join("testdata", "lamp.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, text []byte) {
		given, err := specification.Terms{}.Read("f.yaml", text)
		for _, p := range given {
			if p.Validate() != nil {
				t.Errorf("property %q: %v", p.Name, p.Validate())
			}
		}
		var joined interface{ Unwrap() []error }
		if err == nil {
			return
		}
		if !errors.As(err, &joined) || len(joined.Unwrap()) == 0 {
			t.Fatalf("the error is none of mistakes: %v", err)
		}
		lines := strings.Split(string(text), "\n")
		for _, err := range joined.Unwrap() {
			m, ok := err.(*specification.Mistake)
			if !ok || m.Line < 1 || m.Line > len(lines) || m.Column < 1 || m.Column > len([]rune(lines[m.Line-1]))+1 || m.Message == "" {
				t.Errorf("the mistake %#v has no place", err)
			}
			_ = err.Error()
		}
	})
}

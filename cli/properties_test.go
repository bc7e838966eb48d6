package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// lantern is an entry with a lantern that is switched on and off for ever.
func lantern() catalog.Entry {
	return catalog.Entry{Name: "lantern", Doc: "A lantern that flickers.", Build: func(catalog.Values) (*core.System, error) {
		on := plain.NewVar[bool]("on")
		return plain.Model{
			Name:    "lantern",
			Initial: []core.Initial{plain.Start(on.Is(false), plain.NewFamily[int]("Candle").Named("one").Is(1))},
			Processes: []plain.Process{{Name: "wind", Actions: []plain.Action{
				{Name: "blow", Do: func(w *plain.World) { on.Set(w, !on.Get(w)) }},
			}}},
			Properties: []core.Property{properties.Always("it is there", func(s core.State) bool { _, there := on.Lookup(s); return there })},
		}.System()
	}}
}

// TestFoundByFormulas checks that what is found with formulas and property files is recorded, replayed and
// exported like everything else.
func TestFoundByFormulas(t *testing.T) {
	folder := t.TempDir()
	record, file := filepath.Join(folder, "run.orr"), filepath.Join(folder, "lantern.yaml")
	text := "properties:\n- name: it goes out for good\n  formula: F G !on\n  atoms: {on: variable(\"on\")}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	catalogued := filepath.Join(folder, "catalogue.yaml")
	text = "properties:\n- property: stable convergence\n- name: never there\n  property: at most 0 of kind Candle\n"
	if err := os.WriteFile(catalogued, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"check", "lantern", "--property", `F G 'variable("on")'`, "--out", record}, cli.ExitViolated, `violates:    F G "variable(\"on\")"`},
		{[]string{"replay", record}, cli.ExitViolated, `Finding 1 still happens: "variable(\"on\")" never becomes true permanently`},
		{[]string{"export", record, "--format", "dot"}, cli.ExitHolds, "digraph"},
		{[]string{"check", "lantern", "--properties", file, "--out", record}, cli.ExitViolated, "violates:    it goes out for good"},
		{[]string{"replay", record, "--finding", "1"}, cli.ExitViolated, "Finding 1 still happens"},
		{[]string{"check", "lantern", "--property", `G 'it is there' && G F 'variable("on")'`}, cli.ExitHolds, "HOLDS"},
		{[]string{"check", "lantern", "--property", "at most 1 of kind Candle", "--property", "no orphan stays"}, cli.ExitHolds, "at most 1 of kind Candle"},
		{[]string{"check", "lantern", "--property", "at most 0 of kind Candle"}, cli.ExitViolated, "there are 1, but the limit is 0"},
		{[]string{"check", "lantern", "--properties", catalogued}, cli.ExitViolated, "violates:    never there"},
		{[]string{"check", "lantern", "--property", `G 'variable("off")'`}, cli.ExitViolated, "neither true nor false"},
	} {
		var out, complaints bytes.Buffer
		code := cli.Run(context.Background(), test.args, cli.Streams{Out: &out, Err: &complaints}, []catalog.Entry{lantern()})
		if code != test.code || !strings.Contains(out.String(), test.want) {
			t.Errorf("%q: exit code %d, want %d, with %q\n%s%s", test.args, code, test.code, test.want, &out, &complaints)
		}
	}
}

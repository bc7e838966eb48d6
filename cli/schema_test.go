package cli_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/models"
	"github.com/orrery-dev/orrery/examples/racecondition"
)

// reportSchema is the document that says what a report is as JSON.
var reportSchema = filepath.Join("..", "docs", "report.schema.json")

// TestReportsFollowTheirSchema checks what the command writes against the document.
func TestReportsFollowTheirSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(reportSchema)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.orr")
	for _, args := range []string{
		"check fake/holds --param n=3",
		"check fake/violated --out " + file,
		"check fake/violated --stale all=lag(1) --crashes 1 --failures 2 --faults-in night/watch --double night/watch --granularity call",
		"check fake/inconclusive --max-states 1",
		"check model/philosophers",
		"check model/counters --compact --reduction none",
		"check racecondition --stale all=lag(1)",
		"check racecondition --thorough",
	} {
		var out, complaints bytes.Buffer
		command := fakeCommand()
		if !strings.Contains(args, "fake/") {
			command = cli.Command{Entries: slices.Concat(models.Catalog(), racecondition.Catalog()), Engine: cli.Engine{Check: orrery.Run, Climb: orrery.Climb}}
		}
		command.Run(t.Context(), append(strings.Fields(args), "--format", "json"), cli.Streams{Out: &out, Err: &complaints})
		report, err := jsonschema.UnmarshalJSON(&out)
		if err != nil {
			t.Fatalf("%s: %v: %s", args, err, &complaints)
		}
		if err := schema.Validate(report); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		if !validates(schema, func(r map[string]any) {}, report) || validates(schema, func(r map[string]any) { delete(r, "verdict") }, report) ||
			validates(schema, func(r map[string]any) { r["states"] = "many" }, report) || validates(schema, func(r map[string]any) { r["schema"] = "orrery.report/v2" }, report) {
			t.Errorf("%s: the schema does not tell reports from others", args)
		}
	}
}

// validates reports whether a report follows the schema after a change.
func validates(schema *jsonschema.Schema, change func(map[string]any), report any) bool {
	changed := maps.Clone(report.(map[string]any))
	change(changed)
	return schema.Validate(changed) == nil
}

// TestSchemaIsWhole checks that the document has the fields of a report, each of them and no other, and says which are
// always there.
func TestSchemaIsWhole(t *testing.T) {
	type object struct {
		Properties map[string]struct{ Description string }
		Required   []string
	}
	var document struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	text, err := os.ReadFile(reportSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &document.object); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{
		"": core.Report{}, "view": core.ViewReport{}, "unchecked": core.Unchecked{}, "property": core.PropertyReport{}, "finding": core.Finding{}, "site": core.Site{}, "state_part": core.StatePart{},
	} {
		described := document.object
		if name != "" {
			described = document.Defs[name]
		}
		var fields, always []string
		for field := range fieldsOf(reflect.TypeOf(value)) {
			fields = append(fields, field.name)
			if !field.optional {
				always = append(always, field.name)
			}
		}
		slices.Sort(fields)
		slices.Sort(always)
		if got := slices.Sorted(maps.Keys(described.Properties)); !slices.Equal(got, fields) {
			t.Errorf("%q: the schema describes\n%q, and the fields are\n%q", name, got, fields)
		}
		slices.Sort(described.Required)
		if !slices.Equal(described.Required, always) {
			t.Errorf("%q: the schema requires\n%q, and there are always\n%q", name, described.Required, always)
		}
		for field, property := range described.Properties {
			if property.Description == "" && field != "verdict" {
				t.Errorf("%q: nothing is said about %s", name, field)
			}
		}
	}
}

// jsonField is a field of a struct as JSON has it.
type jsonField struct {
	name     string
	optional bool
}

// fieldsOf returns the fields of a struct that are in its JSON.
func fieldsOf(structure reflect.Type) map[jsonField]bool {
	fields := map[jsonField]bool{}
	for i := range structure.NumField() {
		name, rest, _ := strings.Cut(structure.Field(i).Tag.Get("json"), ",")
		if name != "-" {
			fields[jsonField{name, rest == "omitempty"}] = true
		}
	}
	return fields
}

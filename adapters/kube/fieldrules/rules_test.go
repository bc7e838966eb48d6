package fieldrules

import (
	"encoding/json"
	"slices"
	"testing"
)

// tableOf reads tables that are given as text.
func tableOf(t *testing.T, text string) *Table {
	t.Helper()
	table, err := read(map[string]string{"test.rules": text}, "")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func treeOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	decoder := json.NewDecoder(bytesOf(text))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return whole(object).(map[string]any)
}

// wrong returns what rules have against an object, as types and fields.
func wrong(t *testing.T, r *Rules, object string, isNew bool) []string {
	t.Helper()
	var found []string
	for _, err := range r.Validate(treeOf(t, object), isNew) {
		found = append(found, string(err.Type)+" "+err.Field)
	}
	return found
}

func TestRules(t *testing.T) {
	const (
		required  = "FieldValueRequired "
		invalid   = "FieldValueInvalid "
		forbidden = "FieldValueForbidden "
		supported = "FieldValueNotSupported "
		duplicate = "FieldValueDuplicate "
	)
	for _, test := range []struct {
		rules  string // of the kind K
		object string
		want   []string
	}{
		{"a  required", `{}`, []string{required + "a"}},
		{"a  required", `{"a": ""}`, []string{required + "a"}},
		{"a  required", `{"a": []}`, []string{required + "a"}},
		{"a  required", `{"a": 0}`, nil},
		{"a  required", `{"a": false}`, nil},
		{"a  required", `{"a": {}}`, nil},
		{"a.b  required", `{}`, nil},
		{"a.b  required", `{"a": {}}`, []string{required + "a.b"}},
		{"a[].b  required", `{"a": [{"b": "1"}, {}]}`, []string{required + "a[1].b"}},
		{"a{}  1..", `{"a": {"x": 1, "y": 0}}`, []string{invalid + "a[y]"}},
		{"a{key}  dns-label", `{"a": {"X": 1, "y": 0}}`, []string{invalid + "a[X]"}},
		{"a  filled", `{"a": ""}`, []string{invalid + "a"}},
		{"a  nonzero", `{"a": 0}`, []string{required + "a"}},
		{"a  optional dns-label", `{"a": ""}`, nil},
		{"a  dns-label", `{"a": ""}`, []string{invalid + "a"}},
		{"a  dns-label", `{}`, nil},
		{"a  given required", `{}`, nil},
		{"a  given required", `{"a": ""}`, []string{required + "a"}},
		{"a  forbidden", `{"a": false}`, []string{forbidden + "a"}},
		{"a  forbidden", `{"a": []}`, nil},
		{"a  unset", `{"a": 0}`, []string{invalid + "a"}},
		{"a  in(x y)", `{"a": "z"}`, []string{supported + "a"}},
		{"a  in(x y|z)", `{"a": "x y"}`, nil},
		{"a  in(x y)", `{}`, nil},
		{"a  is(x y)", `{}`, []string{supported + "a"}},
		{"a  only(x)", `{}`, []string{invalid + "a"}},
		{"a  not(x)", `{"a": "x"}`, []string{invalid + "a"}},
		{"a  not-if(x)", `{"a": "x"}`, []string{forbidden + "a"}},
		{"a  1..3", `{"a": 4}`, []string{invalid + "a"}},
		{"a  ..3", `{"a": -4}`, nil},
		{"a  max-items(1)", `{"a": [1, 2]}`, []string{"FieldValueTooMany a"}},
		{"a  max-length(1)", `{"a": "xy"}`, []string{"FieldValueTooLong a"}},
		{"a  unique(n)", `{"a": [{"n": "x"}, {"n": "x"}, {}, {}]}`, []string{duplicate + "a[1].n"}},
		{"a  unique-set(n m)", `{"a": [{"n": "x"}, {"n": "x", "m": 1}, {}, {}]}`, []string{duplicate + "a[3]"}},
		{"a  if(b) required", `{}`, nil},
		{"a  if(b) required", `{"b": 0}`, []string{required + "a"}},
		{"a  if(b) required", `{"b": false}`, nil},
		{"a  unless(b=x|y) required", `{"b": "y"}`, nil},
		{"a  unless(b=x|y) required", `{"b": "z"}`, []string{required + "a"}},
		{"a[].b  if(^c=x) required", `{"a": [{}], "c": "x"}`, []string{required + "a[0].b"}},
		{"a.b  as(b) required", `{"a": {}}`, []string{required + "b"}},
		{"one(a b)", `{}`, []string{required + "<nil>"}},
		{"one(a b)", `{"a": {}, "b": {}}`, []string{forbidden + "b"}},
		{"one-value(a b)", `{}`, []string{invalid + "<nil>"}},
		{"at-most-one(a b)", `{}`, nil},
		{"some(a b)", `{"a": {}, "b": {}}`, nil},
		{"a  allowed(x)", `{"a": {"x": 1, "y": 1}}`, []string{forbidden + "a.y"}},
		{"a  new forbidden", `{"a": "x"}`, []string{forbidden + "a"}},
		{"a  label-selector", `{"a": {"matchExpressions": [{"key": "k", "operator": "Odd"}]}}`, []string{invalid + "a.matchExpressions[0].operator"}},
	} {
		table := tableOf(t, "kind K\n  "+test.rules+"\n")
		if got := wrong(t, table.Of("K"), test.object, true); !slices.Equal(got, test.want) {
			t.Errorf("%s: %s: %q, not %q", test.rules, test.object, got, test.want)
		}
	}
}

func TestRulesForNewObjectsAlone(t *testing.T) {
	table := tableOf(t, "kind K\n  a  new forbidden\n")
	if got := wrong(t, table.Of("K"), `{"a": "x"}`, false); got != nil {
		t.Errorf("an update is refused: %q", got)
	}
}

func TestARuleThatFailsIsTheLastOfItsLine(t *testing.T) {
	table := tableOf(t, "kind K\n  a  required dns-label\n")
	if got := wrong(t, table.Of("K"), `{"a": ""}`, true); len(got) != 1 {
		t.Errorf("an empty name is wrong in more than one way: %q", got)
	}
}

func TestTypesHoldWhereverTheyAre(t *testing.T) {
	table := tableOf(t, "kind K\n  a[]  T\n  b    T\n\nT\n  n  required\n")
	got := wrong(t, table.Of("K"), `{"a": [{}, {"n": "x"}], "b": {}}`, true)
	if want := []string{"FieldValueRequired a[0].n", "FieldValueRequired b.n"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestDrop(t *testing.T) {
	table := tableOf(t, "kind K\n  a[]  T\n\nT\n  n  dropped # Gate\n")
	object := treeOf(t, `{"a": [{"n": 1, "m": 2}]}`)
	if !table.Of("K").Drop(object, nil) {
		t.Error("nothing is dropped")
	}
	if text := text(object); text != "map[a:[map[m:2]]]" {
		t.Errorf("left is %s", text)
	}
	used := treeOf(t, `{"a": [{"n": 1}]}`)
	object = treeOf(t, `{"a": [{"n": 3}]}`)
	if table.Of("K").Drop(object, used) {
		t.Error("what was in use is dropped")
	}
	if table.Of("Other").Drop(object, nil) {
		t.Error("something of another kind is dropped")
	}
}

func TestTablesThatAreWrong(t *testing.T) {
	for _, text := range []string{
		"kind K\n  a  nonsense\n", "kind K\n  a  check(nonsense)\n", "kind K\n  a  T\n", "  a  required\n",
		"T\n  a  required\nT\n  b  required\n", "kind K\nkind K\n", "kind K\n  a  1..x\n", "kind K\n  a  if() required\n",
	} {
		if _, err := read(map[string]string{"test.rules": text}, ""); err == nil {
			t.Errorf("%q can be read", text)
		}
	}
}

package conformance

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// move is a way of making an action. It gets one with its subject and place, and
// returns false if the subject has nothing for it.
type move struct {
	weight int
	make   func(g *generator, s Subject, a *Action) bool
}

// moves are all of them. The first creates an object.
var moves = []move{
	{16, createMove},
	{3, generateMove},
	{6, getMove},
	{8, listMove},
	{16, updateMove},
	{8, statusMove},
	{10, mergePatchMove},
	{6, jsonPatchMove},
	{5, strategicMove},
	{10, applyMove},
	{12, deleteMove},
	{3, deleteAllMove},
	{5, subresourceMove},
	{6, rawMove},
}

func createMove(g *generator, s Subject, a *Action) bool {
	birth := pick(g, births)
	a.Verb, a.Feature = Create, birth.feature
	a.Object = merged(mostlyFirst(g, s.Bodies), json.RawMessage(birth.patch))
	switch {
	case g.chance(4):
		a.Name, a.Feature = pick(g, []string{"Upper-run", "under_score-run", "dots.in-run", "-run", "a-run-"}), "unusual name"
	case g.chance(3):
		a.Name, a.Feature = "", "no name"
	case s.Namespaced && g.chance(4):
		a.Namespace, a.Feature = "three-run", "missing namespace"
	case g.chance(6):
		a.DryRun, a.Feature = true, "dry run"
	}
	return true
}

func generateMove(g *generator, s Subject, a *Action) bool {
	a.Verb, a.Feature, a.Name = Create, "generated name", ""
	a.Object = merged(mostlyFirst(g, s.Bodies), json.RawMessage(`{"metadata":{"generateName":"gen-run-"}}`))
	a.DryRun = g.chance(5)
	return true
}

func getMove(g *generator, _ Subject, a *Action) bool {
	a.Verb, a.Feature = Get, "object"
	if g.chance(20) {
		a.MetadataOnly, a.Feature = true, "metadata only"
	}
	return true
}

func listMove(g *generator, s Subject, a *Action) bool {
	a.Verb, a.Feature, a.Name = List, "namespace", ""
	switch {
	case !s.Namespaced:
		a.Feature = "all"
	case g.chance(20):
		a.Namespace, a.Feature = "", "all namespaces"
	}
	switch {
	case g.chance(25):
		a.Labels, a.Feature = pick(g, []string{"app=x", "app!=x", "app in (x,y)", "app", "!app", "app=x,tier=db", "app notin (y)"}), "labels"
	case g.chance(25):
		selectors := slices.Concat([]string{"metadata.name=a-run", "metadata.name!=a-run", "metadata.namespace=one-run", "spec.nonsense=1"}, s.Fields)
		a.Fields, a.Feature = pick(g, selectors), "fields"
	case s.Namespaced && a.Namespace != "" && g.chance(25):
		a.Limit, a.Feature = 1, "limit"
		if g.chance(50) {
			a.Continue, a.Feature = true, "continue"
		}
	case g.chance(20):
		a.MetadataOnly, a.Feature = true, "metadata only"
	}
	return true
}

func updateMove(g *generator, s Subject, a *Action) bool {
	a.Verb, a.Object = Update, s.Bodies[0]
	if g.chance(50) {
		life := pick(g, lives)
		a.Edit, a.Feature = json.RawMessage(life.patch), life.feature
	} else {
		a.Edit, a.Feature = pick(g, s.Edits), "content"
	}
	if g.chance(5) {
		a.DryRun, a.Feature = true, "dry run"
	}
	return true
}

func statusMove(g *generator, s Subject, a *Action) bool {
	if len(s.StatusEdits) == 0 {
		return false
	}
	edit := pick(g, s.StatusEdits)
	a.Subresource, a.Feature = "status", "status"
	if !s.Status {
		a.Feature = "status where there is none"
	}
	switch g.random.IntN(4) {
	case 0:
		a.Verb, a.PatchType, a.Body = Patch, string(types.MergePatchType), string(edit)
		a.Feature += ", merge"
	case 1:
		a.Verb, a.Owner, a.Object = Apply, pick(g, owners), edit
		a.Force = g.chance(30)
	default:
		a.Verb, a.Edit = Update, edit
	}
	return true
}

func mergePatchMove(g *generator, s Subject, a *Action) bool {
	a.Verb, a.PatchType = Patch, string(types.MergePatchType)
	switch {
	case g.chance(45):
		life := pick(g, lives)
		a.Body, a.Feature = life.patch, "merge, "+life.feature
	case g.chance(10):
		a.Body, a.Feature = pick(g, []string{`{"spec":`, `[]`, `"text"`, `null`, ``, `{"metadata":7}`, `{"metadata":null}`, `{"kind":"Other"}`, `{"apiVersion":"other/v1"}`, `{"metadata":{"name":"other-run"}}`}), "merge, malformed"
		return true
	default:
		a.Body, a.Feature = string(pick(g, s.Edits)), "merge, content"
	}
	if g.chance(20) {
		a.Locked, a.Feature = true, "merge, optimistic lock"
	}
	if g.chance(5) {
		a.DryRun, a.Feature = true, "merge, dry run"
	}
	return true
}

// jsonPatches are JSON patches that fit, or do not fit, all kinds.
var jsonPatches = []string{
	`[{"op":"add","path":"/metadata/labels","value":{"app":"patched"}}]`,
	`[{"op":"add","path":"/metadata/labels/app","value":"patched"}]`,
	`[{"op":"replace","path":"/metadata/labels/app","value":"replaced"}]`,
	`[{"op":"remove","path":"/metadata/labels"}]`,
	`[{"op":"remove","path":"/metadata/finalizers"}]`,
	`[{"op":"remove","path":"/metadata/finalizers/0"}]`,
	`[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/three"}]`,
	`[{"op":"test","path":"/metadata/name","value":"other"}]`,
	`[{"op":"test","path":"/metadata/resourceVersion","value":"1"}]`,
	`[{"op":"add","path":"/metadata/annotations","value":{"a~b":"1"}},{"op":"replace","path":"/metadata/annotations/a~0b","value":"2"}]`,
	`[]`,
	`[{"op":"nonsense","path":"/metadata"}]`,
	`[{"op":"add","path":"no slash","value":1}]`,
	`{"op":"add"}`,
	`[{"op":"add","path":"/a/b/c","value":1}]`,
	`not json`,
}

func jsonPatchMove(g *generator, s Subject, a *Action) bool {
	a.Verb, a.PatchType, a.Feature = Patch, string(types.JSONPatchType), "JSON"
	a.Body = pick(g, slices.Concat(jsonPatches, s.JSONPatches))
	return true
}

func strategicMove(g *generator, s Subject, a *Action) bool {
	a.Verb, a.PatchType, a.Feature = Patch, string(types.StrategicMergePatchType), "strategic"
	patches := slices.Concat([]json.RawMessage{
		json.RawMessage(`{"metadata":{"labels":{"app":"strategic"}}}`),
		json.RawMessage(`{"metadata":{"finalizers":["example.com/three"]}}`),
		json.RawMessage(`{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/one"]}}`),
		json.RawMessage(`{"metadata":{"ownerReferences":[{"uid":"{{uid ConfigMap a-run}}","$patch":"delete"}]}}`),
		json.RawMessage(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a-run","uid":"{{uid ConfigMap a-run}}"}]}}`),
		json.RawMessage(`{"$patch":"nonsense"}`),
		json.RawMessage(`[]`),
	}, s.Strategic, s.Edits)
	a.Body = string(pick(g, patches))
	return true
}

// owners are the field managers of applies.
var owners = []string{"alice", "bob"}

func applyMove(g *generator, s Subject, a *Action) bool {
	if len(s.Applied) == 0 {
		return false
	}
	a.Verb, a.Feature, a.Owner = Apply, "owned fields", pick(g, owners)
	a.Object = pick(g, s.Applied)
	switch {
	case g.chance(25):
		life := pick(g, lives[:11])
		a.Object, a.Feature = merged(a.Object, json.RawMessage(life.patch)), life.feature
	case g.chance(3):
		a.Owner, a.Feature = "", "no manager"
	case g.chance(5):
		a.DryRun, a.Feature = true, "dry run"
	}
	if g.chance(30) {
		a.Force = true
		a.Feature += ", forced"
	}
	return true
}

func deleteMove(g *generator, _ Subject, a *Action) bool {
	a.Verb, a.Feature = Delete, "plain"
	switch g.random.IntN(8) {
	case 0:
		a.SameUID, a.Feature = true, "uid precondition"
	case 1:
		a.SameVersion, a.Feature = true, "version precondition"
	case 2:
		a.Propagation = pick(g, []string{"Background", "Foreground", "Orphan"})
		a.Feature = "propagation " + a.Propagation
	case 3:
		grace := pick(g, []int64{0, 1, 30, -1})
		a.Grace, a.Feature = &grace, "grace period"
	case 4:
		a.DryRun, a.Feature = true, "dry run"
	}
	return true
}

func deleteAllMove(g *generator, s Subject, a *Action) bool {
	a.Verb, a.Feature, a.Name = DeleteAllOf, "namespace", ""
	if !s.Namespaced {
		a.Feature = "all"
	}
	if g.chance(40) {
		a.Labels, a.Feature = "app=x", "labels"
	}
	if g.chance(10) {
		a.Propagation, a.Feature = "Foreground", "propagation Foreground"
	}
	return true
}

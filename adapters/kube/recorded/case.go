package recorded

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/orrery-dev/orrery/record/live"
)

// caseOf writes a write on a version of an object with its real answer in the form of the golden cases of package kube:
// the object is made first, then the call is made.
func caseOf(c live.Call, before *version, answer live.Object) *Case {
	kind := plainKind(c)
	out := &Case{About: "a recorded " + words(c), Kinds: []string{kind["Kind"].(string)}, Stored: map[string]any{}}
	if before != nil {
		was, _ := treeOf(before.object.Value).(map[string]any)
		body := portable(was)
		out.Steps = append(out.Steps, CaseStep{
			Request: map[string]any{"Verb": "create", "Kind": kind, "Namespace": c.Object.Namespace, "Body": textOf(body), "FieldManager": "orrery"},
			Answer:  map[string]any{},
		})
	}
	request := map[string]any{"Verb": c.Verb, "Kind": kind, "Namespace": c.Object.Namespace, "FieldManager": "orrery", "Body": textOf(sentOf(c, before))}
	if c.Verb != live.Create || c.Subresource != "" {
		request["Name"] = c.Object.Name
	}
	if c.Subresource != "" {
		request["Subresource"] = c.Subresource
	}
	if w := c.Write; w != nil {
		if w.Manager != "" {
			request["FieldManager"] = w.Manager
		}
		if w.Patch != "" {
			request["PatchType"] = w.Patch
		}
		request["Force"] = w.Force
	}
	if c.Verb == live.Apply {
		request["Verb"], request["PatchType"] = live.Patch, applyPatch
	}
	step := CaseStep{Request: request, Answer: map[string]any{}}
	if c.Failed != nil {
		step.Answer["refused"] = map[string]any{"code": c.Failed.Code, "reason": c.Failed.Reason, "message": c.Failed.Message}
		if before != nil {
			was, _ := treeOf(before.object.Value).(map[string]any)
			out.Stored[identity(c)] = shownAs(was)
		}
	} else {
		is, _ := treeOf(answer.Value).(map[string]any)
		step.Answer["object"] = shownAs(is)
		out.Stored[identity(c)] = shownAs(is)
	}
	out.Steps = append(out.Steps, step)
	return out
}

// identity is how golden cases name an object.
func identity(c live.Call) string {
	kind := plainKind(c)["Kind"]
	if c.Object.Namespace == "" {
		return fmt.Sprintf("%s %s", kind, c.Object.Name)
	}
	return fmt.Sprintf("%s %s/%s", kind, c.Object.Namespace, c.Object.Name)
}

// plainKind is the kind of a call as requests have it.
func plainKind(c live.Call) map[string]any {
	var said struct{ APIVersion, Kind string }
	_ = json.Unmarshal(c.Sent, &said) // a patch may not say
	name, group, _ := cutKind(string(c.Object.Kind))
	version := said.APIVersion
	if group != "" && len(version) > len(group) {
		version = version[len(group)+1:]
	}
	if version == "" {
		version = "v1"
	}
	return map[string]any{"Group": group, "Version": version, "Kind": name}
}

func cutKind(kind string) (name, group string, found bool) {
	for i := range len(kind) {
		if kind[i] == '.' {
			return kind[:i], kind[i+1:], true
		}
	}
	return kind, "", false
}

// portable returns an object without what its server chose.
func portable(tree map[string]any) map[string]any {
	out, _ := withoutChoices(tree).(map[string]any)
	if meta, ok := out["metadata"].(map[string]any); ok {
		delete(meta, "generation")
	}
	return out
}

// sentOf returns what a call sent, with a word for the version that it was made upon.
func sentOf(c live.Call, before *version) any {
	tree, ok := treeOf(c.Sent).(map[string]any)
	if !ok {
		return c.Sent
	}
	meta, _ := tree["metadata"].(map[string]any)
	if meta["resourceVersion"] == nil {
		return tree
	}
	out := portable(tree)
	if kept, ok := out["metadata"].(map[string]any); ok && before != nil {
		kept["resourceVersion"] = "{{version 1 of " + identity(c) + "}}"
	}
	return out
}

// shownAs returns an object as golden cases have it: words stand for what its server chose.
func shownAs(tree map[string]any) map[string]any {
	out, _ := withoutChoices(tree).(map[string]any)
	meta, ok := out["metadata"].(map[string]any)
	if !ok {
		return out
	}
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		meta[name] = "(set)"
	}
	return maps.Clone(out)
}

func textOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

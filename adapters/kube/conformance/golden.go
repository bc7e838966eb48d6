package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// goldenFolder is where the golden test of package kube finds its cases, seen from
// this package.
const goldenFolder = "../testdata/golden"

// Golden is a sequence of requests with what a real API server has answered to them. It
// can be replayed on the simulated server without a client and without a real server.
//
// In requests "{{uid KIND NAMESPACE/NAME}}" stands for the uid that the object was last
// seen with, "{{version N of KIND NAMESPACE/NAME}}" for the N-th resource version it was
// seen with, and "{{continue}}" for the token of the last list.
type Golden struct {
	// About says what the case shows.
	About string
	// Kinds are those that the case is about.
	Kinds []string
	Steps []GoldenStep
	// Stored are all objects of these kinds at the end.
	Stored tree
}

// GoldenStep is a request with the real answer.
type GoldenStep struct {
	// Request has the fields of a [kube.Request] that are not empty, with the body as text.
	Request tree   `json:"request"`
	Answer  Answer `json:"answer"`
}

// Golden returns the trial as a golden case. It returns false if it holds an action that
// cannot be replayed as a single request of which the whole answer was seen, or that is
// too large to keep, or of no meaning in another run.
func (t *Trial) Golden(about string) (*Golden, bool) {
	golden := &Golden{About: about}
	for _, s := range t.Cast {
		golden.Kinds = append(golden.Kinds, s.Kind().Kind)
	}
	for _, step := range t.Steps {
		partly := step.Action.Typed || step.Action.MetadataOnly || step.Real.Answer.Failed != ""
		large := sizeToken.Match(step.Action.Object)
		if partly || large || step.Simulated.Unsupported != "" || len(step.Requests) != 1 {
			return nil, false
		}
		// An address that the simulated server picked stands for nothing elsewhere.
		if body, _ := step.Requests[0]["Body"].(string); address.MatchString(body) && !address.MatchString(step.Action.String()) {
			return nil, false
		}
		if causes := fmt.Sprint(step.Real.Answer.Refused["details"]); strings.Contains(causes, "metadata.ownerReferences") {
			return nil, false // The libraries that are supported have different words for these.
		}
		answer := step.Real.Answer
		answer.Object, _ = withoutManagers(answer.Object).(tree)
		golden.Steps = append(golden.Steps, GoldenStep{Request: step.Requests[0], Answer: answer})
		golden.Stored, _ = withoutManagers(step.Real.Stored).(tree)
	}
	return golden, len(golden.Steps) > 0
}

// withoutManagers leaves the record of who manages which fields out of the objects below a
// value: in golden cases it would be most of the text.
func withoutManagers(value any) any {
	switch v := value.(type) {
	case tree:
		kept := make(tree, len(v))
		for name, below := range v {
			if name != "managedFields" {
				kept[name] = withoutManagers(below)
			}
		}
		if v == nil {
			return v
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, below := range v {
			kept[i] = withoutManagers(below)
		}
		return kept
	}
	return value
}

// Save writes the case, with a line for each step, to the folder of golden cases.
func (g *Golden) Save(name string) error {
	var lines []string
	add := func(format string, value any) error {
		text, err := json.Marshal(value)
		lines = append(lines, fmt.Sprintf(format, text))
		return err
	}
	errs := []error{add(`{"about": %s,`, g.About), add(`"kinds": %s,`, g.Kinds)}
	lines = append(lines, `"steps": [`)
	for i, step := range g.Steps {
		format := "%s,"
		if i == len(g.Steps)-1 {
			format = "%s"
		}
		errs = append(errs, add(format, step))
	}
	errs = append(errs, add("],\n\"stored\": %s}\n", g.Stored))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(goldenFolder, name+".json"), []byte(strings.Join(lines, "\n")), 0o644)
}

// shortestVersion is a length that no version of the simulated server is below, but for one
// in millions.
const shortestVersion = 8

// record writes down a request in words that hold for every run. It must be called when
// the renaming knows what was seen before the request, and nothing later.
func (r *renaming) record(request *kube.Request) tree {
	readable := struct {
		kube.Request
		Body string
	}{*request, string(request.Body)}
	text, err := json.Marshal(readable)
	if err != nil {
		panic(fmt.Sprintf("conformance: a request cannot be written as JSON: %v", err))
	}
	for _, uid := range r.known {
		of := strings.TrimPrefix(r.uids[uid], "uid of ")
		text = bytes.ReplaceAll(text, []byte(uid), []byte("{{uid "+of+"}}"))
	}
	for _, identity := range slices.Sorted(maps.Keys(r.versions)) {
		for i, version := range r.versions[identity] {
			if len(version) < shortestVersion {
				continue // A client has made it up, and a dry run has shown it.
			}
			text = bytes.ReplaceAll(text, []byte(version), fmt.Appendf(nil, "{{version %d of %s}}", i+1, identity))
		}
	}
	var recorded tree
	mustDecode(bytes.ReplaceAll(text, []byte(r.suffix), []byte("-run")), &recorded)
	maps.DeleteFunc(recorded, func(_ string, value any) bool {
		return value == nil || value == "" || value == false || value == int64(0)
	})
	if request.Continue != "" {
		recorded["Continue"] = "{{continue}}"
	}
	if manager, _, _ := strings.Cut(userAgent, "/"); recorded["FieldManager"] == nil && request.Verb != kube.Get && request.Verb != kube.List {
		recorded["FieldManager"] = manager // A real server takes it from the client's name.
	}
	return recorded
}

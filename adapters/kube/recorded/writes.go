package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// write judges a write.
func (v *validator) write(c live.Call) {
	switch {
	case bytes.Contains(c.Sent, []byte(`"redacted:`)):
		v.cannot(c, "something of what was sent is redacted")
	case c.Write != nil && c.Write.DryRun:
		v.cannot(c, "a dry run leaves nothing to compare")
	case c.Failed != nil:
		v.refused(c)
	case c.Verb == live.Delete || c.Verb == live.DeleteCollection:
		v.report.Explained++ // the answer is not handed out, and what became of the object is in its history
	case len(c.Answer) != 1:
		v.cannot(c, "the answer is not recorded")
	default:
		v.done(c, v.objects[c.Answer[0]-1])
	}
}

// done judges a write that was done, by its answer.
func (v *validator) done(c live.Call, answer live.Object) {
	rv := number(answer.ResourceVersion)
	if rv == 0 || len(answer.Value) == 0 || answer.Key != c.Object {
		v.cannot(c, "the answer is no version of the object")
		return
	}
	before, sure, problem := v.before(c, rv)
	if problem != "" {
		v.cannot(c, "%s", problem)
		return
	}
	now := &world{server: v.server, all: v.all, rv: rv - 1, but: c.Object}
	if before != nil {
		kept, err := v.server.Kept(before.object)
		if err != nil {
			v.cannot(c, "%s", err)
			return
		}
		now.kept = kept
	}
	response, err := v.simulate(c, now)
	if err != nil {
		v.cannot(c, "%s", err)
		return
	}
	if bytes.Contains(answer.Value, []byte(`"redacted:`)) {
		v.cannot(c, "something of the object is redacted")
		return
	}
	var f Finding
	if response.Status != nil {
		f = v.finding(BySimulator, c, "The simulated server refuses it: %s.", strings.TrimSuffix(response.String(), "."))
	} else {
		changes := changed(treeOf(answer.Value), treeOf(named(response.Object, answer.UID)))
		if len(changes) == 0 {
			v.report.Explained++
			return
		}
		f = v.finding(BySimulator, c, "The simulated server makes something else of it.")
		f.Fields = changes
	}
	if !sure {
		if manager := managerBetween(before, answer); manager != "" {
			f.By, f.Says = ByActor, fmt.Sprintf("Somebody wrote the object just before, without anybody having seen it: %q is among those who own fields of it.", manager)
			v.report.find(f)
			return
		}
		f.Says += " The write names no version, so somebody who is not recorded may have written just before."
	}
	f.Case = caseOf(c, before, answer)
	v.report.find(f)
}

// named returns an object with another uid, wherever it has its own: a server puts it into labels and selectors of
// Jobs.
func named(object []byte, uid string) []byte {
	var said struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	if json.Unmarshal(object, &said) != nil || said.Metadata.UID == "" || uid == "" {
		return object
	}
	return bytes.ReplaceAll(object, []byte(said.Metadata.UID), []byte(uid))
}

// before returns the version that a write was made upon, nil if the object was not there, and whether that is certain.
func (v *validator) before(c live.Call, rv uint64) (before *version, sure bool, problem string) {
	h := v.all[c.Object]
	if c.Verb == live.Create && c.Subresource == "" {
		return nil, true, ""
	}
	i := h.at(rv - 1)
	conditional := c.Verb == live.Update && c.Base != ""
	if conditional {
		if i = h.at(number(c.Base)); i < 0 || h[i].rv != number(c.Base) {
			return nil, false, "the version that it was made upon is not in the recording"
		}
		if number(c.Base) > rv {
			return nil, false, "its answer is older than what it was made upon"
		}
	}
	switch {
	case c.Verb != live.Update && i >= 0 && h.at(rv) != i && h[h.at(rv)].rv == rv && !h[h.at(rv)].written:
		return nil, false, "its answer is a version that somebody else made"
	case i < 0 || h[i].gone:
		if c.Verb == live.Apply || c.Write != nil && c.Write.Patch == applyPatch {
			return nil, false, ""
		}
		return nil, false, "what was there before is not in the recording"
	case len(h[i].object.Value) == 0:
		return nil, false, "what was there before is not in the recording, only its version"
	}
	return h[i], conditional, ""
}

const applyPatch = "application/apply-patch+yaml"

// simulate makes a call on the simulated server.
func (v *validator) simulate(c live.Call, in *world) (*kube.Response, error) {
	request, err := v.server.Takes(c)
	if err != nil {
		return nil, err
	}
	if request.FieldManager == "" {
		request.FieldManager = v.header.Process.Name
	}
	answer, err := v.server.Answer(in, request)
	switch {
	case err != nil:
		return nil, err
	case in.broken != nil:
		return nil, in.broken
	}
	response, ok := answer.Response.(*kube.Response)
	if !ok {
		return nil, fmt.Errorf("the model answers with a %T", answer.Response)
	}
	return response, nil
}

// refused judges a call that failed: a state that the object may have been in has to explain it.
func (v *validator) refused(c live.Call) {
	switch c.Failed.Code {
	case 0:
		v.cannot(c, "it had no answer of the API server")
		return
	case http.StatusForbidden, http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusGone:
		v.cannot(c, "the model has no authorization, no limits and no compaction")
		return
	}
	if c.Failed.Code >= http.StatusInternalServerError {
		v.cannot(c, "the server failed by itself")
		return
	}
	var last *kube.Response
	for _, in := range v.candidates(c) {
		response, err := v.simulate(c, in)
		if err != nil {
			v.cannot(c, "%s", err)
			return
		}
		if response.Status != nil && int(response.Status.Code) == c.Failed.Code && string(response.Status.Reason) == c.Failed.Reason {
			v.report.Explained++
			return
		}
		last = response
	}
	instead := "it would be done"
	if last != nil && last.Status != nil {
		instead = "it would be refused with " + last.String()
	}
	switch c.Failed.Code {
	case http.StatusConflict, http.StatusNotFound:
		v.report.find(v.finding(ByActor, c, "In no state of the object that is known would this be the answer (%s): somebody who is not recorded has made, changed or deleted it, and nobody has seen that.", instead))
	default:
		f := v.finding(BySimulator, c, "The simulated server does not refuse it so: %s.", instead)
		f.Case = caseOf(c, v.latest(c.Object), live.Object{})
		v.report.find(f)
	}
}

// latest returns the last version of an object that the process knew of, nil if there is none.
func (v *validator) latest(key core.Key) *version {
	h := v.all[key]
	if i := h.at(v.answered[key]); i >= 0 && !h[i].gone {
		return h[i]
	}
	return nil
}

// candidates are the states that an object may have been in when a call was carried out: not before what the server had
// shown this process.
func (v *validator) candidates(c live.Call) []*world {
	h := v.all[c.Object]
	const enough = 100
	lowest := max(v.answered[c.Object], number(c.Base))
	var all []*world
	absent := len(h) == 0 || lowest == 0
	for i := max(0, h.at(lowest)); i < len(h) && len(all) < enough; i++ {
		if h[i].gone || i > 0 && h[i].uid != h[i-1].uid {
			absent = true
		}
		if h[i].gone || len(h[i].object.Value) == 0 {
			continue
		}
		if kept, err := v.server.Kept(h[i].object); err == nil {
			all = append(all, &world{server: v.server, all: v.all, rv: h[i].rv, but: c.Object, kept: kept})
		}
	}
	if absent {
		all = append(all, &world{server: v.server, all: v.all, rv: math.MaxUint64, but: c.Object})
	}
	return all
}

// managerBetween returns who owns fields of an object after a write and neither did before nor is alone in it now.
func managerBetween(before *version, answer live.Object) string {
	if before == nil {
		return ""
	}
	had := managersOf(before.object)
	for _, name := range managersOf(answer) {
		if !slices.Contains(had, name) && name != managerOf(answer) {
			return name
		}
	}
	return ""
}

// managersOf returns the field managers of an object.
func managersOf(o live.Object) []string {
	tree, _ := treeOf(o.Value).(map[string]any)
	meta, _ := tree["metadata"].(map[string]any)
	entries, _ := meta["managedFields"].([]any)
	var names []string
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		name, _ := fields["manager"].(string)
		names = append(names, name)
	}
	return names
}

// treeOf reads JSON as the server does. What cannot be read is nothing.
func treeOf(text []byte) any {
	var tree map[string]any
	if utiljson.Unmarshal(text, &tree) != nil {
		return nil
	}
	return tree
}

// changed returns the differences between two objects but for what each server chooses: uids, versions, times, and who
// manages fields.
func changed(recorded, simulated any) []core.FieldChange {
	var changes []core.FieldChange
	for _, change := range core.DiffFields(withoutChoices(recorded), withoutChoices(simulated)) {
		if isTime(change.From) && isTime(change.To) || isNothing(change.From) && isNothing(change.To) {
			continue
		}
		changes = append(changes, change)
	}
	return changes
}

// withoutChoices returns an object without what each server chooses.
func withoutChoices(value any) any {
	tree, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for name, field := range tree {
		out[name] = field
	}
	if meta, ok := tree["metadata"].(map[string]any); ok {
		kept := map[string]any{}
		for name, field := range meta {
			switch name {
			case "uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink":
			default:
				kept[name] = field
			}
		}
		out["metadata"] = kept
	}
	return out
}

// moment is a time as the API writes it.
const moment = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`

func isTime(value any) bool {
	text, ok := value.(string)
	return ok && regexp.MustCompile(moment).MatchString(text)
}

// isNothing reports whether a value is none, or an object without fields: types of a library write both.
func isNothing(value any) bool {
	o, is := value.(map[string]any)
	return value == nil || is && len(o) == 0
}

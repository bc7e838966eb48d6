package foreign

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// answered returns the objects of an answer, and those that are gone with it. It completes the call with what the
// answer says of it.
func (a *auditor) answered(c *live.Call, event *auditEvent) (answer []live.Object, gone []core.Key) {
	if c.Failed != nil || c.Write != nil && c.Write.DryRun { // what would have been is no version
		return nil, nil
	}
	if len(event.ResponseObject) == 0 {
		a.poor[event.Level]++
		return nil, nil
	}
	if c.Verb == live.List || c.Verb == live.DeleteCollection {
		return a.listed(c, event.ResponseObject)
	}
	o, id, ok := objectOf(event.ResponseObject)
	if c.Verb == live.Delete && c.Subresource == "" && id.Kind == "Status" {
		return nil, []core.Key{c.Object}
	}
	if ok && id.partial() {
		o.Kind, o.Form = c.Object.Kind, live.Metadata
	}
	if !ok || o.Kind != c.Object.Kind {
		return nil, nil // of a subresource that is a kind of its own, or a table for people
	}
	c.Object.Name = o.Name // a generated one, too
	if c.Verb == live.Delete && !id.remains() || c.Verb != live.Get && id.finished() {
		return []live.Object{o}, []core.Key{o.Key}
	}
	return []live.Object{o}, nil
}

// partial reports whether an object is only metadata of one.
func (id identity) partial() bool {
	return strings.HasPrefix(id.APIVersion, "meta.k8s.io/") && strings.HasPrefix(id.Kind, "PartialObjectMetadata")
}

// listed is answered for a list.
func (a *auditor) listed(c *live.Call, text json.RawMessage) (answer []live.Object, gone []core.Key) {
	var list struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			ResourceVersion string `json:"resourceVersion"`
			Continue        string `json:"continue"`
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(text, &list) != nil {
		return nil, nil
	}
	partial := identity{APIVersion: list.APIVersion, Kind: list.Kind}.partial()
	if !partial && kindOf(list.APIVersion, strings.TrimSuffix(list.Kind, "List")) != c.Object.Kind {
		if c.Verb == live.List {
			a.poor[fullLevel]++ // such as a table for people
		}
		return nil, nil
	}
	form := live.Served
	if partial {
		form = live.Metadata
	}
	if c.Verb == live.List {
		c.ListVersion, c.Continues = list.Metadata.ResourceVersion, list.Metadata.Continue != ""
	}
	for _, item := range list.Items {
		var id identity
		if json.Unmarshal(item, &id) != nil || id.Metadata.Name == "" {
			continue
		}
		o := live.Object{
			Key: core.Key{Kind: c.Object.Kind, Namespace: id.Metadata.Namespace, Name: id.Metadata.Name},
			UID: id.Metadata.UID, ResourceVersion: id.Metadata.ResourceVersion, Form: form, Value: typed(item, list.APIVersion, strings.TrimSuffix(list.Kind, "List"), id),
		}
		answer = append(answer, o)
		if c.Verb == live.DeleteCollection && !id.remains() && goesAtOnce(c) {
			gone = append(gone, o.Key)
		}
	}
	return answer, gone
}

// goesAtOnce reports whether what a collection lost is gone if nothing held it before: the answer has the objects as
// they were, and some get finalizers or time by being deleted.
func goesAtOnce(c *live.Call) bool {
	switch c.Write.Propagation {
	case "Background":
		return c.Object.Kind != "Pod"
	case "":
		return !slices.Contains([]core.Kind{"Pod", "Job.batch", "ReplicationController"}, c.Object.Kind)
	}
	return false
}

// typed returns an item of a list with its kind, which lists may leave out.
func typed(item json.RawMessage, apiVersion, kind string, id identity) json.RawMessage {
	if id.Kind != "" || kind == "" {
		return item
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(item, &fields) != nil {
		return item
	}
	for name, value := range map[string]string{"apiVersion": apiVersion, "kind": kind} {
		text, err := json.Marshal(value)
		if err != nil {
			return item
		}
		fields[name] = text
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return item
	}
	return text
}

// remains reports whether an object that was asked to be deleted is still there: it waits for finalizers, or for its
// time.
func (id identity) remains() bool {
	m := id.Metadata
	return len(m.Finalizers) > 0 || id.Kind == "Namespace" && len(id.Spec.finalizers) > 0 || m.DeletionTimestamp != "" && m.DeletionGracePeriodSeconds > 0
}

// finished reports whether an object that was written is gone with it: it was to be deleted, and nothing holds it any
// more.
func (id identity) finished() bool { return id.Metadata.DeletionTimestamp != "" && !id.remains() }

// applies reports whether a patch was applied, on the server. The log does not say which media type a patch had; only
// those that are applied can force, and leave an entry of their manager behind. Where the log leaves out who manages
// what, a patch that says what it is, as hardly any other one does, counts as applied.
func applies(c *live.Call, answer json.RawMessage) bool {
	if c.Verb != live.Patch || c.Write.Manager == "" || len(c.Sent) == 0 || c.Sent[0] != '{' {
		return false
	}
	var body identity
	if json.Unmarshal(c.Sent, &body) != nil || body.Kind == "" || body.APIVersion == "" {
		return false
	}
	var answered struct {
		Metadata struct {
			ManagedFields []struct{ Manager, Operation, Subresource string }
		}
	}
	if c.Write.Force || json.Unmarshal(answer, &answered) != nil || answered.Metadata.ManagedFields == nil {
		return true
	}
	for _, entry := range answered.Metadata.ManagedFields {
		if entry.Operation == "Apply" && entry.Manager == c.Write.Manager && entry.Subresource == c.Subresource {
			return true
		}
	}
	return false
}

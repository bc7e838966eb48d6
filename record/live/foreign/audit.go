package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// AuditUnseen returns what an audit log cannot know, in sentences for people.
func AuditUnseen() []string {
	return []string{
		"this is an audit log: it holds calls to the API server only. Reads that a cache answered are not in it, so what was stale cannot be told",
		"an audit log does not know reconciles: neither which call belongs to one, nor which event woke it, nor why it was in a queue",
	}
}

// File is something that can be read more than once.
type File struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// Audit writes a recording of audit logs: files with an event of audit.k8s.io/v1 a line, or a list of events, plain or compressed by gzip. Events of several files, such as those of several
// API servers, are put in the order of their times.
func Audit(files []File, out io.Writer, options Options) error {
	known := newKinds()
	first := time.Time{}
	for _, file := range files { // the kinds of resources, and when it began
		log, err := openAudit(file)
		if err != nil {
			return err
		}
		for event := log.next(); event != nil; event = log.next() {
			known.see(event)
			if received := event.Received; !received.IsZero() && (first.IsZero() || received.Before(first)) {
				first = received
			}
		}
		if err := log.close(); err != nil {
			return err
		}
		if log.events == 0 {
			return fmt.Errorf("%s has no event of audit.k8s.io/v1: give the file that --audit-log-path of the API server names, with --audit-log-format=json", file.Name)
		}
	}
	imported, err := newAuditor(out, first, known, options)
	if err != nil {
		return err
	}
	var logs []*auditLog
	var heads []*auditEvent
	defer func() {
		for _, log := range logs {
			_ = log.close() // it was only read
		}
	}()
	for _, file := range files {
		log, err := openAudit(file)
		if err != nil {
			return err
		}
		logs, heads = append(logs, log), append(heads, log.next())
	}
	for {
		next := -1
		for i, head := range heads {
			if head != nil && (next < 0 || head.Staged.Before(heads[next].Staged)) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		if err := imported.take(heads[next]); err != nil {
			return err
		}
		heads[next] = logs[next].next()
	}
	for _, log := range logs {
		if log.failed != nil {
			return log.failed
		}
		imported.skipped += log.skipped
	}
	return imported.end()
}

// see learns the kind of a resource from the objects of an event.
func (k kinds) see(event *auditEvent) {
	ref := event.ObjectRef
	if ref == nil || ref.Subresource != "" {
		return
	}
	for _, text := range []json.RawMessage{event.ResponseObject, event.RequestObject} {
		var id identity
		if len(text) == 0 || json.Unmarshal(text, &id) != nil || id.Kind == "" || id.Kind == "Status" || id.Kind == "DeleteOptions" {
			continue
		}
		kind := id.Kind
		if event.Verb == live.List {
			kind = strings.TrimSuffix(kind, "List")
		}
		group, _, grouped := strings.Cut(id.APIVersion, "/")
		if (grouped && group == ref.APIGroup || !grouped && ref.APIGroup == "") && kind != "" {
			k.learn(resource{ref.APIGroup, ref.Resource}, kind)
		}
	}
}

// auditor writes the recording of events.
type auditor struct {
	*builder
	started time.Time
	kinds   kinds
	// skipped are lines that are no events, and poor is how many calls succeeded and have no answer in the log, by level.
	skipped int
	poor    map[string]int
}

func newAuditor(out io.Writer, started time.Time, known kinds, options Options) (*auditor, error) {
	b, err := newBuilder(out, "audit log", started, options, AuditUnseen()...)
	if err != nil {
		return nil, err
	}
	return &auditor{builder: b, started: started, kinds: known, poor: map[string]int{}}, nil
}

// take writes a request that is complete.
func (a *auditor) take(event *auditEvent) error {
	ref := event.ObjectRef
	if ref == nil || event.Stage != "ResponseComplete" && event.Stage != "Panic" {
		return nil
	}
	a.kinds.see(event)
	if !slices.Contains([]string{live.Get, live.List, live.Create, live.Update, live.Patch, live.Delete, live.DeleteCollection}, event.Verb) {
		return nil
	}
	c := live.Call{
		At: max(0, event.Received.Sub(a.started)), Took: max(0, event.Staged.Sub(event.Received)), Verb: event.Verb, Subresource: ref.Subresource,
		Client: clientOf(event), Object: core.Key{Kind: a.kinds.of(resource{ref.APIGroup, ref.Resource}), Namespace: ref.Namespace, Name: ref.Name},
		Failed: failureOf(event),
	}
	asks(&c, event.RequestURI)
	sends(&c, event.RequestObject)
	answer, gone := a.answered(&c, event)
	if err := a.call(c, answer); err != nil {
		return err
	}
	for _, key := range gone {
		if err := a.gone(key, c.At+c.Took); err != nil {
			return err
		}
	}
	return nil
}

// clientOf says who made a request: the user that it counts for, and the program.
func clientOf(event *auditEvent) string {
	user := cmp.Or(event.ImpersonatedUser.Username, event.User.Username, "an unknown user")
	program, _, _ := strings.Cut(event.UserAgent, " ")
	program, _, _ = strings.Cut(program, "/")
	if program == "" {
		return user
	}
	return user + " (" + program + ")"
}

// failureOf returns how a request failed, nil if it did not.
func failureOf(event *auditEvent) *live.Failure {
	status := event.ResponseStatus
	switch {
	case event.Stage == "Panic":
		return &live.Failure{Code: http.StatusInternalServerError, Reason: "InternalError", Message: "the API server panicked"}
	case status == nil || status.Code < http.StatusBadRequest:
		return nil
	}
	return &live.Failure{Code: status.Code, Reason: status.Reason, Message: status.Message}
}

// asks takes what stands in the address of a request.
func asks(c *live.Call, uri string) {
	address, err := url.ParseRequestURI(uri)
	if err != nil {
		return
	}
	query := address.Query()
	if c.Verb == live.List || c.Verb == live.DeleteCollection {
		limit, _ := strconv.ParseInt(query.Get("limit"), 10, 64)
		s := live.Selection{Labels: query.Get("labelSelector"), Fields: query.Get("fieldSelector"), Limit: limit, Continue: query.Has("continue")}
		if s != (live.Selection{}) {
			c.Selection = &s
		}
	}
	if c.Verb == live.Get || c.Verb == live.List {
		return
	}
	c.Write = &live.Write{
		DryRun: query.Has("dryRun"), Manager: query.Get("fieldManager"), Force: query.Get("force") == "true", Propagation: query.Get("propagationPolicy"),
	}
}

// sends takes the body of a request.
func sends(c *live.Call, text json.RawMessage) {
	if len(text) == 0 || c.Write == nil {
		return
	}
	if c.Verb == live.Delete || c.Verb == live.DeleteCollection {
		var options struct {
			PropagationPolicy  string
			GracePeriodSeconds *int64
			DryRun             []string
			Preconditions      struct{ UID, ResourceVersion string }
		}
		if json.Unmarshal(text, &options) != nil {
			return
		}
		c.Write.Propagation = cmp.Or(options.PropagationPolicy, c.Write.Propagation)
		c.Write.Grace, c.Write.UID, c.Write.ResourceVersion = options.GracePeriodSeconds, options.Preconditions.UID, options.Preconditions.ResourceVersion
		c.Write.DryRun = c.Write.DryRun || len(options.DryRun) > 0
		return
	}
	c.Sent = text
	var id identity
	if json.Unmarshal(text, &id) != nil {
		return // such as a JSON patch
	}
	c.Base = id.Metadata.ResourceVersion
	if c.Verb == live.Patch && c.Write.Manager != "" && id.Kind != "" && id.APIVersion != "" {
		c.Verb = live.Apply // what is applied says what it is, and other patches hardly ever do
	}
}

// answered returns the objects of an answer, and those that are gone with it. It completes the call with what the answer says of it.
func (a *auditor) answered(c *live.Call, event *auditEvent) (answer []live.Object, gone []core.Key) {
	if c.Failed != nil || c.Write != nil && c.Write.DryRun { // what would have been is no version
		return nil, nil
	}
	if len(event.ResponseObject) == 0 {
		if c.Verb != live.Delete {
			a.poor[event.Level]++
		}
		return nil, nil
	}
	if c.Verb == live.List || c.Verb == live.DeleteCollection {
		return a.listed(c, event.ResponseObject)
	}
	o, id, ok := objectOf(event.ResponseObject)
	if c.Verb == live.Delete && c.Subresource == "" && (!ok || id.Kind == "Status") {
		return nil, []core.Key{c.Object}
	}
	if !ok || o.Kind != c.Object.Kind {
		return nil, nil // of a subresource that is a kind of its own
	}
	c.Object.Name = o.Name // a generated one, too
	if c.Verb == live.Delete && id.remains() || c.Verb != live.Delete && !id.finished() {
		return []live.Object{o}, nil
	}
	return []live.Object{o}, []core.Key{o.Key}
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
			UID: id.Metadata.UID, ResourceVersion: id.Metadata.ResourceVersion, Value: typed(item, list.APIVersion, strings.TrimSuffix(list.Kind, "List"), id),
		}
		answer = append(answer, o)
		if c.Verb == live.DeleteCollection && !id.remains() {
			gone = append(gone, o.Key)
		}
	}
	return answer, gone
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

// remains reports whether an object that was asked to be deleted is still there: it waits for finalizers, or for its time.
func (id identity) remains() bool {
	m := id.Metadata
	return len(m.Finalizers) > 0 || m.DeletionTimestamp != "" && m.DeletionGracePeriodSeconds > 0
}

// finished reports whether an object that was written is gone with it: it was to be deleted, and nothing holds it any more.
func (id identity) finished() bool { return id.Metadata.DeletionTimestamp != "" && !id.remains() }

// end ends the recording, and says what was not in the log.
func (a *auditor) end() error {
	var notes []string
	if a.skipped > 0 {
		notes = append(notes, fmt.Sprintf("%d lines are no events of audit.k8s.io/v1, and left out", a.skipped))
	}
	for _, level := range slices.Sorted(maps.Keys(a.poor)) {
		notes = append(notes, fmt.Sprintf("%d calls were logged at level %s, without their answers: which versions they read or wrote is not known. "+
			"Give the resources in question the level RequestResponse in the audit policy", a.poor[level], cmp.Or(level, "None")))
	}
	for _, note := range notes {
		if err := a.unseen("%s", note); err != nil {
			return err
		}
	}
	return a.builder.end()
}

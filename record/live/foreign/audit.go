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

// Audit writes a recording of audit logs: files with an event of audit.k8s.io/v1 a line, or a list of events, plain or
// compressed by gzip. Events of several files, such as those of several API servers, are put in the order of their
// times.
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
	if ref == nil || ref.Subresource != "" || failureOf(event) != nil { // what was refused can be of any kind
		return
	}
	for _, text := range []json.RawMessage{event.ResponseObject, event.RequestObject} {
		var id identity
		if len(text) == 0 || json.Unmarshal(text, &id) != nil || id.Kind == "" || id.Kind == "Status" || id.Kind == "DeleteOptions" {
			continue
		}
		kind := id.Kind
		if event.Verb == live.List || event.Verb == live.DeleteCollection {
			kind = strings.TrimSuffix(kind, "List")
		}
		group, _, grouped := strings.Cut(id.APIVersion, "/")
		if (grouped && group == ref.APIGroup || !grouped && ref.APIGroup == "") && kind != "" {
			k.learn(resource{ref.APIGroup, ref.Resource}, kind)
		}
	}
}

// fullLevel is the level of events with the bodies of requests and answers.
const fullLevel = "RequestResponse"

// auditor writes the recording of events.
type auditor struct {
	*builder
	started time.Time
	kinds   kinds
	// skipped are lines that are no events, and poor is how many calls succeeded and have no answer in the log, by
	// level.
	skipped int
	poor    map[string]int
	// taken are the events that were written, and former those before they became many: a webhook gets an event again
	// if its answer was lost, and files can overlap.
	taken, former map[eventID]struct{}
	repeated      int
}

// eventID tells events apart. The audit ID alone does not: whoever sends a request can choose it.
type eventID struct {
	audit, uri string
	received   time.Time
}

// takenLimit bounds how many events are remembered, twice.
const takenLimit = 1 << 16

// again reports whether an event was taken before. One without an ID never was.
func (a *auditor) again(event *auditEvent) bool {
	if event.AuditID == "" {
		return false
	}
	id := eventID{event.AuditID, event.RequestURI, event.Received.UTC()}
	_, recently := a.taken[id]
	_, before := a.former[id]
	if len(a.taken) >= takenLimit {
		a.taken, a.former = map[eventID]struct{}{}, a.taken
	}
	a.taken[id] = struct{}{}
	if recently || before {
		a.repeated++
	}
	return recently || before
}

func newAuditor(out io.Writer, started time.Time, known kinds, options Options) (*auditor, error) {
	b, err := newBuilder(out, "audit log", started, options, AuditUnseen()...)
	if err != nil {
		return nil, err
	}
	return &auditor{builder: b, started: started, kinds: known, poor: map[string]int{}, taken: map[eventID]struct{}{}}, nil
}

// take writes a request that is complete.
func (a *auditor) take(event *auditEvent) error {
	ref := event.ObjectRef
	if ref == nil || event.Stage != "ResponseComplete" && event.Stage != "Panic" || a.again(event) {
		return nil
	}
	a.kinds.see(event)
	if slices.Contains([]string{"attach", "exec", "log", "portforward", "proxy"}, ref.Subresource) {
		return nil // what is behind an object is no part of it
	}
	if !slices.Contains([]string{live.Get, live.List, live.Create, live.Update, live.Patch, live.Delete, live.DeleteCollection}, event.Verb) {
		return nil
	}
	c := live.Call{
		At: within(event.Received.Sub(a.started)), Took: within(event.Staged.Sub(event.Received)), Verb: event.Verb, Subresource: ref.Subresource,
		Client: clientOf(event), Object: core.Key{Kind: a.kinds.of(resource{ref.APIGroup, ref.Resource}), Namespace: ref.Namespace, Name: ref.Name},
		Failed: failureOf(event),
	}
	if c.Object.Kind == "Namespace" {
		c.Object.Namespace = "" // a Namespace is in none, and the log says that it is in itself
	}
	asks(&c, event.RequestURI)
	sends(&c, event.RequestObject)
	if applies(&c, event.ResponseObject) {
		c.Verb = live.Apply
	}
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

// within returns a time that is neither before the recording nor so late that it cannot be counted on from.
func within(d time.Duration) time.Duration { return max(0, min(d, 1<<61)) }

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
	query := url.Values{}
	if address, err := url.ParseRequestURI(uri); err == nil {
		query = address.Query()
	}
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
	if c.Verb == live.Patch && text[0] == '[' {
		c.Write.Patch = "application/json-patch+json" // no other one is an array
		return
	}
	var id identity
	if json.Unmarshal(text, &id) != nil {
		return
	}
	c.Base = id.Metadata.ResourceVersion
}

// end ends the recording, and says what was not in the log.
func (a *auditor) end() error {
	var notes []string
	if a.skipped > 0 {
		notes = append(notes, fmt.Sprintf("%d lines are no events of audit.k8s.io/v1, and left out", a.skipped))
	}
	if a.repeated > 0 {
		notes = append(notes, fmt.Sprintf("%d events were there more than once, and are recorded once", a.repeated))
	}
	for _, level := range slices.Sorted(maps.Keys(a.poor)) {
		change := "Give the resources in question the level RequestResponse in the audit policy"
		if level == fullLevel {
			change = "They were cut off, or were no objects: set --audit-log-truncate-enabled=false, or --audit-log-truncate-max-event-size to more"
		}
		notes = append(notes, fmt.Sprintf("%d calls were logged at level %s, without their answers: which versions they read or wrote is not known. %s",
			a.poor[level], cmp.Or(level, "None"), change))
	}
	for _, note := range notes {
		if err := a.unseen("%s", note); err != nil {
			return err
		}
	}
	return a.builder.end()
}

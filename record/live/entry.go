package live

import (
	"encoding/json"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Entry is one entry of a recording: a [Header], [Object], [Event], [Queued], [Begin], [Call], [Done], [Gap], [Unseen]
// or [End].
type Entry interface{ tag() tag }

// Header says what was recorded. It is the first entry of every recording.
type Header struct {
	Process Process `json:"process"`
	// Started is the time of the process's clock at which the recording began. All other times are durations since
	// then.
	Started time.Time `json:"started"`
	// Part is the number of this file among those that the process wrote, from 1.
	Part int `json:"part"`
	// Redacted says in words what of the objects is not recorded.
	Redacted []string `json:"redacted,omitempty"`
	// Share is the share of the objects whose reconciles and events are recorded, 0 if all are.
	Share float64 `json:"share,omitempty"`
}

// Process is the identity of a process that was recorded.
type Process struct {
	// Name is what all replicas have in common, such as the name of the deployment.
	Name string `json:"name"`
	// Replica tells this process from others of the same name, and from the same one before a restart.
	Replica string `json:"replica"`
	// Version is the version of the code.
	Version string `json:"version,omitempty"`
}

// Object is one version of an object. Objects are numbered from 1 in the order of their entries in a file; other
// entries refer to them by these numbers, with 0 for none.
type Object struct {
	core.Key
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"rv,omitempty"`
	// Form is Served, Cached or Metadata: a cache can hold less of an object than the server.
	Form string `json:"form,omitempty"`
	// Value is the object as JSON, without what is redacted. It is missing if it is not in this file.
	Value json.RawMessage `json:"value,omitempty"`
	// outlined tells that the value is in the file, and left out where this comes from.
	outlined bool
}

// Valued reports whether the recording has the value: here, or for [Outline.Object].
func (o Object) Valued() bool { return o.Value != nil || o.outlined }

// The forms in which objects are seen.
const (
	Served   = ""         // as the API server answered, or as a cache holds it with nothing left out
	Cached   = "cache"    // as a cache holds it, which is not what the server answered, or not known to be
	Metadata = "metadata" // its metadata only
)

// The types of events.
const (
	Added   = "added"
	Updated = "updated"
	Deleted = "deleted"
)

// Event says that an event handler of a controller was told of a change.
type Event struct {
	// N numbers what happened in the process, upwards. Where numbers are missing, entries are.
	N  uint64        `json:"n"`
	At time.Duration `json:"at"`
	// Controller is empty if the handler is nobody's that is known.
	Controller string `json:"controller,omitempty"`
	// Type is Added, Updated or Deleted.
	Type   string `json:"type"`
	Object int    `json:"object"`
	// Old is the version that the cache held before, for an update.
	Old int `json:"old,omitempty"`
	// Initial tells that the object was there when the cache was filled.
	Initial bool `json:"initial,omitempty"`
	// Missed tells that the cache did not see the deletion, and the object is the last version that it had.
	Missed bool `json:"missed,omitempty"`
}

// Queued says that a request was added to a controller's queue, other than as the result of a reconcile, which is in
// its [Done].
type Queued struct {
	N          uint64        `json:"n"`
	At         time.Duration `json:"at"`
	Controller string        `json:"controller"`
	// Event is the number of the [Event] whose handler added it, 0 if other code did.
	Event   uint64 `json:"event,omitempty"`
	Request string `json:"request"`
	// After is how long it is to wait there.
	After time.Duration `json:"after,omitempty"`
	// Limited tells that it waits for as long as the queue's rate limiter says.
	Limited bool `json:"limited,omitempty"`
}

// The reasons for which a request is in a queue.
const (
	ByEvent   = "event"   // an event handler added it
	ByCode    = "code"    // some other code added it
	ByResult  = "requeue" // the last reconcile asked for it, at once or after a time
	ByFailure = "retry"   // the last reconcile returned an error
)

// Cause is a reason for which a request was in a queue.
type Cause struct {
	By string `json:"by"`
	// N is the number of the entry: of the [Event], the [Queued], or the [Begin] of the last reconcile.
	N uint64 `json:"n"`
}

// Begin says that a reconcile began.
type Begin struct {
	N          uint64        `json:"n"`
	At         time.Duration `json:"at"`
	Controller string        `json:"controller"`
	Request    string        `json:"request"`
	// Causes are why the request was in the queue, in the order in which it was added. There are none if that was not
	// recorded.
	Causes []Cause `json:"causes,omitempty"`
	// MoreCauses is how many there are besides.
	MoreCauses int `json:"more_causes,omitempty"`
	// Waited is how long ago the first of the causes was.
	Waited time.Duration `json:"waited,omitempty"`
	// ID is what the logs of the process call the reconcile.
	ID string `json:"id,omitempty"`
}

// Done says that a reconcile returned.
type Done struct {
	N  uint64        `json:"n"`
	At time.Duration `json:"at"`
	// Reconcile is the number of its [Begin].
	Reconcile uint64 `json:"reconcile"`
	// Requeue and After are what it asked for.
	Requeue bool          `json:"requeue,omitempty"`
	After   time.Duration `json:"after,omitempty"`
	// Error is what it returned, empty without one.
	Error string `json:"error,omitempty"`
	// Terminal tells that the error says not to try again.
	Terminal bool `json:"terminal,omitempty"`
	// Panicked tells that it did not return, but panicked or ended its goroutine. The logs of the process say with
	// what.
	Panicked bool `json:"panicked,omitempty"`
}

// The verbs of calls.
const (
	Get              = "get"
	List             = "list"
	Create           = "create"
	Update           = "update"
	Patch            = "patch"
	Apply            = "apply"
	Delete           = "delete"
	DeleteCollection = "deletecollection"
)

// Call is one call of a client. It is written when the answer is there.
type Call struct {
	N  uint64        `json:"n"`
	At time.Duration `json:"at"`
	// Took is how long the answer took. At is when the call began.
	Took time.Duration `json:"took"`
	// Reconcile is the number of the [Begin] of the reconcile that made it, 0 if it was none that is known.
	Reconcile uint64 `json:"reconcile,omitempty"`
	// Client is who made it, as the API server knows it, if nothing nearer is known.
	Client string `json:"client,omitempty"`
	Verb   string `json:"verb"`
	// Object names the object that the call is about. Of a call about many it has the kind and the namespace, as far as
	// there is one.
	Object      core.Key `json:"object"`
	Subresource string   `json:"subresource,omitempty"`
	// Cached tells that a cache answered, and not the API server.
	Cached bool `json:"cached,omitempty"`
	// Selection says which objects a call about many is about.
	Selection *Selection `json:"selection,omitempty"`
	// Write says how a write was to be done.
	Write *Write `json:"write,omitempty"`
	// Base is the resource version of the object that was sent: what the controller had seen.
	Base string `json:"base,omitempty"`
	// Sent is the object or the patch that was sent, without what is redacted.
	Sent json.RawMessage `json:"sent,omitempty"`
	// Answer lists the objects of the answer.
	Answer []int `json:"answer,omitempty"`
	// ListVersion is the resource version of a list.
	ListVersion string `json:"list_rv,omitempty"`
	// Continues tells that the list goes on behind the limit.
	Continues bool `json:"continues,omitempty"`
	// Failed is how the call failed, nil if it did not.
	Failed *Failure `json:"failed,omitempty"`
}

// Writes reports whether the call may have changed something: whether it asks for a change and was not refused.
func (c Call) Writes() bool {
	return c.Verb != Get && c.Verb != List && (c.Failed == nil || c.Failed.Code == 0) && (c.Write == nil || !c.Write.DryRun)
}

// Selection says which objects of a kind are meant.
type Selection struct {
	Labels string `json:"labels,omitempty"`
	Fields string `json:"fields,omitempty"`
	Limit  int64  `json:"limit,omitempty"`
	// Continue tells that it is not the first part of a list.
	Continue bool `json:"continue,omitempty"`
}

// Write says how a write was to be done.
type Write struct {
	// Patch is the media type of a patch.
	Patch  string `json:"patch,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
	// Manager is the field manager.
	Manager string `json:"manager,omitempty"`
	// Force tells that fields of other managers were to be taken over.
	Force bool `json:"force,omitempty"`
	// UID and ResourceVersion are what a deletion asked the object to have.
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"rv,omitempty"`
	// Propagation says what was to become of dependents.
	Propagation string `json:"propagation,omitempty"`
	// Grace is the time in seconds that was to be left, nil if none was named.
	Grace *int64 `json:"grace,omitempty"`
}

// Failure is the error of a call.
type Failure struct {
	// Code and Reason are those of the API server, 0 and empty if it was another error; then it is not known whether a
	// write was done.
	Code    int    `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// The reasons for gaps.
const (
	Overload = "overload" // the recorder could not keep up
	Paused   = "paused"   // it was switched off
	TooLarge = "too large"
	Broken   = "broken"     // something in an object or in the recorder kept an entry from being written
	NotKept  = "no storage" // the file could not be written, such as on a full disk
)

// Gap says that entries are missing.
type Gap struct {
	// At and Until are between which times they would have been.
	At    time.Duration `json:"at"`
	Until time.Duration `json:"until"`
	// Reason is Overload, Paused, TooLarge, Broken or NotKept.
	Reason string `json:"reason"`
	// Entries is how many are missing, 0 if nobody counted them.
	Entries int `json:"entries,omitempty"`
}

// Unseen says that something of the process is not recorded at all.
type Unseen struct {
	At time.Duration `json:"at"`
	// Controller is what it is about, empty if it is not about one.
	Controller string `json:"controller,omitempty"`
	// Reason says in a sentence what is not recorded, and what to do about it.
	Reason string `json:"reason"`
}

// End is the last entry of a recording that was ended and not cut off.
type End struct {
	At time.Duration `json:"at"`
	// Rotated tells that the process went on in another file.
	Rotated bool `json:"rotated,omitempty"`
}

// tag tells the kinds of entries apart. The numbers are part of the format.
type tag byte

const (
	headerTag tag = 1
	objectTag tag = 2
	eventTag  tag = 3
	queuedTag tag = 4
	beginTag  tag = 5
	callTag   tag = 6
	doneTag   tag = 7
	gapTag    tag = 8
	unseenTag tag = 9
	endTag    tag = 10
)

func (Header) tag() tag { return headerTag }
func (Object) tag() tag { return objectTag }
func (Event) tag() tag  { return eventTag }
func (Queued) tag() tag { return queuedTag }
func (Begin) tag() tag  { return beginTag }
func (Call) tag() tag   { return callTag }
func (Done) tag() tag   { return doneTag }
func (Gap) tag() tag    { return gapTag }
func (Unseen) tag() tag { return unseenTag }
func (End) tag() tag    { return endTag }

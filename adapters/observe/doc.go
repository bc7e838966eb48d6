// Package observe records what the controllers of a running process do: one line in the main of an operator.
//
//	mgr, err := ctrl.NewManager(...)
//	mgr = observe.Manager(mgr, observe.Options{Folder: "/var/log/widgets"})
//
// From then on, everything is registered on the manager that is returned. It records, in files of package record/live:
// which events its controllers were told of and what they queued; each reconcile, why it began, how it ended, and how
// long it took; and each call of the manager's client, API reader and cache within a reconcile, what was sent, and the
// answer, with the versions of the objects that were seen.
//
// Controllers that have no manager, such as those on client-go's informers and work queues, are recorded with
// [NewRecorder].
//
// # How
//
// Nothing of a controller is changed. The manager that is returned hands out clients and a cache that record
// (client.go, cache.go). When a controller is added to it, its reconciler and its queue are put behind ones that record
// (controller.go, queue.go). A call belongs to the reconcile whose context it was made with. Whether a cache or the API
// server answered is not guessed: a transport below the client marks the calls that get there (transport.go). Which
// event queued a request is known from the goroutine that handles the event (goroutine.go).
//
// # What it does to a controller
//
// A controller never waits for the recording. Entries go to a buffer (recorder.go), and one goroutine encodes, redacts,
// compresses and writes them (encoder.go). What does not fit into the buffer is dropped and counted; the recording says
// where. An object is copied the first time that one of its versions is seen, since controllers change what they read,
// unless the same object was seen a moment ago in another form (recent.go, same.go). Of an object that was written
// before, what differs is made JSON of (texts.go). An error of the file is reported, and costs what was in its last
// block and what happens until another file can be begun, which starts with how much that was. A panic in the recorder
// ends the recording, is reported, and goes no further.
//
// # What is not seen
//
// Clients that the operator makes for itself from the manager's configuration, admission webhooks, Events, leader
// election, runnables other than controllers (their calls are recorded, as calls of no reconcile), and what other
// processes do: record these, too. A controller whose requests are not reconcile.Request is recorded if its type is in
// [Options.Requests]; where something is known not to be recorded, the recording says so. The data of Secrets and the
// tokens of service accounts are not recorded unless asked for, and error messages of calls about objects that have
// something redacted neither. What a reconciler returns as its error is recorded as it is, as it is in its logs.
package observe

// Package informer is what informers and their caches are under check: views of the cluster that belong to a
// controller, and event handlers that the engine calls. Adapters put the interfaces of their library around it.
//
// A cache here holds nothing. What is read from a [View] is asked of the simulated API server as a call from a cache:
// the engine answers it from the controller's own view, which may be stale, and learns that the controller looked. So a
// read that nobody declared is found out as it is made.
//
// A [Form] is a kind as it is handed to a controller: as its Go type, as a tree, or as metadata alone. Informers of one
// kind in two forms are two caches, with indexes of their own.
//
// An index ([Indexes]) is a function of an object. The server evaluates it, since a list by an index is one call:
// [Indexes.ForServer] gives it the functions, and [Index.Term] is how a list asks for what is equal to a value.
//
// A [Watch] is an event handler of a controller. [Deliver] shows an event of the engine to those that are about its
// kind: with the object as a client would read it, the same for all handlers, and a typed one without its kind, as it
// comes from a real watch. There are no resyncs, and nothing to wait for: [Synced] says in all ways in which client-go
// asks that the initial list was delivered.
package informer

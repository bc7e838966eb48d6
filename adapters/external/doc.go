// Package external is what controllers talk to besides their API server: a cloud, the API of another team, a second
// cluster.
//
// A [Part] is a part of the world with kinds of objects of its own and calls of its own. [Compose] puts parts beside
// the store that the controllers are made for, so that one state has the objects of all. What a call reads and writes
// there is learned as from any store: nothing is assumed about which calls commute.
//
// A [Service] is a part that is written down in Go: tables ([Table]) whose records are values of a Go type, and
// functions that read and change them.
//
//   - An [Operation] is what clients ask for. It is one step of the world: all of its changes take place, or none. It may refuse ([Refuse]).
//   - A [Query] is an operation that changes nothing.
//   - An [Event] is what the service does by itself some time after it was told to ([Event.Later]): an instance comes up, a job fails.
//
// Reads of a table may lag behind ([Table.GetStale]). Where a check lets calls fail, an operation times out before or
// after it has taken place, or fails in the ways that the service has ([Failures]). What people do to the service
// behind the back of the controllers are actions ([Service.Action]).
//
// Controllers get a [Client] in their set-up, made from the configuration of their manager. What they ask through it
// belongs to the run that is going on, as the requests to the API server do. An adapter of a few lines makes of it the
// interface that the controllers have for the service.
//
// Package cloud has a cloud with instances, package web an HTTP service, and package remote a second cluster. They are
// ready to use, and the first two are written with this package.
//
// # Rules for the functions
//
// A function must depend on nothing but its arguments and what it reads from its tables: no clock, no chance, no
// variables that change, no order of a map. Each answer is computed twice, and a check ends with an error if the two
// differ. Values are kept as JSON; a type that JSON does not keep as it is is refused by [Compose].
//
// # What is not modelled
//
// Clients never see an older version of a record than any has seen before, and time does not pass: nothing expires, and
// what a service does by itself comes before any timer fires, so that nobody sees it take longer than a controller
// waits. Reports name these assumptions where they apply. Findings about such a system cannot be confirmed on a real
// API server, which has none of the parts: orrery confirm says so.
package external

// Package view is what controllers see of the store, and how they catch up.
//
// A cached client does not read the store but a cache that a watch stream fills. So
// each controller has a [View] of each kind it watches or reads through its cache: the store without the changes
// of that kind which its cache has not received. There is one stream per controller
// and kind: changes of one kind arrive in the order in which they were committed,
// and different kinds are independent of each other. A view never shows a newer
// version of one object while it hides an older one of another object of the kind:
// no watch could.
//
// How far a view may lag behind is said by its [Rule]. The changes that it has yet to
// receive are its backlog, which is one value of one cell of a state.
package view

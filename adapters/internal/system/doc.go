// Package system makes a system of controllers of Kubernetes, for any library that these are made with.
//
// A [Definition] collects what the options of an adapter say: definitions, objects, users, players of Kubernetes
// itself, properties. The adapter adds options of its own, and does the part that depends on its library: it makes the
// server ([Definition.Server]), runs the set-up code once to see which controllers there are, and hands them to
// [Definition.System]. That adds the rest, and tells the server what the garbage collector looks after, so that a
// deletion which waits for nobody is noticed.
//
// [Notes] are what the adapter saw that is not modelled: assumptions, doubts, and parts that nobody runs. A doubt is a
// reason why no check of the system is conclusive. So is a part, unless the user leaves it out by name ([Without]);
// leaving out what is not there is a mistake.
package system

// Package builtin is what the API server does with objects besides keeping them: its own rules for
// kinds ([Of]), and its own admission plugins.
//
// Rules are applied between reading and storing an object. When it is read, it gets the defaults
// of its kind (defaults.go, poddefaults.go, workloads.go, network.go). When it is written, the
// fields that the server or the stored object decide take their values (prepare.go,
// generation.go), fields whose feature gates are off are dropped (package fieldrules), and what is
// left is checked (package validation).
//
// [Assign], [AdmitNew] and [CheckClasses] look at other objects, too: a Service gets an address
// and ports, a Pod the priority and the runtime of its classes.
package builtin

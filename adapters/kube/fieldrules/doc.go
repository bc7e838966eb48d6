// Package fieldrules holds what a Kubernetes API server wants of the fields of its own kinds,
// as tables that people can read, and holds objects against them.
//
// # The tables
//
// A table, a file that ends in .rules, is a list of types and kinds. A type begins at the margin with its
// name, and the lines below it say what is wanted of its fields: a path, and the rules for
// what is found there.
//
//	ContainerPort
//	  name           optional port-name
//	  containerPort  required port
//	  protocol       required in(SCTP TCP UDP)
//
// A path goes through objects by the names of their fields, through all items of a list by
// name[], through all values of a map by name{}, and through its keys by name{key}. The
// name of a type among the rules holds what is found against that type. A kind, which begins with
// the word kind, is a type that objects are held against from their top; after the word status stands what
// is wanted of an update of the status.
//
//	kind Deployment.apps
//	  spec.template  PodTemplateSpec RunningPodTemplate
//
// A rule that fails is the last that is looked at on its line. A line without a path is about the object
// itself. What stands behind a # is for the reader; behind dropped it names the feature gate.
//
// # The rules
//
//	required             there, and not empty
//	optional             the rest of the line is about values that are not empty
//	given                the rest of the line is about values that are there, if empty
//	forbidden, unset     not there; unset is told as a wrong value
//	dropped              taken away before the object is stored: its feature gate is off
//	new                  the rest of the line is about objects that are created
//	as(path)             what messages call the field
//	if(f), unless(f)     the rest of the line holds if the field f beside this one is there
//	                     and neither false nor empty, or if it is not. f=a|b asks for one of these
//	                     values, and ^f for a field one object further out.
//	in(a b), in(a a|b b), only(a b)
//	                      one of these; only is told as a wrong value
//	not(a b)             none of these, told as a wrong value; not() is not empty
//	not-if(a b)          none of these, told as forbidden
//	1..5, 0.., ..9       a number in this range
//	max-length, max-items, prefix, port, label-key and so on
//	                     see [formats] and [constraints]
//	unique(f g)          no two items of the list agree in these fields
//	one(f g), some(f g), at-most-one(f g)
//	                     how many of the fields of the object are there
//	allowed(f g)         no other fields of the object are there
//	check(name)          what takes a function: see [checks]
package fieldrules

// Package specification reads what should be true of a system from text: formulas, as a command
// line gives them, and property files.
//
// A formula is one of package ltl. Its atoms are those that are built in, "settled", and the names of the
// system's own invariants, each true where the invariant holds. A text in quotes that is none of these is an
// expression of package cel:
//
//	G F settled
//	quiescent leads to settled
//	G ("pods.size() > 0" -> F "no pod is left")
//
// A property file is YAML:
//
//	properties:
//	- name: every pod has an owner
//	  description: Pods without an owner are never cleaned up.
//	  always: pods.all(p, has(p.metadata.ownerReferences))
//	- name: ready for good
//	  severity: warning
//	  fairness: strong
//	  formula: F ready -> stable ready
//	  atoms:
//	    ready: pods.all(p, p.status.phase == "Running")
//	- name: what is deleted goes
//	  leadsTo:
//	    from: pods.exists(p, has(p.metadata.deletionTimestamp))
//	    to: pods.size() == 0
//
// A property has a name and says one thing: formula, always, infinitelyOften, eventually, eventuallyAlways or leadsTo;
// all but the formula are expressions of package cel. Or it asks for a property of the catalogue by its name, as in
// "property: no orphan stays" (see [Terms.Named]). A formula may name expressions as atoms of its own. The severity is
// error, or warning for what is told but does not change the verdict of a check. The fairness is weak, strong or none,
// as in package ltl.
//
// Mistakes are errors before any controller runs, with the place marked.
package specification

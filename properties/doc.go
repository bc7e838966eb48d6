// Package properties is what can be checked of a system out of the box.
//
// Most are about runs: they judge the graph that a search has stored. A run that
// goes on for ever is fair if every step that stays possible is eventually taken
// (weak fairness, for each work item and each timer); unfair runs do not count. A
// state in which nothing can happen repeats for ever.
package properties

// Package inspect shows a run record in a terminal: the report, the runs of its findings step by step, and the graph of
// states, in which one goes from state to state.
//
// A [view] is what fills the terminal: the report, a story, a state, what was found. Views lie on a stack, of which the
// last one is shown. Each consists of panes, and a pane of rows, which are made once and are laid out for the width
// that there is. Texts become rows by way of [say], which takes out of them whatever a terminal would obey: names and
// values of objects are anybody's.
//
// The report is shown at once. The graph is read beside it, and what needs it says so until it is there.
package inspect

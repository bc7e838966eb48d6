// Package record keeps what a check found in a file: the run record, ".orr".
//
// A record starts with one line of text that names the format and its version. After it come blocks. A block is a
// compressed group of entries behind its lengths and a checksum over all of it, so that no change of the file goes
// unnoticed and every error can name a place in the file. An entry is a piece of the result as JSON: the header, the
// report, one finding's story, one outcome, one version of an object, one item, one name of a step. States have most of
// that in common, so it is written once, before the first state that has it, and a state is an entry of numbers. How
// many states there are is said behind them. The last entry counts all others, so that a file that was cut short is
// never taken for a whole one: it cannot be read.
//
// Recording that is interrupted ends a record at once, but as a whole one: with everything about the findings, the
// states up to there, and a note that says how many these are.
//
// Files of the first version, whose states are JSON, can be read as well.
//
// Records are written and read entry by entry. Two records of equal results
// differ in nothing but the times and the memory that the report names.
package record

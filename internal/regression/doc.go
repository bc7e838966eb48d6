// Package regression writes Go tests that run again what a check has found. A test needs the system that was checked,
// and only the source of the check says how it is made: so the statements that lead to it are copied, those and no
// others, into a test of its own. Where they cannot be copied, as the system depends on the variable of a loop or on
// what others prepare, an error says so.
package regression

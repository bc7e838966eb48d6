// Package text tells people what a check found: the verdict first, then the
// story of every finding in the user's own words, then what was searched and
// what was taken for granted, and last, on a single line, the time it took.
package text

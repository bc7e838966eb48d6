// Package readme is the project that the README checks: one controller as it stands
// in many repositories, and its first check. The README shows the test, so it is
// compiled and run with all others.
package readme

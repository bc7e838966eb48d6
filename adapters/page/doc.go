// Package page writes what a check has found as a page for browsers: a single file that needs nothing else, neither
// files nor a network. Scripts and styles are in the file, and no others are let in, so nothing that is told of an
// object or a controller is ever run.
package page

// Package scaffold writes a first check for a project with controllers: a Go test that sets up the project's
// controllers as its main.go does, with its definitions and its samples, and a workflow that runs the test.
//
// A project is read as text, never built: its Go files are parsed, and names are resolved by the imports of the file
// that they are in. So it needs no dependencies to be there, takes a moment, and bears code that does not compile
// ([Project.Broken]). What main.go passes to a set-up is copied where it means the same in a test; what does not
// (variables, flags without a default, names of package main) is replaced by what its type suggests, or left out and
// named in [Plan.Missing].
package scaffold

// Package export writes what a check has found in the forms of other tools: Mermaid for descriptions of changes, JUnit for systems that run tests, and the Informal Trace
// Format for tools of formal methods.
package export

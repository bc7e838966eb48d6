// Package export writes what a check has found in the forms of other tools: pictures in SVG and sequence diagrams of
// Mermaid for descriptions of changes, SARIF for code hosts and editors, JUnit for systems that run tests, and the
// Informal Trace Format for tools of formal methods.
package export

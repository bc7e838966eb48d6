package conformance

import (
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
)

// FieldRow is what was counted of a base, for a page.
type FieldRow struct {
	Kind  string
	Tally *FieldTally
}

// FieldsMarkdown returns a page about a measurement with the rules of a real server.
func FieldsMarkdown(rows []FieldRow, total *FieldTally) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Field by field

<!-- Written by a test: see CONTRIBUTING.md. -->

Small objects of Kubernetes' own kinds are changed one field at a time, to values that should be right and to some that should be
wrong, in creates, updates and updates of the status. The simulated API server with the rules of a real one
([adapters/kube/upstream](../adapters/kube/upstream)) is compared with kube-apiserver %s: what is accepted, what is stored, and what a refusal
says.

| kind | fields | values | requests | refused by the real server | another outcome, or another object | the same, in other words |
| --- | --- | --- | --- | --- | --- | --- |
`, controlplane.Version)
	for _, row := range append(rows, FieldRow{"**all**", total}) {
		t, deciding, words := row.Tally, 0, 0
		for class, n := range t.Differences {
			if class.Decides() {
				deciding += n
			} else {
				words += n
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", row.Kind, t.Paths, t.Mutations, t.Requests, t.Refused, deciding, words)
	}
	b.WriteString("\nA kind that is there twice was changed from two objects. Not counted are these differences:\n\n| difference | reason |\n| --- | --- |\n")
	for _, a := range AcceptedFields() {
		fmt.Fprintf(&b, "| %s | %s |\n", a.Name, a.Reason)
	}
	return b.String()
}

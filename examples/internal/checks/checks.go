// Package checks runs checks in the tests of examples.
package checks

import (
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
)

// Report checks a system, and returns the report. The test fails if the system could not be made, as the error says, or if it cannot be checked.
func Report(t *testing.T, system *core.System, err error, options orrery.Options) core.Report {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// Violated returns the properties of the findings, in their order.
func Violated(report core.Report) []string {
	var names []string
	for _, finding := range report.Findings {
		names = append(names, finding.Property)
	}
	return names
}

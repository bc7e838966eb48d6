package orrery_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// warning returns a property that only warns.
func warning(p core.Property) core.Property {
	p.Name, p.Warning = "warning of "+p.Name, true
	return p
}

// TestWarnings checks that what breaks a warning is found, and that the verdict does not depend on it.
func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		name               string
		given              []core.Property
		options            orrery.Options
		verdict            core.Verdict
		findings, warnings int
	}{
		{"broken", []core.Property{warning(never(5)), never(4)}, orrery.Options{}, core.Holds, 1, 1},
		{"beside a violation", []core.Property{warning(never(5)), never(0)}, orrery.Options{}, core.Violated, 2, 1},
		{"kept", []core.Property{warning(never(4))}, orrery.Options{}, core.Holds, 0, 0},
		{"cut", []core.Property{warning(never(0))}, orrery.Options{MaxStates: 1}, core.Inconclusive, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := run(t, one(set(five, false), test.given...), test.options).Report
			if report.Verdict != test.verdict || len(report.Findings) != test.findings || report.Warnings() != test.warnings {
				t.Errorf("got %s with %d findings, of which %d are warnings", report.Verdict, len(report.Findings), report.Warnings())
			}
			for i, p := range test.given {
				if got := report.Properties[i]; got.Warning != p.Warning {
					t.Errorf("%s: warning is %t", got.Name, got.Warning)
				}
			}
		})
	}
}

// logs is a test that keeps what is logged.
type logs struct {
	testing.TB
	logged []string
	failed bool
}

func (l *logs) Log(args ...any)                 { l.logged = append(l.logged, fmt.Sprint(args...)) }
func (l *logs) Logf(format string, args ...any) { l.Log(fmt.Sprintf(format, args...)) }
func (l *logs) Error(...any)                    { l.failed = true }

// TestCheckLogsWarnings checks that a test passes with warnings, and says so.
func TestCheckLogsWarnings(t *testing.T) {
	system, err := one(set(five, false)).System()
	if err != nil {
		t.Fatal(err)
	}
	l := &logs{TB: t}
	orrery.CheckWith(l, orrery.Options{}, system, warning(never(5)))
	if l.failed || len(l.logged) != 1 || !strings.Contains(l.logged[0], "warns of:    warning of never that") {
		t.Errorf("failed: %t, logged: %q", l.failed, l.logged)
	}
	l = &logs{TB: t}
	orrery.CheckWith(l, orrery.Options{}, system, warning(never(4)))
	if l.failed || len(l.logged) != 1 || !strings.Contains(l.logged[0], "changed  x: 5") {
		t.Errorf("without a finding: failed: %t, logged: %q", l.failed, l.logged)
	}
}

// TestAssumptions checks that a report says what the verdict on a property takes for granted, and because of which no
// order is left out.
func TestAssumptions(t *testing.T) {
	claim := func(name, formula string, fairness ltl.Fairness) core.Property {
		p, err := ltl.Claim{Name: name, Formula: formula, Fairness: fairness, Atoms: []ltl.Atom{{Name: "set", State: func(s core.State) bool {
			return x().Get(s) == 5
		}}}}.Property()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	report := run(t, one(set(five, false), claim("strong", "F set", ltl.Strong), claim("steps", "X set", ltl.Weak),
		properties.EventuallyAlways("good", func(s core.State) bool { return x().Get(s) == 5 })), orrery.Options{}).Report
	if report.Reduction != "none" {
		t.Errorf("the reduction is %s", report.Reduction)
	}
	for _, want := range []string{
		`For "strong": A step that is possible again and again is eventually taken (strong fairness).`,
		`Partial-order reduction was off because of "strong": strong fairness depends on how often a step is possible.`,
		`Partial-order reduction was off because of "steps": X set depends on how often a state repeats, because of the X at column 1.`,
	} {
		if !slices.Contains(report.Assumptions, want) {
			t.Errorf("%q is not among the assumptions %q", want, report.Assumptions)
		}
	}
	if slices.ContainsFunc(report.Assumptions, func(a string) bool { return strings.Contains(a, `"good"`) }) {
		t.Errorf("a property for which orders can be left out is among the assumptions %q", report.Assumptions)
	}
	good := run(t, one(set(five, false), properties.EventuallyAlways("good", func(s core.State) bool { return x().Get(s) == 5 })), orrery.Options{}).Report
	if good.Reduction != "por" || good.Verdict != core.Holds {
		t.Errorf("alone: the reduction is %s, the verdict %s", good.Reduction, good.Verdict)
	}
}

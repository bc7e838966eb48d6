package view_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core/view"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text string
		want view.Rule
	}{
		{"fresh", view.Fresh()},
		{"fresh", view.Rule{}},
		{"relist", view.Relist()},
		{"lag(2)", view.Lag(2)},
		{"lag(0)", view.Fresh()},
		{"own-writes(1)", view.OwnWrites(1)},
		{"own-writes(0)", view.Fresh()},
		{"restart(3)", view.Restart(3)},
		{"restart(0)", view.Fresh()},
		{"lag(1000)", view.Lag(1000)},
	} {
		if got, err := view.Parse(test.text); err != nil || got != test.want {
			t.Errorf("Parse(%q) = %v, %v, want %v", test.text, got, err, test.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const all = "use fresh, lag(N), own-writes(N), restart(N) or relist"
	for _, test := range []struct{ text, want string }{
		{"", all},
		{"stale", all},
		{"Fresh", all},
		{"fresh(1)", all},
		{"relist(2)", all},
		{"lags(2)", all},
		{"lag", "write lag(N) with a whole number from 0 to 1000"},
		{"lag()", "write lag(N)"},
		{"lag(2", "write lag(N)"},
		{"lag(2))", "write lag(N)"},
		{"lag(-1)", "write lag(N)"},
		{"lag(1001)", "write lag(N)"},
		{"own-writes", "write own-writes(N)"},
		{"restart(x)", "write restart(N)"},
	} {
		if got, err := view.Parse(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%q) = %v, %v, want an error with %q", test.text, got, err, test.want)
		}
	}
}

// TestRulesAreText checks that what a rule writes, Parse reads.
func TestRulesAreText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := drawRule(t)
		if got, err := view.Parse(rule.String()); err != nil || got != rule {
			t.Fatalf("Parse(%q) = %v, %v", rule, got, err)
		}
	})
}

func drawRule(t *rapid.T) view.Rule {
	bound := rapid.IntRange(0, 4).Draw(t, "bound")
	return rapid.SampledFrom([]view.Rule{
		view.Fresh(), view.Lag(bound), view.OwnWrites(bound), view.Restart(bound), view.Relist(),
	}).Draw(t, "rule")
}

package orrery_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery"
)

// TestLogger checks that a check says what it does to the logger that it is given, at the levels Debug and Trace.
func TestLogger(t *testing.T) {
	for level, want := range map[hclog.Level][]string{
		hclog.Info:  nil,
		hclog.Debug: {"the check begins: system=rotation", "a search begins", "the search ended", "states=", "a property was judged"},
		hclog.Trace: {"a reconcile was learned: controller=copies"},
	} {
		var log bytes.Buffer
		logger := hclog.New(&hclog.LoggerOptions{Level: level, Output: &log})
		options := orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}, Logger: logger}
		logged, err := orrery.Run(t.Context(), rotation(t, false), options)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(log.String(), line) {
				t.Errorf("at %s it does not log %q:\n%s", level, line, &log)
			}
		}
		if len(want) == 0 && log.Len() > 0 {
			t.Errorf("at %s it logs\n%s", level, &log)
		}
		options.Logger = nil
		silent, err := orrery.Run(t.Context(), rotation(t, false), options)
		if err != nil {
			t.Fatal(err)
		}
		if logged.Report.Verdict != silent.Report.Verdict || logged.Report.States != silent.Report.States {
			t.Errorf("logging changes what is found")
		}
	}
}

package inspect

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is another one: look at the difference after go test ./adapters/inspect -update\n%s", file, got)
	}
}

// TestScreens shows what is shown after keys, in terminals of two sizes.
func TestScreens(t *testing.T) {
	sizes := []struct {
		name          string
		width, height int
	}{{"narrow", 80, 24}, {"wide", 160, 50}}
	for _, test := range []struct {
		name string
		// keys are pressed one after the other; what is shown is compared after each of those that end in "=".
		keys []string
	}{
		{"report", []string{"=", "down", "down=", "end="}},
		{"finding", []string{"enter=", "down=", "down", "down=", "enter=", "right", "right", "right=", "z=", "esc", "J="}},
		{"second", []string{"enter", "tab=", "end=", "up", "up", "up=", "s="}},
		{"outcome", []string{"down", "down", "enter", "down", "down=", "s="}},
		{"graph", []string{"s=", "enter=", "down", "down=", "enter=", "esc", "enter", "p=", "tab", "up="}},
		{"ends", []string{":", "3", "enter=", ":", "5", "enter=", ":", "6", "enter=", ":", "7", "enter=", ":", "9", "enter="}},
		{"find", []string{"/", "w", "e", "b=", "enter=", "enter", "n=", "N", "N=", "r="}},
		{"help", []string{"?=", "end=", "esc", "enter", "?="}},
	} {
		for _, size := range sizes {
			t.Run(test.name+"/"+size.name, func(t *testing.T) {
				s := newSession(t, recorded(t, sampleReport(), sampleGraph(), 8), size.width, size.height)
				s.load()
				var shown strings.Builder
				pressed := "at the start"
				for _, k := range test.keys {
					k, look := strings.CutSuffix(k, "=")
					if k != "" {
						s.press(k)
						pressed = strings.TrimPrefix(pressed+" "+k, "at the start ")
					}
					if look {
						fmt.Fprintf(&shown, "### %s\n%s\n", pressed, trimmed(s.screen()))
						pressed = "then"
					}
				}
				golden(t, test.name+"-"+size.name, shown.String())
			})
		}
	}
}

// trimmed returns a text without spaces at the ends of lines.
func trimmed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Join(lines, "\n")
}

// TestLogs shows what controllers log in a step, as a record has it: the first lines of many, all of them on demand,
// who logged what did not come from the reconcile, and what is left out.
func TestLogs(t *testing.T) {
	report := sampleReport()
	said := func(calls int, level, message string) core.TraceLog {
		return core.TraceLog{LogLine: core.LogLine{Level: level, Message: message, Values: []core.LogValue{{Key: "web", Value: hostile}}}, Calls: calls}
	}
	step := &report.Findings[0].Trace.Steps[0]
	step.Logs = []core.TraceLog{said(0, "info", "looking"), said(1, "error", "found "+strings.Repeat("much ", 40)), said(2, "debug", "written")}
	for i := range 12 {
		step.Logs = append(step.Logs, said(2, "V(2)", fmt.Sprint("counting ", i)))
	}
	step.Logs[2].Aside = true
	step.Logs = append(step.Logs, core.TraceLog{LogLine: core.LogLine{Level: "info", Message: "an event"}, Handler: "savings"})
	step.MissingLogs = "7 lines after the first 100"
	s := newSession(t, recorded(t, report, sampleGraph(), 8), 80, 40)
	s.load()
	var shown strings.Builder
	for _, keys := range [][]string{{"enter", "home", "down", "enter", "down", "enter"}, {"z"}} {
		for _, k := range keys {
			s.press(k)
		}
		fmt.Fprintf(&shown, "### %s\n%s\n", strings.Join(keys, " "), trimmed(s.screen()))
	}
	golden(t, "logs-narrow", shown.String())
}

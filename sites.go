package orrery

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// sitesOf returns the lines of code from which the controllers of a finding write in its runs, as far as they are
// known, each once. Those come first that decide: from where the runs part, or where one begins to repeat.
func sitesOf(finding core.Finding) []core.Site {
	runs := [][]core.TraceStep{finding.Trace.Steps}
	decided := max(0, finding.Trace.CycleStart)
	if finding.Other != nil {
		runs = append(runs, finding.Other.Steps)
		decided = core.CommonSteps(runs[0], runs[1])
	}
	var sites []core.Site
	add := func(steps []core.TraceStep) {
		for _, step := range steps {
			for _, call := range step.Calls {
				by := step.Controller
				if call.Handler != "" {
					by = call.Handler
				}
				if call.At != nil && call.Wrote && slices.Contains(finding.Controllers, by) && !slices.Contains(sites, *call.At) {
					sites = append(sites, *call.At)
				}
			}
		}
	}
	for _, run := range runs {
		add(run[min(decided, len(run)):])
	}
	add(runs[0][:decided])
	return sites
}

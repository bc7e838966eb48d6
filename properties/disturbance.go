package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// disturbance is what goes wrong in a run, and what is late.
type disturbance struct {
	// faults are the faults, each in a few words, in their order.
	faults  []string
	crashes int
	// late counts the steps that controllers take on old views.
	late map[string]int
	// controllers are those concerned, in the order of their first.
	controllers []string
}

func disturbanceOf(run core.Run) disturbance {
	d := disturbance{late: map[string]int{}}
	for _, e := range run {
		if !e.Disturbed() {
			continue
		}
		who := e.Step.Item.Strategy
		if !slices.Contains(d.controllers, who) {
			d.controllers = append(d.controllers, who)
		}
		if e.Late {
			d.late[who]++
		}
		if e.Step.Kind == core.Restart || strings.Contains(e.Step.Detail, "crashes") {
			d.crashes++
		}
		if e.Step.Kind == core.Restart || e.Step.Detail != "" {
			d.faults = append(d.faults, e.Step.String())
		}
	}
	return d
}

// brief says the disturbance in a few words: "one crash of web", "two steps on an old view of web".
func (d disturbance) brief() string {
	var parts []string
	if d.crashes > 0 {
		parts = append(parts, counted(d.crashes, "crash", "crashes"))
	}
	if failures := len(d.faults) - d.crashes; failures > 0 {
		parts = append(parts, counted(failures, "failed call", "failed calls"))
	}
	for _, who := range d.controllers {
		if n := d.late[who]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s on an old view", counted(n, "step", "steps"), who))
		}
	}
	return enumerate(parts)
}

// Disturbance says what has to go wrong or to be late for a run to happen, empty if nothing has.
func Disturbance(run core.Run) string {
	d := disturbanceOf(run)
	if len(d.controllers) == 0 {
		return ""
	}
	text := "It takes no less than " + d.brief()
	if len(d.faults) > 0 {
		text += ": " + strings.Join(d.faults, "; ")
	}
	return text + "."
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

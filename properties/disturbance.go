package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// disturbance is what goes wrong in a run, and which caches are stale.
type disturbance struct {
	// faults are the faults, each in a few words, in their order.
	faults  []string
	crashes int
	// late counts the steps that controllers take on stale caches, and reconciles says of which controllers all of these are reconciles.
	late       map[string]int
	reconciles map[string]bool
	// controllers are those concerned, in the order of their first.
	controllers []string
}

func disturbanceOf(run core.Run) disturbance {
	d := disturbance{late: map[string]int{}, reconciles: map[string]bool{}}
	for _, e := range run {
		if !e.Disturbed() {
			continue
		}
		who := e.Step.Item.Strategy
		if !slices.Contains(d.controllers, who) {
			d.controllers = append(d.controllers, who)
		}
		if e.Late {
			d.reconciles[who] = (d.late[who] == 0 || d.reconciles[who]) && e.Step.Kind == core.Reconcile
			d.late[who]++
		}
		if e.Step.Kind == core.Restart || strings.Contains(e.Step.Detail, "crashes") {
			d.crashes++
		}
		if e.Step.Faulty() {
			d.faults = append(d.faults, e.Step.String())
		}
	}
	return d
}

// without says what the world is like without the disturbance.
func (d disturbance) without() string {
	switch failures := len(d.faults) - d.crashes; {
	case len(d.faults) == 0:
		return "with fresh caches"
	case len(d.late) > 0:
		return "without faults and with fresh caches"
	case failures == 0:
		return "without crashes"
	case d.crashes == 0:
		return "without failed calls"
	}
	return "without faults"
}

// brief says the disturbance in a few words: "one crash", "2 reconciles of web on a stale cache".
func (d disturbance) brief() string {
	var parts []string
	if d.crashes > 0 {
		parts = append(parts, counted(d.crashes, "crash", "crashes"))
	}
	if failures := len(d.faults) - d.crashes; failures > 0 {
		parts = append(parts, counted(failures, "failed call", "failed calls"))
	}
	for _, who := range d.controllers {
		one, many := "step", "steps"
		if d.reconciles[who] {
			one, many = "reconcile", "reconciles"
		}
		if n := d.late[who]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s on a stale cache", counted(n, one, many), who))
		}
	}
	return enumerate(parts)
}

// Disturbance says which faults and stale caches a run requires, empty if none.
func Disturbance(run core.Run) string {
	d := disturbanceOf(run)
	if len(d.controllers) == 0 {
		return ""
	}
	text := "Requires at least " + d.brief()
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

package random

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/naive"
)

// Lagging is how far the view of a controller may lag behind, by a rule as
// [github.com/orrery-dev/orrery/core/view.Parse] reads it.
type Lagging struct {
	Controller string
	Kind       core.Kind
	Rule       string
}

// Disturbed returns random conditions for a system, as the naive twin has them, and what they say of views. If calls
// are to fail, the system gets a store whose calls may.
func Disturbed(r *rand.Rand, system *core.System) (naive.Conditions, []Lagging) {
	c := naive.Conditions{Crashes: r.IntN(3)}
	if r.IntN(3) == 0 {
		c.Failures = 1 + r.IntN(2)
		system.Store = Failing{Store: system.Store}
	}
	c.PerCall = r.IntN(2) == 0
	rules := map[string]naive.Rule{}
	c.Rule = func(process string, kind core.Kind) naive.Rule { return rules[process+"/"+string(kind)] }
	confined := c.Crashes+c.Failures > 0 && r.IntN(2) == 0
	var views []Lagging
	for _, strategy := range system.Strategies {
		d := strategy.Describe()
		if confined && !d.Messages && len(d.Standing) == 0 && r.IntN(2) == 0 {
			c.FaultsIn = append(c.FaultsIn, d.Name)
		}
		for _, kind := range slices.Concat(d.Watches, d.Caches) {
			text := []string{"fresh", "lag", "own-writes", "restart", "relist"}[r.IntN(5)]
			rule := naive.Rule{Name: text}
			if text != "fresh" && text != "relist" {
				rule.Bound = 1 + r.IntN(2)
				text = fmt.Sprintf("%s(%d)", text, rule.Bound)
			}
			rules[d.ProcessName()+"/"+string(kind)] = rule
			views = append(views, Lagging{d.Name, kind, text})
		}
	}
	return c, views
}

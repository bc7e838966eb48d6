package explore_test

import (
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/random"
)

// text says all that can be seen of a state.
func text(s core.State) string {
	var b strings.Builder
	for _, kind := range random.Kinds() {
		for _, o := range s.List(kind, "") {
			fmt.Fprintf(&b, "%s=%s ", o.Key, o.Content.Canonical())
		}
	}
	fmt.Fprintf(&b, "work %v in flight %v timers %v", s.Work(), s.InFlight(), s.Timers())
	return b.String()
}

// edgeText says all that there is to say of a step.
func edgeText(from, to string, e core.Edge) string {
	return fmt.Sprintf("%s | %s fire=%t wrote=%t failed=%q again=%t | %s",
		from, e.Step.Item, e.Step.Kind == core.Fire, e.Wrote, e.Failed, e.Requeued, to)
}

package upstream

import (
	"time"

	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
)

// timeless puts the time of the request in the place of each that was taken from the clock
// since a strategy began, as some do. What they return has to be a function of the request.
func timeless(tree map[string]any, request kindrules.Request, began time.Time) {
	given := map[string]bool{}
	visitTimes(request.Object.Object, func(text string, _ time.Time) string { given[text] = true; return text })
	if request.Current != nil {
		visitTimes(request.Current.Object, func(text string, _ time.Time) string { given[text] = true; return text })
	}
	// Times are written in whole seconds, and some of them are rounded.
	from, to := began.Add(-time.Second), time.Now().Add(time.Second)
	visitTimes(tree, func(text string, at time.Time) string {
		if given[text] || at.Before(from) || at.After(to) {
			return text
		}
		return request.Now.UTC().Format(time.RFC3339)
	})
}

// visitTimes calls visit for all times below a value, and stores what it returns.
func visitTimes(value any, visit func(text string, at time.Time) string) {
	replaced := func(value any) any {
		text, ok := value.(string)
		if !ok || len(text) < len(time.DateOnly) || text[4] != '-' {
			visitTimes(value, visit)
			return value
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return value
		}
		return visit(text, at)
	}
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			value[name] = replaced(below)
		}
	case []any:
		for i, below := range value {
			value[i] = replaced(below)
		}
	}
}

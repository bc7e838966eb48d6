package properties

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// round is a field that goes round: what a cycle changes of it, it changes back.
type round struct {
	field
	// exists tells that it is an object which comes and goes, and not the value of a field.
	exists bool
	// values are those that it passes. The last is the first.
	values []any
	// writes are what controllers do to it, in the order of their first.
	writes []write
	// items are those of the writes.
	items []core.Item
}

// write is what a controller does to a field, with the values that it writes.
type write struct {
	controller, verb string
	values           []string
}

// rounds returns what goes round in a cycle, in the order of the first change of each. Counters that follow other
// fields are left out if there are others. Of objects that come and go their fields are left out.
func rounds(g core.Graph, cycle core.Run) []round {
	var all []round
	at := func(f field, exists bool) *round {
		i := slices.IndexFunc(all, func(r round) bool { return r.field == f && r.exists == exists })
		if i < 0 {
			i = len(all)
			all = append(all, round{field: f, exists: exists})
		}
		return &all[i]
	}
	for _, e := range cycle {
		if !e.Wrote {
			continue
		}
		for _, change := range g.Effect(e).Changes {
			switch {
			case change.Before == nil:
				at(field{key: change.Key}, true).pass("is gone", "is there", "creates it", nil, e.Step.Item)
			case change.After == nil:
				at(field{key: change.Key}, true).pass("is there", "is gone", "deletes it", nil, e.Step.Item)
			default:
				for _, c := range core.DiffFields(change.Before.Fields(), change.After.Fields()) {
					at(field{change.Key, c.Path}, false).pass(c.From, c.To, "writes", []string{shortly(c.To)}, e.Step.Item)
				}
			}
		}
	}
	telling := slices.DeleteFunc(slices.Clone(all), func(r round) bool {
		return !r.exists && slices.ContainsFunc(all, func(o round) bool { return o.exists && o.key == r.key })
	})
	if counted := func(r round) bool { return r.tally() }; slices.ContainsFunc(telling, func(r round) bool { return !counted(r) }) {
		telling = slices.DeleteFunc(telling, counted)
	}
	return telling
}

// pass takes note of a change.
func (r *round) pass(from, to any, verb string, values []string, by core.Item) {
	if len(r.values) == 0 {
		r.values = append(r.values, from)
	}
	r.values = append(r.values, to)
	i := slices.IndexFunc(r.writes, func(w write) bool { return w.controller == by.Strategy && w.verb == verb })
	if i < 0 {
		i = len(r.writes)
		r.writes = append(r.writes, write{controller: by.Strategy, verb: verb})
	}
	for _, value := range values {
		if !slices.Contains(r.writes[i].values, value) {
			r.writes[i].values = append(r.writes[i].values, value)
		}
	}
	if !slices.Contains(r.items, by) {
		r.items = append(r.items, by)
		slices.SortFunc(r.items, core.Item.Compare)
	}
}

// controllers counts those that write the field.
func (r round) controllers() int {
	writers := map[string]bool{}
	for _, w := range r.writes {
		writers[w.controller] = true
	}
	return len(writers)
}

// goes says in a few words what happens to the field.
func (r round) goes() string {
	if r.exists {
		return "comes and goes"
	}
	const most = 6
	var values []string
	for i, v := range r.values {
		if len(r.values) > most && i >= most-2 && i < len(r.values)-1 {
			if i == most-2 {
				values = append(values, "…")
			}
			continue
		}
		values = append(values, shortly(v))
	}
	return "goes " + strings.Join(values, " → ")
}

// String says what happens to the field, and who does what to it.
func (r round) String() string {
	var deeds []string
	for _, w := range r.writes {
		deed := w.controller + " " + w.verb
		if len(w.values) > 0 {
			deed += " " + briefly(w.values, "more value", "more values")
		}
		deeds = append(deeds, deed)
	}
	return fmt.Sprintf("%s %s: %s.", r.field, r.goes(), strings.Join(deeds, ", "))
}

// fieldsIn returns the fields of rounds.
func fieldsIn(rounds []round) []field {
	var fields []field
	for _, r := range rounds {
		fields = append(fields, r.field)
	}
	return fields
}

// shortly says the value of a field in a word that fits on a line.
func shortly(value any) string {
	text := core.FieldText(value)
	switch value.(type) {
	case map[string]any, []any:
		if encoded, err := json.Marshal(value); err == nil {
			text = string(encoded)
		}
	}
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

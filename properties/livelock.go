package properties

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// livelocks tells of the livelocks that go on in a component: of each part of the cycle that would go on by itself, and
// of the items that fail whenever they are run meanwhile.
func (c *component) livelocks(cycle core.Run) []account {
	culprits, others := c.culprits(cycle)
	var accounts []account
	writes := map[core.Item]bool{}
	for _, s := range culprits {
		accounts = append(accounts, s.account(cycle, others))
		for _, item := range s.items {
			writes[item] = true
		}
	}
	return append(accounts, retries(cycle, func(e core.Edge) bool {
		return e.Failed != "" && !writes[e.Step.Item] && c.neverSucceeds(e.Step.Item)
	})...)
}

// neverSucceeds reports whether all runs of an item inside the component fail.
func (c *component) neverSucceeds(item core.Item) bool {
	return !c.any(func(e core.Edge) bool { return e.Step.Item == item && e.Failed == "" })
}

// account says what goes round, and who does it.
func (s suspect) account(cycle core.Run, others []round) account {
	controllers := controllersOf(cycle, func(e core.Edge) bool { return e.Wrote && slices.Contains(s.items, e.Step.Item) })
	v := core.Violation{Controllers: controllers}
	who := enumerate(controllers)
	doing, also := "never stop undoing each other's changes to", ", and to "
	if len(controllers) == 1 {
		doing, also = "never stops changing", ", and "
	}
	if len(s.rounds) == 0 {
		v.Summary = fmt.Sprintf("%s %s objects", who, doing)
		v.Details = []string{"Each write is undone in the same step, but it still triggers a reconcile."}
		return account{causeOf(append([]string{livelock}, controllers...)...), s.items[0].String(), v}
	}
	s.rounds = slices.Clone(s.rounds)
	// What is fought over comes first: the rest may follow from it.
	slices.SortStableFunc(s.rounds, func(a, b round) int { return min(b.controllers(), 2) - min(a.controllers(), 2) })
	first := s.rounds[0]
	v.Fields = namesOf(slices.Concat(fieldsIn(s.rounds), fieldsIn(others)))
	v.Summary = fmt.Sprintf("%s %s %s, which %s", who, doing, first.field, first.goes())
	if n := len(s.rounds) - 1; n > 0 {
		v.Summary += also + counted(n, "more field", "more fields")
	}
	const most = 8
	for _, r := range s.rounds[:min(len(s.rounds), most)] {
		v.Details = append(v.Details, r.String())
	}
	if n := len(s.rounds) - most; n > 0 {
		v.Details = append(v.Details, counted(n, "more field repeats", "more fields repeat")+" in the same way.")
	}
	if len(others) > 0 {
		v.Details = append(v.Details, fmt.Sprintf("As a consequence, these fields repeat, too: %s.", briefly(namesOf(fieldsIn(others)), "more field", "more fields")))
	}
	for _, e := range cycle {
		if e.Failed != "" && slices.Contains(s.items, e.Step.Item) {
			v.Details = append(v.Details, fmt.Sprintf("%s, which writes, returns an error: %s", e.Step.Item, e.Failed))
			break
		}
	}
	why := causeOf(livelock, enumerate(slices.Sorted(slices.Values(controllers))), patterns(fieldsIn(s.rounds)))
	return account{why, first.key.String(), v}
}

// suspect is part of a livelock that may be one by itself: work items, and what goes round because of them.
type suspect struct {
	items  []core.Item
	rounds []round
}

// suspects divides what goes round in a cycle by who writes it: fields that are written by the same items belong
// together. Items whose writes change nothing in the end are alone.
func suspects(cycle core.Run, rounds []round) []suspect {
	var all []suspect
	of := func(items []core.Item) *suspect {
		i := slices.IndexFunc(all, func(s suspect) bool { return slices.Equal(s.items, items) })
		if i < 0 {
			i = len(all)
			all = append(all, suspect{items: items})
		}
		return &all[i]
	}
	writers := map[core.Item]bool{}
	for _, r := range rounds {
		s := of(r.items)
		s.rounds = append(s.rounds, r)
		for _, item := range r.items {
			writers[item] = true
		}
	}
	for _, e := range cycle {
		if e.Wrote && !writers[e.Step.Item] {
			of([]core.Item{e.Step.Item})
		}
	}
	return all
}

// culprits returns the parts of a livelock that would go on without the others, each a livelock of its own, and what
// goes round besides, as a consequence. If no part goes on by itself, all of them are one.
func (c *component) culprits(cycle core.Run) (guilty []suspect, others []round) {
	all := suspects(cycle, rounds(c.graph, cycle))
	if len(all) < 2 {
		return all, nil
	}
	var rest []suspect
	for _, s := range all {
		if c.selfContained(s) {
			guilty = append(guilty, s)
		} else {
			rest = append(rest, s)
		}
	}
	if len(rest) == 0 {
		return guilty, nil
	}
	whole := union(rest)
	if len(guilty) == 0 || len(rest) > 1 && c.selfContained(whole) {
		return append(guilty, whole), nil
	}
	return guilty, whole.rounds
}

func union(parts []suspect) suspect {
	var all suspect
	for _, s := range parts {
		all.items = append(all.items, s.items...)
		all.rounds = append(all.rounds, s.rounds...)
	}
	slices.SortFunc(all.items, core.Item.Compare)
	all.items = slices.Compact(all.items)
	return all
}

// maxTried bounds the states in which items are tried to see what they depend on.
const maxTried = 1024

// selfContained reports whether what the items make of their fields depends on nothing else that goes round: in
// whichever state of the component one of them is run, the same values come to the same.
func (c *component) selfContained(s suspect) bool {
	if len(s.rounds) == 0 {
		return false
	}
	type situation struct {
		item   core.Item
		values string
	}
	outcome := map[situation]string{}
	for _, id := range c.states[:min(len(c.states), maxTried)] {
		content := func(key core.Key) core.Content { return c.graph.State(id).Get(key) }
		before := s.values(content)
		for _, item := range s.items {
			for _, effect := range c.graph.Try(id, item) {
				at, after := situation{item, before}, s.values(afterwards(effect, content))
				if known, seen := outcome[at]; seen && known != after {
					return false
				}
				outcome[at] = after
			}
		}
	}
	return true
}

// afterwards returns the contents of objects after an effect.
func afterwards(effect core.Effect, before func(core.Key) core.Content) func(core.Key) core.Content {
	return func(key core.Key) core.Content {
		for _, change := range effect.Changes {
			if change.Key == key {
				return change.After
			}
		}
		return before(key)
	}
}

// values are those of the fields, as a text.
func (s suspect) values(content func(core.Key) core.Content) string {
	var b strings.Builder
	for _, r := range s.rounds {
		var value any
		if c := content(r.key); c != nil {
			value = true
			if !r.exists {
				value, _ = lookup(c.Fields(), r.path)
			}
		}
		fmt.Fprintf(&b, "%q ", core.FieldText(value))
	}
	return b.String()
}

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

// pass notes a change.
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
		return "is created and deleted again and again"
	}
	if r.timed() {
		return "gets another time with each write"
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

// timed reports whether all values of the field are times that one controller writes.
func (r round) timed() bool {
	return r.controllers() < 2 && !slices.ContainsFunc(r.values, func(value any) bool {
		text, isText := value.(string)
		_, err := time.Parse(time.RFC3339Nano, text)
		return !isText || err != nil
	})
}

// String says what happens to the field, and who does what to it.
func (r round) String() string {
	if r.timed() && !r.exists {
		text := fmt.Sprintf("%s %s. In the trace it goes to and fro between two times, which stand for all later ones.", r.field, r.goes())
		if !slices.ContainsFunc(r.values, func(value any) bool { return strings.Contains(fmt.Sprint(value), ".") }) {
			text += " Where two writes come in the same second, the second one changes nothing, and it rests until it is woken again."
		}
		return text
	}
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

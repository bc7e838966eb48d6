package inspect

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

const (
	// mostCalls and fewFields are how many calls of a step and fields of an object are shown, unless all are.
	mostCalls = 8
	fewFields = 12
	// fewLogs is how many lines that controllers log are shown, unless all are.
	fewLogs = 12
	// longValue is how many characters of a value are shown, unless all are, and longestValue how many at most.
	longValue    = 160
	longestValue = 4000
)

// value returns the value of a field, shortened unless all of it is to be shown.
func value(v any, all bool) string {
	return shortened(core.FieldText(v), all)
}

// shortened returns a text, which is cut off if it is long; less of it if not all is shown.
func shortened(text string, all bool) string {
	most := longValue
	if all {
		most = longestValue
	}
	if len(text) <= most {
		return text
	}
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text
	}
	return string([]rune(text)[:most-20]) + mark + " (" + story.Counted(n, "character", "characters") + ")"
}

// teller makes the rows that tell of a step.
type teller struct {
	// all tells that nothing is left out.
	all  bool
	rows []row
}

// labelWidth is how wide the words before what a step does are.
const labelWidth = 10

// say adds what a step does, after a word for it.
func (t *teller) say(look ink, label string, said line) {
	t.rows = append(t.rows, row{line: say(look, fmt.Sprintf("%-*s", labelWidth, label)).join(said), indent: labelWidth})
}

// below adds what belongs to the row before.
func (t *teller) below(said line) {
	t.rows = append(t.rows, row{line: say(plain, "    ").join(said), indent: 6})
}

// left says how much is left out.
func (t *teller) left(n int, one, many string) {
	if n > 0 {
		t.below(say(faint, fmt.Sprintf("%s and %s", mark, story.Counted(n, one, many))))
	}
}

// step tells what a step asks, what it changes, and how it ends.
func (t *teller) step(s core.TraceStep) {
	before, who, after := story.Deed(s)
	said := say(plain, before).and(strong, who).and(plain, after)
	if s.Kind == "probe" {
		said = say(plain, "The system is quiescent. If ").and(strong, who).and(plain, " reconciled "+string(s.Request)+" now, this would happen:")
	}
	if stale := story.Staleness(s); stale != "" {
		said = said.and(open, " "+stale)
	}
	t.rows = append(t.rows, row{line: said, indent: 2})
	t.calls(s)
	t.logs(s)
	if s.Order != "" {
		t.say(plain, "order:", say(plain, s.Order))
	}
	if s.Detail != "" {
		t.say(bad, "fault:", say(plain, s.Detail))
	}
	for _, c := range s.Changes {
		t.change(c)
	}
	for _, m := range story.Entries(s.Memory) {
		said := say(plain, m.String())
		switch {
		case m.Event != "":
			said = said.and(faint, " (by the event handler of "+m.Controller+" for "+m.Event+")")
		case m.Controller != s.Controller:
			said = said.and(faint, " (in "+m.Controller+")")
		}
		t.say(plain, "memory:", said)
	}
	for _, item := range s.Enqueued {
		t.say(plain, "queued:", say(plain, item))
	}
	if s.Result != "" {
		t.say(plain, "ends:", say(plain, s.Result))
	}
	if len(s.Changes)+len(s.Memory)+len(s.Enqueued) == 0 && s.Result == "" && s.Detail == "" {
		t.rows = append(t.rows, row{line: say(faint, "changes nothing"), indent: 2})
	}
}

// calls tells the calls of a step, those that decided it if there are many.
func (t *teller) calls(s core.TraceStep) {
	most := mostCalls
	if t.all {
		most = len(s.Calls)
	}
	shown := story.Deciding(s, most)
	if rest := len(s.Calls) - len(shown); rest > 0 {
		t.rows = append(t.rows, row{line: say(faint, fmt.Sprintf("%s %s not shown (z shows all)", mark, story.Counted(rest, "call is", "calls are")))})
	}
	for _, i := range shown {
		c := s.Calls[i]
		label := "calls:"
		if c.Wrote {
			label = "writes:"
		}
		said := say(plain, c.Call).and(faint, " → ").and(plain, c.Response)
		if c.Handler != "" {
			said = said.and(faint, " (by the event handler of "+c.Handler+")")
		}
		if behind := story.Behind(c); behind != "" {
			said = said.and(open, " ("+behind+")")
		}
		t.say(plain, label, said)
		if at := story.At(s, i); at != "" {
			t.say(faint, "at:", say(faint, at))
		}
	}
}

// logs tells what controllers log in a step, the first lines of it if there are many.
func (t *teller) logs(s core.TraceStep) {
	lines := s.Logs
	if !t.all && len(lines) > fewLogs {
		lines = lines[:fewLogs]
	}
	for _, l := range lines {
		said := say(plain, shortened(l.String(), t.all))
		if by := l.By(); by != "" {
			said = said.and(faint, " ("+by+")")
		}
		t.say(faint, "logs:", said)
	}
	t.left(len(s.Logs)-len(lines), "more line is logged", "more lines are logged")
	if s.MissingLogs != "" {
		t.say(faint, "logs:", say(faint, "left out: "+s.MissingLogs))
	}
}

// change tells how an object is changed.
func (t *teller) change(c core.TraceChange) {
	name := say(strong, c.Key().String())
	switch c.Verb {
	case "deleted":
		t.say(before, "deleted:", name)
		return
	case "created":
		t.say(after, "created:", name)
	default:
		t.say(plain, "changed:", name)
	}
	var all []core.FieldChange
	for _, f := range c.Fields {
		if f.From != nil {
			all = append(all, f)
			continue
		}
		for _, l := range core.Leaves(f.Path, f.To) {
			all = append(all, core.FieldChange{Path: l.Path, To: l.Value})
		}
	}
	t.diff(all, c.Verb == "created")
}

// diff tells differences between fields.
func (t *teller) diff(all []core.FieldChange, created bool) {
	telling, others := all, 0
	if !t.all {
		telling, others = story.TellingChanges(all)
	}
	shown := telling
	if !t.all && len(shown) > fewFields {
		shown = shown[:fewFields-1]
	}
	for _, f := range shown {
		said := line{}
		if f.Path != "" {
			said = say(plain, f.Path+": ")
		}
		if created {
			said = said.and(after, value(f.To, t.all))
		} else {
			said = said.and(before, value(f.From, t.all)).and(plain, " → ").and(after, value(f.To, t.all))
		}
		t.below(said)
	}
	t.left(len(telling)-len(shown)+others, "more field", "more fields")
}

// objects tells objects with their fields. Those at or below paths that a step changes are marked.
func (t *teller) objects(objects []story.Object, telling, changed map[core.Key][]string) {
	for _, o := range objects {
		mine, isChanged := changed[o.Key]
		fields, others := o.Fields, 0
		if !t.all {
			fields, others = story.Telling(fields, telling[o.Key])
		}
		isNew := func(l core.Leaf) bool {
			return slices.ContainsFunc(mine, func(path string) bool { return story.Within(l.Path, path) })
		}
		if !t.all && len(fields) > fewFields { // what is new first
			fields = append(slices.DeleteFunc(slices.Clone(fields), func(l core.Leaf) bool { return !isNew(l) }), slices.DeleteFunc(slices.Clone(fields), isNew)...)
			others += len(fields) - fewFields + 1
			fields = fields[:fewFields-1]
		}
		name := say(strong, o.Key.String())
		if isChanged {
			name = name.and(after, " "+changesMark)
		}
		if len(fields) == 1 && fields[0].Path == "" {
			t.rows = append(t.rows, row{line: name.and(plain, " = "+value(fields[0].Value, t.all)), indent: 4})
			continue
		}
		t.rows = append(t.rows, row{line: name, indent: 2})
		for _, l := range fields {
			look, lead := plain, "  "
			if isNew(l) {
				look, lead = after, changesMark+" "
			}
			t.rows = append(t.rows, row{line: say(look, "  "+lead+l.Path+" = "+value(l.Value, t.all)), indent: 6})
		}
		t.left(others, "more field", "more fields")
	}
}

package text

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// step tells one step: who acts on what, what it asks, what it changes.
func (p *page) step(number int, step core.TraceStep) {
	p.line(1, append([]string{fmt.Sprintf("Step %d: ", number)}, p.deed(step)...)...)
	p.deeds(step)
	switch {
	case !works(step) || len(step.Changes) > 0:
	case len(step.Memory) > 0:
		p.line(2, p.faint("changes no objects"))
	default:
		p.line(2, p.faint("changes nothing"))
	}
}

// deed says who does what in a step, and what its cache does not show.
func (p *page) deed(step core.TraceStep) []string {
	before, who, after := story.Deed(step)
	said := []string{clean(before), p.strong(clean(who)), clean(after)}
	if stale := story.Staleness(step); stale != "" {
		said = append(said, " "+clean(stale))
	}
	return said
}

// works reports whether a step could have changed objects by itself.
func works(step core.TraceStep) bool {
	switch step.Kind {
	case "fire", "elapse", "pass", "expire", "deliver", "begin", "call", "return", "restart":
		return false
	}
	return true
}

// idleSteps tells the steps of a trace between two positions, which change nothing, in one line.
func (p *page) idleSteps(trace core.Trace, leg story.Leg) {
	step := trace.Steps[leg.First]
	if leg.First == leg.Last {
		said := append([]string{leg.String() + ": "}, p.deed(step)...)
		switch {
		case works(step):
			said = append(said, p.faint(", and changes nothing"), p.reads(step))
		case step.Kind == "deliver":
			said = append(said, p.faint(", which queues nothing"))
		}
		p.line(1, said...)
		p.newLogs(step).rest()
		return
	}
	var deeds []string
	times := map[string]int{}
	for _, step := range trace.Steps[leg.First : leg.Last+1] {
		deed := strings.Join(append(p.deed(step), p.reads(step)), "")
		if times[deed] == 0 {
			deeds = append(deeds, deed)
		}
		times[deed]++
	}
	p.line(1, leg.String(), p.faint(" change nothing:"))
	for _, deed := range deeds {
		p.line(2, deed, p.faint(again(times[deed])))
	}
}

// reads says what one of the controllers that the finding is about was answered in a step in which it does nothing:
// that may be what is wrong.
func (p *page) reads(step core.TraceStep) string {
	if len(step.Calls) == 0 || !slices.Contains(p.acting, step.Controller) {
		return ""
	}
	var said []string
	for _, call := range step.Calls {
		said = append(said, clean(call.Call+" → "+call.Response))
	}
	text := []rune(strings.Join(slices.Compact(said), "; "))
	if len(text) > textWidth {
		text = append(text[:textWidth:textWidth], '…')
	}
	return p.faint(" (" + string(text) + ")")
}

// probe tells what a request would do that nothing in the run asks for.
func (p *page) probe(step core.TraceStep) {
	p.line(1, "The system is quiescent. If ", p.strong(clean(step.Controller)), " reconciled ", clean(string(step.Request)), " now, this would happen:")
	p.deeds(step)
}

// deeds tells what a step asks, what it changes, and how it ends.
func (p *page) deeds(step core.TraceStep) {
	p.calls(step)
	if step.Order != "" {
		p.line(2, "order:   ", clean(step.Order))
	}
	if step.Detail != "" {
		p.line(2, p.bad("fault:   "), clean(step.Detail))
	}
	for _, change := range step.Changes {
		p.change(change)
	}
	p.memory(step.Memory, step.Controller)
	for _, item := range step.Enqueued {
		p.line(2, "queued:  ", clean(item))
	}
	if step.Result != "" {
		p.line(2, "ends:    ", clean(step.Result))
	}
}

// calls tells the calls of a step. When there are many, those that decided it matter most.
func (p *page) calls(step core.TraceStep) {
	most := len(step.Calls)
	if p.elide {
		most = callLimit
	}
	shown := story.Deciding(step, most)
	times := 1
	logs := p.newLogs(step)
	defer logs.rest()
	if rest := len(step.Calls) - len(shown); rest > 0 {
		p.line(2, p.faint(fmt.Sprintf("… %s not shown", story.Counted(rest, "call is", "calls are"))))
	}
	for at, i := range shown {
		call := step.Calls[i]
		logs.before(i)
		if next := at + 1; p.elide && next < len(shown) && reflect.DeepEqual(call, step.Calls[shown[next]]) {
			times++
			continue
		}
		verb := "calls:   "
		if call.Wrote {
			verb = "writes:  "
		}
		by, behind := "", story.Behind(call)
		if behind != "" {
			behind = " (" + clean(behind) + ")"
		}
		if call.Handler != "" {
			by = " (by the event handler of " + clean(call.Handler) + ")"
		}
		p.line(2, verb, clean(call.Call), p.faint(" → "), clean(call.Response), p.faint(by), p.faint(behind), p.faint(again(times)))
		if at := story.At(step, i); at != "" {
			p.line(2, p.faint("at:      "+clean(at)))
		}
		times = 1
	}
}

// again says how often something is done, if it is more than once.
func again(times int) string {
	if times == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", times)
}

// memory tells what is different in what controllers keep in memory, and in whose where it is not that of the one that
// acts.
func (p *page) memory(changes []core.MemoryChange, acting string) {
	if p.elide {
		changes = story.Entries(changes)
	}
	shown := changes
	if p.elide && len(shown) > fieldLimit {
		shown = shown[:fieldLimit-1]
	}
	for _, change := range shown {
		whose := ""
		switch {
		case change.Event != "":
			whose = " (by the event handler of " + clean(change.Controller) + " for " + clean(change.Event) + ")"
		case change.Controller != acting:
			whose = " (in " + clean(change.Controller) + ")"
		}
		said := []rune(clean(change.String()))
		if p.elide && len(said) > textWidth {
			said = append(said[:textWidth:textWidth], '…')
		}
		p.line(2, "memory:  ", string(said), p.faint(whose))
	}
	if rest := len(changes) - len(shown); rest > 0 {
		p.line(2, p.faint(fmt.Sprintf("… and %s in memory", story.Counted(rest, "more field", "more fields"))))
	}
}

// change tells how an object is changed.
func (p *page) change(change core.TraceChange) {
	switch change.Verb {
	case "created":
		var fields []core.Leaf
		for _, f := range change.Fields {
			fields = append(fields, core.Leaves(f.Path, f.To)...)
		}
		others := 0
		if p.elide {
			fields, others = story.Telling(fields, nil)
		}
		if p.elide && len(fields) > fieldLimit {
			p.line(2, p.after("created: "), clean(change.Key().String()), p.faint(" ("+story.Counted(len(fields)+others, "field", "fields")+")"))
			return
		}
		p.object(2, p.after("created: ")+clean(change.Key().String()), fields, 0, others)
	case "deleted":
		p.line(2, p.before("deleted: "), clean(change.Key().String()))
	default:
		p.line(2, "changed: ", clean(change.Key().String()))
		changed, others := p.unfolded(change.Fields), 0
		if p.elide {
			changed, others = story.TellingChanges(changed)
		}
		shown := changed
		if p.elide && len(shown) > fieldLimit {
			shown = shown[:fieldLimit-1]
		}
		for _, f := range shown {
			path := clean(f.Path)
			if path != "" {
				path += ": "
			}
			p.line(3, path, p.before(p.value(f.From)), " → ", p.after(p.value(f.To)))
		}
		if rest := len(changed) - len(shown) + others; rest > 0 {
			p.line(3, p.faint(fmt.Sprintf("… and %s", story.Counted(rest, "more field", "more fields"))))
		}
	}
}

// unfolded tells what is in a new field one by one where it would not fit on a line.
func (p *page) unfolded(changes []core.FieldChange) []core.FieldChange {
	var all []core.FieldChange
	for _, change := range changes {
		if change.From != nil || p.fits(change.To) {
			all = append(all, change)
			continue
		}
		for _, f := range core.Leaves(change.Path, change.To) {
			all = append(all, core.FieldChange{Path: f.Path, To: f.Value})
		}
	}
	return all
}

package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// idle reports whether a step is over with nothing but its work item gone, and nothing went wrong in it. What a single
// call was answered is worth telling even if it changes nothing.
func idle(step core.TraceStep) bool {
	wrote := func(call core.TraceCall) bool { return call.Wrote }
	return step.Kind != "fire" && step.Kind != "elapse" && step.Kind != "pass" && step.Kind != "expire" && step.Kind != "call" && step.Kind != "restart" && step.Detail == "" &&
		step.Result == "" && len(step.Changes) == 0 && len(step.Enqueued) == 0 && len(step.Memory) == 0 &&
		!slices.ContainsFunc(step.Calls, wrote)
}

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
	who, what := p.strong(clean(step.Controller)), clean(string(step.Request))
	var said []string
	switch step.Kind {
	case "fire":
		said = []string{"the timer of ", who, " for ", what, " fires"}
	case "act":
		said = []string{who, ": ", what}
	case "deliver":
		said = []string{"the cache of ", who, " receives changes to ", what}
	case "begin":
		said = []string{who, " starts to reconcile ", what}
	case "call":
		said = []string{who, " continues with ", what}
	case "return":
		said = []string{who, " finishes with ", what}
	case "restart":
		said = []string{who, " crashes and restarts"}
	case "user":
		said = []string{who, " action: ", what}
	case "work":
		said = []string{who, " runs"}
	case "elapse":
		said = []string{"time passes for ", who}
	case "pass":
		said = []string{"a long time passes"}
	case "expire":
		said = []string{"the deadline of ", who, " for ", what, " passes"}
	default:
		said = []string{who, " reconciles ", what}
	}
	if step.Late {
		said = append(said, " "+clean(staleness(step)))
	}
	return said
}

// staleness says what the stale cache does not show that a controller acts on.
func staleness(step core.TraceStep) string {
	if len(step.Unseen) == 0 {
		return "on a stale cache"
	}
	return "on a stale cache, which does not yet show that " + strings.Join(step.Unseen, ", and that ")
}

// works reports whether a step could have changed objects by itself.
func works(step core.TraceStep) bool {
	switch step.Kind {
	case "fire", "elapse", "pass", "expire", "deliver", "begin", "call", "return", "restart":
		return false
	}
	return true
}

// idleStep tells a step that changes nothing.
func (p *page) idleStep(number int, step core.TraceStep) {
	said := append([]string{fmt.Sprintf("Step %d: ", number)}, p.deed(step)...)
	switch {
	case works(step):
		said = append(said, p.faint(", and changes nothing"))
	case step.Kind == "deliver":
		said = append(said, p.faint(", which queues nothing"))
	}
	p.line(1, said...)
}

// probe tells what a request would do that nothing in the run asks for.
func (p *page) probe(step core.TraceStep) {
	p.line(1, "The system is quiescent. If ", p.strong(clean(step.Controller)), " reconciled ", clean(string(step.Request)), " now, this would happen:")
	p.deeds(step)
}

// deeds tells what a step asks, what it changes, and how it ends.
func (p *page) deeds(step core.TraceStep) {
	p.calls(step.Calls)
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

// calls tells the calls of a step. When there are many, those that write matter
// most.
func (p *page) calls(calls []core.TraceCall) {
	shown := calls
	if p.elide && len(calls) > callLimit {
		shown = nil
		for _, call := range calls {
			if call.Wrote && len(shown) < callLimit {
				shown = append(shown, call)
			}
		}
	}
	if rest := len(calls) - len(shown); rest > 0 {
		p.line(2, p.faint(fmt.Sprintf("… %s not shown", counted(rest, "call is", "calls are"))))
	}
	for _, call := range shown {
		verb := "calls:   "
		if call.Wrote {
			verb = "writes:  "
		}
		by := ""
		if call.Handler != "" {
			by = " (by the event handler of " + clean(call.Handler) + ")"
		}
		p.line(2, verb, clean(call.Call), p.faint(" → "), clean(call.Response), p.faint(by))
	}
}

// memory tells what is different in what controllers keep in memory, and in whose where it is not that of the one that acts.
func (p *page) memory(changes []core.MemoryChange, acting string) {
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
		p.line(2, p.faint(fmt.Sprintf("… and %s in memory", counted(rest, "more field", "more fields"))))
	}
}

// change tells how an object is changed.
func (p *page) change(change core.TraceChange) {
	switch change.Verb {
	case "created":
		var fields []field
		for _, f := range change.Fields {
			fields = append(fields, leaves(f.Path, f.To)...)
		}
		if p.elide && len(fields) > fieldLimit {
			p.line(2, p.after("created: "), clean(change.Key().String()), p.faint(" ("+counted(len(fields), "field", "fields")+")"))
			return
		}
		p.object(2, p.after("created: ")+clean(change.Key().String()), fields, 0)
	case "deleted":
		p.line(2, p.before("deleted: "), clean(change.Key().String()))
	default:
		p.line(2, "changed: ", clean(change.Key().String()))
		changed := p.unfolded(change.Fields)
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
		if rest := len(changed) - len(shown); rest > 0 {
			p.line(3, p.faint(fmt.Sprintf("… and %s", counted(rest, "more field", "more fields"))))
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
		for _, f := range leaves(change.Path, change.To) {
			all = append(all, core.FieldChange{Path: f.path, To: f.value})
		}
	}
	return all
}

package export

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// Mermaid writes a finding as a sequence diagram in the language of Mermaid, which GitHub and GitLab draw where a
// description has it in a block of code. Controllers are participants, and so is the world that they ask; two runs are
// alternatives from where they part, and what repeats for ever is a loop.
func Mermaid(w io.Writer, finding core.Finding) error {
	m := &mermaid{out: bufio.NewWriter(w), names: story.Controllers(finding)}
	m.line(0, `%%%%{init: {"sequence": {"wrap": true}}}%%%%`)
	m.line(0, "sequenceDiagram")
	m.line(1, "accTitle: %s", quoted(fmt.Sprintf("Finding %d: %s", finding.ID, finding.Summary)))
	for i, name := range m.names {
		m.line(1, "participant c%d as %s", i+1, quoted(name))
	}
	m.line(1, "participant world as %s", "objects")
	if finding.Other == nil {
		m.steps(1, finding.Trace, 0)
		return m.out.Flush()
	}
	common := story.Common(finding.Trace, *finding.Other)
	shared := finding.Trace
	shared.Steps, shared.CycleStart = shared.Steps[:common], -1
	m.steps(1, shared, 0)
	m.line(1, "alt first run")
	m.steps(2, finding.Trace, common)
	m.line(1, "else second run")
	m.steps(2, *finding.Other, common)
	m.line(1, "end")
	return m.out.Flush()
}

// mermaid is a diagram that is being written.
type mermaid struct {
	out *bufio.Writer
	// names are the participants.
	names []string
}

func (m *mermaid) line(level int, format string, args ...any) {
	fmt.Fprintf(m.out, strings.Repeat("    ", level)+format+"\n", args...)
}

// participant returns how the diagram calls a controller.
func (m *mermaid) participant(name string) string {
	return fmt.Sprintf("c%d", slices.Index(m.names, name)+1)
}

// steps writes the steps of a run from a position on.
func (m *mermaid) steps(level int, trace core.Trace, position int) {
	loops := false
	for _, leg := range story.Legs(trace, position, len(trace.Steps)) {
		if leg.First == trace.CycleStart {
			m.line(level, "loop for ever")
			loops, level = true, level+1
		}
		if leg.First < leg.Last {
			who := m.participant(trace.Steps[leg.First].Controller)
			m.line(level, "Note over %s,world: %s change nothing", who, leg)
			continue
		}
		m.step(level, leg.First+1, trace.Steps[leg.First])
	}
	if loops {
		m.line(level-1, "end")
	}
}

// fewChanges is how many changes of a step are told, and widest how long each of them may be.
const (
	fewChanges = 6
	widest     = 80
)

func (m *mermaid) step(level, number int, step core.TraceStep) {
	who := m.participant(step.Controller)
	_, _, after := story.Deed(step)
	said := fmt.Sprintf("%d. %s", number, strings.TrimLeft(after, " :"))
	if step.Kind == "probe" {
		said = "if it reconciled " + string(step.Request) + " now"
	}
	for _, more := range []string{story.Staleness(step), step.Detail} {
		if more != "" {
			said += ": " + more
		}
	}
	m.line(level, "Note over %s: %s", who, quoted(said))
	for _, i := range story.Deciding(step, fewChanges) {
		call := step.Calls[i]
		arrow := "-->>"
		if call.Wrote {
			arrow = "->>"
		}
		m.line(level, "%s%sworld: %s", who, arrow, quoted(call.Call))
		if at := story.At(step, i); at != "" {
			m.line(level, "Note left of world: %s", quoted("at "+at))
		}
		if call.Response != "ok" || story.Behind(call) != "" {
			m.line(level, "world-->>%s: %s", who, quoted(strings.TrimSpace(call.Response+" "+story.Behind(call))))
		}
	}
	var changes []string
	for _, change := range step.Changes {
		if change.Verb != "changed" {
			changes = append(changes, change.Key().String()+" is "+change.Verb)
			continue
		}
		telling, _ := story.TellingChanges(change.Fields)
		for _, field := range telling {
			changes = append(changes, change.Key().String()+" "+field.String())
		}
	}
	if more := len(changes) - fewChanges; more > 0 {
		changes = append(changes[:fewChanges], fmt.Sprintf("and %s", story.Counted(more, "more change", "more changes")))
	}
	for i, change := range changes {
		if runes := []rune(change); len(runes) > widest {
			change = string(runes[:widest]) + "…"
		}
		changes[i] = quoted(change)
	}
	if len(changes) > 0 {
		m.line(level, "Note right of world: %s", strings.Join(changes, "<br/>"))
	}
	if step.Result != "" {
		m.line(level, "Note over %s: %s", who, quoted(step.Result))
	}
}

// quoted returns a text as Mermaid shows it as it is: what would be a sign of its language is written as an entity, as
// is the word that ends a block.
func quoted(text string) string {
	const longest = 160
	if runes := []rune(story.Clean(text)); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	escaped := story.Clean(text)
	escaped = signs.ReplaceAllStringFunc(escaped, func(sign string) string { return fmt.Sprintf("#%d;", []rune(sign)[0]) })
	return words.ReplaceAllStringFunc(escaped, func(word string) string { return fmt.Sprintf("#%d;%s", word[0], word[1:]) })
}

var (
	signs = regexp.MustCompile("[#;<>&%`:+(){}\\[\\]\"-]")
	words = regexp.MustCompile(`(?i)\bend\b`)
)

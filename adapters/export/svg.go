package export

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// SVG writes a finding as a picture in one file that needs nothing else: time goes down, each controller has a column,
// and two runs stand side by side from where they part, where there is room for them. It is light or dark as the
// reader's system is, and has no script.
func SVG(w io.Writer, finding core.Finding) error {
	p := &picture{lanes: story.Controllers(finding)}
	if len(p.lanes) > mostLanes {
		p.lanes = append(slices.Clone(p.lanes[:mostLanes-1]), "others")
	}
	beside := finding.Other != nil && 2*len(p.lanes) <= mostLanes
	if !beside {
		p.least = leastWidth
	}
	p.width = p.across()
	if beside {
		p.width = 2*p.across() + runGap
	}
	p.width += 2 * margin
	p.top = margin
	p.paragraph(margin, p.width-2*margin, "name", fmt.Sprintf("Finding %d: %s", finding.ID, finding.Property))
	p.paragraph(margin, p.width-2*margin, "", finding.Summary)
	p.top += padding
	p.stories(finding, beside)
	return p.write(w, finding)
}

// stories draws the runs: what two have in common first, and then what follows in each.
func (p *picture) stories(finding core.Finding, beside bool) {
	if finding.Other == nil {
		p.run(margin, "", finding.Trace, 0, len(finding.Trace.Steps))
		return
	}
	common := story.Common(finding.Trace, *finding.Other)
	if common > 0 {
		p.run(margin, "Both runs", finding.Trace, 0, common)
	}
	top := p.top
	p.run(margin, "First run", finding.Trace, common, len(finding.Trace.Steps))
	if !beside {
		p.run(margin, "Second run", *finding.Other, common, len(finding.Other.Steps))
		return
	}
	bottom := p.top
	p.top = top
	p.run(margin+p.across()+runGap, "Second run", *finding.Other, common, len(finding.Other.Steps))
	p.top = max(p.top, bottom)
}

// The measures of a picture. Letters all have the same width, so that it is known where lines have to be broken.
const (
	margin, padding, laneGap, runGap, laneWidth = 24, 10, 16, 48, 340
	letter, lineHeight                          = 7.3, 18
	leastWidth                                  = 560
	// mostLanes is how many controllers have a column of their own. The others share the last one.
	mostLanes = 6
	// mostLines is how many lines a text may have that a user wrote.
	mostLines = 6
	// loopInset is how far what repeats stands inside of its frame.
	loopInset = 8
	// hanging is how far the later lines of a text stand to the right in a card.
	hanging = 15
)

// picture is a picture that is being drawn, from the top down.
type picture struct {
	out        bytes.Buffer
	lanes      []string
	width, top int
	// least is how wide all columns are at least.
	least int
	// hanging is how far the lines of a paragraph behind the first one are moved to the right.
	hanging int
}

// across is how wide all columns are.
func (p *picture) across() int {
	return max(len(p.lanes)*(laneWidth+laneGap)-laneGap, p.least)
}

// laneWidth is how wide a column is. A single one has all the room.
func (p *picture) laneWidth() int {
	if len(p.lanes) == 1 {
		return p.across()
	}
	return laneWidth
}

func (p *picture) lane(controller string) int {
	if i := slices.Index(p.lanes, controller); i >= 0 {
		return i
	}
	return len(p.lanes) - 1
}

// run draws the steps of a run between two positions, below a title.
func (p *picture) run(left int, title string, trace core.Trace, from, to int) {
	p.paragraph(left, p.across(), "name", title)
	if from == to {
		p.paragraph(left, p.across(), "quiet", "No steps.")
		p.top += padding
		return
	}
	var lines, cards bytes.Buffer
	whole := p.out
	p.out = cards
	head := p.top
	deepest := 0
	for i, name := range p.lanes {
		p.top = head
		p.paragraph(left+i*(laneWidth+laneGap), p.laneWidth(), "name", name)
		deepest = max(deepest, p.top)
	}
	p.top = deepest
	first := p.top
	loop := 0
	for _, leg := range story.Legs(trace, from, to) {
		if leg.First == trace.CycleStart {
			p.top += padding
			p.paragraph(left, p.across(), "why", trace.Repetition()+":")
			loop = p.top
			p.top += loopInset
		}
		p.leg(left, trace, leg)
	}
	if loop > 0 {
		fmt.Fprintf(&lines, `<rect class="loop" x="%d" y="%d" width="%d" height="%d" rx="10"/>`+"\n", left-loopInset, loop, p.across()+2*loopInset, p.top-loop)
		p.top += loopInset
	}
	for i := range p.lanes {
		x := left + i*(laneWidth+laneGap) + p.laneWidth()/2
		fmt.Fprintf(&lines, `<line class="life" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", x, first, x, p.top)
	}
	cards = p.out
	p.out = whole
	p.out.Write(lines.Bytes())
	p.out.Write(cards.Bytes())
	p.top += 2 * padding
}

// line is a line of a card, of a class of the style.
type line struct{ class, text string }

// leg draws a step, or several that change nothing, as a card in the column of who acts.
func (p *picture) leg(left int, trace core.Trace, leg story.Leg) {
	step := trace.Steps[leg.First]
	lines := stepLines(leg.First+1, step)
	x, width, class := left+p.lane(step.Controller)*(laneWidth+laneGap), p.laneWidth(), fmt.Sprintf("in-%d", p.lane(step.Controller)+1)
	if leg.First < leg.Last {
		x, width, class = left, p.across(), "idle"
		lines = []line{{"quiet", leg.String() + " change nothing"}}
		for i, s := range trace.Steps[leg.First : leg.Last+1] {
			before, who, after := story.Deed(s)
			lines = append(lines, line{"quiet", fmt.Sprintf("%d. %s", leg.First+i+1, before+who+after)})
		}
	}
	card := p.top + padding/2
	whole := p.out
	p.out = bytes.Buffer{}
	p.top, p.hanging = card+padding/2, hanging
	for _, l := range lines {
		p.paragraph(x+padding+4, width-2*padding-4, l.class, l.text)
	}
	p.hanging = 0
	p.top += padding / 2
	texts := p.out
	p.out = whole
	height := p.top - card
	fmt.Fprintf(&p.out, `<rect class="card" x="%d" y="%d" width="%d" height="%d" rx="6"/><rect class="%s" x="%d" y="%d" width="4" height="%d" rx="2"/>`+"\n", x, card, width, height, class, x, card, height)
	p.out.Write(texts.Bytes())
	p.top += padding / 2
}

// stepLines returns the lines that show a step.
func stepLines(number int, step core.TraceStep) []line {
	before, who, after := story.Deed(step)
	lines := []line{{"name", fmt.Sprintf("%d. %s", number, before+who+after)}}
	if step.Kind == "probe" {
		lines[0].text = "If " + who + " reconciled " + string(step.Request) + " now"
	}
	add := func(class, text string) {
		if text != "" {
			lines = append(lines, line{class, text})
		}
	}
	add("why", story.Staleness(step))
	add("wrong", step.Detail)
	add("why", step.Order)
	deciding := story.Deciding(step, fewChanges)
	for _, i := range deciding {
		call := step.Calls[i]
		class := "quiet"
		if call.Wrote {
			class = ""
		}
		add(class, strings.TrimSpace(call.Call+" → "+call.Response))
		add("why", story.Behind(call))
		if at := story.At(step, i); at != "" {
			add("quiet", "at "+at)
		}
	}
	if more := len(step.Calls) - len(deciding); more > 0 {
		add("quiet", "and "+story.Counted(more, "more call", "more calls"))
	}
	told, all := 0, 0
	for _, change := range step.Changes {
		add("name", change.Verb+" "+change.Key().String())
		if change.Verb != "changed" {
			continue
		}
		telling, _ := story.TellingChanges(change.Fields)
		for _, field := range telling {
			if all++; told == fewChanges {
				continue
			}
			told++
			add("quiet", field.Path+":")
			if field.From != nil {
				add("gone", "− "+core.FieldText(field.From))
			}
			if field.To != nil {
				add("come", "+ "+core.FieldText(field.To))
			}
		}
	}
	if all > told {
		add("quiet", "and "+story.Counted(all-told, "more change", "more changes"))
	}
	for _, m := range story.Entries(step.Memory) {
		add("quiet", "memory of "+m.Controller+": "+m.String())
	}
	add("why", step.Result)
	if story.Idle(step) {
		add("quiet", "changes nothing")
	}
	return lines
}

// paragraph writes a text below what is there, with line breaks where it is wider than there is room.
func (p *picture) paragraph(left, room int, class, text string) {
	text = strings.TrimSpace(story.Clean(text))
	if text == "" {
		return
	}
	columns := max(1, int(float64(room-p.hanging)/letter))
	// An answer stays with its arrow.
	lines := strings.Split(ansi.Wrap(strings.ReplaceAll(text, "→ ", "→\u00a0"), columns, ",;:/"), "\n")
	if len(lines) > mostLines {
		lines = append(lines[:mostLines-1], ansi.Truncate(lines[mostLines-1], columns-1, "")+"…")
	}
	for i, l := range lines {
		p.top += lineHeight
		if i == 1 {
			left += p.hanging
		}
		fmt.Fprintf(&p.out, `<text class="%s" x="%d" y="%d">`, class, left, p.top-5)
		p.escape(strings.TrimSpace(l))
		p.out.WriteString("</text>\n")
	}
}

// escape writes a text so that nothing in it is a sign of the language.
func (p *picture) escape(text string) {
	// Writing to a buffer does not fail.
	_ = xml.EscapeText(&p.out, []byte(text))
}

// write writes the picture, once its height is known.
func (p *picture) write(w io.Writer, finding core.Finding) error {
	drawn := p.out
	p.out = bytes.Buffer{}
	height := p.top + margin
	fmt.Fprintf(&p.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="title">`+"\n", p.width, height, p.width, height)
	p.out.WriteString(`<title id="title">`)
	p.escape(story.Clean(fmt.Sprintf("Finding %d: %s", finding.ID, finding.Summary)))
	fmt.Fprintf(&p.out, "</title>\n<style>%s</style>\n"+`<rect class="ground" width="%d" height="%d"/>`+"\n", pictureStyle, p.width, height)
	p.out.Write(drawn.Bytes())
	p.out.WriteString("</svg>\n")
	_, err := p.out.WriteTo(w)
	return err
}

// pictureStyle has no variables, which programs that draw pictures do not all know. Those that do not know of dark
// systems draw a light picture.
const pictureStyle = `
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre; }
.name { font-weight: 700; } .quiet { fill: #59636e; } .why { fill: #7a4d00; } .wrong, .gone { fill: #a40e26; } .wrong { font-weight: 700; } .come { fill: #116329; }
.ground { fill: #ffffff; } .card { fill: #f6f8fa; stroke: #d1d9e0; } .life { stroke: #d1d9e0; stroke-dasharray: 4 4; } .loop { fill: none; stroke: #b3841c; stroke-width: 2; stroke-dasharray: 8 4; }
.in-1 { fill: #2f6fde; } .in-2 { fill: #c2570c; } .in-3 { fill: #138a5b; } .in-4 { fill: #9333c7; } .in-5 { fill: #b3841c; } .in-6, .idle { fill: #64748b; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .quiet { fill: #9aa4af; } .why { fill: #f2cc60; } .wrong, .gone { fill: #ffa198; } .come { fill: #7ee787; }
  .ground { fill: #0d1117; } .card { fill: #161b22; stroke: #3d444d; } .life { stroke: #3d444d; }
}
`

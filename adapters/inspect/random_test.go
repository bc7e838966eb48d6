package inspect

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// colour is all that a screen may tell a terminal besides text.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// checkScreen wants a screen to be as wide and as high as the terminal, and to tell it nothing but text and colours.
func checkScreen(t *rapid.T, a *app) {
	lines := strings.Split(a.View().Content, "\n")
	if len(lines) != a.height && a.height > 0 {
		t.Fatalf("%d lines in a terminal of %d", len(lines), a.height)
	}
	for _, l := range lines {
		text := colour.ReplaceAllString(l, "")
		if width := max(ansi.StringWidth(text), ansi.StringWidthWc(text)); width > a.width {
			t.Fatalf("a line takes %d columns of %d: %q", width, a.width, text)
		}
		if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Fatalf("a line has a character that cannot be printed: %q", text)
		}
	}
}

// checkChosen wants the chosen row to be on the screen.
func checkChosen(t *rapid.T, a *app) {
	p := a.top().board().focus
	if a.help != nil || a.width < leastWidth || a.height < leastHeight || p.height < 1 || len(p.rows) == 0 || !p.chooses {
		return
	}
	if p.rows[p.cursor].still {
		t.Fatalf("row %d is chosen, which cannot be: %q", p.cursor, p.rows[p.cursor].line.text())
	}
	if first, end := p.starts[p.cursor], p.starts[p.cursor+1]; first >= p.top+p.height || end <= p.top {
		t.Fatalf("the chosen lines %d to %d are not among those that are shown, %d to %d", first, end, p.top, p.top+p.height)
	}
}

// TestAnything presses, clicks, scrolls and resizes at random: nothing panics, every line fits, and the chosen row is
// in sight after a key.
func TestAnything(t *testing.T) {
	r := recorded(t, sampleReport(), sampleGraph(), 8)
	names := []string{"enter", "enter", "enter", "down", "down", "up", "left", "right", "tab", "pgup", "pgdown", "home", "end", "backspace", "esc"}
	for _, c := range "jkqrszpnNgGbJKx?/:w=\"3日" {
		names = append(names, string(c))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := newSession(nil, r, rapid.IntRange(0, 170).Draw(t, "width"), rapid.IntRange(0, 60).Draw(t, "height"))
		loadAt := rapid.IntRange(0, 20).Draw(t, "loaded after")
		for i := range rapid.IntRange(1, 60).Draw(t, "actions") {
			if i == loadAt {
				s.load()
			}
			switch rapid.IntRange(0, 19).Draw(t, "action") {
			case 0:
				s.send(tea.WindowSizeMsg{Width: rapid.IntRange(0, 170).Draw(t, "width"), Height: rapid.IntRange(0, 60).Draw(t, "height")})
			case 1:
				s.send(tea.MouseWheelMsg{X: rapid.IntRange(0, 170).Draw(t, "x"), Y: rapid.IntRange(0, 60).Draw(t, "y"),
					Button: rapid.SampledFrom([]tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown}).Draw(t, "button")})
			case 2, 3:
				s.send(tea.MouseClickMsg{X: rapid.IntRange(0, 170).Draw(t, "x"), Y: rapid.IntRange(0, 60).Draw(t, "y"), Button: tea.MouseLeft})
			case 4:
				s.send(tea.PasteMsg{Content: hostile})
			default:
				if i < loadAt && s.app.prompt != nil {
					s.press("esc") // a search would wait for the graph
				}
				s.press(rapid.SampledFrom(names).Draw(t, "key"))
				checkChosen(t, s.app)
			}
			checkScreen(t, s.app)
		}
	})
}

// TestAnyText wants lines to be cut and wrapped to fit, and wrapping to lose nothing but spaces.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-z日é]{0,12} ?){0,20}`)).Draw(t, "text")
		width, indent := rapid.IntRange(2, 40).Draw(t, "width"), rapid.IntRange(0, 12).Draw(t, "indent")
		said := say(plain, text)
		var got strings.Builder
		for _, l := range wrap(said.cells(), width, indent) {
			if widthOf(l) > width {
				t.Fatalf("a line of %d columns in %d", widthOf(l), width)
			}
			for _, c := range l {
				got.WriteString(c.text)
			}
		}
		var want strings.Builder
		for _, c := range said.cells() {
			want.WriteString(c.text)
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if squeeze(got.String()) != squeeze(want.String()) {
			t.Fatalf("%q became %q", want.String(), got.String())
		}
		if cells := cut(said.cells(), width); widthOf(cells) > width || len(cells) > 0 && widthOf(said.cells()) > width && cells[len(cells)-1].text != mark {
			t.Fatalf("%q is cut to %v", text, cells)
		}
	})
}

// TestNoFalseEnd draws graphs of which not all is recorded: a state that was cut, or from which steps lead to others
// that are not there, is never shown as an end, and of what it leads to never as certain.
func TestNoFalseEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "states")
		var g listed
		for id := range n {
			s := &core.Listed{ID: core.StateID(id), Initial: id == 0, Cut: rapid.IntRange(0, 4).Draw(t, "cut") == 0, Objects: []int{id},
				NewObjects: []core.TraceObject{deployment(id)}}
			if id == 0 {
				s.NewSteps = []core.Edge{{Step: core.Step{Item: core.Item{Strategy: "savings", Request: "default/web"}}}}
			}
			for _, to := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 2).Draw(t, "to") {
				s.Steps = append(s.Steps, core.ListedStep{To: core.StateID(to)})
			}
			s.Quiescent = len(s.Steps) == 0
			g = append(g, s)
		}
		report := sampleReport()
		report.Reduction = rapid.SampledFrom([]string{"none", "por"}).Draw(t, "reduction")
		limit := rapid.IntRange(1, n).Draw(t, "recorded")
		for i := range report.OutcomeList {
			report.OutcomeList[i].State = core.StateID(rapid.IntRange(0, n-1).Draw(t, "outcome"))
		}
		s := newSession(nil, recorded(t, report, g, limit), 100, 100)
		s.load()
		// open are the states from which one leads to what is not recorded, found by taking steps until nothing
		// changes.
		open := map[int]bool{}
		for range n {
			for id := range limit {
				open[id] = open[id] || g[id].Cut
				for _, step := range g[id].Steps {
					open[id] = open[id] || int(step.To) >= limit || open[int(step.To)]
				}
			}
		}
		for id := range limit {
			s.app.views = s.app.views[:1]
			s.app.visit(core.StateID(id))
			shown := s.screen()
			head, _, _ := strings.Cut(shown, "step from here")
			head, _, _ = strings.Cut(head, "steps from here")
			if unknown := strings.Contains(head, "what follows from them is not known"); unknown != open[id] {
				t.Fatalf("it says %t that not all is known, which is %t:\n%s", unknown, open[id], shown)
			}
			if open[id] && (strings.Contains(head, "only outcome") || strings.Contains(head, "no outcome can be reached")) {
				t.Fatalf("it is too sure where the state leads:\n%s", shown)
			}
			if final := strings.Contains(head, "terminal") || strings.Contains(shown, "no step is possible"); final != (len(g[id].Steps) == 0 && !g[id].Cut) {
				t.Fatalf("it says that the state is final:\n%s", shown)
			}
			if g[id].Cut != strings.Contains(head, "Cut: not all steps of this state were taken") {
				t.Fatalf("it does not say that the state was cut:\n%s", shown)
			}
			for _, step := range g[id].Steps {
				if int(step.To) >= limit && !strings.Contains(shown, fmt.Sprintf("state %d (not recorded)", step.To)) {
					t.Fatalf("it does not say that state %d is not recorded:\n%s", step.To, shown)
				}
			}
		}
	})
}

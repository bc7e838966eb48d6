package inspect

import (
	"fmt"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// help says what keys do.
type help struct{ pane pane }

func newHelp(a *app) *help {
	var rows []row
	list := func(title string, bindings ...key.Binding) {
		if len(bindings) == 0 {
			return
		}
		rows = append(rows, heading(title))
		for _, b := range bindings {
			rows = append(rows, row{line: say(strong, fmt.Sprintf("  %-12s", b.Help().Key)).and(plain, b.Help().Desc), indent: 14})
		}
		rows = append(rows, gap())
	}
	text := func(s string) { rows = append(rows, row{line: say(plain, s), indent: 2}) }
	k := a.keys
	list("Here", a.top().keys()...)
	list("Everywhere", k.up, k.down, k.pageUp, k.pageDown, k.home, k.end, k.enter, k.tab, k.back, k.report, k.find, k.goTo, k.nextFound, k.formerFound, k.help, k.quit)
	rows = append(rows, heading("Mouse"))
	text("  A click chooses a row, another one opens it. The wheel scrolls what is under the mouse. Most terminals select text while Shift is held.")
	rows = append(rows, gap(), heading("To find states"))
	text("  / looks for states by what they have in common. Type " + queryHelp[len("type "):] + ". Texts may be parts, in any case of letters. A text with spaces goes between quotes: field:\"message=no space\".")
	rows = append(rows, gap(), heading("Marks of steps"))
	for _, m := range stepMarks() {
		rows = append(rows, row{line: say(strong, "  "+m.mark+"  ").and(plain, m.means), indent: 5})
	}
	rows = append(rows, gap(), heading("Words"))
	text("  A cache is stale while it does not show all committed changes. A state is quiescent if no controller has anything to do, except wait for timers, and terminal if no step is possible. An outcome is what the objects are in the end.")
	return &help{pane{rows: rows}}
}

// pressInHelp acts on a key while the help is shown.
func (a *app) pressInHelp(m tea.KeyPressMsg) tea.Cmd {
	switch {
	case scrolled(a.keys, &a.help.pane, m):
	case key.Matches(m, a.keys.back, a.keys.help, a.keys.quit, a.keys.enter):
		a.help = nil
	}
	return nil
}

package inspect

import (
	"charm.land/bubbles/v2/key"
)

// keys are the keys that act everywhere.
type keys struct {
	up, down, pageUp, pageDown, home, end             key.Binding
	enter, tab, back, help, quit, report, find, goTo  key.Binding
	graph, fold, unfoldAll, nextFound, formerFound    key.Binding
	zoom, next, former, detailUp, detailDown, towards key.Binding
	after, switchRun                                  key.Binding
}

func bind(does, shown string, names ...string) key.Binding {
	return key.NewBinding(key.WithKeys(names...), key.WithHelp(shown, does))
}

func newKeys() keys {
	return keys{
		up:       bind("the row above", "↑ k", "up", "k"),
		down:     bind("the row below", "↓ j", "down", "j"),
		pageUp:   bind("a page up", "PgUp b", "pgup", "b"),
		pageDown: bind("a page down", "PgDn Space", "pgdown", "space"),
		home:     bind("the first row", "Home g", "home", "g"),
		end:      bind("the last row", "End G", "end", "G"),
		enter:    bind("open the chosen row", "Enter", "enter"),
		tab:      bind("act on the next pane", "Tab", "tab"),
		back:     bind("back to what was shown before", "Esc", "esc", "backspace"),
		help:     bind("this help", "?", "?"),
		quit:     bind("quit", "q", "q", "ctrl+c"),
		report:   bind("the report", "r", "r"),
		find:     bind("find states", "/", "/"),
		goTo:     bind("go to the state with a number", ":", ":"),

		graph:       bind("the graph of states, from the initial state on", "s", "s"),
		fold:        bind("fold or unfold the chosen row", "Enter", "enter"),
		unfoldAll:   bind("fold or unfold all", "z", "z"),
		nextFound:   bind("the next state that was found", "n", "n"),
		formerFound: bind("the state that was found before it", "N", "N"),
		zoom:        bind("the chosen step alone, as high as the terminal", "Enter", "enter"),
		next:        bind("the next step", "n →", "n", "right"),
		former:      bind("the step before", "p ←", "p", "left"),
		detailUp:    bind("scroll what the step does up", "K", "K", "shift+up"),
		detailDown:  bind("scroll what the step does down", "J", "J", "shift+down"),
		after:       bind("the state after the chosen step, in the graph", "s", "s"),
		switchRun:   bind("the other run, if there are two", "Tab", "tab"),
		towards:     bind("all states of the shortest run to this one", "p", "p"),
	}
}

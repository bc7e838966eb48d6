package inspect

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/orrery-dev/orrery/adapters/internal/story"
)

// prompt asks for a text in the last line.
type prompt struct {
	input textinput.Model
	// answered is what happens with the text.
	answered func(string) tea.Cmd
}

// longestAnswer is how many characters an answer may have.
const longestAnswer = 500

// ask asks for a text, and suggests one.
func (a *app) ask(question, suggested string, answered func(string) tea.Cmd) {
	input := textinput.New()
	input.Prompt = question
	input.CharLimit = longestAnswer
	input.SetValue(suggested)
	input.CursorEnd()
	input.KeyMap.Paste.SetEnabled(false) // it would run another program; terminals paste by themselves
	styles := input.Styles()
	styles.Cursor.Blink = false
	input.SetStyles(styles)
	input.Focus()
	a.prompt = &prompt{input: input, answered: answered}
}

// answer acts on a key while something is asked.
func (a *app) answer(m tea.KeyPressMsg) tea.Cmd {
	switch m.Code {
	case tea.KeyEscape:
		a.prompt = nil
		return nil
	case tea.KeyEnter:
		p := a.prompt
		a.prompt = nil
		return p.answered(p.input.Value())
	}
	return a.prompt.update(m)
}

// update goes on with a key or with a text that is pasted.
func (p *prompt) update(m tea.Msg) tea.Cmd {
	switch typed := m.(type) {
	case tea.PasteMsg:
		typed.Content = story.Clean(typed.Content)
		m = typed
	case tea.KeyPressMsg:
		typed.Text = story.Clean(typed.Text)
		m = typed
	}
	var cmd tea.Cmd
	p.input, cmd = p.input.Update(m)
	return cmd
}

// draw returns the line.
func (p *prompt) draw(width int) string {
	p.input.SetWidth(max(1, width-ansi.StringWidth(p.input.Prompt)-1))
	shown := ansi.Truncate(p.input.View(), width, "")
	return shown + paint(nil, max(0, width-ansi.StringWidth(shown)), false)
}

package text

// ink colours text, or leaves it as it is.
type ink bool

func (i ink) strong(text string) string { return i.paint("1", text) }
func (i ink) faint(text string) string  { return i.paint("2", text) }
func (i ink) before(text string) string { return i.paint("31", text) }
func (i ink) after(text string) string  { return i.paint("32", text) }
func (i ink) good(text string) string   { return i.paint("1;32", text) }
func (i ink) bad(text string) string    { return i.paint("1;31", text) }
func (i ink) open(text string) string   { return i.paint("1;33", text) }

// paint puts text between the terminal's codes for a colour and for none.
func (i ink) paint(code, text string) string {
	if !i || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

package text

import (
	"bufio"
	"io"
	"strings"

	"github.com/orrery-dev/orrery/adapters/internal/story"
)

// page is what is being written. Its first error is kept until the end.
type page struct {
	ink
	out *bufio.Writer
	// elide tells that long stories and values are shortened.
	elide bool
	// acting are the controllers that the finding is about which is told.
	acting []string
}

func newPage(w io.Writer, options Options) *page {
	return &page{ink: ink(options.Color), out: bufio.NewWriter(w), elide: !options.Full}
}

// line writes a line, moved to the right by a number of levels.
func (p *page) line(level int, parts ...string) {
	p.out.WriteString(strings.Repeat("    ", level))
	for _, part := range parts {
		p.out.WriteString(part)
	}
	p.out.WriteByte('\n')
}

// gap writes an empty line.
func (p *page) gap() { p.out.WriteByte('\n') }

// heading writes a heading after an empty line.
func (p *page) heading(level int, text string) {
	p.gap()
	p.line(level, p.strong(text))
}

// clean returns a user's text on one line and without codes that a terminal
// would obey.
func clean(text string) string { return story.Clean(text) }

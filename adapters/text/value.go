package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// valueWidth and textWidth are the numbers of runes of a value and of a text that
// are shown, unless all is.
const (
	valueWidth = 72
	textWidth  = 160
)

// value returns the value of a field as JSON on one line.
func (p *page) value(v any) string {
	text := full(v)
	if p.fits(v) {
		return text
	}
	runes := []rune(text)
	return fmt.Sprintf("%s… (%s)", string(runes[:widthOf(v)-20]), story.Counted(len(runes), "character", "characters"))
}

// fits reports whether a value is shown in full.
func (p *page) fits(v any) bool { return !p.elide || utf8.RuneCountInString(full(v)) <= widthOf(v) }

func widthOf(v any) int {
	if _, isText := v.(string); isText {
		return textWidth
	}
	return valueWidth
}

// full returns a value as JSON, however long.
func full(v any) string {
	if v == nil {
		return "(absent)"
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return clean(fmt.Sprint(v))
	}
	return clean(strings.TrimSuffix(b.String(), "\n"))
}

// object writes an object with its fields, under a title. Of many fields, only the first so many are told, if there are
// any that matter more than the others. There are so many others that were left out before.
func (p *page) object(level int, title string, fields []core.Leaf, first, others int) {
	if len(fields) == 1 && fields[0].Path == "" {
		p.line(level, title, " = ", p.value(fields[0].Value))
		return
	}
	p.line(level, title)
	shown := fields
	if p.elide && len(fields) > fieldLimit {
		shown = fields[:fieldLimit-1]
		if first > 0 {
			shown = fields[:min(first, fieldLimit-1)]
		}
	}
	for _, f := range shown {
		p.line(level+1, clean(f.Path), " = ", p.value(f.Value))
	}
	if rest := len(fields) - len(shown) + others; rest > 0 {
		p.line(level+1, p.faint(fmt.Sprintf("… and %s", story.Counted(rest, "more field", "more fields"))))
	}
}

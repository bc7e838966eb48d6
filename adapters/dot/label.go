package dot

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

const (
	// lineWidth is the number of runes after which a sentence is wrapped.
	lineWidth = 48
	// valueWidth is the number of runes after which a value is cut.
	valueWidth = 40
	// lineLimit is the number of facts that a node shows.
	lineLimit = 8
)

// label returns lines as a left-aligned label, in the form that draw writes
// between quotes as it is.
func label(lines []string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`)
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(escape.Replace(printable(line)))
		b.WriteString(`\l`)
	}
	return b.String()
}

// printable returns text on one line.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "?"))
}

// wrapped breaks a sentence into lines, at spaces where it has any.
func wrapped(text string, width int) []string {
	var lines []string
	var line []rune
	for _, word := range strings.Fields(text) {
		runes := []rune(word)
		if len(line) > 0 && len(line)+1+len(runes) > width {
			lines = append(lines, string(line))
			line = nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, runes...)
		for len(line) > width {
			lines = append(lines, string(line[:width]))
			line = line[width:]
		}
	}
	return append(lines, string(line))
}

// value returns a value of a field as short text.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "absent"
	case word:
		return string(v)
	}
	return cut(full(v), valueWidth)
}

// full returns a value of a field as JSON.
func full(v any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// cut shortens text to a number of runes, and shows that it did.
func cut(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}

// few returns the first lines, and says how many more there are.
func few(lines []string, limit int, what string) []string {
	if len(lines) <= limit {
		return lines
	}
	short := append([]string{}, lines[:limit-1]...)
	return append(short, fmt.Sprintf("… and %d more %s", len(lines)-limit+1, what))
}

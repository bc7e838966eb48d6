package specification

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document is a YAML file, and what is wrong with it.
type document struct {
	name     string
	lines    []string
	text     string
	mistakes []*Mistake
}

func newDocument(name, text string) *document {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return &document{name: name, text: text, lines: lines}
}

// lineOfError is how the parser names the line of a mistake.
var lineOfError = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// parse returns what the file holds, nil if it is not one document.
func (d *document) parse() *yaml.Node {
	decoder := yaml.NewDecoder(strings.NewReader(d.text))
	var root, more yaml.Node
	err := decoder.Decode(&root)
	if errors.Is(err, io.EOF) || err == nil && len(root.Content) == 0 {
		d.mistake(place{line: 1, column: 1}, "the file is empty")
		return nil
	}
	if err == nil {
		if err = decoder.Decode(&more); err == nil {
			d.mistake(place{line: more.Line, column: more.Column}, "a property file is one document: put all properties into one list")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		at, message := place{line: 1, column: 1}, strings.TrimPrefix(err.Error(), "yaml: ")
		if parts := lineOfError.FindStringSubmatch(err.Error()); parts != nil {
			at.line, _ = strconv.Atoi(parts[1])
			message = parts[2]
		}
		d.mistake(at, "the file is not YAML: %s", message)
		return nil
	}
	return root.Content[0]
}

// place is a part of a line. Lines and columns count from 1, columns and widths in characters.
type place struct{ line, column, width int }

// mistake notes something that is wrong at a place.
func (d *document) mistake(at place, format string, args ...any) {
	at.line = min(max(at.line, 1), len(d.lines))
	line := d.lines[at.line-1]
	at.column = min(max(at.column, 1), utf8.RuneCountInString(line)+1)
	d.mistakes = append(d.mistakes, &Mistake{
		File: d.name, Line: at.line, Column: at.column, Width: at.width,
		Message: fmt.Sprintf(format, args...), excerpt: line,
	})
}

// place returns where a node begins; of a text that is in one line, all of it.
func (d *document) place(n *yaml.Node) place {
	at := place{line: n.Line, column: n.Column, width: 1}
	if n.Kind == yaml.ScalarNode && !strings.Contains(n.Value, "\n") {
		at.width = utf8.RuneCountInString(n.Value)
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			at.width += 2
		}
	}
	return at
}

// within returns where a part of a node's text is in the file, from and to given in bytes of the text, and false if the
// text is written in another way than it is read.
func (d *document) within(n *yaml.Node, from, to int) (place, bool) {
	row := strings.Count(n.Value[:from], "\n")
	begin := strings.LastIndexByte(n.Value[:from], '\n') + 1
	value, _, _ := strings.Cut(n.Value[begin:], "\n")
	from, to = from-begin, min(to-begin, len(value))
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		row++ // the text begins below its sign
	}
	number := n.Line + row
	if number > len(d.lines) {
		return place{}, false
	}
	line, margin := d.lines[number-1], 0
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		margin = len(line) - len(strings.TrimLeft(line, " ")) - (len(value) - len(strings.TrimLeft(value, " ")))
	} else {
		for range n.Column - 1 {
			_, size := utf8.DecodeRuneInString(line[margin:])
			margin += size
		}
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			margin++
		}
	}
	if margin < 0 || margin > len(line) || !strings.HasPrefix(line[margin:], value) {
		return place{}, false
	}
	return place{
		line:   number,
		column: utf8.RuneCountInString(line[:margin+from]) + 1,
		width:  utf8.RuneCountInString(value[from:max(from, to)]),
	}, true
}

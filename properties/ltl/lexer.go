package ltl

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a word or sign of a formula.
type tokenKind uint8

const (
	endToken tokenKind = iota
	atomToken
	openToken
	closeToken
	prefixToken
	infixToken
	constantToken
)

// token is a word or sign. An operator is named by its first spelling.
type token struct {
	kind tokenKind
	// text is the first spelling of an operator, or the name of an atom.
	text string
	at   span
}

// spelling is a way to write a sign or a word.
type spelling struct {
	written string
	kind    tokenKind
	text    string
}

// signs lists what is written without letters; a sign comes before those that it
// begins with.
func signs() []spelling {
	return []spelling{
		{"<->", infixToken, "<->"}, {"<=>", infixToken, "<->"},
		{"->", infixToken, "->"}, {"=>", infixToken, "->"},
		{"<>", prefixToken, "F"}, {"[]", prefixToken, "G"},
		{"&&", infixToken, "&&"}, {"&", infixToken, "&&"},
		{"||", infixToken, "||"}, {"|", infixToken, "||"},
		{"~>", infixToken, "leads to"},
		{"!", prefixToken, "!"},
		{"(", openToken, "("}, {")", closeToken, ")"},
	}
}

// words lists the names that are no atoms.
func words() []spelling {
	return []spelling{
		{"true", constantToken, "true"}, {"false", constantToken, "false"},
		{"not", prefixToken, "!"},
		{"X", prefixToken, "X"}, {"next", prefixToken, "X"},
		{"F", prefixToken, "F"}, {"eventually", prefixToken, "F"},
		{"G", prefixToken, "G"}, {"always", prefixToken, "G"},
		{"stable", prefixToken, "stable"},
		{"and", infixToken, "&&"}, {"or", infixToken, "||"},
		{"implies", infixToken, "->"}, {"iff", infixToken, "<->"},
		{"U", infixToken, "U"}, {"until", infixToken, "U"},
		{"W", infixToken, "W"}, {"unless", infixToken, "W"},
		{"R", infixToken, "R"}, {"V", infixToken, "R"}, {"releases", infixToken, "R"},
		{"M", infixToken, "M"},
	}
}

// word returns the meaning of a name that is no atom.
func word(name string) (spelling, bool) {
	for _, s := range words() {
		if s.written == name {
			return s, true
		}
	}
	return spelling{}, false
}

// lexer cuts a formula into tokens.
type lexer struct {
	text   string
	at     int
	tokens []token
}

// lex returns the tokens of a text; the last one is its end.
func lex(text string) ([]token, error) {
	l := &lexer{text: text}
	for l.skipSpace(); l.at < len(text); l.skipSpace() {
		if err := l.token(); err != nil {
			return nil, err
		}
	}
	l.add(endToken, "", len(text))
	return l.tokens, nil
}

func (l *lexer) skipSpace() {
	rest := strings.TrimLeftFunc(l.text[l.at:], unicode.IsSpace)
	l.at = len(l.text) - len(rest)
}

func (l *lexer) add(kind tokenKind, text string, end int) {
	l.tokens = append(l.tokens, token{kind, text, span{l.at, end}})
	l.at = end
}

func (l *lexer) token() error {
	rest := l.text[l.at:]
	if rest[0] == '"' || rest[0] == '\'' {
		return l.quoted(rest[0])
	}
	if end := nameEnd(rest); end > 0 {
		return l.name(rest[:end])
	}
	for _, s := range signs() {
		if strings.HasPrefix(rest, s.written) {
			l.add(s.kind, s.text, l.at+len(s.written))
			return nil
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	at := span{l.at, l.at + size}
	switch rest[0] {
	case '=', '<', '>', '+', '-', '*', '/', '%', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return mistake(l.text, at, "%q is not part of the logic: give a comparison a name of its own as an atom, and write the name in quotes", rest[:size])
	}
	return mistake(l.text, at, "%q is not part of the logic: put the name of an atom in quotes if it has such characters", rest[:size])
}

// nameEnd returns the length of the name at the start of a text, 0 if there is none.
func nameEnd(text string) int {
	for i, r := range text {
		switch {
		case r == '_', r != utf8.RuneError && unicode.IsLetter(r):
		case i > 0 && (r == '.' || unicode.IsDigit(r)):
		default:
			return i
		}
	}
	return len(text)
}

// name adds a word or an atom. Prefix operators of one letter may be written
// together, as in GF p.
func (l *lexer) name(name string) error {
	end := l.at + len(name)
	s, known := word(name)
	switch {
	case known:
		l.add(s.kind, s.text, end)
	case name == "leads":
		return l.leadsTo(end)
	case strings.Trim(name, "FGX") == "":
		for _, letter := range name {
			l.add(prefixToken, string(letter), l.at+1)
		}
	default:
		l.add(atomToken, name, end)
	}
	return nil
}

func (l *lexer) leadsTo(end int) error {
	rest := strings.TrimLeftFunc(l.text[end:], unicode.IsSpace)
	if rest[:nameEnd(rest)] != "to" {
		return mistake(l.text, span{l.at, end}, `after "leads" comes "to"; put the word in quotes if it is the name of an atom`)
	}
	l.add(infixToken, "leads to", len(l.text)-len(rest)+len("to"))
	return nil
}

// quoted adds an atom in quotes. In double quotes, escapes are those of Go.
func (l *lexer) quoted(quote byte) error {
	for end := l.at + 1; end < len(l.text); end++ {
		switch {
		case quote == '"' && l.text[end] == '\\':
			end++
		case l.text[end] == quote:
			inner := l.text[l.at+1 : end]
			at := span{l.at, end + 1}
			if quote == '"' {
				unquoted, err := strconv.Unquote(l.text[at.from:at.to])
				if err != nil {
					return mistake(l.text, at, "a name in double quotes is written as a Go string: no line breaks, and a backslash only before what it escapes")
				}
				inner = unquoted
			}
			if inner == "" {
				return mistake(l.text, at, "the name of an atom is empty")
			}
			l.add(atomToken, inner, at.to)
			return nil
		}
	}
	return mistake(l.text, span{l.at, l.at + 1}, "the quote is never closed")
}

// Package plaintext takes texts apart in which something is encoded. A password is in base64 in a Secret, and a
// certificate is a structure of ASN.1, in PEM, in base64: what of it was drawn at random, or read off the clock, can
// only be told from the rest in plain letters.
package plaintext

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Piece is a part of a text.
type Piece struct {
	// Plain is the piece in plain letters.
	Plain string
	// Quoted is the text of the piece as it stands in JSON, if it is all of a text there.
	Quoted string
	// Parts are the pieces that it consists of, none if it cannot be taken apart.
	Parts []Piece
	// Fixed tells that it is what is around others, or a number.
	Fixed bool
	// Object tells that it is an object or a list in JSON, of which the parts are no accident.
	Object bool
	// encoded tells that it is in plain letters only here.
	encoded bool
}

// Of returns a text with what is encoded in it in plain letters. If nothing is, it is the text.
func Of(text string) string {
	if p := Dissect(text); p.encoded {
		return p.Plain
	}
	return text
}

// Dissect takes a text apart: JSON, base64 of either alphabet, PEM, and the DER form of ASN.1. Of certificates and
// requests for them it leaves out the signature, which follows from the rest and from the key.
func Dissect(text string) Piece { return dissect(text, deepest) }

// deepest is how often texts may be encoded within each other.
const deepest = 24

func fixed(text string) Piece { return Piece{Plain: text, Fixed: true} }

// joined is a piece that consists of others.
func joined(parts ...Piece) Piece {
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(p.Plain)
	}
	return Piece{Plain: all.String(), Parts: parts, encoded: slices.ContainsFunc(parts, func(p Piece) bool { return p.encoded })}
}

// decoded is a piece that was encoded in a way.
func decoded(way string, inner ...Piece) Piece {
	p := joined(slices.Concat([]Piece{fixed("<" + way + " ")}, inner, []Piece{fixed(">")})...)
	p.encoded = true
	return p
}

func dissect(text string, depth int) Piece {
	if depth == 0 {
		return Piece{Plain: text}
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		var value any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(&value) == nil && !decoder.More() {
			return inJSON(value, depth-1)
		}
	}
	if strings.Contains(text, "-----BEGIN ") {
		if p, is := inPEM(text, depth-1); is {
			return p
		}
	}
	return inBase64(text, depth-1)
}

// inJSON takes a value apart.
func inJSON(value any, depth int) Piece {
	var parts []Piece
	quoted := func(text string) Piece {
		p := joined(fixed(`"`), dissect(text, depth), fixed(`"`))
		p.Quoted = text
		return p
	}
	switch value := value.(type) {
	case string:
		return quoted(value)
	case map[string]any:
		parts = append(parts, fixed("{"))
		for i, name := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				parts = append(parts, fixed(","))
			}
			parts = append(parts, quoted(name), fixed(":"), inJSON(value[name], depth))
		}
		parts = append(parts, fixed("}"))
	case []any:
		parts = append(parts, fixed("["))
		for i, item := range value {
			if i > 0 {
				parts = append(parts, fixed(","))
			}
			parts = append(parts, inJSON(item, depth))
		}
		parts = append(parts, fixed("]"))
	case nil:
		return fixed("null")
	default:
		return fixed(fmt.Sprint(value))
	}
	p := joined(parts...)
	p.Object = true
	return p
}

// inBase64 takes a text apart in which stretches may be in base64: it as a whole, or long ones.
func inBase64(text string, depth int) Piece {
	var parts []Piece
	at := 0
	for from := 0; from < len(text); {
		to := stretch(text, from)
		whole := from == 0 && to == len(text) && to%4 == 0 && to >= shortest
		if whole || to-from >= long {
			if inner, is := inStretch(text[from:to], depth); is {
				if whole {
					return inner
				}
				parts = append(parts, Piece{Plain: text[at:from]}, inner)
				at = to
			}
		}
		from = to + 1
	}
	if len(parts) == 0 {
		return Piece{Plain: text}
	}
	return joined(append(parts, Piece{Plain: text[at:]})...)
}

// What is in base64 has so many letters at least, as a whole text or as a part of one: what is shorter is a word.
const shortest, long = 8, 16

// stretch returns where a part of a text ends that may be in base64, of either alphabet.
func stretch(text string, from int) int {
	to := from
	for to < len(text) && inAlphabet(text[to]) {
		to++
	}
	for padding := 0; to > from && to < len(text) && text[to] == '=' && padding < 2; padding++ {
		to++
	}
	return to
}

func inAlphabet(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// inStretch takes a text apart that may be in base64 as a whole, unless what it comes to is nothing that anybody would
// encode.
func inStretch(text string, depth int) (Piece, bool) {
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	bytes, err := encoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil || len(bytes) == 0 {
		return Piece{}, false
	}
	if isSequence(bytes) {
		return decoded("base64", inDER(bytes, depth)), true
	}
	inner := string(bytes)
	if !utf8.ValidString(inner) || strings.ContainsFunc(inner, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) }) {
		return Piece{}, false
	}
	return decoded("base64", dissect(inner, depth)), true
}

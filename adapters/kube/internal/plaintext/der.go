package plaintext

import (
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// inPEM takes a text apart that has blocks of PEM in it.
func inPEM(text string, depth int) (Piece, bool) {
	var parts []Piece
	for {
		block, behind := pem.Decode([]byte(text))
		if block == nil {
			break
		}
		before, _, _ := strings.Cut(text, "-----BEGIN "+block.Type)
		var inner []Piece
		for _, name := range slices.Sorted(maps.Keys(block.Headers)) {
			inner = append(inner, fixed(name+": "), dissect(block.Headers[name], depth), fixed(" "))
		}
		parts = append(parts, Piece{Plain: before}, decoded(block.Type, append(inner, inBlock(block, depth))...))
		text = string(behind)
	}
	if len(parts) == 0 {
		return Piece{}, false
	}
	return joined(append(parts, Piece{Plain: text})...), true
}

// inBlock takes what is in a block of PEM apart. What is signed comes without its signature.
func inBlock(block *pem.Block, depth int) Piece {
	var signed struct {
		Contents  asn1.RawValue
		Algorithm asn1.RawValue
		Signature asn1.BitString
	}
	switch block.Type {
	case "CERTIFICATE", "CERTIFICATE REQUEST", "X509 CRL":
		if rest, err := asn1.Unmarshal(block.Bytes, &signed); err == nil && len(rest) == 0 {
			return joined(inDER(signed.Contents.FullBytes, depth), fixed(" signed by "), inDER(signed.Algorithm.FullBytes, depth))
		}
	}
	return inDER(block.Bytes, depth)
}

// isSequence reports whether bytes are a sequence of ASN.1, and nothing more.
func isSequence(bytes []byte) bool {
	const sequence = asn1.TagSequence | 0x20 // compound
	if len(bytes) == 0 || bytes[0] != sequence {
		return false
	}
	var value asn1.RawValue
	rest, err := asn1.Unmarshal(bytes, &value)
	return err == nil && len(rest) == 0
}

// inDER takes values of ASN.1 apart. They are written as their class, their tag and what is in them.
func inDER(bytes []byte, depth int) Piece {
	var parts []Piece
	for rest := bytes; len(rest) > 0; {
		var value asn1.RawValue
		behind, err := asn1.Unmarshal(rest, &value)
		if err != nil || depth == 0 {
			return Piece{Plain: hex.EncodeToString(bytes)}
		}
		parts = append(parts, fixed(kindOf(value)+"("), inValue(value, depth), fixed(")"))
		rest = behind
	}
	return joined(parts...)
}

// kindOf names the class and the tag of a value. How a time is written depends on its year, and means nothing else.
func kindOf(value asn1.RawValue) string {
	if isTime(value) {
		return "time"
	}
	return fmt.Sprintf("%d.%d", value.Class, value.Tag)
}

func isTime(value asn1.RawValue) bool {
	return value.Class == asn1.ClassUniversal && (value.Tag == asn1.TagUTCTime || value.Tag == asn1.TagGeneralizedTime)
}

// inValue takes what is in a value of ASN.1 apart.
func inValue(value asn1.RawValue, depth int) Piece {
	bytes := value.Bytes
	if value.IsCompound {
		return inDER(bytes, depth-1)
	}
	if isTime(value) {
		var at time.Time
		if _, err := asn1.Unmarshal(value.FullBytes, &at); err == nil {
			return Piece{Plain: at.UTC().Format(time.RFC3339)}
		}
	}
	if value.Class == asn1.ClassUniversal && value.Tag == asn1.TagBitString && len(bytes) > 0 && isSequence(bytes[1:]) {
		return inDER(bytes[1:], depth-1)
	}
	if isSequence(bytes) {
		return inDER(bytes, depth-1)
	}
	if text := string(bytes); isText(value) && utf8.ValidString(text) {
		return Piece{Plain: text}
	}
	return Piece{Plain: hex.EncodeToString(bytes)}
}

// isText reports whether a value is a text: of the kinds that names have in certificates, as which they are tagged
// otherwise as well.
func isText(value asn1.RawValue) bool {
	if value.Class == asn1.ClassContextSpecific {
		return !strings.ContainsFunc(string(value.Bytes), func(r rune) bool { return r < ' ' || r > '~' })
	}
	switch value.Tag {
	case asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagIA5String:
		return true
	}
	return false
}

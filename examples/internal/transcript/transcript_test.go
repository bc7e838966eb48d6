package transcript

import (
	"slices"
	"testing"
)

func TestMissing(t *testing.T) {
	const output = "one\ntwo\nthree\nfour\n"
	tests := []struct {
		name, quoted string
		missing      string
	}{
		{"all", output, ""},
		{"some", "one\ntwo\n", ""},
		{"left out", "one\n…\nfour\n", ""},
		{"left out before and after", "…\ntwo\n…\n", ""},
		{"other text", "one\n…\nfive\n", "five\n"},
		{"a gap that is not marked", "one\nthree\n", "one\nthree\n"},
		{"another order", "three\n…\none\n", "one\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			part, found := missing(test.quoted, output)
			if part != test.missing || found != (test.missing != "") {
				t.Errorf("missing is %q, %t, want %q", part, found, test.missing)
			}
		})
	}
}

func TestFollow(t *testing.T) {
	_, rest, gone := follow("one\n…\nthree\n", "one\ntwo\nthree\nfour\n")
	if gone || rest != "four\n" {
		t.Errorf("behind the quote is %q, %t", rest, gone)
	}
}

func TestBlocks(t *testing.T) {
	const document = "Text.\n\n```sh\nrun it\n```\n\n<!-- part of a/b.go -->\n```go\npackage b\n```\n\n<!-- what else -->\n```\ntext\n```\n"
	var got []string
	for _, found := range block.FindAllStringSubmatch(document, -1) {
		named := ""
		if file := source.FindStringSubmatch(found[1]); file != nil {
			named = file[1] + " " + file[2]
		}
		got = append(got, named, found[2], found[3])
	}
	want := []string{"", "sh", "run it\n", "part of a/b.go", "go", "package b\n", "", "", "text\n"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestQuote(t *testing.T) {
	const readme = "Text.\n\n<!-- testdata/a.txt is the output of go run ./cmd/orrery check a --param b=1 -->\n```\nA\n```\n\nText.\n"
	found := quote.FindStringSubmatch(readme)
	want := []string{"testdata/a.txt", "check a --param b=1", "A\n"}
	if len(found) != 4 {
		t.Fatalf("found %q", found)
	}
	for i, part := range want {
		if found[i+1] != part {
			t.Errorf("part %d is %q, want %q", i+1, found[i+1], part)
		}
	}
}

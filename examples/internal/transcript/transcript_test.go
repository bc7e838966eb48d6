package transcript

import "testing"

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

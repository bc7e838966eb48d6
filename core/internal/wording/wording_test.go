package wording

import "testing"

// TestAlikeButFor compares texts up to new words.
func TestAlikeButFor(t *testing.T) {
	words := func(all ...string) map[string]bool {
		set := map[string]bool{}
		for _, word := range all {
			set[word] = true
		}
		return set
	}
	for _, test := range []struct {
		name             string
		oldOne, oldOther map[string]bool
		one, other       string
		want             bool
	}{
		{"equal", nil, nil, "create x-1 of 3", "create x-1 of 3", true},
		{"a new name", words("w"), words("w", "x-1"), "w makes x-1, x-1", "w makes x-2, x-2", true},
		{"a version", nil, nil, `{"resourceVersion":"3955426372095990"}`, `{"resourceVersion":"895542637209599"}`, true},
		{"a number", nil, nil, "there are 4", "there are 5", false},
		{"a name for a number", nil, nil, "there is 4", "there is x", false},
		{"a number for a name", nil, nil, "there is x", "there is 4", false},
		{"more of it", nil, nil, "there is x-1", "there is x-1 x-2", false},
		{"other marks", nil, nil, "a: b", "a, b", false},
		{"one name for two", nil, nil, "x-1 and x-1", "x-2 and x-3", false},
		{"two names for one", nil, nil, "x-1 and x-2", "x-3 and x-3", false},
		{"names exchanged", nil, nil, "x-1 and x-2", "x-2 and x-1", true},
		{"a new name for an old one", words("a"), nil, "copies a", "copies b", false},
		{"an old name for a new one", nil, words("b"), "copies a", "copies b", false},
		{"one of many that were there", words("a", "b"), words("a", "b"), "copies a", "copies b", false},
		{"the name was there before", nil, words("x-2"), "makes x-1", "makes x-2", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := AlikeButFor(test.oldOne, test.oldOther, test.one, test.other); got != test.want {
				t.Errorf("alike: %t, want %t", got, test.want)
			}
		})
	}
}

// TestNumeric tells what may count something from what stands for a version.
func TestNumeric(t *testing.T) {
	for word, want := range map[string]bool{"0": true, "12": true, "1.5": true, "2000-1-1": true, "12345678": true, "123456789": false, "x": false, "x1": false, "1x": false} {
		if got := numeric(word); got != want {
			t.Errorf("%q may count something: %t", word, got)
		}
	}
}

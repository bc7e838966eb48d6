package conformance

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[a-e]`), 0, 20)
		needed := rapid.SliceOfN(rapid.StringMatching(`[a-e]`), 0, 4).Draw(t, "needed")
		var sequence Sequence
		for _, name := range slices.Concat(names.Draw(t, "before"), needed, names.Draw(t, "after")) {
			sequence = append(sequence, Action{Name: name})
		}
		// What is needed must be there, in that order.
		shows := func(s Sequence) (bool, error) {
			found := 0
			for _, a := range s {
				if found < len(needed) && a.Name == needed[found] {
					found++
				}
			}
			return found == len(needed), nil
		}
		got, err := minimal(sequence, shows)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, a := range got {
			left = append(left, a.Name)
		}
		if !slices.Equal(left, needed) {
			t.Fatalf("got %q, want %q", left, needed)
		}
	})
}

func TestMinimalStopsAtAnError(t *testing.T) {
	broken := errors.New("the server is gone")
	_, err := minimal(Sequence{{Name: "a"}}, func(Sequence) (bool, error) { return false, broken })
	if !errors.Is(err, broken) {
		t.Errorf("got the error %v, want %v", err, broken)
	}
}

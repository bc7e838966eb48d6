package explore_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// What nobody checked is told once, whoever wrote it: it was there at the start, or is written and
// overwritten later.
func TestUncheckedFieldsAreTold(t *testing.T) {
	write := func(words ...string) writer {
		return writer{name: "writer of " + words[0], initial: []core.Request{"go"}, reconcile: func(do do, _ core.Request) core.Result {
			for _, word := range words {
				do("put a %s", word)
			}
			return core.Result{}
		}}
	}
	for _, workers := range []int{1, 2} {
		system := boardWith([]string{"b plain", "c x?c"}, write("y?a", "plain"), write("z?a"), write("1?b"))
		space, err := explore.Search(context.Background(), system, options(workers))
		if err != nil {
			t.Fatal(err)
		}
		want := []core.Unchecked{{Kind: "note", Fields: []string{"a", "b", "c"}, Remedy: "ask"}}
		if got := space.Unchecked(); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: %v, not %v", workers, got, want)
		}
	}
	for range 10 {
		space, err := explore.Search(context.Background(), boardWith([]string{"a x??e", "b x?a", "c x??d"}, write("plain")), options(1))
		if err != nil {
			t.Fatal(err)
		}
		want := []core.Unchecked{{Kind: "note", Fields: []string{"a"}, Remedy: "ask"}, {Kind: "note", Fields: []string{"d", "e"}, Remedy: "look"}}
		if got := space.Unchecked(); !reflect.DeepEqual(got, want) {
			t.Fatalf("with two remedies: %v, not %v", got, want)
		}
	}
	space, err := explore.Search(context.Background(), boardWith([]string{"a plain"}, write("plain")), options(1))
	if err != nil {
		t.Fatal(err)
	}
	if got := space.Unchecked(); len(got) != 0 {
		t.Errorf("where all is checked, %v is not", got)
	}
}

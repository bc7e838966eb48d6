package plain

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
)

func TestCallsAndResponses(t *testing.T) {
	x := core.Key{Kind: "rm", Name: "1"}
	two := core.Object{Key: x, Content: newContent("a")}
	type said interface {
		Identity() string
		String() string
	}
	seen := map[string]string{}
	for _, test := range []struct {
		says said
		want string
	}{
		{&read{key: x}, "read rm 1"},
		{&read{key: core.Key{Name: "rm 1"}}, "read rm 1"},
		{&list{kind: "rm"}, "list rm"},
		{&list{kind: "rm", namespace: "n"}, "list rm"},
		{&write{key: x, content: newContent(1)}, "write rm 1 := 1"},
		{&write{key: x, content: newContent("1")}, `write rm 1 := "1"`},
		{&write{key: x}, "delete rm 1"},
		{&send{core.Item{Strategy: "p", Request: "hello"}}, "send to p: hello"},
		{value{}, "absent"},
		{value{newContent("absent")}, `"absent"`},
		{listing{}, "none"},
		{listing{[]core.Object{two}}, `1="a"`},
		{listing{[]core.Object{two, two}}, `1="a", 1="a"`},
		{listing{[]core.Object{{Key: core.Key{Name: `1="a", 1`}, Content: newContent("a")}}}, `1="a", 1="a"`},
		{done{}, "ok"},
	} {
		if got := test.says.String(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
		// An empty list and a success share the empty identity: they answer different calls.
		if other, taken := seen[test.says.Identity()]; taken && test.says.Identity() != "" {
			t.Errorf("%q and %q have the same identity", other, test.want)
		}
		seen[test.says.Identity()] = test.want
	}
}

func TestStoreRefusesCallsOfOthers(t *testing.T) {
	s := &store{}
	_, err := s.Answer(nil, strange{})
	if _, ok := err.(*core.Unsupported); !ok {
		t.Errorf("got error %v, want an unsupported call", err)
	}
}

func TestStoreKeepsEverything(t *testing.T) {
	s, c := &store{}, newContent([]int{1})
	if got := s.Normalize(core.Key{}, []core.Content{c}, nil); len(got) != 1 || got[0] != core.Content(c) {
		t.Errorf("settled to %v", got)
	}
	if got := s.Outcome(core.Key{}, c); len(got.([]any)) != 1 {
		t.Errorf("outcome %v", got)
	}
}

type strange struct{}

func (strange) Identity() string    { return "strange" }
func (strange) String() string      { return "strange" }
func (strange) Source() core.Source { return core.Live }

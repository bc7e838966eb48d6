package plain_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/naive"
)

type word string

type parcel struct {
	To     string
	Weight int
}

// shout is written in capitals and read back in small letters.
type shout struct{ what string }

func (s shout) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(s.what)), nil }

func (s *shout) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("silence")
	}
	s.what = strings.ToLower(string(text))
	return nil
}

func TestMessagesAsText(t *testing.T) {
	if got := plain.NewInbox[word]("p").Holding("a b", ""); !slices.Equal(got, []core.Request{"a b", ""}) {
		t.Errorf("strings: got %q", got)
	}
	if got := plain.NewInbox[parcel]("p").Holding(parcel{"x", 2}); !slices.Equal(got, []core.Request{`{"To":"x","Weight":2}`}) {
		t.Errorf("structs: got %q", got)
	}
	if got := plain.NewInbox[shout]("p").Holding(shout{"hey"}); !slices.Equal(got, []core.Request{"HEY"}) {
		t.Errorf("text marshalers: got %q", got)
	}
}

// A message moves on, twice sent is once there, and a blocked one stays.
func TestMessages(t *testing.T) {
	open := plain.NewVar[bool]("open")
	a, b := plain.NewInbox[parcel]("a"), plain.NewInbox[parcel]("b")
	g := explore(t, plain.Model{
		Initial: []core.Initial{plain.Start(open.Is(false))},
		Processes: []plain.Process{
			{
				Name:     "a",
				Messages: a.Holding(parcel{"b", 1}),
				Receive: a.Receive(func(w *plain.World, p parcel) {
					b.Send(w, p)
					b.Send(w, p)
				}),
			},
			{
				Name:    "b",
				Receive: b.Receive(func(w *plain.World, p parcel) { w.Require(open.Get(w)) }),
				Actions: []plain.Action{{Name: "open", Do: func(w *plain.World) {
					w.Require(!open.Get(w))
					open.Set(w, true)
				}}},
			},
		},
	})
	// The message is at a, at b, or gone; b is closed or open, and closed only before it is gone.
	if got, want := len(g.States), 5; got != want {
		t.Errorf("got %d states, want %d", got, want)
	}
	if got, want := len(g.Terminal()), 1; got != want {
		t.Errorf("got %d terminal states, want %d", got, want)
	}
	if got := g.States[g.Terminal()[0]].Work(); len(got) != 0 {
		t.Errorf("messages are left at the end: %v", got)
	}
}

func TestMessagesToNobody(t *testing.T) {
	for want, to := range map[string]string{
		`nobody called "q" receives messages`: "q",
		`nobody called "p" receives messages`: "p",
		`"act" is also an action of r`:        "r",
	} {
		system, err := plain.Model{
			Name:    "test",
			Initial: []core.Initial{plain.Start()},
			Processes: append(one("act", func(w *plain.World) { plain.NewInbox[word](to).Send(w, "act") }),
				plain.Process{
					Name:    "r",
					Receive: plain.NewInbox[word]("r").Receive(func(*plain.World, word) {}),
					Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) { w.Require(false) }}},
				}),
		}.System()
		if err != nil {
			t.Fatal(err)
		}
		_, err = naive.Explore(system, 10)
		var unsupported *core.Unsupported
		if !errors.As(err, &unsupported) || !strings.Contains(unsupported.Reason, want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
}

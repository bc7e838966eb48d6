package models

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

func TestLinearizable(t *testing.T) {
	putting := registerClient{}
	getting := func(before ...int) registerClient { return registerClient{Stored: true, Before: before} }
	got := func(value string, before ...int) registerClient {
		return registerClient{Stored: true, Got: true, Value: value, Before: before}
	}
	for _, test := range []struct {
		name    string
		history []registerClient
		want    bool
	}{
		{"nothing has returned", []registerClient{putting, putting}, true},
		{"own value", []registerClient{got("A", 0, 0), putting}, true},
		{"a put that has not returned may have taken effect", []registerClient{got("B", 0, 0), putting}, true},
		{"own put forgotten", []registerClient{got("", 0, 0), putting}, false},
		{"a value nobody put", []registerClient{got("C", 0, 0), putting}, false},
		{"the other came last", []registerClient{got("B", 0, 1), getting(0, 0)}, true},
		{"each sees itself last, at the same time", []registerClient{got("A", 0, 0), got("B", 0, 0)}, true},
		{"each sees itself last, the puts before the gets", []registerClient{got("A", 0, 1), got("B", 1, 0)}, false},
		{"one order for all", []registerClient{got("B", 0, 1), got("B", 1, 0)}, true},
		{"back to the overwritten", []registerClient{got("B", 0, 1), got("A", 2, 0)}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := linearizable(test.history); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestMessagesSurviveAsText(t *testing.T) {
	ballots := rapid.Custom(func(t *rapid.T) ballot {
		return ballot{rapid.IntRange(0, 12).Draw(t, "round"), rapid.IntRange(0, 3).Draw(t, "leader")}
	})
	rapid.Check(t, func(t *rapid.T) {
		want := message{
			Verb:     rapid.SampledFrom([]string{put, got, promise}).Draw(t, "verb"),
			From:     rapid.SampledFrom([]string{"client1", "server12"}).Draw(t, "from"),
			Value:    rapid.SampledFrom([]string{"", "A"}).Draw(t, "value"),
			Ballot:   ballots.Draw(t, "ballot"),
			Accepted: ballots.Draw(t, "accepted"),
		}
		text, err := want.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back message
		if err := back.UnmarshalText(text); err != nil || back != want {
			t.Fatalf("%q reads as %+v (error %v), want %+v", text, back, err, want)
		}
	})
}

func TestMessagesAsWords(t *testing.T) {
	m := message{Verb: promise, From: "server1", Value: "A", Ballot: ballot{2, 3}, Accepted: ballot{1, 1}}
	const want core.Request = "promise ballot 2.3 value A accepted 1.1 from server1"
	if got := inboxOf("server3").Holding(m)[0]; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, bad := range []string{"", "put value", "put colour red", "prepare ballot x"} {
		if err := new(message).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was understood", bad)
		}
	}
}

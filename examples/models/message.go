package models

import (
	"fmt"
	"strings"
)

// message is what the clients and servers of a register send each other. Each
// verb uses the fields it needs and leaves the others zero.
type message struct {
	Verb string
	// From names the sender.
	From string
	// Value is what is put, got, proposed or was accepted.
	Value string
	// Ballot is the ballot that the message is about.
	Ballot ballot
	// Accepted is the ballot in which Value was accepted.
	Accepted ballot
}

// ballot is the number of a ballot, made unique by the server that leads it. The
// zero ballot is before all others.
type ballot struct{ Round, Leader int }

func (b ballot) less(other ballot) bool {
	return b.Round < other.Round || b.Round == other.Round && b.Leader < other.Leader
}

func (b ballot) String() string { return fmt.Sprintf("%d.%d", b.Round, b.Leader) }

// MarshalText writes the message as words: the verb, then each field that is not
// zero after its name, for example "accept ballot 1.2 value A from server2".
func (m message) MarshalText() ([]byte, error) {
	words := []string{m.Verb}
	if m.Ballot != (ballot{}) {
		words = append(words, "ballot", m.Ballot.String())
	}
	if m.Value != "" {
		words = append(words, "value", m.Value)
	}
	if m.Accepted != (ballot{}) {
		words = append(words, "accepted", m.Accepted.String())
	}
	words = append(words, "from", m.From)
	return []byte(strings.Join(words, " ")), nil
}

// UnmarshalText reads what MarshalText has written.
func (m *message) UnmarshalText(text []byte) error {
	words := strings.Fields(string(text))
	if len(words)%2 != 1 {
		return fmt.Errorf("%d words are not a verb followed by names and values", len(words))
	}
	*m = message{Verb: words[0]}
	for i := 1; i < len(words); i += 2 {
		name, value := words[i], words[i+1]
		var err error
		switch name {
		case "ballot":
			_, err = fmt.Sscanf(value, "%d.%d", &m.Ballot.Round, &m.Ballot.Leader)
		case "accepted":
			_, err = fmt.Sscanf(value, "%d.%d", &m.Accepted.Round, &m.Accepted.Leader)
		case "value":
			m.Value = value
		case "from":
			m.From = value
		default:
			return fmt.Errorf("there is no field %q", name)
		}
		if err != nil {
			return fmt.Errorf("%s %q: %w", name, value, err)
		}
	}
	return nil
}

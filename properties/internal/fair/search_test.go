package fair

import (
	"context"
	"iter"
	"testing"

	"github.com/orrery-dev/orrery/core/scc"
)

// ring is a graph of so many places, from each of which a step leads to the next one.
type ring uint32

func (r ring) Arcs(place uint32) iter.Seq[Arc] {
	return func(yield func(Arc) bool) { yield(Arc{To: (place + 1) % uint32(r)}) }
}

func (ring) Enabled(uint32) iter.Seq[int] { return func(func(int) bool) {} }
func (ring) Recurs(int) bool              { return false }
func (ring) Recurring() bool              { return false }

// TestPartsEnd looks for the parts of a component when the context has ended: none is said to be one.
func TestPartsEnd(t *testing.T) {
	const places = 5000
	whole := scc.Component[uint32]{Cyclic: true, Has: func(uint32) bool { return true }}
	for place := range uint32(places) {
		whole.Nodes = append(whole.Nodes, place)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		context context.Context
		want    int
	}{{nil, 1}, {t.Context(), 1}, {ended, 0}} {
		parts := 0
		(&Search{Space: ring(places), Context: test.context}).Parts(whole, func([]uint32) { parts++ })
		if parts != test.want {
			t.Errorf("with the context %v there are %d parts, want %d", test.context, parts, test.want)
		}
	}
}

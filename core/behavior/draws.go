package behavior

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/orrery-dev/orrery/core"
)

// Code that makes names up draws them from random numbers. A run of it would be another one each time, unless what it draws follows from a seed: then the run is a
// function of that and of the answers to its calls. Between two calls, where code runs on, others may run on as well, so each such stretch of a run has a seed of
// its own, and what it draws does not depend on what others draw meanwhile.

// Varied says that some stretches of a run draw other values than its seed says.
type Varied struct {
	// Stretches are numbered by the calls that are answered before them, and Number tells variations apart, from 1.
	Stretches []int
	Number    int
}

// SeedOf returns what the random values follow from that a run draws behind so many answers.
func (a Activation) SeedOf(stretch int) uint64 {
	number := uint64(0)
	if a.Varied != nil && slices.Contains(a.Varied.Stretches, stretch) {
		number = uint64(a.Varied.Number)
	}
	var text []byte
	for _, n := range []uint64{a.Seed, uint64(stretch), number} {
		text = binary.LittleEndian.AppendUint64(text, n)
	}
	return xxhash.Sum64(text)
}

// draws are the values that a run of a session draws.
type draws struct {
	of Activation
	// current is the stretch in which code runs, nil if it does not, and drew are those in which values were drawn, by their numbers.
	current core.Draw
	number  int
	drew    map[int]core.Draw
}

// beginDraws begins a run.
func (s *Session) beginDraws(a Activation) {
	s.endDraw()
	s.draws = draws{of: a}
	s.draw(0)
}

// draw sets what code draws from here on, behind so many answers.
func (s *Session) draw(stretch int) {
	if s.limits.Randomness != nil && s.draws.of.Seed != 0 {
		s.draws.current, s.draws.number = s.limits.Randomness.Set(s.draws.of.SeedOf(stretch)), stretch
	}
}

// endDraw ends the stretch in which code runs.
func (s *Session) endDraw() {
	draw := s.draws.current
	if s.draws.current = nil; draw == nil || !draw.End() {
		return
	}
	if s.draws.drew == nil {
		s.draws.drew = map[int]core.Draw{}
	}
	s.draws.drew[s.draws.number] = draw
}

// Drew reports whether the run has drawn random values that follow from its seed.
func (s *Session) Drew() bool { return len(s.draws.drew) > 0 }

// Loose returns the stretches of the run in which values were drawn that are not all words in the calls behind, or in what is kept, in order: they might decide what
// the code does. The path is that of the run.
func (s *Session) Loose(path Path, kept []string) []int {
	var loose []int
	for _, stretch := range slices.Sorted(maps.Keys(s.draws.drew)) {
		texts := slices.Clone(kept)
		for _, edge := range path[min(stretch, len(path)):] {
			texts = append(texts, Aim(edge.From.Call), contents(edge.From.Call))
		}
		if !s.draws.drew[stretch].Stands(texts) {
			loose = append(loose, stretch)
		}
	}
	return loose
}

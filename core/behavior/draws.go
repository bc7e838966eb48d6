package behavior

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/orrery-dev/orrery/core"
)

// Code that makes names up draws them from random numbers. A run of it would be another one each time, unless what it draws follows from a seed: then the run is a
// function of that and of the answers to its calls. Between two calls, where code runs on, others may run on as well, so each such stretch of a run has a seed of
// its own, and what it draws does not depend on what others draw meanwhile.

// SeedOf returns what the random values follow from that a run draws behind so many answers.
func (a Activation) SeedOf(answers int) uint64 {
	var text []byte
	for _, n := range []uint64{a.Seed, uint64(answers), uint64(a.Variation)} {
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

// Words returns the words that the run has drawn and that stand in its calls, or in what it keeps, in the order in which they were drawn.
func (s *Session) Words(calls []core.Call, kept []string) []string {
	var words []string
	for _, stretch := range slices.Sorted(maps.Keys(s.draws.drew)) {
		texts := slices.Clone(kept)
		for _, call := range calls[min(stretch, len(calls)):] {
			texts = append(texts, Aim(call), contents(call))
		}
		words = append(words, s.draws.drew[stretch].Words(texts)...)
	}
	return words
}

// Vary begins a run and takes it along a recorded one although it draws other values: it answers each call with the recorded response, whatever the call is. It returns the calls,
// and where the run makes another number of calls or ends in another way, nil if it does not.
func (s *Session) Vary(ctx context.Context, run Run) ([]core.Call, *Divergence, error) {
	return s.along(ctx, run, func(core.Call, core.Call) bool { return true })
}

// SameButFor returns where calls differ from those of a path in more than that other words were drawn, nil if they do not. The answers to both have the words of the path.
func SameButFor(path Path, calls []core.Call, words, others []string) *Divergence {
	for i, edge := range path {
		one, other := edge.From.Call, calls[i]
		if Unnamed(Aim(one), words)+"\n"+Unnamed(contents(one), words) == Unnamed(Aim(other), others, words)+"\n"+Unnamed(contents(other), others, words) {
			continue
		}
		return parting(one, other, nil, i)
	}
	return nil
}

// Unnamed returns a text with the words of some lists replaced by what numbers them in their list.
func Unnamed(text string, lists ...[]string) string {
	var pairs []string
	for _, words := range lists {
		for i, word := range words {
			pairs = append(pairs, word, "\x00"+strconv.Itoa(i)+"\x00")
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

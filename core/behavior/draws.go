package behavior

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/orrery-dev/orrery/core"
)

// Code that makes names up draws them from random numbers. A run of it would be another one each time, unless what it
// draws follows from a seed: then the run is a function of that and of the answers to its calls. Between two calls,
// where code runs on, others may run on as well, so each such stretch of a run has values of its own, and what it draws
// does not depend on what others draw meanwhile.

// SeedOf returns what the random values follow from that a run draws next behind so many answers.
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
	// current is the stretch in which code runs, nil if it does not, and drew are those in which values were drawn, by
	// their numbers.
	current core.Draw
	number  int
	drew    map[int]core.Draw
	// since is the first stretch behind those in which values were drawn. As long as nothing is drawn, there is one
	// seed, which costs less than another one for each stretch.
	since int
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
		s.draws.current, s.draws.number = s.limits.Randomness.Set(s.draws.of.SeedOf(s.draws.since), stretch-s.draws.since), stretch
		s.set = true
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
	s.draws.drew[s.draws.number], s.draws.since = draw, s.draws.number+1
}

// release lets code draw values that nobody knows again, once the session is over.
func (s *Session) release() {
	if s.set {
		s.limits.Randomness.Release()
	}
}

// Drew reports whether the run has drawn random values that follow from its seed.
func (s *Session) Drew() bool { return len(s.draws.drew) > 0 }

// Drawn returns what the run has asked with its calls and what it keeps, and the words of it that it has drawn, in the
// order in which they were drawn. What it keeps comes last.
func (s *Session) Drawn(calls []core.Call, kept []string) core.Drawn {
	drawn := core.Drawn{Texts: append(textsOf(calls), kept...)}
	for _, stretch := range slices.Sorted(maps.Keys(s.draws.drew)) {
		since := drawn.Texts[min(stretch, len(calls))*said:]
		drawn.Words = append(drawn.Words, s.draws.drew[stretch].Words(since)...)
	}
	return drawn
}

// exchangesAlong reports whether the run, of code that is known to do so, has said the same as a recorded one along a
// path, but for words that it has put to use in another order. What is remembered may be words, too.
func (s *Session) exchangesAlong(path Path, calls []core.Call) bool {
	r := s.limits.Randomness
	return s.mayExchange() && r.Exchanged(core.Drawn{Texts: textsOf(path.Asked())}, core.Drawn{Texts: textsOf(calls)}, path.given(r, s.draws.of))
}

// Exchanged reports whether one of the calls that the run has made along a path is as it was recorded, but for words that
// the run has put to use in another order, and for times.
func (s *Session) Exchanged(path Path, calls []core.Call) bool {
	if !s.mayExchange() {
		return false
	}
	given := path.given(s.limits.Randomness, s.draws.of)
	for i, call := range calls {
		if recorded := path[i].From.Call; !identical(call, recorded) && Exchanged(s.limits.Randomness, recorded, call, given[i*said]) {
			return true
		}
	}
	return false
}

// mayExchange reports whether the run may put words to use in another order.
func (s *Session) mayExchange() bool { return s.exchanging && s.Drew() && s.draws.of.Since == nil }

// Exchanges reports whether a run parts from a recorded one with a call that is the recorded one, but for words that it
// has put to use in another order.
func (d *Divergence) Exchanges(run Run, r core.Randomness) bool {
	return d.Call != nil && d.After < len(run.Path) && Exchanged(r, run.Path[d.After].From.Call, d.Call, run.Path.given(r, run.Activation)[d.After*said])
}

// Exchanged reports whether a call is a recorded one but for words that the run has drawn, and put to use in another
// order, and for times. The words do not stand in what the run was given before.
func Exchanged(r core.Randomness, recorded, call core.Call, given []string) bool {
	said := func(call core.Call) []string { return []string{Aim(call), WithoutTimes(contents(call))} }
	return exchanged(r, said(recorded), said(call), given)
}

// exchanged is [Exchanged] for the texts of a call.
func exchanged(r core.Randomness, recorded, observed, given []string) bool {
	return r.Exchanged(core.Drawn{Texts: recorded}, core.Drawn{Texts: observed}, slices.Repeat([][]string{given}, len(recorded)))
}

// given returns, for each of the texts that [Session.Drawn] has of the calls along the path, all that a run was given
// before in which words stand.
func (p Path) given(r core.Randomness, of Activation) [][]string {
	wordy := func(text string) []string {
		if r.Has(text) {
			return []string{text}
		}
		return nil
	}
	all := p.Before(func(response core.Response) []string { return wordy(response.Identity()) })
	for i, before := range all {
		all[i] = append(wordy(string(of.Request)), before...)
	}
	return all
}

// said is how many texts there are of each call.
const said = 2

// textsOf returns what calls say: of each its aim, and all of it.
func textsOf(calls []core.Call) []string {
	var texts []string
	for _, call := range calls {
		texts = append(texts, Aim(call), call.Identity())
	}
	return texts
}

// Vary begins a run and takes it along a recorded one although it draws other values: it answers each call with the
// recorded response, whatever the call is, but for what the run has said itself, which comes back as it was said. It
// returns the calls, and where the run makes another number of calls or ends in another way, nil if it does not.
func (s *Session) Vary(ctx context.Context, run Run) ([]core.Call, *Divergence, error) {
	recorded := textsOf(run.Path.Asked())
	return s.along(ctx, run, func(core.Call, core.Call) bool { return true }, func(calls []core.Call, response core.Response) core.Response {
		return s.limits.Randomness.Echo(response, recorded[:len(calls)*said], textsOf(calls))
	}, (*Leaf).agrees)
}

// VaryAnswers is [Session.Vary] for a run that is given other values: a function returns what is not as the run has said
// it itself. Event handlers may enqueue other requests, as many as before, which are returned: they may be named by what
// was given.
func (s *Session) VaryAnswers(ctx context.Context, run Run, other func(core.Response) core.Response) ([]core.Call, []core.Request, *Divergence, error) {
	recorded := textsOf(run.Path.Asked())
	var requests []core.Request
	calls, divergence, err := s.along(ctx, run, func(core.Call, core.Call) bool { return true }, func(calls []core.Call, response core.Response) core.Response {
		return other(s.limits.Randomness.Echo(response, recorded[:len(calls)*said], textsOf(calls)))
	}, func(observed, recorded *Leaf) bool {
		requests = observed.Requests
		named := *observed
		if len(requests) == len(recorded.Requests) {
			named.Requests = recorded.Requests
		}
		return named.agrees(recorded)
	})
	return calls, requests, divergence, err
}

// Answered returns the path with other answers, as far as a function has others, and whether it has any.
func (p Path) Answered(other func(core.Response) core.Response) (Path, bool) {
	all, others := make(Path, len(p)), false
	for i, edge := range p {
		all[i] = edge
		if response := other(edge.Response); response.Identity() != edge.Response.Identity() {
			all[i], others = &Edge{From: edge.From, Response: response, To: edge.To}, true
		}
	}
	return all, others
}

// Before returns, for each of the texts that [Session.Drawn] has of the calls along the path, what a function returns of
// the answers to the calls before it.
func (p Path) Before(of func(core.Response) []string) [][]string {
	var before [][]string
	var given []string
	for _, edge := range p {
		for range said {
			before = append(before, given[:len(given):len(given)])
		}
		given = append(given, of(edge.Response)...)
	}
	return before
}

// Parting returns that a run which draws other values makes another call than one along a path, or leaves another
// memory, as one of the texts differs that [Session.Drawn] returned.
func (p Path) Parting(calls []core.Call, text int) *Divergence {
	if at := text / said; at < len(calls) {
		return parting(p[at].From.Call, calls[at], nil, at)
	}
	return &Divergence{Recorded: "keeps one thing in memory", Observed: "keeps another one", After: len(p)}
}

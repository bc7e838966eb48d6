package conformance

import (
	"cmp"
	"maps"
	"slices"
)

// Score counts how a side has answered, against the real server.
type Score struct {
	// Asked is how many requests were compared.
	Asked int
	// SameOutcome is how many of them were done on both sides, or refused with the same
	// code and reason.
	SameOutcome int
	// Same is how many of them left no new difference at all, neither in the answer nor
	// in what is stored.
	Same int
	// Unsupported is how many requests the side has said not to model. They are not
	// compared.
	Unsupported int
}

func (s *Score) add(other Score) {
	s.Asked += other.Asked
	s.SameOutcome += other.SameOutcome
	s.Same += other.Same
	s.Unsupported += other.Unsupported
}

// Feature is what requests have in common that are counted together.
type Feature struct {
	Verb Verb
	Name string
}

// Scores are those of all sides that were measured.
type Scores struct {
	Simulated Score
	Fake      Score
}

// Tally counts by feature.
type Tally map[Feature]*Scores

// Features returns the features in order.
func (t Tally) Features() []Feature {
	return slices.SortedFunc(maps.Keys(t), func(a, b Feature) int {
		return cmp.Or(cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Name, b.Name))
	})
}

// Total adds everything up.
func (t Tally) Total() Scores {
	var total Scores
	for _, scores := range t {
		total.Simulated.add(scores.Simulated)
		total.Fake.add(scores.Fake)
	}
	return total
}

// Add adds another tally.
func (t Tally) Add(other Tally) {
	for feature, scores := range other {
		if t[feature] == nil {
			t[feature] = &Scores{}
		}
		t[feature].Simulated.add(scores.Simulated)
		t[feature].Fake.add(scores.Fake)
	}
}

// Count adds a trial that was run with the fake client. A side is followed until it is
// in another state than the real server.
func (t Tally) Count(trial *Trial) {
	simulated, fake := follower{}, follower{}
	for _, step := range trial.Steps {
		feature := Feature{step.Action.Verb, step.Action.Feature}
		scores := t[feature]
		if scores == nil {
			scores = &Scores{}
			t[feature] = scores
		}
		if step.Simulated.Unsupported != "" {
			scores.Simulated.Unsupported++
			continue
		}
		simulated.count(&scores.Simulated, step.Action, step.Real, step.Simulated)
		fake.count(&scores.Fake, step.Action, step.Real, step.Fake)
	}
}

// follower goes along with one side through a trial.
type follower struct {
	lost   bool
	before []Difference
}

func (f *follower) count(score *Score, a Action, real, other Observation) {
	switch {
	case f.lost:
		return
	case other.Unsupported != "":
		score.Unsupported++
		f.lost = true
		return
	}
	score.Asked++
	if sameOutcome(real.Answer, other.Answer) {
		score.SameOutcome++
	}
	now := compare(a, real, other)
	if len(news(now, f.before)) == 0 {
		score.Same++
	}
	f.before = now
	f.lost = parted(real, other)
}

// news are the differences that were not there before.
func news(now, before []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(now), func(d Difference) bool {
		return slices.ContainsFunc(before, func(earlier Difference) bool {
			return earlier.Place == d.Place && earlier.Change.String() == d.Change.String()
		})
	})
}

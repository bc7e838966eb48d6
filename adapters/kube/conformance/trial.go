package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/go-hclog"
	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
)

// Laboratory has all sides at hand.
type Laboratory struct {
	Real           *Real
	Simulated      *Simulated
	Fake           *Fake
	Normalisations []Normalisation
	Subjects       []Subject
}

// NewLaboratory returns all sides for some subjects. The real server is the one that a
// connection leads to. The simulated one has more options, if any are given.
func NewLaboratory(ctx context.Context, connection *rest.Config, subjects []Subject, options ...kube.Option) (*Laboratory, error) {
	normalisations, err := Normalisations()
	if err != nil {
		return nil, err
	}
	simulated, err := NewSimulated(subjects, options...)
	if err != nil {
		return nil, err
	}
	mapper := simulated.server.RESTMapper()
	real, err := NewReal(ctx, connection, mapper, subjects)
	if err != nil {
		return nil, err
	}
	return &Laboratory{
		Real:           real,
		Simulated:      simulated,
		Fake:           NewFake(mapper, subjects),
		Normalisations: normalisations,
		Subjects:       subjects,
	}, nil
}

// StartLaboratory starts a real server, and returns it with all other sides and what stops
// it. What is done for that is told to the logger.
func StartLaboratory(ctx context.Context, logger hclog.Logger, subjects []Subject, options ...kube.Option) (l *Laboratory, stop func() error, err error) {
	binaries, err := controlplane.Find(ctx, logger)
	if err != nil {
		return nil, nil, err
	}
	plane, err := controlplane.Start(ctx, binaries)
	if err != nil {
		return nil, nil, err
	}
	if l, err = NewLaboratory(ctx, plane.Config(), subjects, options...); err != nil {
		return nil, nil, errors.Join(err, plane.Stop())
	}
	return l, plane.Stop, nil
}

// Step is one action of a trial, as each side took it.
type Step struct {
	Action    Action
	Simulated Observation
	// Real and Fake are empty where the simulated server does not model the request:
	// then it is left out on all sides, so that the rest can be compared.
	Real Observation
	Fake Observation
	// Requests are what the simulated server was asked, in words that hold for every run.
	Requests []tree
}

// Trial is a sequence that was run on the sides.
type Trial struct {
	// Cast are the kinds that the sequence is about.
	Cast  []Subject
	Steps []Step
}

// actions are those that were taken.
func (t *Trial) actions() Sequence {
	var actions Sequence
	for _, step := range t.Steps {
		actions = append(actions, step.Action)
	}
	return actions
}

// Run takes the actions of a sequence on the simulated and the real server, each in a
// fresh world, and if withFake is set on the fake client too.
func (l *Laboratory) Run(ctx context.Context, sequence Sequence, withFake bool) (*Trial, error) {
	suffix := l.Real.Suffix()
	cast := l.cast(sequence)
	simulatedSide, world, err := l.Simulated.Begin(ctx, suffix)
	if err != nil {
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	realSide, err := l.Real.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("real server: %w", err)
	}
	observe := func(side *Side) *observer {
		return &observer{side: side, renaming: newRenaming(suffix, l.Normalisations), cast: cast}
	}
	simulated, real := observe(simulatedSide), observe(realSide)
	var fake *observer
	if withFake {
		fakeSide, err := l.Fake.Begin(ctx, suffix)
		if err != nil {
			return nil, fmt.Errorf("fake client: %w", err)
		}
		fake = observe(fakeSide)
	}
	trial := &Trial{Cast: cast}
	for _, action := range sequence {
		step := Step{Action: action}
		world.asked = func(request *kube.Request) { step.Requests = append(step.Requests, simulated.renaming.record(request)) }
		reply := simulatedSide.Do(ctx, action)
		world.asked = nil
		if step.Simulated, err = simulated.look(ctx, action, reply); err != nil {
			return nil, fmt.Errorf("simulated server: %w", err)
		}
		if step.Simulated.Unsupported == "" {
			if step.Real, err = real.observe(ctx, action); err != nil {
				return nil, fmt.Errorf("real server: %w", err)
			}
		}
		if step.Simulated.Unsupported == "" && withFake {
			if step.Fake, err = fake.observe(ctx, action); err != nil {
				// Some requests leave it unable to list what it holds.
				step.Fake = Observation{Answer: Answer{Failed: err.Error()}}
			}
		}
		trial.Steps = append(trial.Steps, step)
	}
	return trial, l.Real.end(ctx, realSide, cast)
}

// cast returns the kinds that a sequence is about, in the version in which they are
// stored.
func (l *Laboratory) cast(sequence Sequence) []Subject {
	var cast []Subject
	for _, s := range l.Subjects {
		about := slices.ContainsFunc(sequence, func(a Action) bool {
			return a.Subject == s.Name || slices.ContainsFunc(l.Subjects, func(t Subject) bool { return t.Name == a.Subject && t.SameAs == s.Name })
		})
		if about && s.SameAs == "" {
			cast = append(cast, s)
		}
	}
	return cast
}

// Differences returns how the simulated server differs from the real one. What differs
// already after an earlier action is told once. The trial is followed until an action is
// done on one side only, or other objects are there: from then on the sides are in
// different states.
func (t *Trial) Differences() []Difference {
	var all, before []Difference
	for _, step := range t.Steps {
		if step.Simulated.Unsupported != "" {
			continue
		}
		now := compare(step.Action, step.Real, step.Simulated)
		all = append(all, news(now, before)...)
		if parted(step.Real, step.Simulated) {
			break
		}
		before = now
	}
	return all
}

// parted reports whether two sides are in states from which the same request may well get
// different answers.
func parted(real, other Observation) bool {
	done := func(a Answer) bool { return a.Refused == nil && a.Failed == "" }
	if done(real.Answer) != done(other.Answer) || len(real.Stored) != len(other.Stored) {
		return true
	}
	for key := range real.Stored {
		if _, there := other.Stored[key]; !there {
			return true
		}
	}
	return false
}

// Shrink returns a shorter sequence that still has a difference with the signature.
func (l *Laboratory) Shrink(ctx context.Context, sequence Sequence, signature string) (Sequence, error) {
	return minimal(sequence, func(s Sequence) (bool, error) {
		trial, err := l.Run(ctx, s, false)
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(trial.Differences(), func(d Difference) bool { return d.Signature() == signature }), nil
	})
}

// minimal returns a part of the sequence that shows something, and of which no single
// action can be left out. It is delta debugging: first large parts are left out, then
// smaller ones, and single ones until there is none to leave out.
func minimal(sequence Sequence, shows func(Sequence) (bool, error)) (Sequence, error) {
	for size := max(1, len(sequence)/2); ; {
		shorter := false
		for start := 0; start < len(sequence); {
			rest := slices.Concat(sequence[:start], sequence[min(start+size, len(sequence)):])
			still, err := shows(rest)
			if err != nil {
				return nil, err
			}
			if still {
				sequence, shorter = rest, true
			} else {
				start += size
			}
		}
		switch {
		case size > 1:
			size /= 2
		case !shorter:
			return sequence, nil
		}
	}
}

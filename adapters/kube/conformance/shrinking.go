package conformance

import (
	"context"
	"slices"
)

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

package bench

import (
	"cmp"
	"slices"
)

// where returns the runs of trials like one. Of what is not set in that, any will do.
func where(runs []Run, like Trial) []Run {
	return slices.Collect(func(yield func(Run) bool) {
		for _, run := range runs {
			if cmp.Or(like.Tool, run.Tool) == run.Tool &&
				cmp.Or(like.System, run.System) == run.System &&
				cmp.Or(like.Params, run.Params) == run.Params &&
				cmp.Or(like.Conditions, run.Conditions) == run.Conditions &&
				cmp.Or(like.Reduction, run.Reduction) == run.Reduction &&
				cmp.Or(like.Workers, run.Workers) == run.Workers && !yield(run) {
				return
			}
		}
	})
}

// facing returns the first full and the first reduced run of each subject, in the order in which they were taken. One
// may be nil.
func facing(runs []Run) []pair {
	var all []pair
	for i := range runs {
		run := &runs[i]
		at := slices.IndexFunc(all, func(p pair) bool { return p.subject == run.subject() })
		if at < 0 {
			at = len(all)
			all = append(all, pair{subject: run.subject()})
		}
		to := &all[at].full
		if run.Reduction != full {
			to = &all[at].reduced
		}
		*to = cmp.Or(*to, run)
	}
	return all
}

// pair has a full and a reduced search of the same side by side.
type pair struct {
	subject       Trial
	full, reduced *Run
}

// fewer returns how many times fewer states the reduced search has, 0 if one of them was not taken.
func (p pair) fewer() float64 {
	if p.full == nil || p.reduced == nil {
		return 0
	}
	return float64(p.full.States) / float64(p.reduced.States)
}

// each returns a measure of all runs for which it is known.
func each(runs []Run, measure func(Run) float64) []float64 {
	var known []float64
	for _, run := range runs {
		if value := measure(run); value > 0 {
			known = append(known, value)
		}
	}
	return known
}

// ratios returns, for each turn that both have, the measure of the one divided by that of the other.
func ratios(ones, others []Run, measure func(Run) float64) []float64 {
	var ratios []float64
	for _, one := range ones {
		i := slices.IndexFunc(others, func(other Run) bool { return other.Turn == one.Turn })
		if i >= 0 && measure(one) > 0 && measure(others[i]) > 0 {
			ratios = append(ratios, measure(one)/measure(others[i]))
		}
	}
	return ratios
}

// calm returns the runs that did not have to wait for a processor.
func calm(runs []Run) []Run {
	return slices.DeleteFunc(slices.Clone(runs), func(run Run) bool { return run.disturbed() })
}

// median returns the value in the middle, of which there must be one.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// typical returns for each trial, in the order of the first turn, the run with the median time, the shorter
// one of two.
func typical(runs []Run) []Run {
	var typical []Run
	for _, run := range runs {
		if run.Turn != 1 {
			continue
		}
		turns := slices.DeleteFunc(slices.Clone(runs), func(other Run) bool { return other.Trial != run.Trial })
		slices.SortStableFunc(turns, func(a, b Run) int { return cmp.Compare(a.Seconds, b.Seconds) })
		typical = append(typical, turns[(len(turns)-1)/2])
	}
	return typical
}

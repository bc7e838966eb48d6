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
				cmp.Or(like.Reduction, run.Reduction) == run.Reduction &&
				cmp.Or(like.Workers, run.Workers) == run.Workers && !yield(run) {
				return
			}
		}
	})
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

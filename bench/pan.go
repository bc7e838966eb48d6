package bench

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// What a verifier of SPIN says at its end.
var (
	panErrors  = regexp.MustCompile(`errors: (\d+)`)
	panStates  = regexp.MustCompile(`(?m)^\s*(\S+) states, stored`)
	panSteps   = regexp.MustCompile(`(?m)^\s*(\S+) transitions`)
	panMemory  = regexp.MustCompile(`(?m)^\s*(\S+)\s+total actual memory usage`)
	panSeconds = regexp.MustCompile(`elapsed time (\S+) seconds`)
)

// parsePan returns what a verifier says of its search. Its megabytes are of 1,048,576 bytes, and
// its transitions count the start as one.
func parsePan(out string) (Sample, error) {
	var states, steps, memory, seconds, found float64
	err := errors.Join(
		parseNumber(out, panErrors, &found),
		parseNumber(out, panStates, &states),
		parseNumber(out, panSteps, &steps),
		parseNumber(out, panMemory, &memory),
		parseNumber(out, panSeconds, &seconds),
	)
	if err != nil {
		return Sample{}, err
	}
	if found > 0 {
		return Sample{}, fmt.Errorf("SPIN found an error in the model, or did not search all of it: %s", out)
	}
	return Sample{
		States:      int(states),
		Transitions: int(steps) - 1,
		Seconds:     seconds,
		PeakBytes:   int64(memory * (1 << 20)),
	}, nil
}

func parseNumber(out string, pattern *regexp.Regexp, to *float64) error {
	match := pattern.FindStringSubmatch(out)
	if match == nil {
		return fmt.Errorf("the verifier of SPIN does not say %q: %s", pattern, out)
	}
	value, err := strconv.ParseFloat(match[1], 64)
	*to = value
	return err
}

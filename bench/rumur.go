package bench

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
)

// rumur makes verifiers with Rumur.
type rumur struct{}

// recipe implements [checker]. The number of threads is part of a verifier. That all have counted to the end is no
// error, and no counter stands in for another, as in a full search of Orrery.
func (rumur) recipe(n, k int, t Trial) recipe {
	r := recipe{
		files: map[string]string{"model.m": murphi(n, k), "memory.c": memoryTeller},
		generate: []string{
			Rumur, "--threads", strconv.Itoa(t.Workers), "--deadlock-detection", "off", "--symmetry-reduction", "off",
			"--output-format", "machine-readable", "--output", "verifier.c", "model.m",
		},
		compile: []string{compiler, "-std=c11", "-O3", "-march=native", "-o", "verifier", "verifier.c", "memory.c", "-lpthread"},
		verify:  []string{"./verifier"},
	}
	if runtime.GOOS == "linux" {
		r.compile = append(r.compile, "-latomic") // not all processors have atomic operations as wide as threads need
	}
	return r
}

// murphi returns the model of n counters from 0 to k in the language of Rumur. It has the states of [promela].
func murphi(n, k int) string {
	return fmt.Sprintf(`type
	counter: 1..%[1]d;
var
	x: array [counter] of 0..%[2]d;

startstate
begin
	for i: counter do
		x[i] := 0;
	end;
end;

ruleset i: counter do
	rule "count"
		x[i] < %[2]d ==>
	begin
		x[i] := x[i] + 1;
	end;
end;
`, n, k)
}

// memoryTeller is compiled into a verifier, which does not tell how much memory it took. Whoever started it is not told
// that either: to the kernel, the memory of the one who starts a process is also the process's own until it runs its
// program.
const memoryTeller = `#include <stdio.h>
#include <string.h>

__attribute__((destructor)) static void tell(void)
{
	char line[128];
	FILE *status = fopen("/proc/self/status", "r");

	if (status == NULL)
		return;
	while (fgets(line, sizeof line, status) != NULL)
		if (strncmp(line, "VmHWM:", 6) == 0)
			fputs(line, stdout);
	fclose(status);
}
`

// What a verifier of Rumur says at its end, and what was compiled into it.
var (
	rumurErrors = regexp.MustCompile(`<summary [^>]*\berrors="(\d+)"`)
	rumurStates = regexp.MustCompile(`<summary [^>]*\bstates="(\d+)"`)
	rumurRules  = regexp.MustCompile(`<summary [^>]*\brules_fired="(\d+)"`)
	rumurMemory = regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB$`)
)

// sample implements [checker]. Rumur tells whole seconds only, but its verifier starts and ends at once. Where there is
// no /proc, nobody knows the memory.
func (rumur) sample(said string, seconds float64) (Sample, error) {
	var found, states, steps, kibibytes float64
	err := errors.Join(
		scan(said, rumurErrors, &found),
		scan(said, rumurStates, &states),
		scan(said, rumurRules, &steps),
	)
	if err != nil {
		return Sample{}, err
	}
	if found > 0 {
		return Sample{}, errFound
	}
	if rumurMemory.MatchString(said) {
		err = scan(said, rumurMemory, &kibibytes)
	}
	return Sample{
		States:      int(states),
		Transitions: int(steps),
		Seconds:     seconds,
		PeakBytes:   int64(kibibytes) << 10,
	}, err
}

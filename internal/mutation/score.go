package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

// readAccepted reads the mutants that are accepted, with the reasons. Each is a line with what a survivor is printed
// as, but for its line number; the next line is indented and says why.
func readAccepted(name string, mutants []mutant) (map[string]string, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	known := map[string]bool{}
	for _, m := range mutants {
		known[m.key()] = true
	}
	accepted := map[string]string{}
	lines := bufio.NewScanner(file)
	key, n := "", 0
	for lines.Scan() {
		n++
		line := lines.Text()
		reason := strings.TrimSpace(line)
		switch {
		case reason == "", strings.HasPrefix(line, "#"):
		case line != strings.TrimLeft(line, " \t"):
			if key == "" {
				return nil, fmt.Errorf("%s:%d: a reason without a mutant before it", name, n)
			}
			accepted[key], key = reason, ""
		case key != "":
			return nil, fmt.Errorf("%s:%d: say why the mutant before is accepted, in an indented line", name, n)
		default:
			key = reason
			if _, twice := accepted[key]; twice {
				return nil, fmt.Errorf("%s:%d: it is accepted twice", name, n)
			}
		}
	}
	if key != "" {
		return nil, fmt.Errorf("%s:%d: say why the last mutant is accepted, in an indented line", name, n)
	}
	return accepted, errors.Join(lines.Err(), unknown(name, accepted, known))
}

// unknown returns an error if something is accepted that is no mutant.
func unknown(name string, accepted map[string]string, known map[string]bool) error {
	for key := range accepted {
		folder, _, _ := strings.Cut(key, ": ")
		if !known[key] && anyIn(folder, known) {
			return fmt.Errorf("%s: there is no such mutant any more, so remove it: %s", name, key)
		}
	}
	return nil
}

// anyIn reports whether a file is among those that were mutated.
func anyIn(file string, known map[string]bool) bool {
	for key := range known {
		if strings.HasPrefix(key, file+": ") {
			return true
		}
	}
	return false
}

// survivorsIn returns the mutants that an earlier run printed as survivors.
func survivorsIn(name string, mutants []mutant) ([]mutant, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	survived := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		for _, mark := range []string{survivedMark, unreachedMark} {
			if rest, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), mark); ok {
				file, rest, _ := strings.Cut(rest, ":")
				_, change, _ := strings.Cut(rest, ": ")
				survived[file+": "+change] = true
			}
		}
	}
	var chosen []mutant
	for _, m := range mutants {
		if survived[m.key()] {
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}

const (
	survivedMark  = "SURVIVED   "
	unreachedMark = "UNREACHED  "
)

// score counts what became of mutants.
type score struct {
	mutex    sync.Mutex
	out      io.Writer
	verbose  bool
	accepted map[string]string
	// noticed and survived are all but the accepted ones, and unreached those that survived as no test reaches them.
	noticed, survived, unreached, equivalent int
	// hurried are those that survived and for which not all tests were run.
	hurried int
	wrong   error
}

// note notes what became of a mutant.
func (s *score) note(m mutant, f fate) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, accepted := s.accepted[m.key()]
	failure := f.failure
	switch {
	case accepted && failure != "" && !strings.HasSuffix(failure, ": "+tooLong): // it may be slower
		s.wrong = errors.Join(s.wrong, fmt.Errorf("is accepted, but noticed, so remove it from the list: %s (%s)", m.key(), failure))
	case accepted:
		s.equivalent++
	case failure != "":
		s.noticed++
		if s.verbose {
			fmt.Fprintf(s.out, "noticed    %s (%s)\n", m, failure)
		}
	case f.reaching == 0:
		s.survived++
		s.unreached++
		fmt.Fprintf(s.out, "%s%s\n", unreachedMark, m)
	default:
		s.survived++
		if f.left > 0 {
			s.hurried++
		}
		fmt.Fprintf(s.out, "%s%s\n", survivedMark, m)
	}
}

// conclude prints the score.
func (s *score) conclude() error {
	all := s.noticed + s.survived
	if all == 0 {
		fmt.Fprintln(s.out, "no mutant was tried")
		return s.wrong
	}
	fmt.Fprintf(s.out, "%d of %d mutants are noticed (%.1f %%), %d survive; no test reaches %d of these, and for %d the time was up; %d more are accepted\n",
		s.noticed, all, 100*float64(s.noticed)/float64(all), s.survived, s.unreached, s.hurried, s.equivalent)
	return s.wrong
}

// listUnreached lists how many mutants of each function no test reaches.
func listUnreached(out io.Writer, mutants []mutant, tests []*test) {
	var functions []string
	counts, all := map[string]int{}, 0
	for _, m := range mutants {
		if slices.ContainsFunc(tests, func(t *test) bool { return t.broken == "" && t.reaches[m.number] == 1 }) {
			continue
		}
		name, _, _ := strings.Cut(m.name, ": ")
		function := m.file + ": " + name
		if counts[function] == 0 {
			functions = append(functions, function)
		}
		counts[function]++
		all++
	}
	for _, function := range functions {
		fmt.Fprintf(out, "%4d  %s\n", counts[function], function)
	}
	fmt.Fprintf(out, "no test reaches %d of %d mutants, in %d functions\n", all, len(mutants), len(functions))
}

// Command mutation measures what the tests of the engine notice. It changes the engine's code in one small place at a
// time, which makes a mutant, and runs the tests that reach this place: a mutant that fails none of them has survived.
//
//	go run ./internal/mutation -sample 200 -seed 1
//
// Mutants are conditions that are negated, operands of && and || that are dropped, comparisons with the other boundary,
// arithmetic with another operator or sign, results that are the opposite or nothing, and statements that are left out.
// There are none of locks, which the race detector is for, of panics that cannot happen, and of the words of String
// methods.
//
// All mutants are in one test binary of each package, behind a switch that an environment variable sets. So code is
// compiled once, and not for each mutant. The binaries are built with an overlay: no file of the repository is changed.
// Which tests reach a mutant is found out by running each test once by itself, without a mutant at work. Then those
// that reach it are run with it at work, the fast ones first, and of the slow ones those that noticed other mutants of
// the file, until one fails, takes too long or needs too much memory. A mutant has survived if none does within the
// processor time of -budget. A test takes too long if it needs ten times the time and the processor time that it takes
// without a mutant, and a few seconds more: mutants that go on or wait for ever are noticed by that.
//
// Mutants that do the same as the code, or that no test is to tell from it, are in accepted.txt, each with the reason.
// They do not count. A mutant of the file that is no longer there is an error, and so is one that a test notices, but
// by the time that it takes.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// options are what is asked of the command.
type options struct {
	code, tests      string
	accepted, again  string
	sample, parallel int
	seed             uint64
	period, budget   time.Duration
	times            int
	patience         time.Duration
	short, verbose   bool
	unreached        bool
}

func main() {
	var o options
	flag.StringVar(&o.code, "code", "./core/... ./reduction/...", "the packages that are mutated")
	flag.StringVar(&o.tests, "tests", ". ./core/... ./reduction ./properties ./properties/ltl ./adapters/plain", "the packages whose tests are run")
	flag.StringVar(&o.accepted, "accepted", filepath.Join("internal", "mutation", "accepted.txt"), "the file of the mutants that are accepted")
	flag.StringVar(&o.again, "again", "", "a file with what an earlier run printed: only the survivors in it are tried")
	flag.IntVar(&o.sample, "sample", 200, "how many mutants to try, 0 for all")
	flag.Uint64Var(&o.seed, "seed", 1, "which mutants are in the sample")
	flag.IntVar(&o.parallel, "parallel", 2, "how many tests to run at once")
	flag.DurationVar(&o.period, "time", 0, "begin no mutant after this time; what was tried is a sample then as well. 0 for no limit")
	flag.DurationVar(&o.budget, "budget", 2*time.Minute, "run tests that need so much processor time without a mutant; if none fails by then, it has survived")
	flag.IntVar(&o.times, "times", 10, "how many times the time that tests take without a mutant they may take with one")
	flag.DurationVar(&o.patience, "patience", 5*time.Second, "how much processor time they may take besides, and a third of how much time")
	flag.BoolVar(&o.unreached, "unreached", false, "try no mutant, but list how many of each function no test reaches")
	flag.BoolVar(&o.short, "short", true, "run the tests with -short")
	flag.BoolVar(&o.verbose, "v", false, "also print the mutants that are noticed, and by which test")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	scratch, err := os.MkdirTemp("", "mutation")
	if err == nil {
		err = errors.Join(run(ctx, o, ".", scratch, os.Stdout), os.RemoveAll(scratch))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// run tries mutants of the module in a folder.
func run(ctx context.Context, o options, root, scratch string, out io.Writer) error {
	began := time.Now()
	w, err := enter(ctx, root, scratch)
	if err != nil {
		return err
	}
	if err := w.mutate(ctx, strings.Fields(o.code)); err != nil {
		return err
	}
	accepted, err := readAccepted(filepath.Join(root, o.accepted), w.mutants)
	if err != nil {
		return err
	}
	tests, err := w.allTests(ctx, strings.Fields(o.tests), o.short)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d mutants, %d tests. Running each test by itself…\n", len(w.mutants), len(tests))
	err = parallel(o.parallel, tests, func(t *test) error { return t.record(ctx, w.scratch, len(w.mutants)) })
	if err != nil {
		return err
	}
	for _, t := range tests {
		if t.broken != "" {
			fmt.Fprintf(out, "takes no part, as it fails without a mutant: %s of %s: %s\n", t.name, t.suite.pkg, t.broken)
		}
	}
	chosen := sample(w.mutants, o.sample, o.seed)
	if o.again != "" {
		if chosen, err = survivorsIn(o.again, w.mutants); err != nil {
			return err
		}
	}
	works := time.Duration(0)
	for _, t := range tests {
		works += t.works
	}
	fmt.Fprintf(out, "They took %s of processor time.\n", works.Round(time.Second))
	if o.unreached {
		listUnreached(out, w.mutants, tests)
		return nil
	}
	fmt.Fprintf(out, "Trying %d mutants after %s…\n", len(chosen), time.Since(began).Round(time.Second))
	s, j := score{accepted: accepted, out: out, verbose: o.verbose}, newJury(tests, o.budget, o.times, o.patience)
	err = parallel(o.parallel, chosen, func(m mutant) error {
		if o.period > 0 && time.Since(began) > o.period {
			return nil
		}
		f, err := j.judge(ctx, m)
		if err != nil {
			return err
		}
		s.note(m, f)
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "seed %d, after %s: ", o.seed, time.Since(began).Round(time.Second))
	return s.conclude()
}

// allTests builds the tests of packages.
func (w *workshop) allTests(ctx context.Context, patterns []string, short bool) ([]*test, error) {
	folders, err := w.packages(ctx, patterns)
	if err != nil {
		return nil, err
	}
	var all []*test
	for _, p := range folders {
		binary, err := w.build(ctx, p.path)
		if err != nil {
			return nil, err
		}
		if binary == "" {
			continue
		}
		tests, err := (&suite{pkg: p.path, folder: p.folder, binary: binary, short: short, rapid: p.rapid}).tests(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, tests...)
	}
	return all, nil
}

// sample returns so many mutants, all for 0, in an order that a seed decides. The place of a mutant depends on nothing
// but the seed and what the mutant is called, so that a sample of changed code is that of the code before, but for what
// was changed.
func sample(mutants []mutant, n int, seed uint64) []mutant {
	places := make(map[int]uint64, len(mutants))
	for _, m := range mutants {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", seed, m.key())
		places[m.number] = rand.New(rand.NewPCG(h.Sum64(), seed)).Uint64()
	}
	chosen := slices.SortedStableFunc(slices.Values(mutants), func(a, b mutant) int { return cmp.Compare(places[a.number], places[b.number]) })
	if n > 0 && n < len(chosen) {
		chosen = chosen[:n]
	}
	return chosen
}

// parallel does something for each of a list, so many at once, and returns the first error.
func parallel[T any](n int, list []T, do func(T) error) error {
	var (
		all   sync.WaitGroup
		next  = make(chan T)
		first error
		once  sync.Once
		over  = make(chan struct{})
	)
	for range max(1, n) {
		all.Go(func() {
			for v := range next {
				if err := do(v); err != nil {
					once.Do(func() { first = err; close(over) })
					return
				}
			}
		})
	}
	for _, v := range list {
		select {
		case next <- v:
			continue
		case <-over:
		}
		break
	}
	close(next)
	all.Wait()
	return first
}

package cli

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/record"
)

// checkFlags are the flags of the check verb.
type checkFlags struct {
	reduction      string
	params         []string
	search         string
	workers        int
	maxStates      int
	maxDepth       int
	maxTime        time.Duration
	maxMemory      int64
	walks          int
	format         string
	dot, out, html string
	full, logs     bool
	// recordStates is how many states a record holds at most.
	recordStates int
	seed         int64

	changePoints int
	compact      bool

	checkpoint, resume string
	checkpointInterval time.Duration

	properties, propertyFiles []string
	without                   []string

	thorough          bool
	granularity       string
	stale, doubles    []string
	ignoredMemory     []string
	faultsIn          []string
	crashes, failures int
	orders            int
	deadlines         int

	from fromFlags
}

// addCheckFlags adds the flags to a command and returns where their values go.
func addCheckFlags(command *cobra.Command) *checkFlags {
	f := &checkFlags{reduction: string(orrery.ByPartialOrder),
		search: string(orrery.BreadthFirst), granularity: string(orrery.PerReconcile),
		format: "text", workers: runtime.GOMAXPROCS(0), seed: 1, recordStates: record.DefaultLimit, changePoints: 2, deadlines: orrery.DefaultDeadlines,
	}
	flags := command.Flags()
	flags.StringArrayVar(&f.params, "param", nil, "set a parameter of the system, as `NAME=VALUE` (repeatable)")
	flags.Var(&flagValue[string]{to: &f.reduction, parse: oneOf("none", "por", "symmetry"), text: f.reduction, kind: "none|por|symmetry"},
		"reduction", "skip orders of steps that cannot matter (por), also merge states that are equal up to renaming of interchangeable names (symmetry), or explore everything (none)")
	flags.BoolVar(&f.thorough, "thorough", false, "check first that all is well as long as nothing goes wrong, then with stale caches, a crash, a failed call, calls interleaved, users who delete and create, two instances of each controller, and somebody who deletes what controllers have made or changes an initial object, up to the first finding")
	addConditions(flags, f)
	f.from.add(flags)
	flags.Var(&flagValue[string]{to: &f.search, parse: oneOf("bfs", "dfs", "random", "pct", "swarm"), text: f.search, kind: "bfs|dfs|random|pct|swarm"},
		"search", "search breadth-first (bfs) or depth-first (dfs); sample a system that is too large with walks that take random steps (random), follow random priorities (pct), or both in turn (swarm)")
	flags.Var(&flagValue[int]{to: &f.workers, parse: natural, text: fmt.Sprint(f.workers), kind: "N"},
		"workers", "number of workers that search in parallel")
	flags.Var(&flagValue[int]{to: &f.maxStates, parse: natural, kind: "N"}, "max-states", "stop after this many states (default no limit)")
	flags.Var(&flagValue[int]{to: &f.walks, parse: natural, kind: "N"}, "walks",
		fmt.Sprintf("stop after this many walks (default %d, or as many as --max-time allows)", orrery.DefaultWalks))
	flags.Var(&flagValue[int]{to: &f.changePoints, parse: natural, text: fmt.Sprint(f.changePoints), kind: "N"},
		"change-points", "how often priorities change in each walk of --search pct")
	flags.Var(&flagValue[int]{to: &f.maxDepth, parse: natural, kind: "N"}, "max-depth",
		fmt.Sprintf("explore at most this many steps from an initial state (default for walks: %d)", orrery.DefaultWalkLength))
	flags.Var(&flagValue[time.Duration]{to: &f.maxTime, parse: period, kind: "D"}, "max-time", "stop after this time, such as 90s (default no limit)")
	flags.Var(&flagValue[int64]{to: &f.maxMemory, parse: memorySize, kind: "SIZE"}, "max-memory", "stop when this much memory is in use, such as 2GiB (default no limit)")
	flags.BoolVar(&f.compact, "compact", false, "store a hash of each state instead of the state: needs less memory, but may miss states; the report gives the probability")
	flags.StringVar(&f.checkpoint, "checkpoint", "", "keep what the search has found in `FILE` while it goes on, for --resume")
	flags.StringVar(&f.resume, "resume", "", "go on with the search whose checkpoint is `FILE`, and keep that up to date unless --checkpoint names another one")
	flags.Var(&flagValue[time.Duration]{to: &f.checkpointInterval, parse: period, text: "2m", kind: "D"}, "checkpoint-interval",
		"how often a checkpoint is synced to the disk")
	flags.StringArrayVar(&f.properties, "property", nil, "check the property with this `NAME`, or this formula, instead of the system's own properties (repeatable)")
	flags.StringArrayVar(&f.propertyFiles, "properties", nil, "also check the properties in this `FILE` (repeatable)")
	flags.StringArrayVar(&f.without, "without", nil,
		"ignore a `FIELD` when objects are compared, written as in findings: 'KIND: PATH', or '*: PATH' for all kinds (repeatable)")
	addFormat(command, &f.format)
	flags.StringVar(&f.dot, "dot", "", "draw the first finding, or the state graph if there is no finding, to `FILE` in the DOT language")
	flags.BoolVar(&f.full, "full", false, "tell stories to the end: all steps, calls, objects and fields, which are counted otherwise if they say little")
	flags.BoolVar(&f.logs, "logs", false, "tell in stories what controllers log in each step; records and pages then hold it, too, whatever it is")
	flags.StringVar(&f.html, "html", "", "write the report with all stories to `FILE`, as a page for browsers that needs nothing else")
	flags.StringVar(&f.out, "out", "", "write a record of the check to `FILE`")
	flags.Var(&flagValue[int]{to: &f.recordStates, parse: natural, text: fmt.Sprint(f.recordStates), kind: "N"}, "record-states",
		"put at most this many states into the record that --out writes")
	flags.Var(&flagValue[int64]{to: &f.seed, parse: whole, text: fmt.Sprint(f.seed), kind: "N"}, "seed", "seed `N` for the random choices of walks")
	return f
}

// addConditions adds the flags for what the world may do to the controllers.
func addConditions(flags *pflag.FlagSet, f *checkFlags) {
	flags.Var(&flagValue[string]{to: &f.granularity, parse: oneOf("reconcile", "call"), text: f.granularity, kind: "reconcile|call"},
		"granularity", "what one step is: a whole reconcile, or each of its calls")
	flags.StringArrayVar(&f.stale, "stale", nil,
		"how stale a cache may be, as `CONTROLLER/KIND=RULE` or all=RULE; * stands for all controllers or all kinds (repeatable; default all=fresh); see above for the rules")
	flags.Var(&flagValue[int]{to: &f.crashes, parse: natural, text: "0", kind: "N"}, "crashes", "how many crashes may happen in one run; a controller restarts after each (default 0)")
	flags.Var(&flagValue[int]{to: &f.failures, parse: natural, text: "0", kind: "N"}, "failures", "how many calls may fail in one run (default 0)")
	flags.StringArrayVar(&f.faultsIn, "faults-in", nil, "allow crashes and failed calls only in this `CONTROLLER` or process (repeatable; default all controllers)")
	flags.Var(&flagValue[int]{to: &f.orders, parse: natural, text: fmt.Sprint(orrery.DefaultOrders), kind: "N"},
		"orders", "maximum number of orders in which the concurrent calls of a reconcile are answered; 1 for one fixed order")
	flags.Var(&flagValue[int]{to: &f.deadlines, parse: natural, text: fmt.Sprint(f.deadlines), kind: "N"},
		"deadlines", "how often a time passes in one run that is longer than whatever controllers wait for; 0 searches no later times")
	flags.StringArrayVar(&f.ignoredMemory, "ignore-memory", nil, "what controllers keep in this `FIELD`, such as Reconciler.metrics, makes no difference (repeatable)")
	flags.StringArrayVar(&f.doubles, "double", nil, "run two active instances of this `CONTROLLER` or process, as after a lost lease (repeatable)")
}

// deadlinesOf returns the option for a number of deadlines: none is said there by a name.
func deadlinesOf(n int) int {
	if n == 0 {
		return orrery.NoDeadlines
	}
	return n
}

// options returns what the flags ask of the engine.
func (f *checkFlags) options() (orrery.Options, error) {
	stale, err := orrery.ParseStaleness(f.stale...)
	if err != nil {
		return orrery.Options{}, err
	}
	return orrery.Options{
		Reduction:   orrery.Reduction(f.reduction),
		Search:      orrery.Search(f.search),
		Workers:     f.workers,
		MaxStates:   f.maxStates,
		MaxDepth:    f.maxDepth,
		MaxTime:     f.maxTime,
		MaxMemory:   f.maxMemory,
		Walks:       f.walks,
		Granularity: orrery.Granularity(f.granularity),
		Stale:       stale,
		Crashes:     f.crashes,
		Failures:    f.failures,
		FaultsIn:    f.faultsIn,
		Doubles:     f.doubles,

		IgnoreMemory: f.ignoredMemory,
		Orders:       f.orders,
		Deadlines:    deadlinesOf(f.deadlines),
		Seed:         f.seed,

		ChangePoints: f.changePoints,
		Compact:      f.compact,
		Logs:         f.logs,
	}, nil
}

// recorded returns the flags that were given and that bear on the result.
func recorded(flags *pflag.FlagSet) map[string][]string {
	given := map[string][]string{}
	flags.Visit(func(flag *pflag.Flag) {
		switch value := flag.Value.(type) {
		case pflag.SliceValue:
			given[flag.Name] = value.GetSlice()
		default:
			given[flag.Name] = []string{value.String()}
		}
	})
	for _, name := range []string{"param", "format", "full", "logs", "dot", "html", "out", "record-states", "checkpoint", "resume", "checkpoint-interval"} {
		delete(given, name)
	}
	return given
}

// enumeration returns words as a list, quoted.
func enumeration[S ~string](words []S) string {
	if len(words) == 0 {
		return "none"
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = fmt.Sprintf("%q", string(word))
	}
	return strings.Join(quoted, ", ")
}

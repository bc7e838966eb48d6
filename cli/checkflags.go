package cli

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
)

// checkFlags are the flags of the check verb.
type checkFlags struct {
	params     []string
	stale      []string
	search     string
	workers    int
	maxStates  int
	maxDepth   int
	maxTime    time.Duration
	maxMemory  int64
	properties []string
	format     string
	dot, out   string
	seed       int64
}

// addCheckFlags adds the flags to a command and returns where their values go.
func addCheckFlags(command *cobra.Command) *checkFlags {
	f := &checkFlags{search: string(orrery.BreadthFirst), format: "text", workers: runtime.GOMAXPROCS(0)}
	flags := command.Flags()
	flags.StringArrayVar(&f.params, "param", nil, "set a parameter of the system, as `NAME=VALUE` (repeatable)")
	flags.Var(&flagValue[string]{to: new(string), parse: oneOf("none", "por"), text: "por", kind: "none|por"},
		"reduction", "leave out orders that cannot matter, where the engine knows how")
	flags.Var(&flagValue[string]{to: new(string), parse: granularity, text: "reconcile", kind: "reconcile"},
		"granularity", "what is one step")
	flags.StringArrayVar(&f.stale, "stale", nil, "how far a cache may lag behind, as `CONTROLLER/KIND=RULE` (repeatable; the only rule is fresh)")
	flags.Var(&flagValue[int]{to: new(int), parse: noneOf("crashes"), text: "0", kind: "N"}, "crashes", "how many crashes may happen (only 0)")
	flags.Var(&flagValue[int]{to: new(int), parse: noneOf("failed calls"), text: "0", kind: "N"}, "failures", "how many calls may fail (only 0)")
	flags.Var(&flagValue[string]{to: &f.search, parse: oneOf("bfs", "dfs"), text: f.search, kind: "bfs|dfs"},
		"search", "order of the search: breadth-first or depth-first")
	flags.Var(&flagValue[int]{to: &f.workers, parse: natural, text: fmt.Sprint(f.workers), kind: "N"},
		"workers", "how many workers search at once")
	flags.Var(&flagValue[int]{to: &f.maxStates, parse: natural, kind: "N"}, "max-states", "stop after this many states")
	flags.Var(&flagValue[int]{to: &f.maxDepth, parse: natural, kind: "N"}, "max-depth", "do not go further than this many steps")
	flags.Var(&flagValue[time.Duration]{to: &f.maxTime, parse: period, kind: "D"}, "max-time", "stop after this time, such as 90s")
	flags.Var(&flagValue[int64]{to: &f.maxMemory, parse: memorySize, kind: "SIZE"}, "max-memory", "stop at this much memory, such as 2GiB")
	flags.StringArrayVar(&f.properties, "property", nil, "check the property of this `NAME` instead of the system's own (repeatable)")
	addFormat(command, &f.format)
	flags.StringVar(&f.dot, "dot", "", "draw the first finding, or the graph if there is none, to `FILE`")
	flags.StringVar(&f.out, "out", "", "record the run in `FILE`")
	flags.Int64Var(&f.seed, "seed", 1, "seed `N` for random choices")
	return f
}

// granularity takes the only granularity there is.
func granularity(text string) (string, error) {
	switch text {
	case "reconcile":
		return text, nil
	case "call":
		return "", errors.New("call is not available yet: use reconcile")
	}
	return "", errors.New("use reconcile")
}

// noneOf takes the only number of faults there is.
func noneOf(what string) func(string) (int, error) {
	return func(text string) (int, error) {
		if n, err := natural(text); n != 0 || err != nil {
			return 0, fmt.Errorf("%s are not simulated yet: use 0", what)
		}
		return 0, nil
	}
}

// options returns what the flags ask of the engine.
func (f *checkFlags) options() orrery.Options {
	return orrery.Options{
		Search:    orrery.Search(f.search),
		Workers:   f.workers,
		MaxStates: f.maxStates,
		MaxDepth:  f.maxDepth,
		MaxTime:   f.maxTime,
		MaxMemory: f.maxMemory,
		Seed:      f.seed,
	}
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
	for _, name := range []string{"param", "format", "dot", "out"} {
		delete(given, name)
	}
	return given
}

// checkStale returns an error unless every rule is one that the system can be
// checked under: a word that matches nothing must not switch staleness off.
func (f *checkFlags) checkStale(system *core.System) error {
	for _, rule := range f.stale {
		stream, name, found := strings.Cut(rule, "=")
		slash := strings.LastIndexByte(stream, '/')
		if !found || slash < 0 {
			return fmt.Errorf("--stale %s: use CONTROLLER/KIND=RULE, such as web/Pod=fresh", rule)
		}
		if err := checkStream(system, stream[:slash], core.Kind(stream[slash+1:])); err != nil {
			return fmt.Errorf("--stale %s: %w", rule, err)
		}
		if name != "fresh" {
			return fmt.Errorf("--stale %s: the rule %q is not available yet: use fresh", rule, name)
		}
	}
	return nil
}

// checkStream returns an error unless the system has a controller of this name
// that watches the kind.
func checkStream(system *core.System, controller string, kind core.Kind) error {
	var names []string
	for _, strategy := range system.Strategies {
		d := strategy.Describe()
		names = append(names, d.Name)
		if d.Name != controller {
			continue
		}
		if slices.Contains(d.Watches, kind) {
			return nil
		}
		return fmt.Errorf("controller %q does not watch %q: it watches %s", controller, kind, enumeration(d.Watches))
	}
	return fmt.Errorf("there is no controller %q: the controllers are %s", controller, enumeration(names))
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

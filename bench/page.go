package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteText writes a report for people: what was measured, in tables, with a command for each table, and
// what it is held against.
func WriteText(w io.Writer, r *Report) {
	m := r.Machine
	fmt.Fprintf(w, "Benchmarks on %s/%s, %d processors, %s.\n", m.OS, m.Architecture, m.Processors, m.Go)
	fmt.Fprint(w, `
Every search is a process of its own. Times are by the clock and do not include its start.
What is compared was run in turn; of several turns the tables show the one of median time.
Other work on the machine makes times longer. So rates of one worker are by the processor time
if that is less than the time by the clock, for all tools.
`)
	for _, page := range []struct {
		section, title string
		about          string
		table          func([]Run) table
	}{
		{reductionSection, "Full against reduced", "Complete checks, the system's own properties included.", pairTable},
		{growthSection, "Growth", "The same, with ever more of what has nothing to do with each other.", pairTable},
		{controllersSection, "Controllers", `Complete checks of operators from the examples and of the published JobSet controllers, also
  with a crash, a failed call, or stale caches.`, controllerTable},
		{speedSection, "Speed and memory", `The same model for all tools. Nothing is judged but what every search sees by itself.
  Bytes per state are those beyond a search of one counter. Orrery and Rumur tell the memory that
  was resident at most, SPIN what it took; to make verifiers is not in the time.`, speedTable},
		{compactSection, "Hashes in place of states", "The same once more, with --compact: states are told apart by 64 bits of a hash.", speedTable},
		{codeSection, "Runs of code", "Full searches. Code runs to learn a behaviour and once more to audit it; all other steps are looked up.", codeTable},
		{contendedSection, "Nothing to leave out", "No two steps of this model commute: what a reduction costs where it is of no use.", speedTable},
	} {
		runs := r.section(page.section)
		if len(runs) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n\n  %s\n\n", page.title, page.about)
		t := page.table(runs)
		t.write(w)
		writeCommands(w, runs)
	}
	writeTargets(w, r.Targets)
	if len(r.Notes) > 0 {
		fmt.Fprintln(w, "\nNotes")
		for _, note := range r.Notes {
			fmt.Fprintf(w, "\n  %s.", note)
		}
		fmt.Fprintln(w)
	}
}

// pairTable puts full and reduced searches of a system side by side.
func pairTable(runs []Run) table {
	t := table{labels: 2}
	t.add("system", "", "states", "steps", "time", "reduced: states", "steps", "time", "fewer states")
	for _, p := range facing(runs) {
		t.add(slices.Concat([]string{p.subject.System, p.subject.Params}, searched(p.full), searched(p.reduced), []string{times(p.fewer())})...)
	}
	return t
}

// searched tells of a run, if there is one.
func searched(run *Run) []string {
	if run == nil {
		return []string{unknown, unknown, unknown}
	}
	return []string{count(run.States), count(run.Transitions), seconds(run.Seconds)}
}

// controllerTable puts full and reduced searches of a system side by side, with what both of them say of it.
func controllerTable(runs []Run) table {
	t := table{labels: 4}
	t.add("system", "", "", "verdict", "outcomes", "states", "steps", "runs of code", "time",
		"reduced: states", "steps", "runs of code", "time", "fewer states")
	for _, p := range facing(runs) {
		judged := cmp.Or(p.full, p.reduced)
		t.add(slices.Concat(
			[]string{p.subject.System, p.subject.Params, p.subject.Conditions, judged.Verdict, count(judged.Outcomes)},
			ran(p.full), ran(p.reduced), []string{times(p.fewer())},
		)...)
	}
	return t
}

// ran tells of a run, if there is one, and how often code ran in it.
func ran(run *Run) []string {
	cells := searched(run)
	code := unknown
	if run != nil {
		code = count(run.Executed)
	}
	return slices.Insert(cells, 2, code)
}

// speedTable has a line for each search.
func speedTable(runs []Run) table {
	t := table{labels: 4}
	t.add("tool", "system", "", "search", "workers", "states", "time", "processor time", "states/s", "steps/s", "memory", "bytes/state")
	for _, run := range typical(runs) {
		t.add(run.Tool, run.System, run.Params, run.search(), count(run.Workers), count(run.States), seconds(run.Seconds), seconds(run.ProcessorSeconds),
			known(run.StatesPerSecond), known(run.StepsPerSecond), mebibytes(run.PeakBytes), known(run.BytesPerState))
	}
	return t
}

// codeTable tells how often code ran.
func codeTable(runs []Run) table {
	t := table{labels: 2}
	t.add("system", "", "states", "steps", "runs of code", "steps without", "time", "processor time", "of these per second and worker")
	for _, run := range typical(runs) {
		t.add(run.System, run.Params, count(run.States), count(run.Transitions), count(run.Executed), count(run.FromTree),
			seconds(run.Seconds), seconds(run.ProcessorSeconds), known(run.TreePerSecond))
	}
	return t
}

// writeCommands shows the command of the largest search of each tool.
func writeCommands(w io.Writer, runs []Run) {
	largest := map[string]Run{}
	for _, run := range runs {
		if run.States > largest[run.Tool].States {
			largest[run.Tool] = run
		}
	}
	fmt.Fprintln(w)
	for _, tool := range []string{Orrery, Spin, Rumur} {
		if run, measured := largest[tool]; measured {
			fmt.Fprintf(w, "  $ %s\n", run.Command)
		}
	}
}

// writeTargets tells what was wanted, what there is, and of what could not be judged why.
func writeTargets(w io.Writer, targets []Target) {
	fmt.Fprint(w, "\nTargets\n\n")
	t := table{labels: 3}
	t.add("", "", "wanted", "measured", "turns")
	var reasons []string
	for _, target := range targets {
		measured := unknown
		if target.Measured != nil {
			measured = number(*target.Measured)
		}
		if reason := fmt.Sprintf("  %s: %s.", Open, target.Why); target.Why != "" && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		var turns []string
		for _, turn := range target.Turns {
			turns = append(turns, number(turn))
		}
		wanted := fmt.Sprintf("%s %s %s", target.Relation, known(target.Bound), target.Unit)
		t.add(string(target.Met), target.Name, wanted, measured, strings.Join(turns, " "))
	}
	t.write(w)
	if len(reasons) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(reasons, "\n"))
	}
}

package bench

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// The tools that take trials.
const (
	// Orrery is the checker that is measured.
	Orrery = "orrery"
	// Spin and Rumur are the checkers that it is measured beside, see https://spinroot.com and
	// https://github.com/Smattr/rumur.
	Spin  = "spin"
	Rumur = "rumur"
)

// Names of reductions.
const (
	full    = "none"
	reduced = "por"
)

// Trial is one search that is to be measured.
type Trial struct {
	// Tool is [Orrery], [Spin] or [Rumur].
	Tool string `json:"tool"`
	// System is the name of the system in the catalog, and Params its parameters as
	// "name=value" words with a space between them.
	System string `json:"system"`
	Params string `json:"params"`
	// Conditions are what may happen to the controllers: flags of a check as "name=value" words.
	Conditions string `json:"conditions,omitempty"`
	// Reduction is "none" for a full search, or "por".
	Reduction string `json:"reduction"`
	// Workers is how many workers search at once.
	Workers int `json:"workers"`
	// Compact tells that the search keeps hashes in place of states.
	Compact bool `json:"compact"`
	// Judged tells that the system's own properties are checked. Otherwise it is a bare search,
	// as one for safety: it finds panics and the like, and all ends.
	Judged bool `json:"judged"`
}

// String returns a trial in a few words.
func (t Trial) String() string {
	words := strings.Fields(t.Tool + " " + t.System + " " + t.Params + " " + t.Conditions)
	return strings.Join(append(words, t.search(), "search, workers="+strconv.Itoa(t.Workers)), " ")
}

// search returns what kind of search a trial is.
func (t Trial) search() string {
	kind := "full"
	if t.Reduction != full {
		kind = "reduced"
	}
	if t.Compact {
		kind = "compact " + kind
	}
	return kind
}

// subject returns a trial as far as it says what is searched.
func (t Trial) subject() Trial {
	return Trial{System: t.System, Params: t.Params, Conditions: t.Conditions}
}

// param returns the value of a parameter, and false if the trial does not set it.
func (t Trial) param(name string) (int, bool) {
	for _, word := range strings.Fields(t.Params) {
		if key, text, _ := strings.Cut(word, "="); key == name {
			value, err := strconv.Atoi(text)
			return value, err == nil
		}
	}
	return 0, false
}

// Sample is what one search told of itself.
type Sample struct {
	// Verdict is the verdict of the search, and Outcomes counts the different ends that it found. Only Orrery tells
	// them.
	Verdict  string `json:"verdict,omitempty"`
	Outcomes int    `json:"outcomes,omitempty"`
	// States and Transitions count as those of a report do.
	States      int `json:"states"`
	Transitions int `json:"transitions"`
	// Seconds is the time the search took by the clock, without the start of the process, and
	// ProcessorSeconds the time that processors worked for the whole process.
	Seconds          float64 `json:"seconds"`
	ProcessorSeconds float64 `json:"processor_seconds"`
	// PeakBytes is the most memory that the process had, 0 if that is not known.
	PeakBytes int64 `json:"peak_bytes"`
	// Executed counts real runs of controller code, and FromTree the steps that needed none.
	// Other tools have no such thing.
	Executed int `json:"reconciles_executed,omitempty"`
	FromTree int `json:"steps_from_tree,omitempty"`
}

// undisturbed returns an upper bound of the seconds that the search takes on a machine that has nothing else
// to do. One worker that got less processor time than the clock went on had to wait for a processor.
func (s Sample) undisturbed(workers int) float64 {
	if workers == 1 && s.ProcessorSeconds > 0 {
		return min(s.Seconds, s.ProcessorSeconds)
	}
	return s.Seconds
}

// disturbed reports whether a search by one worker had to wait for a processor for more than a tenth of its time.
func (s Sample) disturbed() bool { return s.ProcessorSeconds < 0.9*s.Seconds }

// typed returns a command line as it is typed into a shell.
func typed(words []string) string {
	quoted := slices.Clone(words)
	for i, word := range quoted {
		if strings.ContainsAny(word, " ()*") {
			quoted[i] = "'" + word + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// Tool takes trials.
type Tool interface {
	// Command returns the command line of a trial, as it is typed into a shell.
	Command(Trial) string
	// Run takes a trial. An error means that it cannot be taken, or was not complete; the
	// error of the context is in it if that has ended.
	Run(context.Context, Trial) (Sample, error)
}

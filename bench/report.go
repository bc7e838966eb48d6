package bench

// Schema names the form of a [Report] as JSON.
const Schema = "orrery.bench/v1"

// Report is the result of a benchmark as plain data. Its JSON form is a contract.
type Report struct {
	Schema string `json:"schema"`
	// Quick tells that everything was small, so that times and memory mean little.
	Quick   bool    `json:"quick"`
	Machine Machine `json:"machine"`
	// Sections are what was measured, in the order in which it was.
	Sections []Section `json:"sections"`
	// Targets are what the measurements are held against.
	Targets []Target `json:"targets"`
	// Notes say what was not measured, and why.
	Notes []string `json:"notes"`
}

// Machine is where a benchmark ran.
type Machine struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	// Processors is how many goroutines can run at once.
	Processors int    `json:"processors"`
	Go         string `json:"go"`
}

// Section is a number of runs that are to be seen together.
type Section struct {
	Name string `json:"name"`
	Runs []Run  `json:"runs"`
}

// Run is a trial that was taken, with what came of it.
type Run struct {
	Trial
	// Turn numbers, from 1, the runs of a trial that is taken more than once. What is to be
	// compared is of the same turn.
	Turn int `json:"turn"`
	// Command is the command line that was run.
	Command string `json:"command"`
	Sample
	// UndisturbedSeconds is at most what the search takes on a machine that has nothing else to do: the time by the
	// clock, or for one worker the processor time if that is less.
	UndisturbedSeconds float64 `json:"undisturbed_seconds"`
	// StatesPerSecond and StepsPerSecond are of the undisturbed time, 0 if the run was too short to tell.
	StatesPerSecond float64 `json:"states_per_second"`
	StepsPerSecond  float64 `json:"steps_per_second"`
	// TreePerSecond is how many steps that needed no run of code a worker took in a second.
	TreePerSecond float64 `json:"steps_from_tree_per_second_per_worker"`
	// BytesPerState is the memory beyond what the same tool needs for a tiny search, 0 if
	// that is not known or there are too few states to tell.
	BytesPerState float64 `json:"bytes_per_state"`
}

// section returns the runs of a section, none if it was not measured.
func (r *Report) section(name string) []Run {
	for _, s := range r.Sections {
		if s.Name == name {
			return s.Runs
		}
	}
	return nil
}

// Missed reports whether a target was missed.
func (r *Report) Missed() bool {
	for _, t := range r.Targets {
		if t.Met == Missed {
			return true
		}
	}
	return false
}

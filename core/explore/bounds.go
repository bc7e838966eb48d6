package explore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/internal/resident"
)

var (
	// errFull ends a search that may not store more states.
	errFull = errors.New("no more states may be stored")
	// errTime is the cause of the end of a search that took too long.
	errTime = errors.New("the search reached the time limit")
)

// interrupted turns an error that is no fault of the system's into a reason.
func (s *search) interrupted(err error) error {
	switch {
	case errors.Is(err, errFull):
	case s.context.Err() != nil && errors.Is(err, s.context.Err()):
		s.fellShort(endOf(s.context, s.options.Bounds))
	default:
		return err
	}
	// What was being expanded is not complete.
	s.cutShort = true
	s.cutAll(s.batch.states)
	return nil
}

// goesOn reports whether there are states to expand, or finds some that have to be. Nothing goes on when the context
// has ended meanwhile.
func (s *search) goesOn() bool {
	if s.overlapping || s.frontier.len() > 0 {
		return true
	}
	more := false
	err := s.Within(s.context, func() error {
		more = s.applyProvisos() || s.arrangeEnds()
		return nil
	})
	if err != nil {
		s.fellShort(endOf(s.context, s.options.Bounds))
		s.cutShort = true
	}
	return more && err == nil
}

// judgingShare is which part of the time is left to judge what was found: one fifth.
const judgingShare = 5

// endOf says why the context of a search ended.
func endOf(ctx context.Context, bounds Bounds) string {
	if errors.Is(context.Cause(ctx), errTime) {
		return fmt.Sprintf("the search reached the time limit (%s): raise --max-time (Options.MaxTime), or make the system smaller", rounded(bounds.Time))
	}
	return "the search was interrupted"
}

// rounded leaves out of a limit what nobody has asked for: some limits are a share of the time that is left.
func rounded(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

// exhausted returns which bound was hit, empty if none.
func (s *search) exhausted() string {
	if s.context.Err() != nil {
		return endOf(s.context, s.options.Bounds)
	}
	if s.machine.Unbounded != "" {
		return s.machine.Unbounded
	}
	if s.table != nil && !s.enlarge() {
		return s.outOfMemory()
	}
	elapsed := time.Since(s.began)
	if !s.meter.due(elapsed) {
		return ""
	}
	memory := s.meter.memory()
	if s.meter.full(memory) {
		if memory = s.meter.reclaim(); s.meter.cramped(memory) {
			return s.outOfMemory()
		}
	}
	s.options.Logger.Debug("the search goes on", "states", s.States(), "transitions", s.Stats.Transitions, "frontier", s.frontier.len(),
		"depth", s.Stats.Depth, "memory", hclog.Fmt("%d MiB", memory>>20))
	if s.options.Progress != nil {
		s.options.Progress(Progress{
			States:      s.States(),
			Transitions: s.Stats.Transitions,
			Frontier:    s.frontier.len(),
			Depth:       s.Stats.Depth,
			Memory:      memory,
			Estimate:    s.estimate(),
		})
	}
	return ""
}

// enlarge makes the tables large enough for the workers to insert all that a batch is likely to bring. It returns false
// if there is no memory for that.
func (s *search) enlarge() bool {
	const steps = 8 // to new states
	states := steps * min(s.frontier.len(), batchLen)
	for {
		growth := s.table.GrowthFor(states)
		if growth == 0 {
			return true
		}
		if !s.meter.affords(growth) {
			return false
		}
		s.table.Grow(states)
	}
}

func (s *search) outOfMemory() string {
	return fmt.Sprintf("the search reached the memory limit (%d MiB): raise --max-memory (Options.MaxMemory), or make the system smaller", s.meter.limit>>20)
}

// beyond reports whether steps from this depth lead beyond the bound.
func (s *search) beyond(depth uint32) bool {
	return s.options.Bounds.Depth > 0 && int(depth) >= s.options.Bounds.Depth
}

// fellShort adds a reason why the search ended before its end, with what was still to be expected, and why it has come
// to less than it had before it was begun again.
func (s *search) fellShort(reason string) {
	if e := s.options.earlier; e != nil && e.why != "" && e.largest > s.States() {
		reason += fmt.Sprintf("; it was begun again as %s, after %d states", e.why, e.largest)
	}
	if estimate := s.estimate().String(); estimate != "" {
		reason += "; " + estimate
	}
	s.because(reason)
}

// estimate tells what is still to come. Only the levels of a breadth-first search tell.
func (s *search) estimate() Estimate {
	if s.order != BreadthFirst || len(s.batch.states) == 0 {
		return Estimate{}
	}
	return s.levels.estimate(s.batch.states[len(s.batch.states)-1].depth)
}

// Estimate is what the levels of a breadth-first search tell of what is still to come. A level is all states at one
// distance from the start. It is an extrapolation, not a bound: levels use to grow and then to shrink, but nothing
// makes them.
type Estimate struct {
	// Growth is by what factor a level is wider than the one before, lately; 0 if there are too few levels
	// to tell.
	Growth float64
	// Ends tells that the levels shrink. Then More is about how many states are still to be found; otherwise about how
	// many there are in the next level alone.
	Ends bool
	More float64
}

// String says it in words, nothing if there is nothing to say.
func (o Estimate) String() string {
	switch {
	case o.Growth == 0:
		return ""
	case o.Ends && o.More < 1:
		return "estimate from the last levels: almost no more states"
	case o.Ends:
		return fmt.Sprintf("estimate from the last levels: about %s more states", roughly(o.More))
	case o.Growth > steady && o.More < 1: // the next level has more than was to be expected
		return fmt.Sprintf("no estimate: levels are still growing, each by a factor of more than %.2g", o.Growth)
	case o.Growth > steady:
		return fmt.Sprintf("no estimate: levels are still growing, each by a factor of about %.2g; the next level alone adds about %s states", o.Growth, roughly(o.More))
	}
	return "no estimate: levels are not shrinking yet"
}

// Short says it in a few words, for a line of progress.
func (o Estimate) Short() string {
	switch {
	case o.Growth == 0:
		return ""
	case o.Ends:
		return fmt.Sprintf("about %s more expected", roughly(o.More))
	}
	return fmt.Sprintf("growing ×%.2g per level", o.Growth)
}

const (
	// trendLevels is how many levels the trend is taken from.
	trendLevels = 5
	// steady is the growth up to which levels count as equally wide, and its inverse that from which on they shrink.
	steady = 1.05
)

// levels counts the states of each level.
type levels struct{ widths []int }

// add counts a state.
func (l *levels) add(depth uint32) {
	for len(l.widths) <= int(depth) {
		l.widths = append(l.widths, 0)
	}
	l.widths[depth]++
}

// estimate extrapolates from the levels up to one, all states of which are known; of the one after it some are.
func (l *levels) estimate(whole uint32) Estimate {
	n := int(whole) + 1
	if n < trendLevels || n > len(l.widths) {
		return Estimate{}
	}
	var logs [trendLevels]float64
	for i, width := range l.widths[n-trendLevels : n] {
		logs[i] = math.Log(float64(width))
	}
	// Growth slackens as a rule. One level alone does not tell, as in some systems only every second or fourth one
	// grows.
	last := logs[trendLevels-1]
	o := Estimate{Growth: math.Exp(min((last-logs[0])/(trendLevels-1), (last-logs[trendLevels-3])/2))}
	o.Ends = o.Growth < 1/steady
	known := 0
	if n < len(l.widths) {
		known = l.widths[n]
	}
	if o.Ends {
		o.More = tail(logs)
	} else {
		o.More = math.Exp(last) * o.Growth
	}
	o.More = max(o.More-float64(known), 0)
	return o
}

// tail sums the levels to come, if what the growth changes by from level to level stays as it is: the levels of state
// spaces often have the form of a bell, and their logarithms that of a parabola.
func tail(logs [trendLevels]float64) float64 {
	// A straight line through the logarithms of the growth, by least squares.
	const n = trendLevels - 1
	var mean, slope, spread float64
	for i := range n {
		mean += (logs[i+1] - logs[i]) / n
	}
	for i := range n {
		x := float64(i) - float64(n-1)/2
		slope += x * (logs[i+1] - logs[i])
		spread += x * x
	}
	slope = min(slope/spread, 0)
	growth := min(mean+slope*float64(n-1)/2, -math.Log(steady))
	var sum float64
	for width := logs[trendLevels-1]; ; {
		growth += slope
		width += growth
		if width < 0 { // less than one state
			return sum
		}
		sum += math.Exp(width)
	}
}

// roughly writes a number with two significant digits, and large ones in words.
func roughly(n float64) string {
	if n >= 100 {
		step := math.Pow(10, math.Floor(math.Log10(n))-1)
		n = math.Round(n/step) * step
	}
	switch {
	case n >= 1e12:
		return fmt.Sprintf("%.3g trillion", n/1e12)
	case n >= 1e9:
		return fmt.Sprintf("%.3g billion", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.3g million", n/1e6)
	}
	return fmt.Sprintf("%.0f", math.Ceil(n))
}

// meterEvery is how often memory is looked at and progress told.
const meterEvery = 100 * time.Millisecond

// meter reads how much memory the process uses: at once, and then now and then.
type meter struct {
	// limit is how much it may use, in bytes; 0 means as much as there is.
	limit  int64
	next   time.Duration
	sample []metrics.Sample
	// foreign is how much of what is used is not of the Go runtime, as of the last call of memory.
	foreign int64
}

// herald shows the progress of a search, also while code is run: a search may come to no other state for minutes then.
type herald struct {
	progress func(Progress)
	began    time.Time
	meter    meter
	last     Progress
}

// searched shows how far a search has come.
func (h *herald) searched(p Progress) {
	p.Runs = h.last.Runs
	h.last = p
	h.meter.due(time.Since(h.began))
	h.progress(p)
}

// ran counts a run of code. Where it is shown that more is used than the limit, that is no garbage: between two looks of
// the search, much may have come together on a machine that is busy.
func (h *herald) ran() {
	if h.last.Runs++; h.meter.due(time.Since(h.began)) {
		if h.last.Memory = h.meter.memory(); h.meter.over(h.last.Memory) {
			h.last.Memory = h.meter.reclaim()
		}
		h.progress(h.last)
	}
}

// due reports whether it is time to look again.
func (m *meter) due(elapsed time.Duration) bool {
	if elapsed < m.next {
		return false
	}
	m.next = elapsed + meterEvery
	return true
}

// memory returns the bytes that the Go runtime has mapped and not given back, and those of the program itself.
func (m *meter) memory() int64 {
	if m.sample == nil {
		m.sample = []metrics.Sample{
			{Name: "/memory/classes/total:bytes"},
			{Name: "/memory/classes/heap/released:bytes"},
			{Name: "/gc/heap/live:bytes"},
		}
	}
	metrics.Read(m.sample)
	m.foreign = resident.Foreign()
	return int64(m.sample[0].Value.Uint64()-m.sample[1].Value.Uint64()) + m.foreign
}

// live returns the bytes that were in use when garbage was last collected, as of the last call of memory.
func (m *meter) live() int64 { return int64(m.sample[2].Value.Uint64()) }

// full reports whether so much is used that a search has to end. What is left is for the collector of garbage, which
// would soon do nothing but run, and for those who judge what was found: they need about half as much again.
func (m *meter) full(memory int64) bool {
	return m.over(memory) || m.limit > 0 && m.live() >= (m.limit-m.foreign)/8*5
}

// over reports whether the limit is reached, be it by garbage.
func (m *meter) over(memory int64) bool { return m.limit > 0 && memory >= m.limit }

// reclaim collects garbage and gives back what is free, which somebody else in the process may have left, and returns
// what memory would return then.
func (m *meter) reclaim() int64 {
	debug.FreeOSMemory()
	return m.memory()
}

// cramped reports whether so much is used where nothing can be reclaimed that a search has to end. It leaves some room
// before the limit, so that a search does not spend its time on reclaiming little.
func (m *meter) cramped(memory int64) bool {
	return m.full(memory + m.limit/8)
}

// affords reports whether so many bytes at once are within the limit.
func (m *meter) affords(bytes int64) bool {
	if m.limit == 0 || m.memory()+bytes <= m.limit {
		return true
	}
	runtime.GC()
	m.memory()
	return m.live()+bytes <= (m.limit-m.foreign)/8*7
}

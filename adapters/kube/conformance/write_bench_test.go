package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// BenchmarkWrite puts the cost of a write on the simulated server, which remembers
// nothing here, beside that of the same write on the real one:
//
//	go test -run '^$' -bench Write -requests 1
//
// Both are made by the same kind of client, in turn and a few at a time, so that whatever
// else the machine does slows down both. The numbers are medians. The simulated server is
// the one that controllers are checked with. "recording" is the one of the comparisons,
// which keeps the record of who manages which fields from the start, as a real server
// does.
func BenchmarkWrite(b *testing.B) {
	l := newLaboratory(b)
	server, err := kube.NewServer(l.Simulated.scheme, kube.DefinitionFiles(definitionsPath))
	if err != nil {
		b.Fatal(err)
	}
	usual := &Simulated{server: server, scheme: l.Simulated.scheme, subjects: l.Subjects}
	simulated, world, err := usual.Begin(b.Context(), "-r00000")
	if err != nil {
		b.Fatal(err)
	}
	recording, recordingWorld, err := l.Simulated.Begin(b.Context(), "-r00000")
	if err != nil {
		b.Fatal(err)
	}
	real, err := l.Real.Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, w := range writes() {
		b.Run(w.name, func(b *testing.B) {
			runs := [...]*series{w.begin(b, simulated), w.begin(b, recording), w.begin(b, real)}
			for b.Loop() {
				for _, r := range runs {
					r.several(b)
				}
				// Nobody refers to earlier versions any more.
				clear(world.past)
				clear(recordingWorld.past)
			}
			micros := func(i int) float64 { return float64(runs[i].median()) / float64(time.Microsecond) }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(micros(0), "simulated-µs")
			b.ReportMetric(micros(1), "recording-µs")
			b.ReportMetric(micros(2), "real-µs")
			b.ReportMetric(micros(2)/micros(0), "real/simulated")
			b.ReportMetric(micros(2)/micros(1), "real/recording")
		})
	}
}

// series is a write that is made on one side again and again.
type series struct {
	do writing
	n  int
	// times are those that it took.
	times []time.Duration
}

// begin makes the first write, which makes what all others find, and does not count.
func (w write) begin(b *testing.B, side *Side) *series {
	b.Helper()
	do, err := w.prepare(b.Context(), side.client, "one"+side.suffix)
	if err != nil {
		b.Fatal(err)
	}
	s := &series{do: do}
	s.once(b)
	s.times = nil
	return s
}

// several makes a few writes, and keeps how long each took.
func (s *series) several(b *testing.B) {
	b.Helper()
	const few = 10
	for range few {
		s.once(b)
	}
}

func (s *series) once(b *testing.B) {
	b.Helper()
	began := time.Now()
	undo, err := s.do(b.Context(), s.n)
	s.times = append(s.times, time.Since(began))
	if err == nil && undo != nil {
		err = undo()
	}
	if err != nil {
		b.Fatal(err)
	}
	s.n++
}

func (s *series) median() time.Duration {
	slices.Sort(s.times)
	return s.times[len(s.times)/2]
}

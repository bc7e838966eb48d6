package analysis_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

var (
	recording  = flag.String("recording", "", "a folder in which a recording for measurements is kept; it is made if there is none")
	reconciles = flag.Int("reconciles", 1_000_000, "how many reconciles that recording has")
)

// generated writes a recording in files of some size, as a recorder does: so many reconciles of four controllers about
// a hundredth as many widgets. Each is woken by the event of a write, reads its widget from the cache, which once in
// 997 times is one version behind, and writes it.
func generated(open func(part int) (io.WriteCloser, error), fileSize, reconciles int) error {
	type widget struct{ rv, before, written int }
	g := &generator{open: open, fileSize: fileSize}
	widgets := make([]widget, max(2, reconciles/100))
	rv := 1000
	for i := range reconciles {
		which := (i*7919 + i/len(widgets)) % len(widgets)
		w := &widgets[which]
		controller := fmt.Sprintf("controller-%d", which%4)
		key := core.Key{Kind: "Widget.example.com", Namespace: fmt.Sprintf("team-%d", which%40), Name: fmt.Sprintf("widget-%d", which)}
		request := key.Namespace + "/" + key.Name
		if w.rv == 0 {
			rv++
			w.rv = rv
		}
		event := live.Event{At: g.next(), Controller: controller, Type: live.Updated, Object: g.object(key, w.rv, w.written), Initial: w.before == 0}
		event.N = g.n
		if w.before == 0 {
			event.Type = live.Added
		} else {
			event.Old = g.object(key, w.before, w.written-1)
		}
		g.add(event)
		g.add(live.Queued{At: g.next(), N: g.n, Controller: controller, Event: event.N, Request: request})
		begin := live.Begin{
			At: g.next(), N: g.n, Controller: controller, Request: request, Causes: []live.Cause{{By: live.ByEvent, N: event.N}}, Waited: 2 * time.Microsecond,
			ID: fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i),
		}
		g.add(begin)
		read := w.rv
		if i%997 == 996 && w.before != 0 {
			read = w.before
		}
		g.add(live.Call{At: g.next(), N: g.n, Took: time.Microsecond, Reconcile: begin.N, Verb: live.Get, Object: key, Cached: true, Answer: []int{g.object(key, read, w.written)}})
		call := live.Call{At: g.next(), N: g.n, Took: 400, Reconcile: begin.N, Verb: live.Update, Object: key, Base: fmt.Sprint(read), Sent: json.RawMessage(`{"spec":{}}`)}
		if read == w.rv {
			rv++
			w.before, w.rv, w.written = w.rv, rv, w.written+1
			call.Answer = []int{g.object(key, w.rv, w.written)}
			g.add(call)
			g.add(live.Done{At: g.next(), N: g.n, Reconcile: begin.N})
			continue
		}
		call.Failed = &live.Failure{Code: 409, Reason: "Conflict", Message: "the object has been modified"}
		g.add(call)
		g.add(live.Done{At: g.next(), N: g.n, Reconcile: begin.N, Error: "conflict"})
	}
	return g.end(false)
}

// generator writes entries into files.
type generator struct {
	open     func(part int) (io.WriteCloser, error)
	fileSize int
	part     int
	file     io.WriteCloser
	size     int
	w        *live.Writer
	known    map[string]int
	n        uint64
	now      time.Duration
	err      error
}

func (g *generator) Write(p []byte) (int, error) {
	g.size += len(p)
	return g.file.Write(p)
}

// next returns the time of the next entry, whose number is then g.n. A file begins where none is open.
func (g *generator) next() time.Duration {
	if g.w == nil && g.err == nil {
		g.part++
		g.size, g.known = 0, map[string]int{}
		if g.file, g.err = g.open(g.part); g.err == nil {
			g.w, g.err = live.NewWriter(g, live.Header{Process: live.Process{Name: "widgets", Replica: "0"}, Started: time.Unix(1_700_000_000, 0).UTC(), Part: g.part})
		}
	}
	g.n++
	g.now += 700
	return g.now
}

func (g *generator) add(e live.Entry) {
	if g.err == nil {
		g.err = g.w.Add(e)
	}
	if g.err == nil && g.size >= g.fileSize {
		if _, done := e.(live.Done); done {
			g.err = g.end(true)
			g.w = nil
		}
	}
}

func (g *generator) end(rotated bool) error {
	if g.err != nil || g.w == nil {
		return g.err
	}
	if err := g.w.End(live.End{At: g.now, Rotated: rotated}); err != nil {
		return err
	}
	return g.file.Close()
}

// object returns the number of a version, which is written if it is new in the file.
func (g *generator) object(key core.Key, rv, written int) int {
	which := fmt.Sprint(key, rv)
	if number, known := g.known[which]; known || g.err != nil {
		return number
	}
	value := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q,"namespace":%q,"resourceVersion":"%d","uid":"uid-%s",`+
		`"labels":{"app":"widgets","tier":"t-%d"},"managedFields":[{"manager":"widgets","operation":"Update","time":"2026-01-01T00:00:00Z"}]},`+
		`"spec":{"size":%d,"template":{"image":"registry.example/widget:v%d","args":["--level=%d","--mode=fast"]}},"status":{"ready":%d,"conditions":[{"type":"Ready","status":"True"}]}}`,
		key.Name, key.Namespace, rv, key.Name, written%3, written, written/10, written%5, written)
	number, err := g.w.AddObject(live.Object{Key: key, UID: "uid-" + key.Name, ResourceVersion: fmt.Sprint(rv), Value: json.RawMessage(value)})
	g.known[which], g.err = number, err
	return number
}

// kept returns the recording for measurements.
func kept(b *testing.B) []analysis.Source {
	b.Helper()
	if *recording == "" {
		b.Skip("name a folder with -recording")
	}
	names, err := filepath.Glob(filepath.Join(*recording, "*.ort"))
	if err == nil && len(names) == 0 {
		err = generated(func(part int) (io.WriteCloser, error) {
			return os.Create(filepath.Join(*recording, fmt.Sprintf("%06d.ort", part)))
		}, 64<<20, *reconciles)
		if err == nil {
			names, err = filepath.Glob(filepath.Join(*recording, "*.ort"))
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	var all []analysis.Source
	for _, name := range names {
		all = append(all, analysis.Source{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }})
	}
	return all
}

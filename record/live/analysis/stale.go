package analysis

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// StaleRead is a read of an object in a version that was not the last one that the server held when it was read.
type StaleRead struct {
	Process    string        `json:"process,omitempty"`
	At         time.Duration `json:"at_ns"`
	Controller string        `json:"controller"`
	Request    string        `json:"request"`
	Verb       string        `json:"verb"`
	// Read is the version that was read. It has no resource version if the object was not found.
	Read    Version `json:"read"`
	Missing bool    `json:"missing,omitempty"`
	// Held is the last version that the server is known to have held then, empty if the object had been deleted.
	Held string `json:"held,omitempty"`
	// Behind is how many newer versions are known to have been there.
	Behind int `json:"behind"`
	// For is how long the process had known of a newer one, or could have: since it was answered or told of it. It is 0
	// if the process learned of it later.
	For time.Duration `json:"for_ns"`
	// Writes are what the reconcile wrote afterwards.
	Writes []ShownCall `json:"writes"`
}

// stale follows what is known of the versions of objects in one process.
type stale struct {
	tell    func(StaleRead) error
	process *process
	objects map[core.Key]*history
	// latest is the highest version of each kind that the process has seen anything of. Whatever has a lower one was
	// there by then.
	latest map[core.Kind]uint64
	// found are the stale reads of reconciles that have not ended.
	found map[uint64][]*StaleRead
	ended map[uint64]*Reconcile
}

// history is what is known of one object.
type history struct {
	// versions are the last ones, ascending, with the time since when each is known, and deleted tells that the last
	// one is the end.
	versions []known
	deleted  bool
	// reads are those of the last version that is known, which a version that becomes known later can show to be stale.
	reads []*pendingRead
	// uid is that of the last version, and missing are reads that did not find the object although it was known.
	// Something that shows it to have gone on existing shows them to be stale.
	uid     string
	missing []*pendingRead
}

type known struct {
	order uint64
	text  string
	since time.Duration
}

// pendingRead is a read that may turn out to be stale.
type pendingRead struct {
	read      StaleRead
	reconcile uint64
	order     uint64
	// latest is the highest version of the kind that had been seen when it began.
	latest uint64
}

// The limits bound the memory for each object.
const (
	versionsLimit = 256
	readsLimit    = 256
)

// Stale tells the cached reads that were behind, each when its reconcile has ended and the newer version is known. A
// read counts as stale only if it certainly was: a version is newer and not higher than one of the same kind that the
// process had seen before it read.
func Stale(sources []Source, tell func(StaleRead) error) (Notes, error) {
	states := map[*process]*stale{}
	of := func(p *process) *stale {
		if states[p] == nil {
			states[p] = &stale{tell: tell, process: p, objects: map[core.Key]*history{}, latest: map[core.Kind]uint64{}, found: map[uint64][]*StaleRead{}, ended: map[uint64]*Reconcile{}}
		}
		return states[p]
	}
	files := &outlines{}
	defer files.close()
	return read(sources, visitor{
		outlines: files,
		entry: func(p *process, entry live.Entry) error {
			switch e := entry.(type) {
			case live.Event:
				return of(p).learns(p.version(e.Object), e.At, e.Type == live.Deleted)
			case live.Call:
				return of(p).call(p, e)
			}
			return nil
		},
		reconcile: func(p *process, r *Reconcile) error { return of(p).ends(r) },
		ends: func(p *process) error {
			delete(states, p)
			return nil
		},
	})
}

// call takes a call: what it learned from the answer, and what it read from the cache.
func (s *stale) call(p *process, c live.Call) error {
	running := p.running[c.Reconcile]
	if c.Cached && c.Verb == live.Get && c.Failed != nil && c.Failed.Code == http.StatusNotFound && running != nil {
		s.misses(p, running, c)
	}
	for _, number := range c.Answer {
		v := p.version(number)
		if c.Cached && running != nil && v.order() > 0 {
			if err := s.reads(p, running, c, v); err != nil {
				return err
			}
		}
		if err := s.learns(v, c.At+c.Took, false); err != nil {
			return err
		}
	}
	if c.Verb == live.List && !c.Cached {
		s.latest[c.Object.Kind] = max(s.latest[c.Object.Kind], Version{ResourceVersion: c.ListVersion}.order())
	}
	return nil
}

// reads takes a read of a version.
func (s *stale) reads(p *process, r *Reconcile, c live.Call, v Version) error {
	h := s.history(v.Key)
	read := &pendingRead{
		read:      StaleRead{Process: p.label, At: c.At, Controller: r.Begin.Controller, Request: r.Begin.Request, Verb: c.Verb, Read: v},
		reconcile: r.Begin.N, order: v.order(), latest: s.latest[v.Kind],
	}
	for _, newer := range h.versions {
		if newer.order > read.order && newer.since <= c.At {
			read.read.Behind++
			read.read.Held = newer.text
			if read.read.For == 0 {
				read.read.For = c.At - newer.since
			}
		}
	}
	if read.read.Behind > 0 {
		if h.deleted {
			read.read.Held = ""
		}
		return s.finds(read)
	}
	if len(h.reads) < readsLimit {
		h.reads = append(h.reads, read)
	}
	return nil
}

// misses takes a read that found nothing.
func (s *stale) misses(p *process, r *Reconcile, c live.Call) {
	h := s.objects[c.Object]
	if h == nil || h.deleted || len(h.versions) == 0 || len(h.missing) >= readsLimit {
		return
	}
	read := StaleRead{
		Process: p.label, At: c.At, Controller: r.Begin.Controller, Request: r.Begin.Request, Verb: c.Verb, Read: Version{Key: c.Object},
		Held: h.versions[len(h.versions)-1].text, For: c.At - h.versions[0].since, Missing: true,
	}
	for _, v := range h.versions {
		if v.since <= c.At {
			read.Behind++
		}
	}
	if read.Behind > 0 {
		h.missing = append(h.missing, &pendingRead{read: read, reconcile: r.Begin.N})
	}
}

// exists settles the reads that did not find an object: it is there now, or gone, or another one.
func (s *stale) exists(h *history, uid string, deleted bool) error {
	missing := h.missing
	h.missing = nil
	if former := h.uid; deleted || uid == "" || former != uid {
		h.uid = uid
		return nil
	}
	for _, read := range missing {
		if err := s.finds(read); err != nil {
			return err
		}
	}
	return nil
}

// learns takes a version that is known from some time on. Reads that saw an older one, when the process had seen
// something later already, were stale.
func (s *stale) learns(v Version, now time.Duration, deleted bool) error {
	order := v.order()
	if order == 0 {
		return nil
	}
	h := s.history(v.Key)
	if err := s.exists(h, v.UID, deleted); err != nil {
		return err
	}
	at, exists := slices.BinarySearchFunc(h.versions, order, func(k known, order uint64) int {
		switch {
		case k.order < order:
			return -1
		case k.order > order:
			return 1
		}
		return 0
	})
	if !exists {
		h.versions = slices.Insert(h.versions, at, known{order, v.ResourceVersion, now})
		if len(h.versions) > versionsLimit {
			h.versions = slices.Delete(h.versions, 0, 1)
		}
		if at == len(h.versions)-1 {
			h.deleted = deleted
		}
		var left []*pendingRead
		for _, read := range h.reads {
			switch {
			case read.order >= order:
				left = append(left, read)
			case read.latest >= order:
				read.read.Behind, read.read.Held = 1, v.ResourceVersion
				if deleted {
					read.read.Held = ""
				}
				if err := s.finds(read); err != nil {
					return err
				}
			}
		}
		h.reads = left
	} else if deleted && at == len(h.versions)-1 {
		h.deleted = true
	}
	s.latest[v.Kind] = max(s.latest[v.Kind], order)
	return nil
}

func (s *stale) history(key core.Key) *history {
	h := s.objects[key]
	if h == nil {
		h = &history{}
		s.objects[key] = h
	}
	return h
}

// finds takes a stale read, to be told when its reconcile has ended.
func (s *stale) finds(read *pendingRead) error {
	if r := s.ended[read.reconcile]; r != nil {
		return s.tellOf(&read.read, r)
	}
	s.found[read.reconcile] = append(s.found[read.reconcile], &read.read)
	return nil
}

// endedLimit is how many reconciles are remembered of which a read may still turn out to be stale.
const endedLimit = 4096

// ends tells the stale reads of a reconcile.
func (s *stale) ends(r *Reconcile) error {
	if len(s.ended) >= endedLimit {
		clear(s.ended)
		for _, h := range s.objects {
			h.reads, h.missing = nil, nil
		}
	}
	s.ended[r.Begin.N] = r
	for _, read := range s.found[r.Begin.N] {
		if err := s.tellOf(read, r); err != nil {
			return err
		}
	}
	delete(s.found, r.Begin.N)
	return nil
}

func (s *stale) tellOf(read *StaleRead, r *Reconcile) error {
	writes := &Reconcile{Begin: r.Begin}
	for _, c := range r.Calls {
		if c.At >= read.At && c.Verb != live.Get && c.Verb != live.List {
			writes.Calls = append(writes.Calls, s.process.whole(c))
		}
	}
	read.Writes = showReconcile(s.process, writes, nil).Calls
	return s.tell(*read)
}

// WroteNothing is what is said of a reconcile with a stale read and no write behind it.
const WroteNothing = "and wrote nothing afterwards"

// Text writes a stale read over some lines.
func (s StaleRead) Text(w io.Writer) {
	fmt.Fprintf(w, "%s  %s %s", at(s.At), clean(s.Controller), clean(s.Request))
	if s.Process != "" {
		fmt.Fprintf(w, " in %s", clean(s.Process))
	}
	fmt.Fprintf(w, "\n            %s\n", clean(s.Words()))
	for _, c := range s.Writes {
		fmt.Fprintf(w, "            then: %s\n", clean(c.String()))
	}
	if len(s.Writes) == 0 {
		fmt.Fprintln(w, "            "+WroteNothing)
	}
}

// Words says what was read, and how far behind that was.
func (s StaleRead) Words() string {
	held := "the server held @" + s.Held
	if s.Held == "" {
		held = "the object had been deleted"
	}
	versions := "1 version behind"
	if s.Behind != 1 {
		versions = fmt.Sprintf("%d versions behind", s.Behind)
	}
	since := "of which the process learned later"
	if s.For > 0 {
		since = "of which the process had known for " + Duration(s.For)
	}
	what := "read " + s.Read.String()
	if s.Missing {
		what = "did not find " + s.Read.String()
	}
	return fmt.Sprintf("%s, when %s: %s, %s", what, held, versions, since)
}

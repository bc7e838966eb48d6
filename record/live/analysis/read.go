package analysis

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// Source is a file of a recording.
type Source struct {
	Name string
	// Open opens the file. If what it returns is an [io.Seeker], and the question is about one object or one kind of
	// thing, then only the blocks are unpacked that matter.
	Open func() (io.ReadCloser, error)
}

// Version names one version of an object.
type Version struct {
	core.Key
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"rv,omitempty"`
}

// String returns the object with its resource version behind an at sign.
func (v Version) String() string {
	if v.ResourceVersion == "" {
		return v.Key.String()
	}
	return v.Key.String() + "@" + v.ResourceVersion
}

// order returns the place of a version in the history of its kind, 0 if the resource version is not a number.
func (v Version) order() uint64 {
	n, err := strconv.ParseUint(v.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Reconcile is a reconcile that was recorded.
type Reconcile struct {
	// Process is the process, empty if the recordings are of one only.
	Process string
	Begin   live.Begin
	Calls   []Call
	// Done is nil if the end is not in the recording.
	Done *live.Done
}

// Call is a call with the versions of its answer.
type Call struct {
	live.Call
	Versions []Version
	// Unchanged tells that it was a write, and the object was the same before.
	Unchanged bool
}

// changed reports whether a call made a new version, or removed an object, as far as is known.
func (c Call) changed() bool { return c.Writes() && !c.Unchanged }

// took returns how long the reconcile took, as far as it is known.
func (r *Reconcile) took() time.Duration {
	if r.Done == nil {
		return 0
	}
	return r.Done.At - r.Begin.At
}

// wrote reports whether the reconcile changed something.
func (r *Reconcile) wrote() bool { return slices.ContainsFunc(r.Calls, Call.changed) }

// process is one process on the way through its files.
type process struct {
	header live.Header
	label  string
	// objects are those of the current file, by their numbers from 1, and names whatever they have in common.
	objects []numbered
	names   []Version
	places  map[core.Key]int32 // of the last name with this key
	// named are one more than the places of the names of an index by their keys in it, 0 for those that were not met
	// yet, and table is which index.
	named  []int32
	table  int
	latest []sighting // by name
	texts  []string   // of revisions that are no plain numbers
	// unchanged tells that the call that is being told of wrote nothing new.
	unchanged bool
	running   map[uint64]*Reconcile
	current   map[[2]string]uint64 // of a controller and a request: its reconcile
	// outlines are those of the files so far, if the question is asked of outlines.
	outlines []*live.Outline
	notes    *noter
}

// numbered is a version of an object, small and without pointers: a recording can have millions.
type numbered struct {
	revision revision
	name     int32
	form     byte
}

// revision is a resource version, none as the zero value. Nearly all are plain numbers; text is then 0, and else one
// more than the place among the texts.
type revision struct {
	order uint64
	text  int32
}

// revision returns a resource version in its short form.
func (p *process) revision(rv string) revision {
	r := revision{order: Version{ResourceVersion: rv}.order()}
	if rv == "" || r.order > 0 && rv[0] != '0' {
		return r
	}
	at := slices.Index(p.texts, rv)
	if at < 0 {
		at = len(p.texts)
		p.texts = append(p.texts, rv)
	}
	r.text = int32(at) + 1
	return r
}

// written returns a resource version as it is written.
func (p *process) written(r revision) string {
	switch {
	case r.text > 0:
		return p.texts[r.text-1]
	case r.order > 0:
		return strconv.FormatUint(r.order, 10)
	}
	return ""
}

// sighting is the last version of an object that the process has seen, and since when.
type sighting struct {
	revision revision
	since    time.Duration
}

// sees notes that the process has seen a version.
func (p *process) sees(number int, at time.Duration) {
	o := p.objects[number-1]
	if last := &p.latest[o.name]; last.revision != o.revision && o.revision.order >= last.revision.order {
		*last = sighting{o.revision, at}
	}
}

// changesNothing reports whether the answer of a write is a version that was there before: the one that was sent, or
// one that the process had seen.
func (p *process) changesNothing(c live.Call) bool {
	if !c.Writes() || len(c.Answer) != 1 {
		return false
	}
	o := p.objects[c.Answer[0]-1]
	last := p.latest[o.name]
	return o.revision != (revision{}) && (last.revision == o.revision && last.since < c.At || p.written(o.revision) == c.Base)
}

// formsOf are the forms by their numbers.
func formsOf() [3]string { return [3]string{live.Served, live.Cached, live.Metadata} }

// version returns the object with a number. The reader has checked that there is one.
func (p *process) version(number int) Version {
	o := p.objects[number-1]
	v := p.names[o.name]
	v.ResourceVersion = p.written(o.revision)
	return v
}

// form returns the form of the object with a number.
func (p *process) form(number int) string { return formsOf()[p.objects[number-1].form] }

// versions returns the objects with these numbers.
func (p *process) versions(numbers []int) []Version {
	all := make([]Version, len(numbers))
	for i, n := range numbers {
		all[i] = p.version(n)
	}
	return all
}

// visitor is what a question wants to be told. Functions may be nil.
type visitor struct {
	// entry gets every entry, before the reconcile that it ends.
	entry func(*process, live.Entry) error
	// reconcile gets every reconcile when it ends, and in the end those that do not.
	reconcile func(*process, *Reconcile) error
	// ends is told that nothing more of a process follows.
	ends func(*process) error
	// outlines, if there are any, get outlines of the files, and entries are abridged where they have an index.
	outlines *outlines
	// row gets objects, events and calls of outlines, if it is set: then reconciles are not followed, and nobody may
	// ask outlines for anything while they are read. What has no index comes as entries.
	row func(*process, *live.Row)
}

// part is a file with its header.
type part struct {
	source Source
	header live.Header
}

// read goes through all sources, process by process, and returns what is missing.
func read(sources []Source, visit visitor) (Notes, error) {
	notes := &noter{}
	if visit.outlines != nil {
		visit.outlines.notes = notes
	}
	var parts []part
	for _, source := range sources {
		header, err := headerOf(source)
		switch {
		case errors.Is(err, errNothing):
			notes.say("%s has nothing in it: its process ended, or its disk was full, when it was begun", source.Name)
		case err != nil:
			return Notes{}, err
		default:
			parts = append(parts, part{source, header})
		}
	}
	if len(parts) == 0 && len(sources) > 0 {
		return Notes{}, fmt.Errorf("%s: %w: there is no other recording to read", sources[0].Name, errNothing)
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(
			cmp.Compare(a.header.Process.Name, b.header.Process.Name), a.header.Started.Compare(b.header.Started),
			cmp.Compare(a.header.Process.Replica, b.header.Process.Replica), cmp.Compare(a.header.Part, b.header.Part),
		)
	})
	same := func(a, b part) bool {
		return a.header.Process == b.header.Process && a.header.Started.Equal(b.header.Started)
	}
	var now *process
	several := slices.ContainsFunc(parts, func(p part) bool { return !same(p, parts[0]) })
	for i, f := range parts {
		switch {
		case i == 0 || !same(f, parts[i-1]):
			now = &process{header: f.header, notes: notes, places: map[core.Key]int32{}, running: map[uint64]*Reconcile{}, current: map[[2]string]uint64{}}
			if several {
				now.label = f.header.Process.Name + "/" + f.header.Process.Replica
			}
			if f.header.Part > 1 {
				notes.say("the recording of %s starts with part %d: what came before is not known", f.header.Process.Replica, f.header.Part)
			}
		case f.header.Part == parts[i-1].header.Part:
			return notes.Notes, fmt.Errorf("%s is part %d of its recording, as %s is: name each file once", f.source.Name, f.header.Part, parts[i-1].source.Name)
		case f.header.Part != parts[i-1].header.Part+1:
			notes.say("%s is part %d, and the part before it is missing", f.source.Name, f.header.Part)
		}
		now.objects, now.table = now.objects[:0], 0
		if err := readFile(f, now, visit, notes); err != nil {
			return notes.Notes, err
		}
		if i+1 == len(parts) || !same(f, parts[i+1]) {
			if err := now.end(visit); err != nil {
				return notes.Notes, err
			}
		}
	}
	return notes.Notes, nil
}

// errNothing is the error for a file that ends before its first entry.
var errNothing = errors.New("there is nothing in it")

func headerOf(source Source) (live.Header, error) {
	file, err := source.Open()
	if err != nil {
		return live.Header{}, err
	}
	defer func() { _ = file.Close() }() // it was only read
	in := bufio.NewReader(file)
	_, empty := in.Peek(1)
	r, err := live.NewReader(in)
	var damaged *live.CorruptError
	switch {
	case errors.Is(empty, io.EOF), errors.As(err, &damaged) && damaged.CutOff():
		return live.Header{}, errNothing
	case err != nil:
		return live.Header{}, fmt.Errorf("%s: %w", source.Name, err)
	}
	defer r.Close()
	return r.Header(), nil
}

// readFile goes through one file.
func readFile(f part, p *process, visit visitor, notes *noter) error {
	r, done, err := f.source.entries(visit.outlines)
	if err != nil {
		return err
	}
	defer done()
	if o, ok := r.(*live.Outline); ok {
		p.outlines = append(p.outlines, o)
	}
	if share := f.header.Share; share > 0 && share < 1 && f.header.Part == 1 {
		notes.say("%.3g %% of the objects are recorded", share*100)
	}
	if o, ok := r.(*live.Outline); ok && visit.row != nil {
		ahead := readAhead(o)
		defer ahead.stop()
		next := func() error {
			row, err := ahead.next()
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", f.source.Name, err)
			case row.Kind == live.RowEntry:
				return p.take(row.Entry, visit, notes)
			}
			p.takeRow(row)
			visit.row(p, row)
			return nil
		}
		return ending(f, r, notes, next)
	}
	return ending(f, r, notes, func() error {
		entry, err := r.Next()
		if err != nil {
			return fmt.Errorf("%s: %w", f.source.Name, err)
		}
		return p.take(entry, visit, notes)
	})
}

// ending goes on until there is an error, and notes where the file does not end as it should.
func ending(f part, r reading, notes *noter, next func() error) error {
	for {
		err := next()
		var damaged *live.CorruptError
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			if !r.Complete() {
				notes.say("%s was cut off: what the process did last is missing", f.source.Name)
			}
			return nil
		case errors.As(err, &damaged):
			notes.say("%s: %v: what follows there is not read", f.source.Name, damaged)
			return nil
		default:
			return err
		}
	}
}

// take follows an entry, and tells of it.
func (p *process) take(entry live.Entry, visit visitor, notes *noter) error {
	var ended *Reconcile
	switch e := entry.(type) {
	case live.Object:
		p.objects = appended(p.objects, p.number(e))
	case live.Begin:
		if visit.row != nil {
			break
		}
		which := [2]string{e.Controller, e.Request}
		if former, ok := p.current[which]; ok {
			ended = p.running[former] // its end is in a gap: a request is reconciled once at a time
			delete(p.running, former)
		}
		p.current[which] = e.N
		p.running[e.N] = &Reconcile{Process: p.label, Begin: e}
	case live.Event:
		p.sees(e.Object, e.At)
	case live.Call:
		p.unchanged = p.changesNothing(e)
		for _, number := range e.Answer {
			p.sees(number, e.At+e.Took)
		}
		if r := p.running[e.Reconcile]; r != nil {
			r.Calls = append(r.Calls, Call{e, p.versions(e.Answer), p.unchanged})
		}
	case live.Done:
		if ended = p.running[e.Reconcile]; ended != nil {
			ended.Done = &e
			delete(p.running, e.Reconcile)
			delete(p.current, [2]string{ended.Begin.Controller, ended.Begin.Request})
		}
	case live.Gap:
		notes.gap(e)
	case live.Unseen:
		notes.unseen(e)
	}
	if visit.entry != nil {
		if err := visit.entry(p, entry); err != nil {
			return err
		}
	}
	if ended != nil && visit.reconcile != nil {
		return visit.reconcile(p, ended)
	}
	return nil
}

// appended appends to a slice that can become long: it grows to twice its length, which copies less than append does.
func appended[T any](all []T, one T) []T {
	if len(all) == cap(all) {
		all = slices.Grow(all, max(64, len(all)))
	}
	return append(all, one)
}

// number returns the version that an entry is about.
func (p *process) number(o live.Object) numbered {
	return numbered{p.revision(o.ResourceVersion), p.name(o.Key, o.UID), formNumber(o.Form)}
}

// name returns the place of the name of an object.
func (p *process) name(key core.Key, uid string) int32 {
	name, known := p.places[key]
	if !known || p.names[name].UID != uid {
		name = int32(len(p.names))
		p.names, p.latest = append(p.names, Version{Key: key, UID: uid}), append(p.latest, sighting{})
		p.places[key] = name
	}
	return name
}

// formNumber returns the number of a form.
func formNumber(form string) byte {
	forms := formsOf()
	return byte(max(0, slices.Index(forms[:], form)))
}

// end tells of the reconciles that have not ended.
func (p *process) end(visit visitor) error {
	var left []*Reconcile
	for _, r := range p.running {
		left = append(left, r)
	}
	slices.SortFunc(left, func(a, b *Reconcile) int { return cmp.Compare(a.Begin.N, b.Begin.N) })
	for _, r := range left {
		if visit.reconcile != nil {
			if err := visit.reconcile(p, r); err != nil {
				return err
			}
		}
	}
	if visit.ends != nil {
		return visit.ends(p)
	}
	return nil
}

package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// Link is a version of an object in a chain of causes.
type Link struct {
	Version Version `json:"version"`
	// Event is what was told of it where it is a cause, empty at the start.
	Event string `json:"event,omitempty"`
	// Writer is who made it, nil if no recorded reconcile did.
	Writer *Writer `json:"writer,omitempty"`
	// Manager is who wrote the version last, as its managed fields say, where no recorded reconcile did.
	Manager string `json:"manager,omitempty"`
	// Before tells that it was made before the recordings begin, as far as is known: it was there when the cache was
	// filled.
	Before bool `json:"before,omitempty"`
}

// Writer is a reconcile that made a version.
type Writer struct {
	Process    string `json:"process,omitempty"`
	Controller string `json:"controller"`
	Request    string `json:"request"`
	ID         string `json:"id,omitempty"`
	// Reconcile is the number of the reconcile in the recording of the process, 0 if it was none that is known.
	Reconcile uint64 `json:"reconcile,omitempty"`
	// Client is who wrote it, as the API server knows it, where no reconcile is recorded.
	Client      string        `json:"client,omitempty"`
	At          time.Duration `json:"at_ns"`
	Verb        string        `json:"verb"`
	Subresource string        `json:"subresource,omitempty"`
	// Causes are why the reconcile began.
	Causes []Step `json:"causes"`
	// Told tells that the causes are told further up, and Cut that there are more, which are not told.
	Told bool `json:"told,omitempty"`
	Cut  bool `json:"cut,omitempty"`
}

// Step is one cause of a reconcile: a version that an event told of, or something else.
type Step struct {
	By   string `json:"by"`
	Link *Link  `json:"link,omitempty"`
	// Before is the reconcile that asked to be run again.
	Before *Writer `json:"before,omitempty"`
}

// Answer says why an object is as it is.
type Answer struct {
	Object core.Key `json:"object"`
	// Field is the field that was asked for, Value its last value as JSON, and Former the one before; empty without a
	// field.
	Field  string `json:"field,omitempty"`
	Value  string `json:"value,omitempty"`
	Former string `json:"former,omitempty"`
	Last   *Link  `json:"last"`
}

// whyLimit is how many links a chain has at most.
const whyLimit = 20

// place is a version without its texts.
type place struct {
	key   int32
	order uint64
}

// made returns the first write that made a version, nil if none is known.
func (x *index) made(what place) *made {
	var first *made
	for at := x.last[what.key]; at > 0; at = x.writes[at-1].before {
		if write := &x.writes[at-1]; write.order == what.order {
			first = write
		}
	}
	return first
}

// made is a write that made a version of an object, by the number of its entry. What is kept of each is small, since
// there can be millions.
type made struct {
	order   uint64
	n       uint64
	process int32
	// before is one more than the place of the write before it of the same object.
	before int32
}

// indexed is what is kept of one process.
type indexed struct {
	of    *process
	label string
	// keys are the numbers of the keys of objects, by their numbers among the names of the process, and 0 for those
	// that are not known yet.
	keys []int32
	// reported are the reconciles that have been told.
	reported map[uint64]bool
}

// held says where an object is recorded.
type held struct {
	outline *live.Outline
	number  int
}

// index is what is kept of all processes.
type index struct {
	files     *outlines
	processes []*indexed
	keys      []core.Key
	numbers   map[core.Key]int32
	uids      []string
	writes    []made
	last      []int32 // by key, one more than the place of its last write
	initial   map[place]bool
	// versions are those of all objects whose name the question may begin with, and asked whether one is such an
	// object.
	question string
	versions map[int32]map[uint64]held
	asked    []bool
	// mentioned tells that a call was about such an object.
	mentioned bool
}

// Why returns what led to the last version of an object, or to the last change of a field of it. The question is the
// name of an object (see [Names]), with a dot and a field behind it if there is one.
func Why(sources []Source, question string) (Answer, Notes, error) {
	x := &index{
		files: &outlines{}, numbers: map[core.Key]int32{}, initial: map[place]bool{},
		question: question, versions: map[int32]map[uint64]held{},
	}
	defer x.files.close()
	return x.why(sources)
}

func (x *index) why(sources []Source) (Answer, Notes, error) {
	_, err := read(sources, visitor{
		outlines: x.files,
		row:      func(p *process, row *live.Row) { x.takeRow(p, x.process(p), row) },
		entry: func(p *process, entry live.Entry) error {
			x.take(p, x.process(p), entry)
			return nil
		},
	})
	if err != nil {
		return Answer{}, x.files.notes.Notes, err
	}
	answer, err := x.answer()
	if err != nil {
		return Answer{}, x.files.notes.Notes, err
	}
	return *answer, x.files.notes.Notes, nil
}

// place returns the place of an object by its number in the file.
func (x *index) place(p *process, of *indexed, number int) place {
	o := p.objects[number-1]
	for int(o.name) >= len(of.keys) {
		of.keys = append(of.keys, 0)
	}
	if of.keys[o.name] == 0 {
		name := p.names[o.name]
		known, ok := x.numbers[name.Key]
		if !ok {
			known = int32(len(x.keys))
			x.numbers[name.Key] = known
			_, asked := x.asks(name.Key)
			x.keys, x.uids, x.asked = append(x.keys, name.Key), append(x.uids, name.UID), append(x.asked, asked)
			x.last = append(x.last, 0)
		}
		of.keys[o.name] = known + 1
	}
	return place{of.keys[o.name] - 1, o.revision.order}
}

// process returns what is kept of a process.
func (x *index) process(p *process) *indexed {
	if len(x.processes) == 0 || x.processes[len(x.processes)-1].of != p {
		x.processes = append(x.processes, &indexed{of: p, label: p.label, reported: map[uint64]bool{}})
	}
	return x.processes[len(x.processes)-1]
}

// take keeps what is needed of an entry.
func (x *index) take(p *process, of *indexed, entry live.Entry) {
	switch e := entry.(type) {
	case live.Object:
		x.object(p, x.place(p, of, len(p.objects)), e.Form, e.Valued())
	case live.Event:
		x.event(p, of, e.Object, e.Initial)
	case live.Call:
		x.call(p, of, e.N, e.Object, e.Writes(), e.Answer)
	}
}

// takeRow keeps what is needed of a row.
func (x *index) takeRow(p *process, of *indexed, row *live.Row) {
	switch row.Kind {
	case live.RowObject:
		x.object(p, x.place(p, of, len(p.objects)), row.Form, row.Valued)
	case live.RowEvent:
		x.event(p, of, row.Object, row.Initial)
	case live.RowCall:
		x.call(p, of, row.N, *row.Name, row.Writes(), row.Answer)
	}
}

// event keeps that an object was there at the beginning.
func (x *index) event(p *process, of *indexed, object int, initial bool) {
	if at := x.place(p, of, object); initial {
		x.initial[at] = true
	}
}

// call keeps a write.
func (x *index) call(p *process, of *indexed, n uint64, about core.Key, writes bool, answer []int) {
	if !x.mentioned && len(x.versions) == 0 {
		_, x.mentioned = x.asks(about)
	}
	if !writes || len(answer) != 1 {
		return
	}
	if at := x.place(p, of, answer[0]); !p.unchanged {
		x.writes = appended(x.writes, made{at.order, n, int32(len(x.processes) - 1), x.last[at.key]})
		x.last[at.key] = int32(len(x.writes))
	}
}

// object returns a version as it is recorded.
func (h held) object() (live.Object, error) { return h.outline.Object(h.number) }

// object keeps where a version of an object is that is asked for: as the server had it, if there is a choice.
func (x *index) object(p *process, at place, form string, valued bool) {
	if !x.asked[at.key] || form == live.Metadata || !valued || at.order == 0 {
		return
	}
	if x.versions[at.key] == nil {
		x.versions[at.key] = map[uint64]held{}
	}
	if _, have := x.versions[at.key][at.order]; !have || form == live.Served {
		x.versions[at.key][at.order] = held{p.outlines[len(p.outlines)-1], len(p.objects)}
	}
}

// asks reports whether the question may be about an object, and about which field.
func (x *index) asks(key core.Key) (field string, asked bool) {
	for _, name := range namesOf(key) {
		if strings.EqualFold(name, x.question) {
			return "", true
		}
		if len(x.question) > len(name) && strings.EqualFold(x.question[:len(name)], name) && strings.ContainsRune(".[", rune(x.question[len(name)])) {
			return strings.TrimPrefix(x.question[len(name):], "."), true
		}
	}
	return "", false
}

// answer finds the object and the version, and follows its causes.
func (x *index) answer() (*Answer, error) {
	var candidates []int32
	longest := 0
	for number := range x.versions {
		field, _ := x.asks(x.keys[number])
		switch length := len(x.question) - len(field); {
		case length > longest:
			candidates, longest = []int32{number}, length
		case length == longest:
			candidates = append(candidates, number)
		}
	}
	switch {
	case len(candidates) == 0 && x.mentioned:
		return nil, fmt.Errorf("no version of %q is recorded, only calls that were about it: orrery trace show --object tells them", x.question)
	case len(candidates) == 0:
		return nil, &UnknownObjectError{Question: x.question, Known: x.known()}
	case len(candidates) > 1:
		var names []string
		for _, number := range candidates {
			names = append(names, namesOf(x.keys[number])[0])
		}
		slices.Sort(names)
		return nil, fmt.Errorf("%q can be %s: name one of them", x.question, strings.Join(names, " or "))
	}
	number := candidates[0]
	field, _ := x.asks(x.keys[number])
	answer := &Answer{Object: x.keys[number], Field: field}
	last, err := x.lastChange(number, answer)
	if err != nil {
		return nil, err
	}
	links := 0
	answer.Last = x.link(place{number, last}, "", x.versions[number][last].object, &links)
	return answer, nil
}

// lastChange returns the version with the last change of the field that is asked for, or the last version, and tells
// the answer its value.
func (x *index) lastChange(number int32, answer *Answer) (uint64, error) {
	orders := slices.Sorted(maps.Keys(x.versions[number]))
	last := len(orders) - 1
	if answer.Field == "" {
		return orders[last], nil
	}
	keys, err := splitField(answer.Field)
	if err != nil {
		return 0, err
	}
	valueAt := func(i int) string {
		at := x.versions[number][orders[i]]
		o, err := at.object()
		if !x.files.notes.lost(err) {
			return ""
		}
		return fieldOf(decodeTree(o.Value), keys)
	}
	answer.Value = valueAt(last)
	for ; last > 0; last-- {
		if former := valueAt(last - 1); former != answer.Value {
			answer.Former = former
			break
		}
	}
	if answer.Value == "" && last == 0 {
		return 0, fmt.Errorf("%s has no field %s in the recording: name another one, or none", x.keys[number], answer.Field)
	}
	return orders[last], nil
}

// UnknownObjectError says that an object is not in a recording.
type UnknownObjectError struct {
	Question string
	// Known are names of objects that are.
	Known []string
}

// Error implements error.
func (e *UnknownObjectError) Error() string {
	return fmt.Sprintf("no object of the recording is called %q: name one as kind/namespace/name, with a field behind a dot", e.Question)
}

func (x *index) known() []string {
	var names []string
	for _, key := range x.keys {
		names = append(names, namesOf(key)[1])
	}
	return names
}

// link follows the causes of a version, which is recorded as object returns it.
func (x *index) link(at place, event string, object func() (live.Object, error), links *int) *Link {
	*links++
	l := &Link{Version: Version{x.keys[at.key], x.uids[at.key], fmt.Sprint(at.order)}, Event: event}
	if made := x.made(at); made != nil {
		p := x.processes[made.process]
		entry, _ := find(p.of.outlines, x.files.notes, made.n)
		if call, is := entry.(live.Call); is {
			l.Writer = x.writer(p, call.Reconcile, links)
			l.Writer.Client, l.Writer.At, l.Writer.Verb, l.Writer.Subresource = call.Client, call.At, call.Verb, call.Subresource
			return l
		}
	}
	l.Before = x.initial[at]
	if o, err := object(); x.files.notes.lost(err) && o.Value != nil {
		l.Manager = lastManager(decodeTree(o.Value))
	}
	return l
}

// writer follows the causes of a reconcile.
func (x *index) writer(p *indexed, reconcile uint64, links *int) *Writer {
	w := &Writer{Process: p.label, Reconcile: reconcile, Causes: []Step{}}
	if reconcile == 0 {
		return w
	}
	entry, _ := find(p.of.outlines, x.files.notes, reconcile)
	begin, found := entry.(live.Begin)
	if !found {
		w.Controller = "a reconcile whose beginning is not recorded"
		return w
	}
	w.Controller, w.Request, w.At, w.ID = begin.Controller, begin.Request, begin.At, begin.ID
	if w.Told = p.reported[begin.N]; w.Told {
		return w
	}
	p.reported[begin.N] = true
	for _, c := range begin.Causes {
		if *links >= whyLimit {
			w.Cut = true
			break
		}
		step := Step{By: c.By}
		switch step.By {
		case live.ByEvent:
			step.Link = x.told(p, c.N, links)
		case live.ByResult, live.ByFailure:
			*links++
			step.Before = x.writer(p, c.N, links)
		}
		w.Causes = append(w.Causes, step)
	}
	return w
}

// told follows the causes of the version that an event told of, nil if the event is not recorded.
func (x *index) told(p *indexed, n uint64, links *int) *Link {
	entry, outline := find(p.of.outlines, x.files.notes, n)
	event, ok := entry.(live.Event)
	if !ok {
		return nil
	}
	o, err := outline.Object(event.Object)
	if !x.files.notes.lost(err) {
		return nil
	}
	number, known := x.numbers[o.Key]
	if !known { // the index did not say so
		return nil
	}
	return x.link(place{number, Version{ResourceVersion: o.ResourceVersion}.order()}, event.Type, held{outline, event.Object}.object, links)
}

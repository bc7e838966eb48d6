package analysis

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

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
	// Before tells that it was made before the recordings begin, as far as is known: it was there when the cache was filled.
	Before bool `json:"before,omitempty"`
}

// Writer is a reconcile that made a version.
type Writer struct {
	Process     string        `json:"process,omitempty"`
	Controller  string        `json:"controller"`
	Request     string        `json:"request"`
	ID          string        `json:"id,omitempty"`
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
	// Field is the field that was asked for, Value its last value as JSON, and Former the one before; empty without a field.
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

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.key, other.key), cmp.Compare(p.order, other.order))
}

// made is a write that made a version. What is kept of each entry is small, since there can be millions.
type made struct {
	at                time.Duration
	what              place
	reconcile         uint64
	process           int32
	verb, subresource int32
}

// indexed is what is kept of one process.
type indexed struct {
	label  string
	begins []begun
	causes []cause // of all begins
	events []told
	// reported are the reconciles that have been told.
	reported map[uint64]bool
}

type begun struct {
	n                   uint64
	at                  time.Duration
	id                  uuid.UUID
	controller, request int32
	causes, end         int32 // among those of the process
}

type cause struct {
	n  uint64
	by int32
}

type told struct {
	n     uint64
	what  place
	typed int32
}

// index is what is kept of all processes.
type index struct {
	processes []*indexed
	keys      []core.Key
	numbers   map[core.Key]int32
	uids      []string
	texts     []string
	places    map[string]int32 // of texts
	writes    []made           // in the order of what they made, when all is read
	initial   map[place]bool
	// fields are the values of the field that is asked for, of all objects whose name the question may begin with.
	question string
	fields   map[int32]map[uint64]string
	// foreign are the links whose writers are not recorded.
	foreign map[place][]*Link
}

// Why returns what led to the last version of an object, or to the last change of a field of it. The question is the name of an object (see [Names]), with
// a dot and a field behind it if there is one.
func Why(sources []Source, question string) (Answer, Notes, error) {
	x := &index{
		numbers: map[core.Key]int32{}, places: map[string]int32{}, initial: map[place]bool{},
		question: question, fields: map[int32]map[uint64]string{}, foreign: map[place][]*Link{},
	}
	var last *process
	notes, err := read(sources, visitor{entry: func(p *process, entry live.Entry) error {
		if p != last {
			last = p
			x.processes = append(x.processes, &indexed{label: p.label, reported: map[uint64]bool{}})
		}
		x.take(p, x.processes[len(x.processes)-1], entry)
		return nil
	}})
	if err != nil {
		return Answer{}, notes, err
	}
	slices.SortStableFunc(x.writes, func(a, b made) int { return a.what.compare(b.what) })
	answer, err := x.answer()
	if err != nil {
		return Answer{}, notes, err
	}
	if len(x.foreign) == 0 {
		return *answer, notes, nil
	}
	_, err = read(sources, visitor{entry: func(p *process, entry live.Entry) error {
		if o, ok := entry.(live.Object); ok {
			x.manages(p.version(len(p.objects)), o)
		}
		return nil
	}})
	return *answer, notes, err
}

// manages tells the links to a version who wrote it, as far as its managed fields say.
func (x *index) manages(v Version, o live.Object) {
	number, known := x.numbers[v.Key]
	links := x.foreign[place{number, v.order()}]
	if !known || len(links) == 0 || o.Value == nil {
		return
	}
	for _, link := range links {
		link.Manager = lastManager(decodeTree(o.Value))
	}
}

// text returns the number of a text that is kept once.
func (x *index) text(s string) int32 {
	number, known := x.places[s]
	if !known {
		number = int32(len(x.texts))
		x.texts = append(x.texts, s)
		x.places[s] = number
	}
	return number
}

func (x *index) place(v Version) place {
	number, ok := x.numbers[v.Key]
	if !ok {
		number = int32(len(x.keys))
		x.numbers[v.Key] = number
		x.keys, x.uids = append(x.keys, v.Key), append(x.uids, v.UID)
	}
	return place{number, v.order()}
}

// take keeps what is needed of an entry.
func (x *index) take(p *process, of *indexed, entry live.Entry) {
	switch e := entry.(type) {
	case live.Object:
		x.object(p.version(len(p.objects)), e)
	case live.Event:
		at := x.place(p.version(e.Object))
		of.events = append(of.events, told{e.N, at, x.text(e.Type)})
		if e.Initial {
			x.initial[at] = true
		}
	case live.Begin:
		id, _ := uuid.Parse(e.ID) // another ID is not kept
		from := int32(len(of.causes))
		for _, c := range e.Causes {
			of.causes = append(of.causes, cause{c.N, x.text(c.By)})
		}
		of.begins = append(of.begins, begun{e.N, e.At, id, x.text(e.Controller), x.text(e.Request), from, int32(len(of.causes))})
	case live.Call:
		if !e.Writes() || len(e.Answer) != 1 {
			return
		}
		if at := x.place(p.version(e.Answer[0])); !p.unchanged {
			x.writes = append(x.writes, made{e.At, at, e.Reconcile, int32(len(x.processes) - 1), x.text(e.Verb), x.text(e.Subresource)})
		}
	}
}

// object keeps the field of an object that is asked for.
func (x *index) object(v Version, o live.Object) {
	field, asked := x.asks(v.Key)
	if !asked || o.Form == live.Metadata || o.Value == nil || v.order() == 0 {
		return
	}
	at := x.place(v)
	value := ""
	if field != "" {
		if keys, err := splitField(field); err == nil {
			value = fieldOf(decodeTree(o.Value), keys)
		}
	}
	if x.fields[at.key] == nil {
		x.fields[at.key] = map[uint64]string{}
	}
	if _, have := x.fields[at.key][at.order]; !have || o.Form == live.Served {
		x.fields[at.key][at.order] = value
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
	for number := range x.fields {
		field, _ := x.asks(x.keys[number])
		switch length := len(x.question) - len(field); {
		case length > longest:
			candidates, longest = []int32{number}, length
		case length == longest:
			candidates = append(candidates, number)
		}
	}
	switch {
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
	if field != "" {
		if _, err := splitField(field); err != nil {
			return nil, err
		}
	}
	orders := make([]uint64, 0, len(x.fields[number]))
	for order := range x.fields[number] {
		orders = append(orders, order)
	}
	slices.Sort(orders)
	last := len(orders) - 1
	answer := &Answer{Object: x.keys[number], Field: field}
	if field != "" {
		value := x.fields[number][orders[last]]
		for last > 0 && x.fields[number][orders[last-1]] == value {
			last--
		}
		answer.Value = value
		if last > 0 {
			answer.Former = x.fields[number][orders[last-1]]
		}
		if value == "" && last == 0 {
			return nil, fmt.Errorf("%s has no field %s in the recording: name another one, or none", x.keys[number], field)
		}
	}
	links := 0
	answer.Last = x.link(place{number, orders[last]}, "", &links)
	return answer, nil
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

// link follows the causes of a version.
func (x *index) link(at place, event string, links *int) *Link {
	*links++
	l := &Link{Version: Version{x.keys[at.key], x.uids[at.key], fmt.Sprint(at.order)}, Event: event}
	i, ok := slices.BinarySearchFunc(x.writes, at, func(m made, at place) int { return m.what.compare(at) })
	if !ok {
		l.Before = x.initial[at]
		x.foreign[at] = append(x.foreign[at], l)
		return l
	}
	m := x.writes[i]
	l.Writer = x.writer(x.processes[m.process], m.reconcile, links)
	l.Writer.At, l.Writer.Verb, l.Writer.Subresource = m.at, x.texts[m.verb], x.texts[m.subresource]
	return l
}

// writer follows the causes of a reconcile.
func (x *index) writer(p *indexed, reconcile uint64, links *int) *Writer {
	w := &Writer{Process: p.label, Causes: []Step{}}
	if reconcile == 0 {
		return w
	}
	i, found := slices.BinarySearchFunc(p.begins, reconcile, func(b begun, n uint64) int { return cmp.Compare(b.n, n) })
	if !found {
		w.Controller = "a reconcile whose beginning is not recorded"
		return w
	}
	b := p.begins[i]
	w.Controller, w.Request, w.At = x.texts[b.controller], x.texts[b.request], b.at
	if b.id != (uuid.UUID{}) {
		w.ID = b.id.String()
	}
	if w.Told = p.reported[b.n]; w.Told {
		return w
	}
	p.reported[b.n] = true
	for _, c := range p.causes[b.causes:b.end] {
		if *links >= whyLimit {
			w.Cut = true
			break
		}
		step := Step{By: x.texts[c.by]}
		switch step.By {
		case live.ByEvent:
			if j, ok := slices.BinarySearchFunc(p.events, c.n, func(e told, n uint64) int { return cmp.Compare(e.n, n) }); ok {
				step.Link = x.link(p.events[j].what, x.texts[p.events[j].typed], links)
			}
		case live.ByResult, live.ByFailure:
			*links++
			step.Before = x.writer(p, c.n, links)
		}
		w.Causes = append(w.Causes, step)
	}
	return w
}

// Text writes the chain, each cause below what it caused.
func (a Answer) Text(w io.Writer) {
	if a.Field != "" {
		value := func(v string) string {
			if v == "" {
				return "nothing"
			}
			return clean(shortened(v))
		}
		fmt.Fprintf(w, "%s: %s is %s", clean(a.Object.String()), clean(a.Field), value(a.Value))
		if a.Former != "" {
			fmt.Fprintf(w, ", and was %s", value(a.Former))
		}
		fmt.Fprintln(w)
	}
	a.Last.text(w, "")
}

func (l Link) text(w io.Writer, indent string) {
	event := ""
	if l.Event != "" {
		event = l.Event + " "
	}
	fmt.Fprintf(w, "%s%s%s\n", indent, event, clean(l.Version.String()))
	indent += "  "
	switch {
	case l.Writer != nil:
		l.Writer.text(w, indent)
	case l.Before && l.Manager == "":
		fmt.Fprintf(w, "%swas there before the recording began\n", indent)
	case l.Before:
		fmt.Fprintf(w, "%swas there before the recording began, last written by %s\n", indent, clean(l.Manager))
	case l.Manager != "":
		fmt.Fprintf(w, "%swritten by %s, which is not recorded\n", indent, clean(l.Manager))
	default:
		fmt.Fprintf(w, "%swritten by somebody who is not recorded\n", indent)
	}
}

func (r Writer) text(w io.Writer, indent string) {
	verb := r.Verb
	if r.Subresource != "" {
		verb += " of its " + r.Subresource
	}
	what := "by " + r.Controller
	if r.Request != "" {
		what = "in the reconcile of " + r.Controller + " " + r.Request
	}
	if r.Controller == "" {
		what = "by code that is no reconcile"
	}
	if r.Process != "" {
		what += " in " + r.Process
	}
	if verb == "" {
		fmt.Fprintf(w, "%s%s\n", indent, clean(what))
	} else {
		fmt.Fprintf(w, "%swritten by %s %s, at %s\n", indent, clean(verb), clean(what), strings.TrimSpace(at(r.At)))
	}
	if r.Told {
		fmt.Fprintf(w, "%s  whose causes are told above\n", indent)
	}
	if r.Cut {
		defer fmt.Fprintf(w, "%s  which began because of more, which is not shown\n", indent)
	}
	for _, cause := range r.Causes {
		switch {
		case cause.Link != nil:
			fmt.Fprintf(w, "%s  which began because of\n", indent)
			cause.Link.text(w, indent+"    ")
		case cause.Before != nil:
			fmt.Fprintf(w, "%s  which began because %s\n", indent, Woken{By: cause.By})
			cause.Before.text(w, indent+"    ")
		default:
			fmt.Fprintf(w, "%s  which began because: %s\n", indent, clean(Woken{By: cause.By}.String()))
		}
	}
}

package analysis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
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
	// Told tells that the causes are told further up.
	Told bool `json:"told,omitempty"`
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
	Last   Link   `json:"last"`
}

// whyLimit is how many links a chain has at most.
const whyLimit = 20

// place is a version without its texts.
type place struct {
	key   int32
	order uint64
}

// made is a write that made a version.
type made struct {
	process     *indexed
	reconcile   uint64
	verb        string
	subresource string
	at          time.Duration
}

// indexed is what is kept of one process.
type indexed struct {
	label  string
	begins []begun
	events []told
}

type begun struct {
	n                   uint64
	at                  time.Duration
	controller, request string
	id                  string
	causes              []live.Cause
}

type told struct {
	n       uint64
	what    place
	typed   string
	initial bool
}

// index is what is kept of all processes.
type index struct {
	keys    []core.Key
	numbers map[core.Key]int32
	uids    []string
	texts   map[string]string
	writes  map[place]made
	initial map[place]bool
	// fields are the values of the field that is asked for, of all objects whose name the question may begin with.
	question string
	fields   map[int32]map[uint64]string
	managers map[place]string
	reported map[*indexed]map[uint64]bool
}

// Why returns what led to the last version of an object, or to the last change of a field of it. The question is the name of an object (see [Names]), with
// a dot and a field behind it if there is one.
func Why(sources []Source, question string) (Answer, Notes, error) {
	x := &index{
		numbers: map[core.Key]int32{}, texts: map[string]string{}, writes: map[place]made{}, initial: map[place]bool{},
		question: question, fields: map[int32]map[uint64]string{}, managers: map[place]string{}, reported: map[*indexed]map[uint64]bool{},
	}
	processes := map[*process]*indexed{}
	notes, err := read(sources, visitor{entry: func(p *process, entry live.Entry) error {
		of := processes[p]
		if of == nil {
			of = &indexed{label: p.label}
			processes[p] = of
		}
		x.take(p, of, entry)
		return nil
	}})
	if err != nil {
		return Answer{}, notes, err
	}
	answer, err := x.answer()
	if err != nil {
		return Answer{}, notes, err
	}
	return answer, notes, nil
}

// text returns a text that is kept once.
func (x *index) text(s string) string {
	if known, ok := x.texts[s]; ok {
		return known
	}
	x.texts[s] = s
	return s
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
		of.events = append(of.events, told{e.N, at, x.text(e.Type), e.Initial})
		if e.Initial {
			x.initial[at] = true
		}
	case live.Begin:
		of.begins = append(of.begins, begun{e.N, e.At, x.text(e.Controller), x.text(e.Request), e.ID, e.Causes})
	case live.Call:
		if !e.Writes() || len(e.Answer) != 1 {
			return
		}
		if v := p.version(e.Answer[0]); v.ResourceVersion != e.Base {
			x.writes[x.place(v)] = made{of, e.Reconcile, x.text(e.Verb), x.text(e.Subresource), e.At}
		}
	}
}

// object keeps the field of an object that is asked for, and who wrote it.
func (x *index) object(v Version, o live.Object) {
	at := x.place(v)
	if o.Value == nil || at.order == 0 {
		return
	}
	if i := strings.Index(string(o.Value), `"managedFields"`); i >= 0 {
		if _, known := x.writes[at]; !known {
			var held struct {
				Metadata struct {
					ManagedFields []map[string]any `json:"managedFields"`
				} `json:"metadata"`
			}
			if json.Unmarshal(o.Value, &held) == nil {
				managers := make([]any, len(held.Metadata.ManagedFields))
				for n, m := range held.Metadata.ManagedFields {
					managers[n] = m
				}
				x.managers[at] = x.text(lastManager(map[string]any{"metadata": map[string]any{"managedFields": managers}}))
			}
		}
	}
	field, asked := x.asks(v.Key)
	if !asked || o.Form == live.Metadata {
		return
	}
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
func (x *index) answer() (Answer, error) {
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
		return Answer{}, &UnknownObjectError{Question: x.question, Known: x.known()}
	case len(candidates) > 1:
		var names []string
		for _, number := range candidates {
			names = append(names, namesOf(x.keys[number])[0])
		}
		slices.Sort(names)
		return Answer{}, fmt.Errorf("%q can be %s: name one of them", x.question, strings.Join(names, " or "))
	}
	number := candidates[0]
	field, _ := x.asks(x.keys[number])
	if field != "" {
		if _, err := splitField(field); err != nil {
			return Answer{}, err
		}
	}
	orders := make([]uint64, 0, len(x.fields[number]))
	for order := range x.fields[number] {
		orders = append(orders, order)
	}
	slices.Sort(orders)
	last := len(orders) - 1
	answer := Answer{Object: x.keys[number], Field: field}
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
			return Answer{}, fmt.Errorf("%s has no field %s in the recording: name another one, or none", x.keys[number], field)
		}
	}
	links := 0
	answer.Last = *x.link(place{number, orders[last]}, "", &links)
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
	m, ok := x.writes[at]
	if !ok {
		l.Manager, l.Before = x.managers[at], x.initial[at]
		return l
	}
	if m.reconcile == 0 {
		l.Writer = &Writer{Process: m.process.label, At: m.at, Verb: m.verb, Subresource: m.subresource, Causes: []Step{}}
		return l
	}
	l.Writer = x.writer(m, links)
	return l
}

// writer follows the causes of the reconcile that made a version.
func (x *index) writer(m made, links *int) *Writer {
	w := &Writer{Process: m.process.label, At: m.at, Verb: m.verb, Subresource: m.subresource, Causes: []Step{}}
	i, found := slices.BinarySearchFunc(m.process.begins, m.reconcile, func(b begun, n uint64) int { return cmp.Compare(b.n, n) })
	if !found {
		w.Controller = "a reconcile whose beginning is not recorded"
		return w
	}
	b := m.process.begins[i]
	w.Controller, w.Request, w.ID = b.controller, b.request, b.id
	if x.reported[m.process] == nil {
		x.reported[m.process] = map[uint64]bool{}
	}
	if x.reported[m.process][b.n] {
		w.Told = true
		return w
	}
	x.reported[m.process][b.n] = true
	for _, cause := range b.causes {
		step := Step{By: cause.By}
		switch {
		case *links >= whyLimit:
		case cause.By == live.ByEvent:
			if j, ok := slices.BinarySearchFunc(m.process.events, cause.N, func(e told, n uint64) int { return cmp.Compare(e.n, n) }); ok {
				step.Link = x.link(m.process.events[j].what, m.process.events[j].typed, links)
			}
		case cause.By == live.ByResult || cause.By == live.ByFailure:
			*links++
			step.Before = x.writer(made{process: m.process, reconcile: cause.N}, links)
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

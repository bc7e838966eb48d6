package recorded

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// Model is the simulated server that recordings are held against: a [kube.Server], or one with something around it.
type Model interface {
	core.Store
	// Takes returns a recorded call as a request.
	Takes(live.Call) (*kube.Request, error)
	// Kept returns an object as the server keeps its own.
	Kept(live.Object) (core.Content, error)
}

// Kubernetes returns a simulated server with the kinds of Kubernetes and no others.
func Kubernetes() (*kube.Server, error) { return kube.NewServer(scheme.Scheme, kube.ManagedFields()) }

// Validate holds recordings against the model. All of their objects are in memory meanwhile.
func Validate(server Model, sources []analysis.Source) (*Report, error) {
	v := &validator{server: server, all: histories{}, report: &Report{}}
	if _, err := analysis.Walk(sources, v.collect); err != nil {
		return nil, err
	}
	v.attribute()
	v.nameActors()
	notes, err := analysis.Walk(sources, v.judge)
	v.report.Notes = notes
	return v.report, err
}

// validator goes through recordings, twice.
type validator struct {
	server Model
	all    histories
	report *Report
	// objects are those of the current file by their numbers from 1.
	objects []live.Object
	// alive is what the process at hand was shown, and deleted is what recorded calls deleted.
	alive   alive
	deleted []sighting

	// What follows is of the process at hand: its caches by kind and form, its reconciles that run, and the newest
	// version of each object that the server has shown it.
	header   live.Header
	caches   map[[2]string]*cache
	running  map[uint64]live.Begin
	answered map[core.Key]uint64
}

// object notes a version of the current file.
func (v *validator) object(at analysis.Place, o live.Object) {
	if at.Object == 1 {
		v.objects = v.objects[:0]
	}
	v.objects = append(v.objects, o)
}

// collect notes what became of objects.
func (v *validator) collect(at analysis.Place, entry live.Entry) error {
	if at.First {
		v.alive = alive{}
	}
	switch e := entry.(type) {
	case live.Object:
		v.object(at, e)
	case live.Event:
		o := v.objects[e.Object-1]
		if e.Type == live.Deleted {
			if !e.Missed {
				v.all.deleted(o)
			}
			return nil
		}
		v.alive.met(o)
		if seen := v.all.note(o); seen != nil {
			seen.initial = seen.initial || e.Initial
		}
	case live.Call:
		v.deleted = append(v.deleted, v.alive.deletes(e)...)
		for _, number := range e.Answer {
			v.alive.met(v.objects[number-1])
			seen := v.all.note(v.objects[number-1])
			if seen == nil {
				continue
			}
			if e.Writes() && e.Verb != live.Delete {
				seen.written = true
			}
		}
	}
	return nil
}

// attribute notes which deletions recorded calls made.
func (v *validator) attribute() {
	for _, asked := range v.deleted {
		if seen := v.all.deletion(asked); seen != nil {
			seen.written = true
		}
	}
}

// nameActors tells who wrote the versions that no recorded call wrote.
func (v *validator) nameActors() {
	keys := make([]core.Key, 0, len(v.all))
	for key := range v.all {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, core.Key.Compare)
	for _, key := range keys {
		h := v.all[key]
		for i, seen := range h {
			if seen.written || seen.initial || seen.gone || len(seen.object.Value) == 0 {
				continue
			}
			if i == 0 && slices.ContainsFunc(h, func(later *version) bool { return later.initial }) {
				continue // it was there before
			}
			v.actor(h, i)
		}
	}
	slices.SortStableFunc(v.report.Actors, func(a, b Actor) int { return cmp.Compare(b.Writes, a.Writes) })
}

// actor counts a version of somebody who is not recorded.
func (v *validator) actor(h history, i int) {
	name := managerOf(h[i].object)
	at := slices.IndexFunc(v.report.Actors, func(a Actor) bool { return a.Manager == name })
	if at < 0 {
		at = len(v.report.Actors)
		actor := Actor{Manager: name, First: h[i].object.Key.String() + "@" + strconv.FormatUint(h[i].rv, 10)}
		if i > 0 && !h[i-1].gone {
			for _, change := range changed(treeOf(h[i-1].object.Value), treeOf(h[i].object.Value)) {
				actor.Fields = append(actor.Fields, change.Path)
			}
		}
		v.report.Actors = append(v.report.Actors, actor)
	}
	a := &v.report.Actors[at]
	a.Writes++
	if kind := string(h[i].object.Kind); !slices.Contains(a.Kinds, kind) {
		a.Kinds = append(a.Kinds, kind)
	}
}

// judge holds entries against the model.
func (v *validator) judge(at analysis.Place, entry live.Entry) error {
	if at.First {
		v.header, v.caches, v.running, v.answered = at.Header, map[[2]string]*cache{}, map[uint64]live.Begin{}, map[core.Key]uint64{}
	}
	switch e := entry.(type) {
	case live.Object:
		v.object(at, e)
	case live.Begin:
		v.running[e.N] = e
	case live.Done:
		delete(v.running, e.Reconcile)
	case live.Event:
		o := v.objects[e.Object-1]
		if rv := number(o.ResourceVersion); rv > 0 {
			v.cache(o.Kind, o.Form).shows(o.Key, rv, e.At)
		}
	case live.Call:
		v.report.Calls++
		v.call(e)
	}
	return nil
}

// number reads a resource version, 0 if it is not a number.
func number(rv string) uint64 {
	n, _ := strconv.ParseUint(rv, 10, 64)
	return n
}

// cache returns the cache of a kind. Metadata has one of its own.
func (v *validator) cache(kind core.Kind, form string) *cache {
	if form != live.Metadata {
		form = ""
	}
	name := [2]string{string(kind), form}
	if v.caches[name] == nil {
		v.caches[name] = &cache{seen: map[core.Key]bool{}}
	}
	return v.caches[name]
}

// call judges a call, and notes what its answer shows.
func (v *validator) call(c live.Call) {
	switch {
	case c.Cached:
		v.read(c)
	case c.Verb == live.Get || c.Verb == live.List:
		v.ask(c)
	default:
		v.write(c)
	}
	for _, n := range c.Answer {
		o := v.objects[n-1]
		rv := number(o.ResourceVersion)
		if rv == 0 {
			continue
		}
		if c.Cached {
			v.cache(o.Kind, o.Form).shows(o.Key, rv, c.At+c.Took)
		} else {
			v.answered[o.Key] = max(v.answered[o.Key], rv)
		}
	}
}

// words returns a call in a few words.
func words(c live.Call) string {
	text := c.Verb + " " + c.Object.String()
	if c.Subresource != "" {
		text += " (" + c.Subresource + ")"
	}
	if c.Cached {
		text += " from the cache"
	}
	if c.Failed != nil {
		text += " → " + cmp.Or(c.Failed.Reason, c.Failed.Message)
	}
	return text
}

// finding begins a finding about a call.
func (v *validator) finding(by string, c live.Call, format string, args ...any) Finding {
	begin := v.running[c.Reconcile]
	return Finding{
		By: by, Process: v.header.Process.Name + "/" + v.header.Process.Replica, Controller: begin.Controller, Request: begin.Request,
		At: c.At, Number: c.N, Call: words(c), Says: fmt.Sprintf(format, args...),
	}
}

// cannot counts a call that cannot be judged.
func (v *validator) cannot(c live.Call, format string, args ...any) {
	v.report.unjudged(fmt.Sprintf("%s at %.3fs", words(c), c.At.Seconds()), fmt.Sprintf(format, args...))
}

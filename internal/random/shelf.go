package random

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// shelf is a store of numbers in namespaces. If it is versioned, each write makes a new version, an update can be
// refused because it is of an old one, and versions are named afresh as soon as nobody holds the old ones any more.
// Unless it is ordered, only versions of one value are told apart, and their names are in no order. If it counts, it
// shows how often the value of an object was changed, up to a few times, and counts that anew, as nobody is known to
// refer to it. If it is dated, it says when objects were created: all at the same time, but for those whose kinds are
// in groups of different ages.
type shelf struct {
	versioned, ordered, dated, counts bool
	ages                              [][]core.Kind
	counted                           []core.Kind
}

var (
	_ core.Ordering = shelf{}
	_ core.Aging    = shelf{}
	_ core.Counting = shelf{}
)

// Ordered implements [core.Ordering].
func (s shelf) Ordered() core.Store {
	s.ordered = true
	return s
}

// Aged implements [core.Aging].
func (s shelf) Aged(groups [][]core.Kind) core.Store {
	if s.dated {
		s.ages = groups
	}
	return s
}

// Ages implements [core.Aging].
func (s shelf) Ages() [][]core.Kind { return s.ages }

// mostCounted is how far a shelf counts.
const mostCounted = 5

// Counted implements [core.Counting].
func (s shelf) Counted(kinds []core.Kind) core.Store {
	s.counted = kinds
	return s
}

// Further implements [core.Counting].
func (s shelf) Further(by map[core.Key]int) core.Further {
	maps.DeleteFunc(by, func(key core.Key, _ int) bool { return slices.Contains(s.counted, key.Kind) })
	return further(by)
}

// further are larger numbers of some objects. Nothing is written of them.
type further map[core.Key]int

// Content implements [core.Further].
func (f further) Content(key core.Key, content core.Content) core.Content {
	if t, ok := content.(thing); ok && t.count > 0 {
		t.name = t.Tag()
		t.count += f[key]
		return t
	}
	return content
}

// Response implements [core.Further].
func (f further) Response(response core.Response) core.Response {
	r := response.(reply)
	r.objects = slices.Clone(r.objects)
	for i, o := range r.objects {
		r.objects[i].Content = f.Content(o.Key, o.Content)
	}
	return r
}

// Call implements [core.Further].
func (f further) Call(call core.Call) core.Call { return call }

// noon is when all objects of a dated shelf are created.
const noon = 4_000

// created returns when an object is created.
func (s shelf) created(snapshot core.Snapshot, kind core.Kind) (int, error) {
	group := core.AgeGroup(s.ages, kind)
	switch {
	case !s.dated:
		return 0, nil
	case group == nil:
		return noon, nil
	}
	youngest := noon - core.Youth - 1
	for _, kind := range group {
		for _, o := range snapshot.List(kind, "") {
			youngest = max(youngest, o.Content.(thing).created)
		}
	}
	if youngest >= noon {
		return 0, &core.Unsupported{Call: "create", Reason: "too many objects are created one after the other"}
	}
	return youngest + 1, nil
}

// thing is what an object holds.
type thing struct {
	value, version int
	// created is when the object was, 0 if that is not shown.
	created int
	// count is how often the value was changed, 0 if that is not shown.
	count int
	// name is that of the version if it is another one.
	name string
}

// Canonical implements [core.Content].
func (t thing) Canonical() string {
	return fmt.Sprintf("%d@%d#%d %s", t.value, t.version, t.count, t.Created())
}

// Created implements [core.Aged].
func (t thing) Created() string {
	if t.created == 0 {
		return ""
	}
	return fmt.Sprintf("second-%06d", t.created)
}

// Earlier implements [core.Aged].
func (t thing) Earlier(by map[string]int) core.Content {
	t.created -= by[core.Creation]
	return t
}

// Written implements [core.Aged].
func (t thing) Written() map[string]string { return nil }

// Tag implements [core.Tagged].
func (t thing) Tag() string {
	switch {
	case t.version == 0:
		return ""
	case t.name != "":
		return t.name
	}
	const some, all = 617, 1000
	return fmt.Sprintf("version-%06d", (t.version*all+(t.value+1)*some%all)*(mostCounted+1)+t.count)
}

// Retagged implements [core.Tagged].
func (t thing) Retagged(names *core.Retagging) core.Content {
	t.name = names.Tag(t.Tag())
	return t
}

// Fields implements [core.Content].
func (t thing) Fields() any {
	if t.count > 0 {
		return map[string]any{"value": t.value, "count": t.count}
	}
	return map[string]any{"value": t.value}
}

// valueOf returns the value of a content, none if there is no object.
func valueOf(c core.Content) int {
	if c == nil {
		return none
	}
	return c.(thing).value
}

// none is the value of an object that does not exist; those of others are below it.
const none = 3

// verb is what a call asks for.
type verb int

const (
	get verb = iota
	list
	set
	update
	remove
	send
	// peek looks at a part of an object, and pick lists the objects that have a value.
	peek
	pick
)

// call is a call of the shelf.
type call struct {
	verb   verb
	key    core.Key
	value  int
	read   thing // what is updated
	item   core.Item
	cached bool
}

// Identity implements [core.Call].
func (c *call) Identity() string {
	return fmt.Sprintf("%d %q %d %d %q %q %t", c.verb, c.key, c.value, c.read.value, c.read.Tag(), c.item, c.cached)
}

// String implements [core.Call].
func (c *call) String() string {
	verbs := []string{"get", "list", "set", "update", "remove", "send", "peek", "pick"}
	return fmt.Sprintf("%s %s %d %s", verbs[c.verb], c.key, c.value, c.item)
}

// Source implements [core.Call].
func (c *call) Source() core.Source {
	if c.cached {
		return core.Cached
	}
	return core.Live
}

// reply is the answer to any call.
type reply struct {
	objects []core.Object
	refused bool
	// part is what is shown of an object of which only a part is looked at.
	part string
}

var _ core.Versioned = reply{}

// Identity implements [core.Response].
func (r reply) Identity() string { return r.String() }

// String implements [core.Response].
func (r reply) String() string {
	text := fmt.Sprintf("refused=%t", r.refused) + r.part
	for _, o := range r.objects {
		text += fmt.Sprintf(" %s=%s", o.Key, o.Content.Canonical())
	}
	return text
}

// Versions implements [core.Versioned].
func (r reply) Versions() []core.Object { return r.objects }

// Retagged implements [core.Versioned].
func (r reply) Retagged(names *core.Retagging) core.Response {
	r.objects = slices.Clone(r.objects)
	for i := range r.objects {
		if tagged, ok := r.objects[i].Content.(core.Tagged); ok {
			r.objects[i].Content = tagged.Retagged(names)
		}
	}
	return r
}

// Earlier implements [core.Versioned].
func (r reply) Earlier(by map[core.Key]map[string]int) core.Response {
	r.objects = core.EarlierObjects(r.objects, by)
	return r
}

// number is the answer as a number, for what comes next to depend on.
func (r reply) number() int {
	if r.refused {
		return none
	}
	sum := len(r.part)
	for _, o := range r.objects {
		sum += valueOf(o.Content) + 1
	}
	return (sum + none) % (none + 1)
}

// Answer implements [core.Store].
func (s shelf) Answer(snapshot core.Snapshot, asked core.Call) (core.Answer, error) {
	c := asked.(*call)
	switch c.verb {
	case list:
		return core.Answer{Response: reply{objects: snapshot.List(c.key.Kind, c.key.Namespace)}}, nil
	case pick:
		return core.Answer{Response: reply{objects: core.Select(snapshot, c.key.Kind, c.key.Namespace, having(c.value))}}, nil
	case peek:
		var shown reply
		if content := core.Project(snapshot, c.key, parity{}); content != nil {
			shown.part = content.Canonical()
		}
		return core.Answer{Response: shown}, nil
	case send:
		return core.Answer{Response: reply{}, Enqueue: []core.Item{c.item}}, nil
	}
	there := snapshot.Get(c.key)
	answer := core.Answer{Response: reply{}}
	switch {
	case c.verb == get && there != nil:
		answer.Response = reply{objects: []core.Object{{Key: c.key, Content: there}}}
	case c.verb == update && there != core.Content(c.read):
		answer.Response = reply{refused: true}
	case c.verb == remove && there != nil:
		answer.Writes = []core.Write{{Key: c.key}}
	case (c.verb == set || c.verb == update) && valueOf(there) != c.value:
		next, err := s.next(snapshot, c.key, c.value)
		if err != nil {
			return core.Answer{}, err
		}
		answer.Writes = []core.Write{{Key: c.key, Content: next}}
	}
	return answer, nil
}

// having selects the objects that have a value.
type having int

// Identity implements [core.Selection].
func (h having) Identity() string { return fmt.Sprint(int(h)) }

// Selects implements [core.Selection].
func (h having) Selects(o core.Object) bool { return valueOf(o.Content) == int(h) }

// parity is the part of an object that tells whether its value is odd.
type parity struct{}

// Identity implements [core.Projection].
func (parity) Identity() string { return "parity" }

// Project implements [core.Projection].
func (parity) Project(o core.Object) core.Content { return oddness(valueOf(o.Content) % 2) }

// oddness is 1 for an odd value, and 0 for an even one.
type oddness int

// Canonical implements [core.Content].
func (o oddness) Canonical() string { return []string{"e", "od"}[o] }

// Fields implements [core.Content].
func (o oddness) Fields() any { return int(o) }

// next returns a new version of an object.
func (s shelf) next(snapshot core.Snapshot, key core.Key, value int) (core.Content, error) {
	next := thing{value: value}
	if there, exists := snapshot.Get(key).(thing); exists {
		next.created, next.count = there.created, there.count
	} else {
		var err error
		if next.created, err = s.created(snapshot, key.Kind); err != nil {
			return nil, err
		}
	}
	if s.counts {
		next.count = min(next.count+1, mostCounted)
	}
	if !s.versioned {
		return next, nil
	}
	newest := 0
	for _, held := range append(snapshot.Held(key), snapshot.Get(key)) {
		if held != nil && s.among(held) == s.among(thing{value: value}) {
			newest = max(newest, held.(thing).version)
		}
	}
	next.version = newest + 1
	return next, nil
}

// among says among which versions one is numbered: all of the object, or those of its value.
func (s shelf) among(version core.Content) int {
	if s.ordered {
		return none
	}
	return valueOf(version)
}

// Normalize implements [core.Store]: the versions are numbered in the order of their age, and counted anew.
func (s shelf) Normalize(key core.Key, versions []core.Content, pinned []bool) []core.Content {
	if s.counts && !slices.Contains(s.counted, key.Kind) {
		versions = recounted(versions, pinned)
	}
	if !s.versioned {
		return versions
	}
	order := make([]int, len(versions))
	for i := range versions {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(versions[a].(thing).version, versions[b].(thing).version) })
	settled, newest := make([]core.Content, len(versions)), map[int]int{}
	for _, i := range order {
		t, among := versions[i].(thing), s.among(versions[i])
		if newest[among]++; pinned != nil && pinned[i] {
			newest[among] = t.version
		}
		t.version = newest[among]
		settled[i] = t
	}
	return settled
}

// recounted returns versions with the smallest numbers that keep their order. Those that are pinned keep theirs.
func recounted(versions []core.Content, pinned []bool) []core.Content {
	stays := map[int]bool{}
	for i, version := range versions {
		count := version.(thing).count
		stays[count] = stays[count] || pinned != nil && pinned[i]
	}
	becomes, next := map[int]int{}, 1
	for _, count := range slices.Sorted(maps.Keys(stays)) {
		if stays[count] {
			next = count
		}
		becomes[count] = next
		next++
	}
	others := make([]core.Content, len(versions))
	for i, version := range versions {
		t := version.(thing)
		t.count = becomes[t.count]
		others[i] = t
	}
	return others
}

// Outcome implements [core.Store].
func (shelf) Outcome(_ core.Key, c core.Content) any { return map[string]any{"value": valueOf(c)} }

// CanonicalOutcome implements [core.Store]: nothing is chosen here.
func (shelf) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

// Faults implements [core.Store]: whatever writes may be refused, with effect or without.
func (shelf) Faults(asked core.Call) []core.Fault {
	switch asked.(*call).verb {
	case set, update, remove:
		refused := reply{refused: true}
		return []core.Fault{{Name: "refused", Response: refused}, {Name: "lost", Response: refused, Commits: true}}
	}
	return nil
}

var _ core.Renamer = shelf{}

// Rename implements [core.Renamer]: contents mention no names.
func (s shelf) Rename(o core.Object, renamed core.Renaming) core.Object {
	o.Key.Namespace, o.Key.Name = renamed(o.Key.Namespace), renamed(o.Key.Name)
	return o
}

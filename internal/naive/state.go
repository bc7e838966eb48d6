package naive

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// State is one state. It implements [core.State].
type State struct {
	// objects, work and timers are sorted and never changed in place.
	objects []core.Object
	work    []core.Item
	timers  []core.Item
	// backlogs are what lagging views have not received, flights what runs in flight were answered.
	backlogs map[stream]backlog
	flights  map[core.Item]flight
	// memories are what strategies remember, by name.
	memories map[string]string
	// draws count the runs of items that have written what they drew at random.
	draws map[core.Item]int
	// crashes and failures are how many there were.
	crashes, failures int
	// clock is what time has passed, and behind are the items with timers for which it has not the last time.
	clock  clock
	behind []core.Item
}

// clock is how often each of the shorter times has passed, and a long one, and the number of the one that did the last
// time, counted from 1.
type clock struct {
	times [most + 1]int
	last  int
}

// most is how many shorter times there may be. The long one is the last.
const most = 5

// long is longer than whatever is waited for.
const long = 21 * 365 * 24 * time.Hour

// passed is how much time has passed.
func (c clock) passed(shorter []Span) time.Duration {
	all := time.Duration(c.times[most]) * long
	for i, s := range shorter {
		all += time.Duration(c.times[i]) * s.Length
	}
	return all
}

// after is when one of the times has passed, by its number.
func (c clock) after(n int) clock {
	c.times[n]++
	c.last = n + 1
	return c
}

// before is what had passed before the last time.
func (c clock) before() clock {
	c.times[c.last-1]--
	return c
}

// Get implements [core.Snapshot].
func (s State) Get(key core.Key) core.Content {
	if i, found := s.find(key); found {
		return s.objects[i].Content
	}
	return nil
}

// List implements [core.Snapshot].
func (s State) List(kind core.Kind, namespace string) []core.Object {
	var listed []core.Object
	for _, o := range s.objects {
		if o.Key.Kind == kind && (namespace == "" || o.Key.Namespace == namespace) {
			listed = append(listed, o)
		}
	}
	return listed
}

// Held implements [core.Snapshot]: between steps nobody holds anything.
func (s State) Held(core.Key) []core.Content { return nil }

// Work implements [core.State].
func (s State) Work() []core.Item { return s.work }

// InFlight implements [core.State].
func (s State) InFlight() []core.Item {
	var items []core.Item
	for item := range s.flights {
		items = add(items, item)
	}
	return items
}

// Timers implements [core.State].
func (s State) Timers() []core.Item { return s.timers }

// Text is the state in full: equal texts exactly for equal states.
func (s State) Text() string {
	var b strings.Builder
	put := func(text string) {
		b.WriteString(strconv.Itoa(len(text)))
		b.WriteByte(':')
		b.WriteString(text)
	}
	for _, o := range s.objects {
		put(string(o.Key.Kind))
		put(o.Key.Namespace)
		put(o.Key.Name)
		put(o.Content.Canonical())
	}
	for _, items := range [][]core.Item{s.work, s.timers} {
		b.WriteByte('\n')
		for _, item := range items {
			put(item.Strategy)
			put(string(item.Request))
		}
	}
	put(s.hidden())
	return b.String()
}

func (s State) find(key core.Key) (int, bool) {
	return slices.BinarySearchFunc(s.objects, key, func(o core.Object, k core.Key) int { return o.Key.Compare(k) })
}

// with returns the state with an object set, or deleted if the content is nil.
func (s State) with(key core.Key, content core.Content) State {
	i, found := s.find(key)
	switch {
	case content == nil && found:
		s.objects = slices.Delete(slices.Clone(s.objects), i, i+1)
	case content == nil:
	case found:
		s.objects = slices.Clone(s.objects)
		s.objects[i].Content = content
	default:
		s.objects = slices.Insert(slices.Clone(s.objects), i, core.Object{Key: key, Content: content})
	}
	return s
}

// add returns the set with an item in it.
func add(items []core.Item, item core.Item) []core.Item {
	i, found := slices.BinarySearchFunc(items, item, core.Item.Compare)
	if found {
		return items
	}
	return slices.Insert(slices.Clone(items), i, item)
}

// remove returns the set without an item.
func remove(items []core.Item, item core.Item) []core.Item {
	i, found := slices.BinarySearchFunc(items, item, core.Item.Compare)
	if !found {
		return items
	}
	return slices.Delete(slices.Clone(items), i, i+1)
}

package core

import (
	"slices"
)

// Objects that are created while no time passes are of one age, as the times at which a real server says that they were
// created are whole seconds. In reality, some of them are older than others, and code that picks the oldest one picks
// another one then. So a system may also be looked at in which each object is younger than those that were there before
// it.

// Aged is a [Content] that shows when its object was created.
type Aged interface {
	Content

	// Created returns that time as it is shown, empty if none is. It must be a function of the content, and long enough
	// not to be found in other texts by chance.
	Created() string

	// Written returns the other times at which something was written into the object, as they are shown, by their
	// places. None of these is [Creation].
	Written() map[string]string

	// Earlier returns the content as it would be shown if the times at some places had been so many seconds earlier, or
	// whatever the smallest time is that is told apart.
	Earlier(by map[string]int) Content
}

// Creation is the place of the time at which an object was created.
const Creation = ""

// Aging is a store that shows when objects were created, and that can let those be older that are created earlier.
type Aging interface {
	Store

	// Aged returns the store in which, of two objects whose kinds are in one group, that which is created later is
	// younger. An object that is the only one of its group is as old as time is ahead of [Youth].
	Aged(groups [][]Kind) Store

	// Ages returns these groups, in order, none at first.
	Ages() [][]Kind
}

// Youth is how many seconds the first object of a group is old when it is created, so that those which come after it
// are not created in the future.
const Youth = 64

// Aged returns the system with objects of different ages, where their kinds are in one group: one that is created later
// is younger. Of those that are there at the start, each is younger than the ones that are given before it, or older if
// they are turned. It returns the system itself if the store cannot do that.
func (s *System) Aged(groups [][]Kind, turned bool) *System {
	store, shows := s.Store.(Aging)
	if !shows || len(groups) == 0 {
		return s
	}
	aged := *s
	aged.Store, aged.Initial = store.Aged(groups), nil
	for _, initial := range s.Initial {
		ages := map[Key]map[string]int{}
		for _, group := range groups {
			keys := initial.dated(group)
			for n, key := range keys {
				if !turned {
					n = len(keys) - 1 - n
				}
				ages[key] = map[string]int{Creation: Youth + n}
			}
		}
		aged.Initial = append(aged.Initial, initial.earlier(ages))
	}
	return &aged
}

// Turns reports whether it makes a difference to the ages of objects at the start that they are turned.
func (s *System) Turns(groups [][]Kind) bool {
	return slices.ContainsFunc(s.Initial, func(initial Initial) bool {
		return slices.ContainsFunc(groups, func(group []Kind) bool { return len(initial.dated(group)) > 1 })
	})
}

// dated returns the objects of some kinds that show when they were created, each once, in their order.
func (i Initial) dated(kinds []Kind) []Key {
	var keys []Key
	note := func(key Key, content Content) {
		if aged, shows := content.(Aged); shows && aged.Created() != "" && slices.Contains(kinds, key.Kind) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, o := range i.Objects {
		note(o.Key, o.Content)
	}
	for _, change := range i.Underway.missing() {
		note(change.Key, change.From)
		note(change.Key, change.To)
	}
	return keys
}

// earlier returns the initial state as if times of objects had been so many seconds earlier.
func (i Initial) earlier(by map[Key]map[string]int) Initial {
	i.Objects = EarlierObjects(i.Objects, by)
	if i.Underway == nil {
		return i
	}
	underway := *i.Underway
	underway.Processes = slices.Clone(underway.Processes)
	for n := range underway.Processes {
		p := &underway.Processes[n]
		p.Behind = slices.Clone(p.Behind)
		for m, change := range p.Behind {
			p.Behind[m].From, p.Behind[m].To = Earlier(change.From, by[change.Key]), Earlier(change.To, by[change.Key])
		}
	}
	i.Underway = &underway
	return i
}

// missing returns all changes that caches have not received.
func (u *Underway) missing() []Missing {
	if u == nil {
		return nil
	}
	var all []Missing
	for _, p := range u.Processes {
		all = append(all, p.Behind...)
	}
	return all
}

// Earlier returns a content as it would be if its times at some places had been so many seconds earlier, itself if it
// does not show when its object was created.
func Earlier(content Content, by map[string]int) Content {
	if aged, shows := content.(Aged); shows && len(by) > 0 && aged.Created() != "" {
		return aged.Earlier(by)
	}
	return content
}

// EarlierObjects returns objects as they would be if the times of each at some places had been so many seconds earlier.
func EarlierObjects(objects []Object, by map[Key]map[string]int) []Object {
	others := slices.Clone(objects)
	for i, o := range others {
		others[i].Content = Earlier(o.Content, by[o.Key])
	}
	return others
}

// AgeGroup returns the group of kinds that a kind is in, nil if it is in none.
func AgeGroup(groups [][]Kind, kind Kind) []Kind {
	if i := slices.IndexFunc(groups, func(group []Kind) bool { return slices.Contains(group, kind) }); i >= 0 {
		return groups[i]
	}
	return nil
}

// JoinAges adds a group to groups of kinds whose ages are compared: groups that have a kind in common are one. All are
// in order.
func JoinAges(groups [][]Kind, group []Kind) [][]Kind {
	joined := slices.Clone(group)
	var others [][]Kind
	for _, g := range groups {
		if slices.ContainsFunc(g, func(kind Kind) bool { return slices.Contains(joined, kind) }) {
			joined = append(joined, g...)
		} else {
			others = append(others, g)
		}
	}
	slices.Sort(joined)
	others = append(others, slices.Compact(joined))
	slices.SortFunc(others, slices.Compare)
	return others
}

package behavior

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Ages are objects that show when they were created, and when something was written into them.
type Ages struct {
	// shown are all contents that show it of an object, keys the objects in order, and written the places of the times
	// that are no creation, in order.
	shown   map[core.Key][]core.Aged
	keys    []core.Key
	written []written
	// known are groups of kinds of which objects are of different ages already.
	known [][]core.Kind
}

// written is a place of an object with a time.
type written struct {
	key   core.Key
	place string
}

// AgesIn returns the objects that are shown in some runs with the times of their creation. Those whose kinds are in one
// of the known groups are of different ages already.
func AgesIn(runs []Run, known [][]core.Kind) Ages {
	a := Ages{shown: map[core.Key][]core.Aged{}, known: known}
	places := map[written]bool{}
	eachShown(runs, func(key core.Key, content core.Content) {
		if aged, shows := content.(core.Aged); shows && aged.Created() != "" {
			a.shown[key] = append(a.shown[key], aged)
			for place := range aged.Written() {
				places[written{key, place}] = true
			}
		}
	})
	a.keys = slices.SortedFunc(maps.Keys(a.shown), core.Key.Compare)
	a.written = slices.SortedFunc(maps.Keys(places), func(a, b written) int { return cmp.Or(a.key.Compare(b.key), cmp.Compare(a.place, b.place)) })
	return a
}

// InOrder returns the runs of the objects of some kinds, or of all, where each object is younger than the one before,
// or older if they are turned; those that are of different ages already move together. It is nil if there are no two
// that could change places.
func (a Ages) InOrder(turned bool, kinds []core.Kind) Otherwise {
	if earlier := a.ordered(turned, kinds); earlier != nil {
		return a.predated(earlier)
	}
	return nil
}

// ordered returns by how much objects are older then, nil if no two change places.
func (a Ages) ordered(turned bool, kinds []core.Kind) map[core.Key]map[string]int {
	var units []string
	of := map[core.Key]int{}
	for _, key := range a.keys {
		if kinds != nil && !slices.Contains(kinds, key.Kind) {
			continue
		}
		unit := key.String()
		if group := core.AgeGroup(a.known, key.Kind); group != nil {
			unit = fmt.Sprint(group)
		}
		if !slices.Contains(units, unit) {
			units = append(units, unit)
		}
		of[key] = slices.Index(units, unit)
	}
	if len(units) < 2 {
		return nil
	}
	step := 1
	if len(a.known) > 0 {
		step += core.Youth
	}
	earlier := map[core.Key]map[string]int{}
	for key, at := range of {
		earlier[key] = map[string]int{core.Creation: place(at, len(units), turned) * step}
	}
	return earlier
}

// AllInOrder is as [Ages.InOrder] for all objects, where what was written into them was written one after the other,
// too, in the order of the objects and of its places, or in the opposite one.
func (a Ages) AllInOrder(turned bool) Otherwise {
	ages := a.ordered(turned, nil)
	if ages == nil && len(a.written) < 2 {
		return nil
	}
	return a.writtenInOrder(turned, a.written, ages)
}

// WrittenInOrder returns the runs where what was written into objects of some kinds was written one after the other
// after all of them were created. It is nil if there are no two times of that.
func (a Ages) WrittenInOrder(turned bool, kinds []core.Kind) Otherwise {
	if places := a.places(kinds); len(places) > 1 {
		return a.writtenInOrder(turned, places, nil)
	}
	return nil
}

func (a Ages) writtenInOrder(turned bool, places []written, ages map[core.Key]map[string]int) Otherwise {
	earlier := a.created(func(key core.Key) int { return ages[key][core.Creation] + len(places) })
	for at, w := range places {
		earlier[w.key][w.place] = place(at, len(places), turned)
	}
	return a.predated(earlier)
}

// Before returns the runs where all times of objects of some kinds are earlier, by as much as any is where they are in
// order, and all objects were created before that, too.
func (a Ages) Before(kinds []core.Kind) Otherwise {
	places := a.places(kinds)
	earlier := a.created(func(core.Key) int { return len(places) })
	for _, w := range places {
		earlier[w.key][w.place] = len(places)
	}
	return a.predated(earlier)
}

// After returns the runs where all objects were created after what was written into those of some kinds, as one is that
// was made again. It is nil if nothing was.
func (a Ages) After(kinds []core.Kind) Otherwise {
	places := a.places(kinds)
	if len(places) == 0 {
		return nil
	}
	earlier := a.created(func(core.Key) int { return 0 })
	for _, w := range places {
		earlier[w.key][w.place] = 1
	}
	return a.predated(earlier)
}

// Later returns the runs where all times of objects of a kind are so many seconds later, or the same.
func (a Ages) Later(kind core.Kind, seconds int) Otherwise {
	later := a.created(func(key core.Key) int {
		if key.Kind == kind {
			return -seconds
		}
		return 0
	})
	for _, w := range a.places([]core.Kind{kind}) {
		later[w.key][w.place] = -seconds
	}
	return a.predated(later)
}

// Kinds returns the kinds of the objects, in order.
func (a Ages) Kinds() []core.Kind {
	var kinds []core.Kind
	for _, key := range a.keys {
		kinds = append(kinds, key.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// places returns where times are written into objects of some kinds.
func (a Ages) places(kinds []core.Kind) []written {
	return slices.DeleteFunc(slices.Clone(a.written), func(w written) bool { return !slices.Contains(kinds, w.key.Kind) })
}

// created returns that each object was created so many seconds earlier.
func (a Ages) created(earlier func(core.Key) int) map[core.Key]map[string]int {
	by := map[core.Key]map[string]int{}
	for _, key := range a.keys {
		by[key] = map[string]int{core.Creation: earlier(key)}
	}
	return by
}

// place returns how many of several that are given in an order, or turned, come after one.
func place(at, all int, turned bool) int {
	if turned {
		return at
	}
	return all - 1 - at
}

// Alike returns runs in which all objects of some kinds are older, by the same.
func (a Ages) Alike(kinds []core.Kind) Otherwise {
	earlier := map[core.Key]map[string]int{}
	for _, key := range a.keys {
		if slices.Contains(kinds, key.Kind) {
			earlier[key] = map[string]int{core.Creation: 1}
		}
	}
	return a.predated(earlier)
}

// predated returns runs with earlier times. Where code writes one down, it is taken for the one that it takes the place
// of. Of those that are written it is kept that they are there.
func (a Ages) predated(earlier map[core.Key]map[string]int) Otherwise {
	const some = "<time>"
	recorded, observed := map[string]string{}, map[string]string{}
	for key, by := range earlier {
		for _, content := range a.shown[key] {
			before, shows := content.Earlier(by).(core.Aged)
			if !shows {
				continue
			}
			if before.Created() != content.Created() {
				observed[before.Created()] = content.Created()
			}
			if len(by) > 1 {
				for place, text := range content.Written() {
					recorded[text], recorded[before.Written()[place]] = some, some
				}
			}
		}
	}
	for before, created := range observed {
		if recorded[created] != "" {
			observed[before] = some
		}
	}
	maps.Copy(observed, recorded)
	return predated{earlier, core.NewRetagging(recorded), core.NewRetagging(observed)}
}

// Groups returns the kinds whose objects may be compared: those of each kind, those of each two, and of all of them.
func (a Ages) Groups() [][]core.Kind {
	kinds := a.Kinds()
	var groups [][]core.Kind
	for _, kind := range kinds {
		groups = append(groups, []core.Kind{kind})
	}
	for i, one := range kinds {
		for _, other := range kinds[i+1:] {
			groups = append(groups, []core.Kind{one, other})
		}
	}
	return append(groups, kinds)
}

// predated are earlier times at which objects were created, or something was written into them.
type predated struct {
	// earlier is by how many seconds, by the places of the times.
	earlier map[core.Key]map[string]int
	// recordedAs and observedAs have, for each of the recorded and of the earlier times, what stands for it where both
	// are compared: code may write down what it is shown.
	recordedAs, observedAs *core.Retagging
}

func (p predated) content(key core.Key, content core.Content) core.Content {
	return core.Earlier(content, p.earlier[key])
}

func (p predated) response(response core.Response) core.Response {
	if versioned, ok := response.(core.Versioned); ok {
		return versioned.Earlier(p.earlier)
	}
	return response
}

func (p predated) recorded(text string) string { return p.recordedAs.In(text) }

func (p predated) observed(text string) string { return p.observedAs.In(text) }

func (p predated) call(call core.Call) core.Call { return call }

func (p predated) kept(_, _, _ map[string]string) {}

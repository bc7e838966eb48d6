package state

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/orrery-dev/orrery/core"
)

// Interchange knows what becomes of the cells of a vocabulary and of their values when interchangeable names are
// exchanged. Like the vocabulary it only grows, and may be read by several goroutines as long as nobody adds to it.
type Interchange struct {
	vocabulary *Vocabulary
	rename     func(core.Object, core.Renaming) core.Object
	item       func(core.Item) (Cell, error)
	words      words
	// groups are the names by number, and group is that of each name.
	groups [][]int
	group  []int

	// traits are by cell and value, nil as long as they are not known.
	traits [][][]Trait
	images []map[pose]Place
}

// Trait is what a value of a cell says about a name. Equal traits say the same about different names.
type Trait struct {
	Name int
	Says uint64
}

// Place is a value in a cell.
type Place struct {
	Cell  Cell
	Value Value
}

// pose is a value with what takes the places of the names in it.
type pose struct {
	value  Value
	places string
}

// NewInterchange returns what knows nothing yet but the groups of names. It renames objects with one function, and
// finds the cells of renamed items with another.
func NewInterchange(vocabulary *Vocabulary, groups [][]string, rename func(core.Object, core.Renaming) core.Object, item func(core.Item) (Cell, error)) *Interchange {
	x := &Interchange{vocabulary: vocabulary, rename: rename, item: item}
	var names []string
	for number, group := range groups {
		var members []int
		for _, name := range group {
			members = append(members, len(names))
			names = append(names, name)
			x.group = append(x.group, number)
		}
		x.groups = append(x.groups, members)
	}
	x.words = newWords(names)
	return x
}

// Groups returns the names by number, group by group.
func (x *Interchange) Groups() [][]int { return x.groups }

// Identity returns the arrangement in which all names are in their places.
func (x *Interchange) Identity() Arrangement {
	a := make(Arrangement, len(x.group))
	for i := range a {
		a[i] = i
	}
	return a
}

// Arrangements returns all there are, but for the one in which all names are in their places.
func (x *Interchange) Arrangements() []Arrangement {
	all := []Arrangement{x.Identity()}
	for _, group := range x.groups {
		all = permuted(all, group, 0)
	}
	return all[1:]
}

// Renaming returns what an arrangement makes of texts.
func (x *Interchange) Renaming(a Arrangement) core.Renaming {
	return func(text string) string {
		return x.words.replace(text, func(name int) string { return x.words.names[a[name]] })
	}
}

// text is what a value says together with its cell, in which names are looked for.
func (x *Interchange) text(c Cell, value Value) string {
	v := x.vocabulary
	if item, isItem := v.ItemAt(c); isItem {
		return item.Strategy + "\x00" + string(item.Request) + "\x00#" + strconv.Itoa(int(value))
	}
	if key, isObject := v.Key(c); isObject {
		text := string(key.Kind) + "\x00" + key.Namespace + "\x00" + key.Name + "\x00"
		if content := x.example(c, value); content != nil {
			text += content.Canonical()
		}
		return text
	}
	return ""
}

// example returns the content of a value. Where there is no object, it is one that it once had, as there are objects
// whose names are made of what they hold.
func (x *Interchange) example(c Cell, value Value) core.Content {
	if value == 0 && x.vocabulary.Values(c) > 1 {
		value = 1
	}
	return x.vocabulary.Content(c, value)
}

// Traits returns what a value says about names, and false if that was not learned yet.
func (x *Interchange) Traits(c Cell, value Value) ([]Trait, bool) {
	if int(c) >= len(x.traits) || int(value) >= len(x.traits[c]) {
		return nil, false
	}
	traits := x.traits[c][value]
	return traits, traits != nil
}

// Learn finds out what a value says about names. The error says why names cannot be exchanged in it.
func (x *Interchange) Learn(c Cell, value Value) ([]Trait, error) {
	if traits, known := x.Traits(c, value); known {
		return traits, nil
	}
	traits := []Trait{}
	for _, name := range x.mentioned(c, value) {
		traits = append(traits, Trait{Name: name})
	}
	// It is known from now on who is named; what is said of them takes images.
	x.keep(c, value, traits)
	for i := range traits {
		says, err := x.says(c, value, traits, traits[i].Name)
		if err != nil {
			return nil, err
		}
		traits[i].Says = says
	}
	return traits, nil
}

// mentioned returns the names that are mentioned by a value or its cell, each once and in order: those in its text, and
// those that are renamed in it. In the text some may be hidden by what stands for another character, as in "one\ntwo".
func (x *Interchange) mentioned(c Cell, value Value) []int {
	names := x.words.in(x.text(c, value))
	if key, isObject := x.vocabulary.Key(c); isObject {
		x.rename(core.Object{Key: key, Content: x.example(c, value)}, func(text string) string {
			names = append(names, x.words.in(text)...)
			return text
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (x *Interchange) keep(c Cell, value Value, traits []Trait) {
	for int(c) >= len(x.traits) {
		x.traits = append(x.traits, nil)
	}
	for int(value) >= len(x.traits[c]) {
		x.traits[c] = append(x.traits[c], nil)
	}
	x.traits[c][value] = traits
}

// says returns a number that is the same for all names of which values say the same: a hash of the text of the value in
// which the name is the first of its group, and the others that are named come behind it. What is derived from names is
// then that of these names.
func (x *Interchange) says(c Cell, value Value, traits []Trait, name int) (uint64, error) {
	places := x.Identity()
	group := x.groups[x.group[name]]
	order := []int{name}
	for _, t := range traits {
		if t.Name != name && x.group[t.Name] == x.group[name] {
			order = append(order, t.Name)
		}
	}
	for _, other := range group {
		if !slices.Contains(order, other) {
			order = append(order, other)
		}
	}
	for i, member := range order {
		places[member] = group[i]
	}
	image, err := x.LearnImage(c, value, traits, places)
	if err != nil {
		return 0, err
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(x.words.replace(x.text(image.Cell, image.Value), func(other int) string {
		switch {
		case other == group[0]:
			return "\x01"
		case x.group[other] == x.group[name]:
			return "\x02"
		}
		return x.words.names[other]
	})))
	// Numbers are added up, so their bits have to be mixed well.
	sum := h.Sum64()
	sum = (sum ^ sum>>30) * 0xbf58476d1ce4e5b9
	sum = (sum ^ sum>>27) * 0x94d049bb133111eb
	return sum ^ sum>>31, nil
}

// poseOf names what an arrangement does to the names that have traits. The name is in the buffer.
func poseOf(traits []Trait, a Arrangement, buffer []byte) (places []byte, moves bool) {
	buffer = buffer[:0]
	for _, t := range traits {
		moves = moves || a[t.Name] != t.Name
		buffer = append(buffer, byte(a[t.Name]), byte(a[t.Name]>>8))
	}
	return buffer, moves
}

// Image returns what an arrangement makes of a value with traits, and false if that was not learned yet.
func (x *Interchange) Image(c Cell, value Value, traits []Trait, a Arrangement, buffer []byte) (Place, bool) {
	places, moves := poseOf(traits, a, buffer)
	if !moves {
		return Place{c, value}, true
	}
	if int(c) >= len(x.images) {
		return Place{}, false
	}
	image, known := x.images[c][pose{value, string(places)}]
	return image, known
}

// LearnImage finds out what an arrangement makes of a value with traits. The error says why there is no such thing.
func (x *Interchange) LearnImage(c Cell, value Value, traits []Trait, a Arrangement) (Place, error) {
	if image, known := x.Image(c, value, traits, a, nil); known {
		return image, nil
	}
	image, err := x.image(c, value, a)
	if err != nil {
		return Place{}, err
	}
	// Two states that become one would be taken for the same.
	back, err := x.image(image.Cell, image.Value, a.Inverse())
	if err != nil {
		return Place{}, err
	}
	if back != (Place{c, value}) {
		return Place{}, fmt.Errorf("%s becomes %s when names are exchanged, and does not change back when they are exchanged again", x.vocabulary.Describe(c), x.vocabulary.Describe(image.Cell))
	}
	for int(c) >= len(x.images) {
		x.images = append(x.images, nil)
	}
	if x.images[c] == nil {
		x.images[c] = map[pose]Place{}
	}
	places, _ := poseOf(traits, a, nil)
	x.images[c][pose{value, string(places)}] = image
	return image, nil
}

func (x *Interchange) image(c Cell, value Value, a Arrangement) (Place, error) {
	renaming := x.Renaming(a)
	if item, isItem := x.vocabulary.ItemAt(c); isItem {
		renamed, err := x.item(core.Item{Strategy: renaming(item.Strategy), Request: core.Request(renaming(string(item.Request)))})
		return Place{renamed, value}, err
	}
	key, _ := x.vocabulary.Key(c)
	renamed := x.rename(core.Object{Key: key, Content: x.example(c, value)}, renaming)
	to := x.vocabulary.Object(renamed.Key)
	if value == 0 {
		return Place{to, 0}, nil
	}
	traits, err := x.Learn(c, 0)
	if err != nil {
		return Place{}, err
	}
	empty, err := x.LearnImage(c, 0, traits, a)
	if err == nil && empty.Cell != to {
		err = fmt.Errorf("%s becomes %s by its name, but %s by its contents", key, x.vocabulary.Describe(empty.Cell), renamed.Key)
	}
	return Place{to, x.vocabulary.Normalized(to, x.vocabulary.Intern(to, renamed.Content))}, err
}

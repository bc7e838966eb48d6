package canonical

import (
	"fmt"
	"slices"
	"strings"
)

// relabelling finds labels for the choices in an outcome that depend on nothing but what the objects say: those of
// which the text of the outcome is the smallest, among labels that are found in a way that does not depend on the
// choices. It is the canonical labelling of a graph: choices are told apart by what stands around them ("colour
// refinement"), and where that leaves several alike, each of them is tried as the first. Of two that can be exchanged
// without a difference, one is enough (McKay, Practical Graph Isomorphism, 1981).
type relabelling struct {
	objects []*relabelled
	choices []choice
	// depths are how many choices are made before each of them.
	depths []int
	// limit is how many objects may still be written.
	limit int
}

// relabellingLimit is how many objects are written for one outcome at most.
const relabellingLimit = 100_000

// colours are the classes of the choices: each has the number of choices in the classes before its own.
type colours []int

// labels returns the label of each choice, and false if there is too much to try.
func (l *relabelling) labels() (func(int) string, bool) {
	if len(l.choices) == 0 {
		return func(int) string { return "" }, true
	}
	depths := map[int]int{}
	for choice := range l.choices {
		l.depths = append(l.depths, l.depth(choice, depths))
	}
	found := l.search(l.refine(make(colours, len(l.choices))))
	if found == nil {
		return nil, false
	}
	return l.final(found.colours), true
}

// leaf is a way to tell all choices apart, and the text of the outcome in it.
type leaf struct {
	colours colours
	text    string
}

// search returns the leaf with the smallest text below some colours, nil if there is too much to try.
func (l *relabelling) search(c colours) *leaf {
	class := c.several()
	if class == nil {
		return l.leaf(c)
	}
	var best *leaf
	tried := map[string]bool{}
	for i, member := range class {
		if i > 0 && l.exchangeable(class[:i], member) {
			continue
		}
		below := l.refine(c.first(member))
		if i > 0 {
			some := l.descend(below)
			if some == nil {
				return nil
			}
			if tried[some.text] {
				continue // an exchange takes this one to one before it
			}
		}
		found := l.search(below)
		if found == nil {
			return nil
		}
		tried[found.text] = true
		if best == nil || found.text < best.text {
			best = found
		}
	}
	return best
}

// descend returns any leaf below some colours.
func (l *relabelling) descend(c colours) *leaf {
	for {
		class := c.several()
		if class == nil {
			return l.leaf(c)
		}
		c = l.refine(c.first(class[0]))
		if l.limit <= 0 {
			return nil
		}
	}
}

// leaf is the outcome as text under colours that are all different, nil if there is too much to try.
func (l *relabelling) leaf(c colours) *leaf {
	label := l.final(c)
	texts := make([]string, 0, len(l.objects))
	for _, o := range l.objects {
		if len(o.mentioned) > 0 {
			texts = append(texts, l.render(o, label))
		}
	}
	if l.limit <= 0 {
		return nil
	}
	slices.Sort(texts)
	return &leaf{c, strings.Join(texts, "\n")}
}

func (l *relabelling) render(o *relabelled, label func(int) string) string {
	l.limit--
	return o.render(label)
}

// final labels choices that are all told apart: each by its base, and its place among those with that base.
func (l *relabelling) final(c colours) func(int) string {
	order := make([]int, len(c))
	for choice, place := range c {
		order[place] = choice
	}
	labels, short := make([]string, len(c)), make([]string, len(c))
	numbers := map[string]int{}
	label := func(choice int) string { return labels[choice] }
	slices.SortStableFunc(order, func(a, b int) int { return l.depths[a] - l.depths[b] }) // a base may have choices in it
	for _, choice := range order {
		base := l.choices[choice].base.render(label)
		numbers[base]++
		short[choice] = numbered(base, numbers[base], "")
		labels[choice] = numbered(base, numbers[base], l.choices[choice].following(func(from int) string { return short[from] }))
	}
	return label
}

// depth is how many choices are made before one: those in its base, those that it follows from, and theirs. How long
// they are says nothing, as numbers that are drawn are of any length. What is known already is in depths.
func (l *relabelling) depth(choice int, depths map[int]int) int {
	if known, is := depths[choice]; is {
		return known
	}
	within := map[int]bool{}
	l.choices[choice].base.mentions(within)
	for _, from := range l.choices[choice].from {
		within[from] = true
	}
	deepest := 0
	for other := range within {
		deepest = max(deepest, 1+l.depth(other, depths))
	}
	depths[choice] = deepest
	return deepest
}

// several returns the members of the first class with more than one, in order, nil if there is none.
func (c colours) several() []int {
	members := make([][]int, len(c))
	for choice, colour := range c {
		members[colour] = append(members[colour], choice)
	}
	for _, class := range members {
		if len(class) > 1 {
			return class
		}
	}
	return nil
}

// first puts a choice before the others of its class.
func (c colours) first(choice int) colours {
	next := slices.Clone(c)
	for other, colour := range c {
		if colour == c[choice] && other != choice {
			next[other]++
		}
	}
	return next
}

// refine tells choices apart by the objects that they stand in, and by those of the others there, until that tells no
// more apart.
func (l *relabelling) refine(c colours) colours {
	for {
		next := l.refined(c)
		if l.limit <= 0 || slices.Equal(next, c) {
			return next
		}
		c = next
	}
}

// refined is one round of it.
func (l *relabelling) refined(c colours) colours {
	alone := make([]int, len(c))
	for _, colour := range c {
		alone[colour]++
	}
	seen := make([]string, len(c))
	for choice := range c {
		if alone[c[choice]] > 1 {
			seen[choice] = l.surroundings(c, choice)
		}
	}
	next := make(colours, len(c))
	for choice, colour := range c {
		next[choice] = colour
		for other, same := range c {
			if same == colour && seen[other] < seen[choice] {
				next[choice]++
			}
		}
	}
	return next
}

// surroundings is what is said around a choice.
func (l *relabelling) surroundings(c colours, choice int) string {
	label := func(other int) string {
		if other == choice {
			return "<this>"
		}
		return fmt.Sprintf("<%d>", c[other])
	}
	texts := []string{l.choices[choice].origin(label)}
	for other, follows := range l.choices {
		if slices.Contains(follows.from, choice) {
			texts = append(texts, label(other)+" is "+follows.origin(label))
		}
	}
	for _, o := range l.objects {
		if o.has(choice) {
			texts = append(texts, l.render(o, label))
		}
	}
	slices.Sort(texts[1:])
	return strings.Join(texts, "\n")
}

// exchangeable reports whether a choice can be exchanged for one of the others of its class without any difference.
func (l *relabelling) exchangeable(others []int, choice int) bool {
	return slices.ContainsFunc(others, func(other int) bool {
		label := func(a, b int) func(int) string {
			return func(i int) string {
				switch i {
				case a:
					i = b
				case b:
					i = a
				}
				return fmt.Sprintf("<%d>", i)
			}
		}
		as, exchanged := l.around(label(none, none), choice, other), l.around(label(choice, other), choice, other)
		return slices.Equal(as, exchanged)
	})
}

// around are the objects in which one of two choices stands, and the bases of all, in order.
func (l *relabelling) around(label func(int) string, one, other int) []string {
	var texts []string
	for i, choice := range l.choices {
		texts = append(texts, label(i)+" is "+choice.origin(label))
	}
	for _, o := range l.objects {
		if o.has(one) || o.has(other) {
			texts = append(texts, l.render(o, label))
		}
	}
	slices.Sort(texts)
	return texts
}

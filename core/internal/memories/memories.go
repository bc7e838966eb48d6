package memories

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Identity returns what tells contents apart, empty if there are none.
func Identity(contents map[string]string) string {
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		fmt.Fprintf(&text, "%q=%q\n", path, contents[path])
	}
	return text.String()
}

// Differences returns what is different in a memory from another one: the values there, by the ways to them, and what
// is no longer there.
func Differences(from, to map[string]string) map[string]string {
	found := map[string]string{}
	for path, value := range to {
		if was, there := from[path]; !there || was != value {
			found[path] = value
		}
	}
	for path := range from {
		if _, there := to[path]; !there {
			found[path] = Gone
		}
	}
	return found
}

// Gone stands for a value that is no longer there.
const Gone = "\x00"

// Unlike adds to the noise what fresh instances do not have in common, and what [Shuffled] adds.
func Unlike(noise map[string]bool, shown []map[string]string) {
	for _, other := range shown[1:] {
		Shuffled(noise, shown[0], other)
		for path := range Differences(shown[0], other) {
			noise[path] = true
		}
	}
}

// Shuffled adds to the noise by what the elements of lists differ that two fresh instances have in another order, as
// where a set-up fills a list from a map: some orders are so rare that several instances may well have the same. By
// what all elements are alike, they may come to differ later, and that is memory.
func Shuffled(noise map[string]bool, one, other map[string]string) {
	known := map[string]bool{}
	for path := range Differences(one, other) {
		if noise[path] {
			continue
		}
		if strings.HasSuffix(path, "[]") { // the order by itself
			if slices.Equal(slices.Sorted(strings.FieldsSeq(one[path])), slices.Sorted(strings.FieldsSeq(other[path]))) {
				noise[path] = true
			}
			continue
		}
		for i, c := range path {
			list := path[:i]
			if c != '[' || known[list] {
				continue
			}
			known[list] = true
			elements := elementsOf(list, one)
			if !slices.Equal(contentsOf(elements), contentsOf(elementsOf(list, other))) {
				continue
			}
			for rest := range unequal(elements) {
				for number := range elements {
					noise[list+number+rest] = true
				}
			}
		}
	}
}

// elementsOf returns what is found in each element of a list in a memory, by its number in brackets, and the way from
// there.
func elementsOf(list string, memory map[string]string) map[string]map[string]string {
	elements := map[string]map[string]string{}
	for path, value := range memory {
		within, in := strings.CutPrefix(path, list+"[")
		number, rest, closed := strings.Cut(within, "]")
		if _, err := strconv.Atoi(number); !in || !closed || err != nil {
			continue
		}
		number = "[" + number + "]"
		if elements[number] == nil {
			elements[number] = map[string]string{}
		}
		elements[number][rest] = value
	}
	return elements
}

// contentsOf returns what tells elements apart, in order.
func contentsOf(elements map[string]map[string]string) []string {
	var all []string
	for _, contents := range elements {
		all = append(all, Identity(contents))
	}
	slices.Sort(all)
	return all
}

// unequal returns the ways on which elements do not all show the same.
func unequal(elements map[string]map[string]string) map[string]bool {
	ways := map[string]bool{}
	var first map[string]string
	for _, one := range elements {
		if first == nil {
			first = one
		}
		for rest := range Differences(first, one) {
			ways[rest] = true
		}
	}
	return ways
}

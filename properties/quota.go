package properties

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// AtMost holds if there are never more than n objects of the kind.
func AtMost(n int, kind core.Kind) core.Property {
	return Quota(fmt.Sprintf("at most %d of kind %s", n, kind), kind,
		func(core.Object) string { return everything },
		func(core.State, string) int { return n })
}

// everything is the group of objects that are not told apart.
const everything = "all"

// Quota holds if in no state there are more objects of the kind in a group than its limit. The first function names the
// group of an object, empty if it does not count; the second returns the limit of a group, which may depend on the
// state: "no more Pods of a Deployment than spec.replicas and its surge". Both must be functions of what they are
// given. [ByNamespace], [ByLabel] and [ByOwner] are groups.
//
// It finds what is too much for a moment only, too. It misses what is made and taken away within one step; with a step
// for each call there is less of that.
func Quota(name string, kind core.Kind, group func(core.Object) string, limit func(state core.State, group string) int) core.Property {
	p := core.Property{
		Name:  name,
		Kinds: []core.Kind{kind},
		Doc:   fmt.Sprintf("There are never more objects of the kind %s than their limit.", kind),
		Invariant: func(s core.State) error {
			members := map[string][]string{}
			for _, o := range s.List(kind, "") {
				if in := group(o); in != "" {
					members[in] = append(members[in], o.Key.String())
				}
			}
			for _, in := range slices.Sorted(maps.Keys(members)) {
				if n, most := len(members[in]), limit(s, in); n > most {
					of := ""
					if in != everything {
						of = " of " + in
					}
					return fmt.Errorf("there are %d%s, but the limit is %d: %s", n, of, most, briefly(members[in], "more", "more"))
				}
			}
			return nil
		},
	}
	if group == nil || limit == nil {
		p.Mistake = errors.New("a quota needs to know groups and their limits: give both functions")
	}
	return p
}

// ByNamespace groups objects by their namespaces.
func ByNamespace(o core.Object) string { return o.Key.Namespace }

// ByLabel groups objects by the value of a label. Those without it do not count.
func ByLabel(name string) func(core.Object) string {
	return func(o core.Object) string {
		value, _ := lookup(o.Content.Fields(), core.FieldOf("metadata.labels", name))
		text, _ := value.(string)
		return text
	}
}

// ByOwner groups objects by the key of the owner that controls them. Those without one do not count.
func ByOwner(o core.Object) string {
	list, _ := lookup(o.Content.Fields(), "metadata.ownerReferences")
	references, _ := list.([]any)
	for _, reference := range references {
		if controls, _ := lookup(reference, "controller"); controls == true {
			return ownerOf(o.Key, reference).String()
		}
	}
	return ""
}

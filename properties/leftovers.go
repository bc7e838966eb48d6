package properties

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// The properties below are for objects in the form of those of Kubernetes: their metadata say whether they are being
// deleted, and who owns them.

// DeletionCompletes holds if nothing that was deleted stays for ever: when the system is quiet, no object is being
// deleted any more. It finds finalizers that nobody takes off. It misses objects that are never deleted at all; see
// [NoOrphans].
func DeletionCompletes() core.Property {
	return leftovers("deletion completes", "When the system is quiescent, no object is still being deleted.",
		func(_ map[core.Key]any, _ core.Key, metadata map[string]any) (string, []string) {
			if metadata["deletionTimestamp"] == nil {
				return "", nil
			}
			if finalizers := texts(metadata["finalizers"]); len(finalizers) > 0 {
				return fmt.Sprintf("it is being deleted, and nothing removes its finalizers %s", enumerate(finalizers)), finalizers
			}
			return "it is being deleted, and is never removed", nil
		})
}

// NoOrphans holds if nothing outlives all its owners: when the system is quiet, each object with owners has one that is
// there. It finds owners that are deleted while something is being made for them, and owner references to what never
// was. An owner that was deleted and made again under the same name counts as there. A system without a garbage
// collector leaves orphans whenever an owner goes.
func NoOrphans() core.Property {
	return leftovers("no orphan stays", "When the system is quiescent, every object that has owners has one that exists.",
		func(objects map[core.Key]any, key core.Key, metadata map[string]any) (string, []string) {
			references, _ := metadata["ownerReferences"].([]any)
			var missing, kinds []string
			for _, reference := range references {
				owner := ownerOf(key, reference)
				if _, there := objects[owner]; there {
					return "", nil
				}
				cluster := core.Key{Kind: owner.Kind, Name: owner.Name}
				if _, there := objects[cluster]; there {
					return "", nil
				}
				missing = append(missing, owner.String())
				kinds = append(kinds, string(owner.Kind))
			}
			if len(missing) == 0 {
				return "", nil
			}
			return fmt.Sprintf("its owner %s does not exist", enumerate(missing)), kinds
		})
}

// NoDuplicates holds if nothing is there twice: when the system is quiet, no two objects of the kind have the same
// identity, as the function says; objects without one do not count. It finds creations that are repeated because an
// answer was lost, because a cache was late, or because two instances were active.
func NoDuplicates(kind core.Kind, identity func(fields any) string) core.Property {
	return core.Property{
		Name:   fmt.Sprintf("no %s is there twice", kind),
		Kinds:  []core.Kind{kind},
		Doc:    fmt.Sprintf("When the system is quiescent, no two objects of the kind %s have the same identity.", kind),
		Ends:   true,
		Merges: core.InEnds,
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			return judgeEnds(ctx, g, func(objects map[core.Key]any) []leftover {
				first := map[string]core.Key{}
				var found []leftover
				for _, key := range slices.SortedFunc(maps.Keys(objects), core.Key.Compare) {
					if key.Kind != kind {
						continue
					}
					name := identity(objects[key])
					if other, known := first[name]; known && name != "" {
						found = append(found, leftover{key, fmt.Sprintf("it has the same identity as %s", other), causeOf(string(kind))})
						continue
					}
					first[name] = key
				}
				return found
			})
		},
	}
}

// NoLeaks holds if nothing is left that nobody knows of: when the system is quiet, each object of the kind is named by
// an object of the other kind, in the text or the list of texts at the path. It finds what was created in a cloud and
// never written down, or not deleted with what it was created for.
func NoLeaks(kind, owner core.Kind, path string) core.Property {
	p := leftovers(fmt.Sprintf("no %s is leaked", kind), fmt.Sprintf("When the system is quiescent, every object of the kind %s is named by %s of an object of the kind %s.", kind, path, owner),
		func(objects map[core.Key]any, key core.Key, _ map[string]any) (string, []string) {
			if key.Kind != kind {
				return "", nil
			}
			for other, fields := range objects {
				if other.Kind != owner {
					continue
				}
				value, _ := lookup(fields, path)
				if names, ok := value.([]any); value == key.Name || ok && slices.Contains(texts(names), key.Name) {
					return "", nil
				}
			}
			return fmt.Sprintf("no %s has its name in %s", owner, path), nil
		})
	p.Kinds = []core.Kind{kind, owner}
	if kind == "" || owner == "" || path == "" {
		p.Mistake = errors.New("a leak needs a kind, the kind that names its objects, and the path where: give all three")
	}
	return p
}

// leftover is an object that should not be as it is in the end.
type leftover struct {
	key  core.Key
	text string
	why  cause
}

// name is the leftover without its words.
func (l leftover) name() leftover { return leftover{key: l.key, why: l.why} }

// leftovers is a property of each object of each end. What is wrong with an object comes with what that is because of:
// together with the kind of the object it is the cause.
func leftovers(name, doc string, wrong func(objects map[core.Key]any, key core.Key, metadata map[string]any) (text string, because []string)) core.Property {
	return core.Property{
		Name:   name,
		Doc:    doc,
		Ends:   true,
		Merges: core.InEnds,
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			return judgeEnds(ctx, g, func(objects map[core.Key]any) []leftover {
				var found []leftover
				for _, key := range slices.SortedFunc(maps.Keys(objects), core.Key.Compare) {
					fields, _ := objects[key].(map[string]any)
					metadata, _ := fields["metadata"].(map[string]any)
					if text, because := wrong(objects, key, metadata); text != "" {
						found = append(found, leftover{key, text, causeOf(append(because, string(key.Kind))...)})
					}
				}
				return found
			})
		},
	}
}

// judgeEnds tells of the objects that stay wrong for ever, one violation for each cause, by the run that takes
// least.
func judgeEnds(ctx context.Context, g core.Graph, wrong func(map[core.Key]any) []leftover) ([]core.Violation, error) {
	s := &staying{graph: g, wrong: wrong, ends: map[cause]map[core.StateID]leftover{}, told: map[leftover]bool{}, known: map[core.StateID][]leftover{}}
	if err := s.find(ctx); err != nil {
		return nil, err
	}
	var found causes
	for _, l := range s.order {
		if found.known(l.why, l.key.String()) {
			continue
		}
		left := func(id core.StateID) bool { _, there := s.ends[l.why][id]; return there }
		stem, reached := g.Shortest(left)
		if !reached {
			continue
		}
		at := stem.EndIn(g, left)
		shown := s.ends[l.why][at]
		found.tell(l.why, shown.key.String(), core.Violation{
			Summary:     fmt.Sprintf("%s stays forever: %s", shown.key, shown.text),
			Controllers: controllersOf(stem, func(e core.Edge) bool { return e.Wrote }),
			Fields:      []string{shown.key.String()},
			Stem:        stem,
			State:       at,
		})
		found.known(l.why, l.key.String())
	}
	return found.violations(), nil
}

// staying finds what is wrong in quiet states and stays so.
type staying struct {
	graph core.Graph
	wrong func(map[core.Key]any) []leftover
	// ends are the quiet states in which something is wrong for ever, by its cause, and order is all that is, as it was
	// found.
	ends  map[cause]map[core.StateID]leftover
	order []leftover
	told  map[leftover]bool
	// known is what is wrong in the states that were looked at.
	known map[core.StateID][]leftover
}

// find looks at all quiet states. Where no timer is set, what is wrong stays. Where timers are, it stays if a fair run
// goes on from there by what controllers and timers do, and it is never put right. Where somebody waits for a time that
// was not searched, nobody knows.
func (s *staying) find(ctx context.Context) error {
	var maybe []leftover
	waiting := map[leftover][]core.StateID{}
	for _, id := range s.graph.Quiescent() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(s.graph.Awaited(id)) > 0 {
			continue
		}
		later := waits(s.graph, id)
		for _, l := range s.at(id) {
			if !later {
				s.stays(id, l)
				continue
			}
			name := l.name()
			if waiting[name] == nil {
				maybe = append(maybe, name)
			}
			waiting[name] = append(waiting[name], id)
		}
	}
	for _, l := range maybe {
		if err := s.wait(ctx, l, waiting[l]); err != nil {
			return err
		}
	}
	return nil
}

// wait finds out from which of some states on something stays wrong.
func (s *staying) wait(ctx context.Context, l leftover, quiet []core.StateID) error {
	still := func(id core.StateID) bool {
		return len(s.graph.Awaited(id)) == 0 && slices.ContainsFunc(s.at(id), func(other leftover) bool { return other.name() == l })
	}
	lasting := map[core.StateID]bool{}
	r := region{graph: s.graph, roots: quiet, accepts: byItself, inside: still}
	err := r.lasting(ctx, lasting)
	for _, id := range quiet {
		if !lasting[id] {
			continue
		}
		for _, shown := range s.at(id) {
			if shown.name() == l {
				s.stays(id, shown)
			}
		}
	}
	return err
}

// at returns what is wrong in a state.
func (s *staying) at(id core.StateID) []leftover {
	found, known := s.known[id]
	if !known {
		found = s.wrong(s.graph.Outcome(id))
		s.known[id] = found
	}
	return found
}

// stays notes what stays wrong in a quiet state.
func (s *staying) stays(id core.StateID, l leftover) {
	if s.ends[l.why] == nil {
		s.ends[l.why] = map[core.StateID]leftover{}
	}
	if _, known := s.ends[l.why][id]; !known {
		s.ends[l.why][id] = l
	}
	if !s.told[l.name()] {
		s.told[l.name()] = true
		s.order = append(s.order, l)
	}
}

// ownerOf returns the key of the owner that a reference of an object names, if it is in the same namespace. It is in
// the same cluster: the kinds of a second one are called "Secret@west".
func ownerOf(key core.Key, reference any) core.Key {
	fields, _ := reference.(map[string]any)
	text := func(name string) string {
		value, _ := fields[name].(string)
		return value
	}
	kind := text("kind")
	if group, _, grouped := strings.Cut(text("apiVersion"), "/"); grouped {
		kind += "." + group
	}
	if _, cluster, another := strings.Cut(string(key.Kind), "@"); another {
		kind += "@" + cluster
	}
	return core.Key{Kind: core.Kind(kind), Namespace: key.Namespace, Name: text("name")}
}

// texts returns the texts of a list.
func texts(list any) []string {
	items, _ := list.([]any)
	var all []string
	for _, item := range items {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

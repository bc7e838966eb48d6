package properties

import (
	"context"
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
	return leftovers("deletion completes", "When all is quiet, no object is still being deleted.",
		func(_ map[core.Key]any, _ core.Key, metadata map[string]any) string {
			if metadata["deletionTimestamp"] == nil {
				return ""
			}
			if finalizers := texts(metadata["finalizers"]); len(finalizers) > 0 {
				return fmt.Sprintf("it was deleted, and waits for ever for the finalizers %s to be taken off", enumerate(finalizers))
			}
			return "it was deleted, and never goes"
		})
}

// NoOrphans holds if nothing outlives all its owners: when the system is quiet, each object with owners has one that is there. It
// finds owners that are deleted while something is being made for them, and owner references to what never was. An owner that was
// deleted and made again under the same name counts as there. A system without a garbage collector leaves orphans whenever an owner goes.
func NoOrphans() core.Property {
	return leftovers("no orphan stays", "When all is quiet, every object that has owners has one that is there.",
		func(objects map[core.Key]any, key core.Key, metadata map[string]any) string {
			references, _ := metadata["ownerReferences"].([]any)
			var missing []string
			for _, reference := range references {
				owner := ownerOf(key, reference)
				if _, there := objects[owner]; there {
					return ""
				}
				cluster := core.Key{Kind: owner.Kind, Name: owner.Name}
				if _, there := objects[cluster]; there {
					return ""
				}
				missing = append(missing, owner.String())
			}
			if len(missing) == 0 {
				return ""
			}
			return fmt.Sprintf("it is left over from %s, which is gone", enumerate(missing))
		})
}

// NoDuplicates holds if nothing is there twice: when the system is quiet, no two objects of the kind have the same
// identity, as the function says; objects without one do not count. It finds creations that are repeated because an answer was lost, because a cache
// was late, or because two instances were active.
func NoDuplicates(kind core.Kind, identity func(fields any) string) core.Property {
	return core.Property{
		Name: fmt.Sprintf("no %s is there twice", kind),
		Doc:  fmt.Sprintf("When all is quiet, no two objects of the kind %s stand for the same.", kind),
		Ends: true,
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			return judgeEnds(ctx, g, func(objects map[core.Key]any) (core.Key, string) {
				first := map[string]core.Key{}
				for _, key := range slices.SortedFunc(maps.Keys(objects), core.Key.Compare) {
					if key.Kind != kind {
						continue
					}
					name := identity(objects[key])
					if other, known := first[name]; known && name != "" {
						return key, fmt.Sprintf("it stands for the same as %s", other)
					}
					first[name] = key
				}
				return core.Key{}, ""
			})
		},
	}
}

// leftovers is a property of each object of each end.
func leftovers(name, doc string, wrong func(objects map[core.Key]any, key core.Key, metadata map[string]any) string) core.Property {
	return core.Property{
		Name: name,
		Doc:  doc,
		Ends: true,
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			return judgeEnds(ctx, g, func(objects map[core.Key]any) (core.Key, string) {
				for _, key := range slices.SortedFunc(maps.Keys(objects), core.Key.Compare) {
					fields, _ := objects[key].(map[string]any)
					metadata, _ := fields["metadata"].(map[string]any)
					if text := wrong(objects, key, metadata); text != "" {
						return key, text
					}
				}
				return core.Key{}, ""
			})
		},
	}
}

// judgeEnds tells of the objects that are wrong in quiet states, one violation for each object, by the run that takes
// least.
func judgeEnds(ctx context.Context, g core.Graph, wrong func(map[core.Key]any) (core.Key, string)) ([]core.Violation, error) {
	type fault struct {
		key  core.Key
		text string
	}
	found := map[core.StateID]fault{}
	var keys []core.Key
	for _, id := range g.Quiescent() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if key, text := wrong(g.Outcome(id)); text != "" {
			found[id] = fault{key, text}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	var violations []core.Violation
	for _, key := range keys {
		stem, reached := g.Shortest(func(id core.StateID) bool { return found[id].key == key && found[id].text != "" })
		if !reached {
			continue
		}
		at := endOf(g, stem, func(id core.StateID) bool { return found[id].key == key && found[id].text != "" })
		violations = append(violations, core.Violation{
			Summary:     fmt.Sprintf("%s stays for ever: %s", key, found[at].text),
			Controllers: controllersOf(stem, func(e core.Edge) bool { return e.Wrote }),
			Fields:      []string{key.String()},
			Stem:        stem,
			State:       at,
		})
	}
	return violations, nil
}

// endOf returns the last state of a run, or the initial state that is accepted if there is no step.
func endOf(g core.Graph, run core.Run, accept func(core.StateID) bool) core.StateID {
	if len(run) > 0 {
		return run.End(0)
	}
	return g.Initial()[max(0, slices.IndexFunc(g.Initial(), accept))]
}

// ownerOf returns the key of the owner that a reference of an object names, if it is in the same namespace.
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

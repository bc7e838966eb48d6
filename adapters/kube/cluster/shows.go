package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/orrery-dev/orrery/core"
)

// Shows implements [behavior.World]. What cannot be the same on two servers does not
// count: uids, versions, generations, times and who manages fields. Nor do fields that
// only the real server fills in.
func (c *Cluster) Shows(ctx context.Context, change core.TraceChange) (string, error) {
	real, err := c.get(ctx, change.Key())
	switch {
	case err != nil:
		return "", fmt.Errorf("reading %s: %w", change.Key(), err)
	case change.Verb == "deleted" && real != nil:
		return fmt.Sprintf("%s is still there", change.Key()), nil
	case change.Verb == "deleted":
		return "", nil
	case real == nil:
		return fmt.Sprintf("%s is not there", change.Key()), nil
	}
	for _, field := range change.Fields {
		if uid, ok := metadata(field.To)["uid"].(string); ok && change.Verb == "created" {
			c.uids[uid] = uidOf(real) // a deleted object may have had it before
		}
		var found any = real
		if field.Path != "" {
			found, _ = LookUp(real, field.Path)
		}
		if path, ok := c.holds(found, field.To, field.Path); !ok {
			value, _ := LookUp(real, path)
			return fmt.Sprintf("%s: %s is %s on the real server", change.Key(), path, core.FieldText(value)), nil
		}
	}
	return "", nil
}

// volatile are the names of fields that differ from server to server.
func volatile(name string) bool {
	switch name {
	case "uid", "resourceVersion", "generation", "observedGeneration", "managedFields", "creationTimestamp", "deletionTimestamp":
		return true
	}
	return false
}

// holds tells whether a real value has everything that a recorded one has, and
// otherwise the path where it does not.
func (c *Cluster) holds(real, recorded any, path string) (string, bool) {
	switch recorded := recorded.(type) {
	case map[string]any:
		fields, ok := real.(map[string]any)
		if !ok {
			return path, len(recorded) == 0 && real == nil
		}
		for _, name := range slices.Sorted(maps.Keys(recorded)) {
			if volatile(name) {
				continue
			}
			if at, ok := c.holds(fields[name], recorded[name], core.FieldOf(path, name)); !ok {
				return at, false
			}
		}
		return "", true
	case []any:
		items, ok := real.([]any)
		if !ok || len(items) != len(recorded) {
			return path, false
		}
		for i := range recorded {
			if at, ok := c.holds(items[i], recorded[i], core.ItemOf(path, i)); !ok {
				return at, false
			}
		}
		return "", true
	}
	name := path[strings.LastIndexByte(path, '.')+1:]
	if volatile(name) || isTime(real) && isTime(recorded) || c.sameUID(real, recorded) {
		return "", true
	}
	return path, fmt.Sprint(real) == fmt.Sprint(recorded)
}

// sameUID tells whether both values are uids that can be of the same object: a recorded
// uid has one counterpart on the server, the first that is seen.
func (c *Cluster) sameUID(real, recorded any) bool {
	counterpart, ok := real.(string)
	uid, ok2 := recorded.(string)
	if !ok || !ok2 || uuid.Validate(counterpart) != nil || uuid.Validate(uid) != nil {
		return false
	}
	if known, ok := c.uids[uid]; ok {
		return known == counterpart
	}
	c.uids[uid] = counterpart
	return true
}

func isTime(value any) bool {
	text, ok := value.(string)
	if !ok {
		return false
	}
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// LookUp returns the value at a path as [core.FieldOf] and [core.ItemOf] write it, and
// whether there is one.
func LookUp(value any, path string) (any, bool) { return lookUp(value, "", path) }

// lookUp looks below a value whose own path is at.
func lookUp(value any, at, path string) (any, bool) {
	rest, ok := strings.CutPrefix(path, at)
	switch {
	case !ok || at != "" && rest != "" && rest[0] != '.' && rest[0] != '[':
		return nil, false
	case rest == "":
		return value, true
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if found, ok := lookUp(value[name], core.FieldOf(at, name), path); ok {
				return found, true
			}
		}
	case []any:
		for i, item := range value {
			if found, ok := lookUp(item, core.ItemOf(at, i), path); ok {
				return found, true
			}
		}
	}
	return nil, false
}

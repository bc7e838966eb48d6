package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Shows implements [core.World]. What cannot be the same on two servers does not
// count: uids, as long as they match one to one, versions, generations, the values of
// times, and who manages fields. Nor do fields that only the real server fills in.
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
			if found := uidOf(real); found != uid {
				c.uids.pair(uid, found)
			}
		}
		if list, isOrder := strings.CutSuffix(field.Path, core.OrderOf("")); isOrder {
			found, _ := LookUp(real, list)
			if order := orderOf(found, field.To); order != field.To {
				return fmt.Sprintf("%s: %s comes in the order %s on the real server", change.Key(), list, order), nil
			}
			continue
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

// orderOf returns the names of the items of a list in order, those that an order names, in the form of
// [core.DiffFields].
func orderOf(value, order any) string {
	list, _ := value.([]any)
	said, _ := order.(string)
	wanted := strings.Split(said, ", ")
	var names []string
	if key := core.KeyOf(list); key != "" {
		for _, item := range list {
			if name, _ := item.(map[string]any)[key].(string); slices.Contains(wanted, name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", ")
}

// volatile are the names of fields that differ from server to server.
func volatile(name string) bool {
	switch name {
	case "uid", "resourceVersion", "generation", "observedGeneration", "managedFields":
		return true
	}
	return false
}

// holds reports whether a real value has everything that a recorded one has, and
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
		if !ok {
			return path, len(recorded) == 0 && real == nil
		}
		if len(items) != len(recorded) {
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
	switch {
	case path == "apiVersion":
		// The version that it is read in need not be the one that it is stored in.
		return "", true
	case volatile(name), isTime(real) && isTime(recorded):
		return "", true
	case isUID(real) && isUID(recorded):
		return path, c.uids.same(real.(string), recorded.(string))
	}
	return path, equal(real, recorded)
}

// equal reports whether two scalars are the same. A number has another type in a record,
// in the simulated server and in what the real one sends.
func equal(a, b any) bool {
	x, isNumber := number(a)
	y, ok := number(b)
	if isNumber && ok {
		return x == y
	}
	return a == b
}

func number(value any) (float64, bool) {
	switch value := value.(type) {
	case int:
		return float64(value), true
	case int64:
		return float64(value), true
	case float64:
		return value, true
	case json.Number:
		float, err := value.Float64()
		return float, err == nil
	}
	return 0, false
}

func isTime(value any) bool {
	text, ok := value.(string)
	if !ok {
		return false
	}
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// LookUp returns the value at a path as [core.FieldOf], [core.KeyedOf] and [core.ItemOf] write it, and
// whether there is one. If several items of a list are called the same, it is the first one.
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
			fields, _ := item.(map[string]any)
			for _, key := range core.KeyFields() {
				name, _ := fields[key].(string)
				if found, ok := lookUp(item, core.KeyedOf(at, key, name), path); name != "" && ok {
					return found, true
				}
			}
		}
	}
	return nil, false
}

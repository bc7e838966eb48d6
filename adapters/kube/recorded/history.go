package recorded

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// version is one version of an object, or its deletion.
type version struct {
	rv  uint64
	uid string
	// object is how it was seen, with its value if that is known. Nothing of it is known of a deletion.
	object live.Object
	gone   bool
	// written tells that a recorded call made it, and initial that it was there when a recording began.
	written, initial bool
}

// history is what became of an object, in the order of resource versions.
type history []*version

// at returns the place of the last version up to a resource version, -1 if there is none.
func (h history) at(rv uint64) int {
	i, found := slices.BinarySearchFunc(h, rv, func(v *version, rv uint64) int { return cmp.Compare(v.rv, rv) })
	if found {
		return i
	}
	return i - 1
}

// histories are what became of all objects.
type histories map[core.Key]history

// note notes a version that was seen, and returns it. Nil is one whose resource version is not a number.
func (h histories) note(o live.Object) *version {
	rv, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	if err != nil || rv == 0 {
		return nil
	}
	return h.put(o, rv, false)
}

// deleted notes a deletion.
func (h histories) deleted(o live.Object) {
	if rv, err := strconv.ParseUint(o.ResourceVersion, 10, 64); err == nil && rv > 0 {
		h.put(o, rv, true)
	}
}

func (h histories) put(o live.Object, rv uint64, gone bool) *version {
	all := h[o.Key]
	i := all.at(rv)
	if i >= 0 && all[i].rv == rv {
		v := all[i]
		// The form that the server sent says more than that of a cache.
		if len(o.Value) > 0 && o.Form != live.Metadata && (len(v.object.Value) == 0 || v.object.Form != live.Served) {
			v.object = o
		}
		v.gone = v.gone || gone
		return v
	}
	v := &version{rv: rv, uid: o.UID, object: live.Object{Key: o.Key, UID: o.UID, ResourceVersion: o.ResourceVersion}, gone: gone}
	if o.Form != live.Metadata {
		v.object = o
	}
	h[o.Key] = slices.Insert(all, i+1, v)
	return v
}

// sighting is a version that was seen.
type sighting struct {
	key core.Key
	rv  uint64
}

// alive are the newest versions of objects that a process was shown and that had not been deleted.
type alive map[core.Key]uint64

// met notes a version that the process was shown.
func (a alive) met(o live.Object) {
	if !deleting(o) {
		a[o.Key] = max(a[o.Key], number(o.ResourceVersion))
	}
}

// deletes returns the objects that a call deletes, none if it does not or was refused.
func (a alive) deletes(c live.Call) []sighting {
	switch {
	case c.Failed != nil || !c.Writes():
	case c.Verb == live.Delete:
		return []sighting{{c.Object, a[c.Object]}}
	case c.Verb == live.DeleteCollection:
		var all []sighting
		for key, rv := range a {
			if key.Kind == c.Object.Kind && (c.Object.Namespace == "" || key.Namespace == c.Object.Namespace) {
				all = append(all, sighting{key, rv})
			}
		}
		return all
	}
	return nil
}

// deletion returns the version that the deletion of an object led to: none, or one that waits for finalizers. It is nil
// if that is not in the recordings.
func (h histories) deletion(asked sighting) *version {
	all := h[asked.key]
	for _, v := range all[all.at(asked.rv)+1:] {
		if v.gone || deleting(v.object) {
			return v
		}
	}
	return nil
}

// world is what was there at a resource version. It implements [core.Snapshot].
type world struct {
	server Model
	all    histories
	rv     uint64
	// but is an object that is in another state than at the version.
	but  core.Key
	kept core.Content
	// broken is why something of it cannot be read.
	broken error
}

var _ core.Snapshot = (*world)(nil)

// Get implements [core.Snapshot].
func (w *world) Get(key core.Key) core.Content {
	if key == w.but {
		return w.kept
	}
	h := w.all[key]
	i := h.at(w.rv)
	if i < 0 || h[i].gone {
		return nil
	}
	content, err := w.server.Kept(h[i].object)
	if err != nil {
		w.broken = err
		return nil
	}
	return content
}

// List implements [core.Snapshot].
func (w *world) List(kind core.Kind, namespace string) []core.Object {
	var objects []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(w.all), core.Key.Compare) {
		if key.Kind != kind || namespace != "" && key.Namespace != namespace {
			continue
		}
		if content := w.Get(key); content != nil {
			objects = append(objects, core.Object{Key: key, Content: content})
		}
	}
	return objects
}

// Held implements [core.Snapshot].
func (w *world) Held(core.Key) []core.Content { return nil }

// shown is the newest resource version that a cache has shown of a kind, and since when.
type shown struct {
	at time.Duration
	rv uint64
}

// cache is what a cache of a process has shown of a kind.
type cache struct {
	newest []shown
	// seen are the objects that it has shown.
	seen map[core.Key]bool
}

// shows notes that the cache shows a version.
func (c *cache) shows(key core.Key, rv uint64, at time.Duration) {
	c.seen[key] = true
	if n := len(c.newest); n > 0 && (c.newest[n-1].rv >= rv) {
		return
	}
	c.newest = append(c.newest, shown{at, rv})
}

// until returns the newest resource version that the cache had shown at a time.
func (c *cache) until(at time.Duration) uint64 {
	var rv uint64
	for _, s := range slices.Backward(c.newest) {
		if s.at <= at {
			rv = max(rv, s.rv)
			break
		}
	}
	return rv
}

// managerOf returns the field manager that wrote an object last, empty if the object does not say.
func managerOf(o live.Object) string {
	var said struct {
		Metadata struct {
			ManagedFields []struct {
				Manager string    `json:"manager"`
				Time    time.Time `json:"time"`
			} `json:"managedFields"`
		} `json:"metadata"`
	}
	if json.Unmarshal(o.Value, &said) != nil {
		return ""
	}
	var last time.Time
	name := ""
	for _, entry := range said.Metadata.ManagedFields {
		if name == "" || !entry.Time.Before(last) {
			last, name = entry.Time, entry.Manager
		}
	}
	return name
}

package recorded

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// meta is what an object says of itself.
type meta struct {
	Created    time.Time  `json:"creationTimestamp"`
	Deleted    *time.Time `json:"deletionTimestamp"`
	Finalizers []string   `json:"finalizers"`
	Owners     []struct {
		UID string `json:"uid"`
	} `json:"ownerReferences"`
}

// metaOf returns what an object says of itself, nothing if its value is not recorded.
func metaOf(o live.Object) meta {
	var said struct {
		Metadata meta `json:"metadata"`
	}
	if len(o.Value) == 0 || json.Unmarshal(o.Value, &said) != nil {
		return meta{}
	}
	return said.Metadata
}

// deleting reports whether an object has been deleted and waits for finalizers.
func deleting(o live.Object) bool { return metaOf(o).Deleted != nil }

// content returns a version as the server would have stored it.
func (b *beginning) content(h history, i int) (core.Content, error) {
	if i < 0 || h[i].gone {
		return nil, nil
	}
	if known := b.stored[h[i]]; known != nil {
		return known, nil
	}
	o := h[i].object
	if len(o.Value) == 0 {
		return nil, fmt.Errorf("%s was there at %s, and the recording has only its name and version: record more than its metadata, or choose another moment", o.Key, b.moment)
	}
	moved := b.store.Start().Sub(b.time).Truncate(time.Second)
	content, err := b.store.Stored(o, moved, i)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(o.Value, []byte(`"redacted:`)) {
		b.because("Something of %s is redacted in the recording: controllers see a text in its place that says so. Keep it in recordings to explore from (KeepSecrets, Redact).", o.Key)
	}
	b.stored[h[i]] = content
	return content, nil
}

// objects returns the objects that the server had, and those that other parts of the world begin with.
func (b *beginning) objects() ([]core.Object, error) {
	var objects []core.Object
	unknown := map[core.Kind]bool{}
	for _, key := range slices.SortedFunc(maps.Keys(b.all), core.Key.Compare) {
		if !b.store.Keeps(key.Kind) {
			unknown[key.Kind] = true
			continue
		}
		h := b.all[key]
		i := h.at(b.rv)
		if i < 0 {
			if made := metaOf(h[0].object).Created; !made.IsZero() && !made.Add(time.Second).After(b.time) {
				b.because("%s was there at the start, in a version that is not in the recording, and is left out: choose a later moment.", key)
			}
			continue
		}
		content, err := b.content(h, i)
		if err != nil {
			return nil, err
		}
		if content != nil {
			objects = append(objects, core.Object{Key: key, Content: content})
		}
	}
	if len(unknown) > 0 {
		kinds := slices.Sorted(maps.Keys(unknown))
		return nil, fmt.Errorf("the system %s does not know %s, of which there are objects in the recording: add the definition or the Go type to the system", b.system.Name, listed(kinds))
	}
	objects = b.store.WithRecords(objects)
	beside := false
	for _, o := range b.system.Initial[0].Objects {
		if !b.store.Keeps(o.Key.Kind) {
			objects, beside = append(objects, o), true
		}
	}
	if beside {
		b.because("What is outside of the API server is in no recording: it begins as the system says.")
		slices.SortFunc(objects, func(a, c core.Object) int { return a.Key.Compare(c.Key) })
	}
	return objects, nil
}

// listed names kinds.
func listed(kinds []core.Kind) string {
	texts := make([]string, len(kinds))
	for i, kind := range kinds {
		texts[i] = string(kind)
	}
	return strings.Join(texts, ", ")
}

// missing returns the changes that the caches of a process had not received.
func (b *beginning) missing(p *process) ([]core.Missing, error) {
	type change struct {
		h history
		i int
	}
	var behind []change
	for key, h := range b.all {
		upTo, views := p.upTo(b.all, key.Kind, b.rv)
		if !views {
			continue
		}
		for i, v := range h {
			if v.rv > upTo && v.rv <= b.rv {
				behind = append(behind, change{h, i})
			}
		}
	}
	slices.SortFunc(behind, func(x, y change) int { return cmp.Compare(x.h[x.i].rv, y.h[y.i].rv) })
	var all []core.Missing
	for _, c := range behind {
		from, err := b.content(c.h, c.i-1)
		if err != nil {
			return nil, err
		}
		to, err := b.content(c.h, c.i)
		if err != nil {
			return nil, err
		}
		if from != nil || to != nil {
			all = append(all, core.Missing{Key: c.h[c.i].object.Key, From: from, To: to})
		}
	}
	return all, nil
}

// upTo returns up to which version a cache of the process shows a kind at most, and whether it has one.
func (p *process) upTo(all histories, kind core.Kind, rv uint64) (uint64, bool) {
	shown, views := p.shown[kind]
	if !views || p.told[kind] {
		return shown, views
	}
	// Nobody is told of changes, so that only what is read shows how far it has come: what it shows later that was old
	// by then tells that it was behind.
	seen := map[core.Key]bool{}
	for _, s := range p.later {
		if s.key.Kind != kind || seen[s.key] {
			continue
		}
		seen[s.key] = true
		h := all[s.key]
		if i := h.at(s.rv); i >= 0 && i+1 < len(h) && h[i+1].rv <= rv {
			rv = h[i+1].rv - 1
		}
	}
	return max(shown, rv), true
}

package recorded

import (
	"net/http"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// read judges a read from a cache: a lag has to explain it.
func (v *validator) read(c live.Call) {
	form := ""
	if len(c.Answer) > 0 {
		form = v.objects[c.Answer[0]-1].Form
	}
	from := v.cache(c.Object.Kind, form)
	until := from.until(c.At)
	behind := 0
	answered := map[core.Key]bool{}
	for _, n := range c.Answer {
		o := v.objects[n-1]
		answered[o.Key] = true
		rv := number(o.ResourceVersion)
		if rv == 0 {
			v.cannot(c, "the resource version of an object is not a number")
			return
		}
		h := v.all[o.Key]
		i := h.at(until)
		if i >= 0 && h[i].rv > rv {
			what := "version"
			if h[i].gone {
				what = "deletion at version"
			}
			v.report.find(v.finding(ByView, c, "The cache shows %s at version %d, and had shown the kind up to version %d before, which is after %s %d of the object: a cache does not go back.",
				o.Key, rv, until, what, h[i].rv))
			return
		}
		behind = max(behind, v.behind(o.Key, rv))
	}
	switch {
	case c.Failed != nil && c.Failed.Code != http.StatusNotFound:
		v.cannot(c, "the read failed: %s", c.Failed.Message)
		return
	case c.Verb == live.Get && c.Failed != nil && !v.absent(from, c.Object, until):
		v.report.find(v.finding(ByView, c, "The cache does not have it, and had shown it before, and the kind up to version %d, at which it was there.", until))
		return
	case c.Verb == live.List && c.Failed == nil && c.Selection == nil:
		for key := range from.seen {
			if key.Kind == c.Object.Kind && (c.Object.Namespace == "" || key.Namespace == c.Object.Namespace) && !answered[key] && !v.absent(from, key, until) {
				v.report.find(v.finding(ByView, c, "The list does not have %s, which the cache had shown before, and the kind up to version %d, at which it was there.", key, until))
				return
			}
		}
	}
	v.report.Explained++
	if behind > 0 {
		v.report.Lagging++
		v.report.Behind = max(v.report.Behind, behind)
	}
}

// absent reports whether an object may not be in a cache that has shown its kind up to a version.
func (v *validator) absent(from *cache, key core.Key, until uint64) bool {
	h := v.all[key]
	i := h.at(until)
	return !from.seen[key] || i < 0 || h[i].gone || v.goneUnseen(h[:i+1])
}

// goneUnseen reports whether the last of some versions may have been deleted without anybody having seen that: then a
// later version has another uid, or there is none.
func (v *validator) goneUnseen(h history) bool {
	last := h[len(h)-1]
	all := v.all[last.object.Key]
	for _, later := range all[len(h):] {
		if later.uid == last.uid {
			return false
		}
	}
	return true
}

// behind returns by how many versions of the object a read is behind what the process had been shown by the server.
func (v *validator) behind(key core.Key, rv uint64) int {
	h := v.all[key]
	n := 0
	for _, later := range h[h.at(rv)+1:] {
		if later.rv <= v.answered[key] {
			n++
		}
	}
	return n
}

// ask judges a live read.
func (v *validator) ask(c live.Call) {
	if c.Failed != nil {
		v.refused(c)
		return
	}
	for _, n := range c.Answer {
		o := v.objects[n-1]
		if rv := number(o.ResourceVersion); rv > 0 && rv < v.answered[o.Key] && c.Subresource == "" && !v.shownMeanwhile(c, o) {
			v.report.find(v.finding(ByActor, c, "The API server answers with version %d of %s, and has shown this process version %d before: it went back, as one that was restored from a backup does.",
				rv, o.Key, v.answered[o.Key]))
			return
		}
	}
	v.report.Explained++
}

// shownMeanwhile reports whether an answer may be overtaken by another one that was asked for at the same time.
func (v *validator) shownMeanwhile(c live.Call, _ live.Object) bool {
	return c.Took > 0 && len(v.running) > 1
}

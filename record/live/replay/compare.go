package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/record/live"
)

// Difference is a part of a call or a result that is another one than recorded.
type Difference struct {
	// Field is what differs: a field of what was sent, or a part of the call, such as "labels".
	Field string `json:"field"`
	// Recorded and Now are JSON, or words; empty where there is nothing.
	Recorded string `json:"recorded,omitempty"`
	Now      string `json:"now,omitempty"`
}

// span is how much the clock of a run may be off: by how much less and more what was recorded may lie behind what is
// written now.
type span struct{ least, most time.Duration }

// within reports whether a text that was recorded and one of now name times that only the clock keeps apart.
func (s span) within(recorded, now string) bool {
	was, err := time.Parse(time.RFC3339Nano, recorded)
	if err != nil {
		return false
	}
	is, err := time.Parse(time.RFC3339Nano, now)
	if err != nil {
		return false
	}
	d := was.Sub(is)
	return d >= s.least && d <= s.most
}

// aim returns what a call is about, without what it sends.
func aim(c live.Call) string {
	text := verbOf(c) + " " + c.Object.String()
	if c.Subresource != "" {
		text += " (" + c.Subresource + ")"
	}
	return text
}

// words returns a call in a few words.
func words(c live.Call) string {
	text := aim(c)
	if s := c.Selection; s != nil {
		if s.Labels != "" {
			text += " with " + s.Labels
		}
		if s.Fields != "" {
			text += " where " + s.Fields
		}
	}
	if c.Cached {
		text += " from the cache"
	}
	return text
}

// verbOf returns the verb, one for both ways to apply.
func verbOf(c live.Call) string {
	if c.Verb == live.Patch && patchOf(c) == applyPatch {
		return live.Apply
	}
	return c.Verb
}

// applyPatch is the type of a patch that is a server-side apply.
const applyPatch = "application/apply-patch+yaml"

func patchOf(c live.Call) string {
	if c.Write == nil {
		return ""
	}
	return c.Write.Patch
}

// differences returns what is different about a call of now. None means that it is the recorded one.
func differences(recorded, now live.Call, clock span) []Difference {
	var found []Difference
	differ := func(field, was, is string) {
		if was != is {
			found = append(found, Difference{field, was, is})
		}
	}
	differ("verb", verbOf(recorded), verbOf(now))
	differ("kind", string(recorded.Object.Kind), string(now.Object.Kind))
	differ("namespace", recorded.Object.Namespace, now.Object.Namespace)
	if now.Object.Name != "" { // what is made gets its name from the server
		differ("name", recorded.Object.Name, now.Object.Name)
	}
	differ("subresource", recorded.Subresource, now.Subresource)
	differ("answered by", answerer(recorded), answerer(now))
	if len(found) > 0 {
		return found
	}
	selected(recorded, now, differ)
	written(recorded, now, differ)
	if recorded.Verb == live.Delete || recorded.Verb == live.DeleteCollection {
		return found // what is sent is in the options
	}
	return append(found, bodies(recorded, now, clock)...)
}

func answerer(c live.Call) string {
	if c.Cached {
		return "the cache"
	}
	return "the API server"
}

// selected compares which objects calls are about.
func selected(recorded, now live.Call, differ func(field, was, is string)) {
	was, is := live.Selection{}, live.Selection{}
	if recorded.Selection != nil {
		was = *recorded.Selection
	}
	if now.Selection != nil {
		is = *now.Selection
	}
	differ("labels", was.Labels, is.Labels)
	differ("fields", terms(was.Fields), terms(is.Fields))
	if !recorded.Cached { // a cache is read to the end
		differ("limit", strconv.FormatInt(was.Limit, 10), strconv.FormatInt(is.Limit, 10))
		differ("goes on", strconv.FormatBool(was.Continue), strconv.FormatBool(is.Continue))
	}
}

// terms returns a selector with its terms in order.
func terms(selector string) string {
	all := strings.Split(strings.ReplaceAll(selector, "==", "="), ",")
	slices.Sort(all)
	return strings.Join(all, ",")
}

// written compares how writes are done.
func written(recorded, now live.Call, differ func(field, was, is string)) {
	was, is := live.Write{}, live.Write{}
	if recorded.Write != nil {
		was = *recorded.Write
	}
	if now.Write != nil {
		is = *now.Write
	}
	if verbOf(recorded) == live.Apply {
		was.Patch, is.Patch = "", ""
	}
	differ("patch type", was.Patch, is.Patch)
	differ("dry run", strconv.FormatBool(was.DryRun), strconv.FormatBool(is.DryRun))
	if was.Manager != "" { // else it is the name of the program
		differ("field manager", was.Manager, is.Manager)
	}
	differ("force", strconv.FormatBool(was.Force), strconv.FormatBool(is.Force))
	differ("precondition uid", was.UID, is.UID)
	differ("precondition version", was.ResourceVersion, is.ResourceVersion)
	differ("propagation", was.Propagation, is.Propagation)
	differ("grace period", grace(was.Grace), grace(is.Grace))
}

func grace(seconds *int64) string {
	if seconds == nil {
		return ""
	}
	return strconv.FormatInt(*seconds, 10) + "s"
}

// bodies compares what calls send.
func bodies(recorded, now live.Call, clock span) []Difference {
	was, is := parse(recorded.Sent), parse(now.Sent)
	c := comparison{clock: clock, nulls: verbOf(recorded) == live.Patch}
	c.values("", was, is)
	return c.found
}

// parse reads JSON, and keeps the digits of numbers. Nothing is nothing.
func parse(text json.RawMessage) any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// comparison finds the differences between two values.
type comparison struct {
	clock span
	// nulls tells that a null is not the same as nothing.
	nulls bool
	found []Difference
}

// values compares what is at a path.
func (c *comparison) values(path string, was, is any) {
	if text, ok := was.(string); ok && live.IsRedacted(text) {
		return // it is not known what was there
	}
	switch w := was.(type) {
	case map[string]any:
		if i, ok := is.(map[string]any); ok {
			c.objects(path, w, i)
			return
		}
	case []any:
		if i, ok := is.([]any); ok {
			c.lists(path, w, i)
			return
		}
	case json.Number:
		if i, ok := is.(json.Number); ok && sameNumber(w, i) {
			return
		}
	case string:
		if i, ok := is.(string); ok && (w == i || c.clock.within(w, i)) {
			return
		}
	default:
		if was == is {
			return
		}
	}
	if empty(was) && empty(is) && !c.nulls {
		return
	}
	c.found = append(c.found, Difference{cmp.Or(path, "what was sent"), jsonOf(was), jsonOf(is)})
}

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, err := a.Float64()
	y, failed := b.Float64()
	return err == nil && failed == nil && x == y && strings.ContainsAny(string(a+b), ".eE")
}

// empty reports whether a value is as good as none: null, or an object without fields, which types of another version
// of a library leave out.
func empty(value any) bool {
	if o, ok := value.(map[string]any); ok {
		return !slices.ContainsFunc(slices.Collect(maps.Values(o)), func(v any) bool { return !empty(v) })
	}
	return value == nil
}

func (c *comparison) objects(path string, was, is map[string]any) {
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		at := field(path, name)
		if at == "metadata.managedFields" {
			continue // as it was read
		}
		w, had := was[name]
		i, has := is[name]
		if c.nulls && had != has {
			c.found = append(c.found, Difference{at, there(had, w), there(has, i)})
			continue
		}
		c.values(at, w, i)
	}
}

func there(is bool, value any) string {
	if !is {
		return ""
	}
	return jsonOf(value)
}

func (c *comparison) lists(path string, was, is []any) {
	for n := range max(len(was), len(is)) {
		at := fmt.Sprintf("%s[%d]", path, n)
		switch {
		case n >= len(was):
			c.found = append(c.found, Difference{at, "", jsonOf(is[n])})
		case n >= len(is):
			c.found = append(c.found, Difference{at, jsonOf(was[n]), ""})
		default:
			c.values(at, was[n], is[n])
		}
	}
}

// field returns the path of a field, in brackets if it has dots itself.
func field(path, name string) string {
	switch {
	case strings.ContainsAny(name, ".[]"):
		return path + "[" + name + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// jsonOf returns a value as JSON, cut where it is long.
func jsonOf(value any) string {
	if value == nil {
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	const enough = 200
	if len(text) > enough {
		return strings.ToValidUTF8(string(text[:enough]), "") + "…"
	}
	return string(text)
}

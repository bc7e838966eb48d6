package canonical

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/plaintext"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Clock knows the times that code reads off the virtual clock of a system, so that outcomes are the same that differ
// only in when something was written. The clock begins at one moment, and has moved far ahead after each long time; in
// between it hardly moves. So a time in an outcome that is close to one of those moments, or whole minutes away from
// it, was read off the clock, or was calculated from what was. Other times are nobody's business here, and so are those
// that users wrote.
//
// A clock is safe for concurrent use.
type Clock struct {
	mu sync.RWMutex
	// ahead is how far the clock may be ahead of where it began, in order, but for zero.
	ahead []time.Duration
	// given are the times that users wrote, in seconds since 1970.
	given map[int64]bool
	// told are the versions of objects in outcomes, and merged what outcomes have in the place of the same at a place
	// of an object: no more than two texts.
	told   map[*storage.Object]bool
	merged map[location][]string
}

// location is a place in an object, and what stands there in outcomes.
type location struct {
	key            core.Key
	path, timeless string
}

const (
	// near is how long code may have slept before it looked at the clock.
	near = time.Minute
)

// Passes notes that the clock may be so far ahead of where it began.
func (c *Clock) Passes(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, known := slices.BinarySearch(c.ahead, ahead); !known {
		c.ahead = slices.Insert(slices.Clone(c.ahead), at, ahead)
	}
}

// Give notes the times in a value that a user wrote when the clock stood at some time: they count in outcomes, but for
// that time, which the user read off the clock (the zero time is none), and for those that the user was told before.
func (c *Clock) Give(value any, now time.Time, told ...any) {
	known := map[int64]bool{}
	eachScalar(told, func(scalar any) {
		for _, at := range timesIn(scalar) {
			known[at.Unix()] = true
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.given == nil {
		c.given = map[int64]bool{}
	}
	give := func(at time.Time) {
		if !known[at.Unix()] && (now.IsZero() || at.Unix() != now.Unix()) {
			c.given[at.Unix()] = true
		}
	}
	eachScalar(value, func(scalar any) {
		for _, at := range timesIn(scalar) {
			give(at)
		}
	})
}

// eachScalar calls a function with all values in a value that are no objects and no lists.
func eachScalar(value any, visit func(any)) {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			eachScalar(field, visit)
		}
	case []any:
		for _, item := range value {
			eachScalar(item, visit)
		}
	default:
		visit(value)
	}
}

// timesIn returns all times that a value may name.
func timesIn(scalar any) []time.Time {
	switch scalar := scalar.(type) {
	case int64:
		return ofNumber(scalar)
	case string:
		if number, err := strconv.ParseInt(scalar, 10, 64); err == nil {
			return ofNumber(number)
		}
		var all []time.Time
		text := plaintext.Of(scalar)
		for _, span := range written.FindAllStringIndex(text, -1) {
			if at, ok := parsed(text[span[0]:span[1]]); ok {
				all = append(all, at)
			}
		}
		return all
	}
	return nil
}

// ofNumber returns the time that a number names, if it names any.
func ofNumber(number int64) []time.Time {
	if at, unit := storage.OfNumber(number); unit > 0 {
		return []time.Time{at}
	}
	return nil
}

// written finds what may be a time in a text: as for computers, as Go writes it, and as for people.
var written = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)` +
	`|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4} (?:[A-Z]{3,4}|[+-]\d\d(?:\d\d)?)(?: m=[+-]\d+\.\d+)?` +
	`|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?` +
	`|[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d (?:[A-Z]{3,4}|[+-]\d{4})` +
	`|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?:(?:[A-Z]{3,4}|[+-]\d{4}) )?\d{4}`)

// parsed returns the time that a text names as a whole. Without a zone it is in UTC.
func parsed(text string) (time.Time, bool) {
	text, _, _ = strings.Cut(text, " m=")
	for _, layout := range []string{
		time.RFC3339, "2006-01-02 15:04:05 -0700 MST", "2006-01-02 15:04:05 -0700 -0700", "2006-01-02 15:04:05 -0700 -07", time.DateTime, "2006-01-02T15:04:05",
		time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate, time.RubyDate,
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// timeless returns a value with what stands for a time in the place of each that was read off the clock. A text is in
// plain letters then, if one is encoded in it.
func (c *Clock) timeless(scalar any) any {
	switch scalar := scalar.(type) {
	case int64:
		if c.counts(scalar) {
			return someTime
		}
	case string:
		if number, err := strconv.ParseInt(scalar, 10, 64); err == nil {
			if c.counts(number) && strconv.FormatInt(number, 10) == scalar {
				return someTime
			}
			return scalar
		}
		if plain := plaintext.Of(scalar); plain != scalar {
			if timeless := c.timelessText(plain); timeless != plain {
				return timeless
			}
		}
		return c.timelessText(scalar)
	}
	return scalar
}

// counts reports whether a number is a time that was read off the clock.
func (c *Clock) counts(number int64) bool {
	for _, at := range ofNumber(number) {
		if since, known := c.since(at); known && since == 0 {
			return true
		}
	}
	return false
}

// timelessText is as [Clock.timeless] for a text, where times may stand anywhere with no letter and no digit next to
// them.
func (c *Clock) timelessText(text string) string {
	if strings.Count(text, ":") < 2 {
		return text
	}
	var b strings.Builder
	from := 0
	for _, span := range written.FindAllStringIndex(text, -1) {
		if span[0] > 0 && alphanumeric(text[span[0]-1]) || !ends(text[span[1]:]) {
			continue
		}
		at, ok := parsed(text[span[0]:span[1]])
		if !ok {
			continue
		}
		since, known := c.since(at)
		if !known {
			continue
		}
		b.WriteString(text[from:span[0]])
		b.WriteString(timeAfter(since))
		from = span[1]
	}
	return b.String() + text[from:]
}

// ends reports whether a time may end before a text: it does not go on with a zone or with a fraction.
func ends(rest string) bool {
	if rest == "" {
		return true
	}
	if strings.ContainsRune("+-.:,", rune(rest[0])) {
		return len(rest) == 1 || rest[1] < '0' || rest[1] > '9'
	}
	return !alphanumeric(rest[0])
}

// timeAfter stands for a time that is so long after one that was read off the clock.
func timeAfter(since time.Duration) string {
	if since == 0 {
		return someTime
	}
	return fmt.Sprintf("%s%+gh>", strings.TrimSuffix(someTime, ">"), since.Hours())
}

// since returns how many whole minutes a time is after one that the clock shows, and false if it was not read off the
// clock. After less than a minute, it is 0.
func (c *Clock) since(at time.Time) (time.Duration, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.given[at.Unix()] {
		return 0, false
	}
	since := at.Sub(storage.Now().Time)
	whole := storage.Minutely(since)
	for _, ahead := range c.ahead {
		other := at.Sub(storage.Now().Add(ahead))
		// Of moments that are not far from each other, it is the one from which it is whole minutes away.
		if exact := storage.Minutely(other); exact && !whole || exact == whole && other.Abs() < since.Abs() {
			since, whole = other, exact
		}
	}
	minutes := since.Truncate(time.Minute)
	if since < minutes {
		minutes -= time.Minute
	}
	switch {
	case minutes == 0:
		return 0, since < near
	case since.Abs() > storage.Far:
		return 0, false
	}
	return minutes, since-minutes < storage.Tick
}

// tell notes which times in the objects of an outcome do not count, by their places.
func (c *Clock) tell(objects []core.Object, outcome map[core.Key]any, fields func(core.Kind) kindFields) {
	for _, o := range objects {
		if outcome[o.Key] == nil || storage.IsRecord(o.Key.Kind) {
			continue
		}
		object := storage.Of(o.Content)
		c.mu.RLock()
		known := c.told[object]
		c.mu.RUnlock()
		if known {
			continue
		}
		found := map[string][2]string{}
		kind := fields(o.Key.Kind)
		c.find(kind.places, "", object.Tree, found)
		c.mu.Lock()
		if c.told == nil {
			c.told, c.merged = map[*storage.Object]bool{}, map[location][]string{}
		}
		c.told[object] = true
		for path, text := range found {
			at := location{o.Key, path, text[1]}
			if texts := c.merged[at]; len(texts) < 2 && !slices.Contains(texts, text[0]) {
				c.merged[at] = append(texts, text[0])
			}
		}
		c.mu.Unlock()
	}
}

// find finds the values with times that do not count, by their paths, and what outcomes have in their places.
func (c *Clock) find(p *place, path string, value any, found map[string][2]string) {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			c.find(p.field(name), core.FieldOf(path, name), below, found)
		}
	case []any:
		for _, below := range value {
			c.find(p.item(), path, below, found)
		}
	default:
		if names(path) || p != nil && p.time {
			return
		}
		if timeless := c.timeless(value); timeless != value {
			texts := found[path]
			found[path] = [2]string{texts[0] + string(jsontree.Canonical(value)), texts[1] + string(jsontree.Canonical(timeless))}
		}
	}
}

// Merged returns the places of objects in outcomes, in order, at which different times were read off the clock.
func (c *Clock) Merged() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	places := map[string]bool{}
	for at, texts := range c.merged {
		if len(texts) > 1 {
			places[string(at.key.Kind)+" "+at.path] = true
		}
	}
	return slices.Sorted(maps.Keys(places))
}

// names reports whether the values at a path are names, of which none is a time.
func names(path string) bool {
	switch path {
	case "apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.generateName", "metadata.finalizers":
		return true
	}
	return strings.HasPrefix(path, "metadata.ownerReferences") || strings.HasPrefix(path, "metadata.managedFields")
}

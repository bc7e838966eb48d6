package plain

import (
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// read asks for the value of one variable.
type read struct {
	key    core.Key
	source core.Source
}

func (c *read) Identity() string    { return identity("read", c.key) }
func (c *read) Aim() string         { return c.Identity() }
func (c *read) Contents() string    { return "" }
func (c *read) String() string      { return "read " + c.key.String() }
func (c *read) Source() core.Source { return c.source }

// list asks for all variables of a kind.
type list struct {
	kind      core.Kind
	namespace string
	source    core.Source
}

func (c *list) Identity() string {
	return identity("list", core.Key{Kind: c.kind, Namespace: c.namespace})
}
func (c *list) Aim() string         { return c.Identity() }
func (c *list) Contents() string    { return "" }
func (c *list) String() string      { return "list " + string(c.kind) }
func (c *list) Source() core.Source { return c.source }

// write stores a value, or deletes the variable if the content is nil.
type write struct {
	key     core.Key
	content core.Content
}

func (c *write) Identity() string {
	if c.content == nil {
		return identity("delete", c.key)
	}
	return identity("write", c.key) + "\x00" + c.content.Canonical()
}

// Aim implements [core.Aimed].
func (c *write) Aim() string {
	if c.content == nil {
		return c.Identity()
	}
	return identity("write", c.key)
}

// Contents implements [core.Aimed].
func (c *write) Contents() string {
	if c.content == nil {
		return ""
	}
	return c.content.Canonical()
}

func (c *write) String() string {
	if c.content == nil {
		return "delete " + c.key.String()
	}
	return "write " + c.key.String() + " := " + c.content.Canonical()
}

func (c *write) Source() core.Source { return core.Live }

// send puts a message into the work queue of a process.
type send struct {
	item core.Item
}

func (c *send) Identity() string {
	return "send\x00" + c.item.Strategy + "\x00" + string(c.item.Request)
}
func (c *send) Aim() string         { return c.Identity() }
func (c *send) Contents() string    { return "" }
func (c *send) String() string      { return "send to " + c.item.Strategy + ": " + string(c.item.Request) }
func (c *send) Source() core.Source { return core.Live }

func identity(verb string, key core.Key) string {
	return strings.Join([]string{verb, string(key.Kind), key.Namespace, key.Name}, "\x00")
}

// value answers a read; a nil content means that there is no such variable.
type value struct {
	content core.Content
}

func (r value) Identity() string {
	if r.content == nil {
		return "absent"
	}
	return r.content.Canonical()
}
func (r value) String() string { return r.Identity() }

// listing answers a list.
type listing struct {
	objects []core.Object
}

func (r listing) Identity() string {
	var b strings.Builder
	for _, o := range r.objects {
		b.WriteString(strconv.Quote(o.Key.Namespace))
		b.WriteString(strconv.Quote(o.Key.Name))
		b.WriteString(strconv.Quote(o.Content.Canonical()))
	}
	return b.String()
}

func (r listing) String() string {
	if len(r.objects) == 0 {
		return "none"
	}
	texts := make([]string, len(r.objects))
	for i, o := range r.objects {
		texts[i] = o.Key.Name + "=" + o.Content.Canonical()
	}
	return strings.Join(texts, ", ")
}

// done answers what always succeeds.
type done struct{}

func (done) Identity() string { return "" }
func (done) String() string   { return "ok" }

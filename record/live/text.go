package live

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// text writes entries as JSON, just as package json does. Of those that there are many of it knows the members, so that
// it does not have to ask for them.
type text struct {
	out bytes.Buffer
	// first tells that no member was written yet.
	first bool
}

// entry writes an entry, and reports whether it is one that it knows. What an entry has as JSON comes last, if it is to
// be left as it is.
func (t *text) entry(e Entry, trusts bool) bool {
	t.out.Reset()
	t.out.WriteByte('{')
	t.first = true
	switch e := e.(type) {
	case Object:
		if e.Value != nil && !trusts {
			return false
		}
		t.key(e.Key)
		t.words(`"uid":`, e.UID)
		t.words(`"rv":`, e.ResourceVersion)
		t.words(`"form":`, e.Form)
		t.raw(`"value":`, e.Value)
	case Event:
		t.number(`"n":`, e.N)
		t.time(`"at":`, e.At)
		t.words(`"controller":`, e.Controller)
		t.word(`"type":`, e.Type)
		t.integer(`"object":`, int64(e.Object))
		t.some(`"old":`, int64(e.Old))
		t.flag(`"initial":`, e.Initial)
		t.flag(`"missed":`, e.Missed)
	case Queued:
		t.number(`"n":`, e.N)
		t.time(`"at":`, e.At)
		t.word(`"controller":`, e.Controller)
		t.numbers(`"event":`, e.Event)
		t.word(`"request":`, e.Request)
		t.some(`"after":`, int64(e.After))
		t.flag(`"limited":`, e.Limited)
	case Begin:
		t.begin(e)
	case Call:
		if e.Sent != nil && !trusts {
			return false
		}
		t.call(e)
	case Done:
		t.number(`"n":`, e.N)
		t.time(`"at":`, e.At)
		t.number(`"reconcile":`, e.Reconcile)
		t.flag(`"requeue":`, e.Requeue)
		t.some(`"after":`, int64(e.After))
		t.words(`"error":`, e.Error)
		t.flag(`"terminal":`, e.Terminal)
		t.flag(`"panicked":`, e.Panicked)
	default:
		return false
	}
	t.out.WriteByte('}')
	return true
}

func (t *text) begin(e Begin) {
	t.number(`"n":`, e.N)
	t.time(`"at":`, e.At)
	t.word(`"controller":`, e.Controller)
	t.word(`"request":`, e.Request)
	if len(e.Causes) > 0 {
		t.member(`"causes":`)
		for i, cause := range e.Causes {
			t.item(i, '[')
			t.inner(func() {
				t.word(`"by":`, cause.By)
				t.number(`"n":`, cause.N)
			})
		}
		t.out.WriteByte(']')
	}
	t.some(`"more_causes":`, int64(e.MoreCauses))
	t.some(`"waited":`, int64(e.Waited))
	t.words(`"id":`, e.ID)
}

func (t *text) call(e Call) {
	t.number(`"n":`, e.N)
	t.time(`"at":`, e.At)
	t.time(`"took":`, e.Took)
	t.numbers(`"reconcile":`, e.Reconcile)
	t.words(`"client":`, e.Client)
	t.word(`"verb":`, e.Verb)
	t.member(`"object":`)
	t.inner(func() { t.key(e.Object) })
	t.words(`"subresource":`, e.Subresource)
	t.flag(`"cached":`, e.Cached)
	if s := e.Selection; s != nil {
		t.member(`"selection":`)
		t.inner(func() {
			t.words(`"labels":`, s.Labels)
			t.words(`"fields":`, s.Fields)
			t.some(`"limit":`, s.Limit)
			t.flag(`"continue":`, s.Continue)
		})
	}
	if w := e.Write; w != nil {
		t.member(`"write":`)
		t.inner(func() { t.write(w) })
	}
	t.words(`"base":`, e.Base)
	if len(e.Answer) > 0 {
		t.member(`"answer":`)
		for i, number := range e.Answer {
			t.item(i, '[')
			t.out.Write(strconv.AppendInt(t.out.AvailableBuffer(), int64(number), 10))
		}
		t.out.WriteByte(']')
	}
	t.words(`"list_rv":`, e.ListVersion)
	t.flag(`"continues":`, e.Continues)
	if f := e.Failed; f != nil {
		t.member(`"failed":`)
		t.inner(func() {
			t.some(`"code":`, int64(f.Code))
			t.words(`"reason":`, f.Reason)
			t.words(`"message":`, f.Message)
		})
	}
	t.raw(`"sent":`, e.Sent)
}

func (t *text) write(w *Write) {
	t.words(`"patch":`, w.Patch)
	t.flag(`"dry_run":`, w.DryRun)
	t.words(`"manager":`, w.Manager)
	t.flag(`"force":`, w.Force)
	t.words(`"uid":`, w.UID)
	t.words(`"rv":`, w.ResourceVersion)
	t.words(`"propagation":`, w.Propagation)
	if w.Grace != nil {
		t.integer(`"grace":`, *w.Grace)
	}
}

func (t *text) key(k core.Key) {
	t.word(`"kind":`, string(k.Kind))
	t.words(`"namespace":`, k.Namespace)
	t.word(`"name":`, k.Name)
}

// member begins a member of an object.
func (t *text) member(name string) {
	if !t.first {
		t.out.WriteByte(',')
	}
	t.first = false
	t.out.WriteString(name)
}

// inner writes an object inside of another one.
func (t *text) inner(members func()) {
	t.out.WriteByte('{')
	t.first = true
	members()
	t.first = false
	t.out.WriteByte('}')
}

// item begins an item of a list.
func (t *text) item(i int, open byte) {
	if i > 0 {
		open = ','
	}
	t.out.WriteByte(open)
}

func (t *text) number(name string, n uint64) {
	t.member(name)
	t.out.Write(strconv.AppendUint(t.out.AvailableBuffer(), n, 10))
}

func (t *text) integer(name string, n int64) {
	t.member(name)
	t.out.Write(strconv.AppendInt(t.out.AvailableBuffer(), n, 10))
}

func (t *text) time(name string, d time.Duration) { t.integer(name, int64(d)) }

// numbers writes a number unless it is zero.
func (t *text) numbers(name string, n uint64) {
	if n != 0 {
		t.number(name, n)
	}
}

// some writes a number unless it is zero.
func (t *text) some(name string, n int64) {
	if n != 0 {
		t.integer(name, n)
	}
}

func (t *text) flag(name string, is bool) {
	if is {
		t.member(name)
		t.out.WriteString("true")
	}
}

// raw writes JSON as it is, unless there is none.
func (t *text) raw(name string, value json.RawMessage) {
	if len(value) > 0 {
		t.member(name)
		t.out.Write(value)
	}
}

// words writes a string unless it is empty.
func (t *text) words(name, s string) {
	if s != "" {
		t.word(name, s)
	}
}

func (t *text) word(name, s string) {
	t.member(name)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			encoder := json.NewEncoder(&t.out)
			encoder.SetEscapeHTML(false)
			_ = encoder.Encode(s)           // strings have JSON, and a buffer takes it
			t.out.Truncate(t.out.Len() - 1) // the line feed
			return
		}
	}
	t.out.WriteByte('"')
	t.out.WriteString(s)
	t.out.WriteByte('"')
}

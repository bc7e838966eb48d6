package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/redact"
)

// Options say how a recording is made.
type Options struct {
	// Name is what the recording is called: the name of its process.
	Name string
	// KeepSecrets keeps values of Secrets and tokens.
	KeepSecrets bool
}

// builder writes a recording.
type builder struct {
	w        *live.Writer
	redactor *redact.Redactor
	number   uint64
	// version is that of the last object that came without one.
	version uint64
	now     time.Duration
	// numbers are those of the objects of the file, and last that of the last version of each object.
	numbers map[versionOf]int
	last    map[core.Key]int
}

type versionOf struct {
	key           core.Key
	uid, rv, form string
}

// numbersLimit bounds how many versions are remembered. What is forgotten can stand in the file twice.
const numbersLimit = 1 << 16

// lastLimit bounds of how many objects the last version is remembered. That one that is forgotten is deleted is not
// told.
const lastLimit = 1 << 20

// newBuilder starts a recording from a time on, which says first what it cannot know.
func newBuilder(out io.Writer, source string, started time.Time, options Options, unseen ...string) (*builder, error) {
	var rules []redact.Rule
	if !options.KeepSecrets {
		rules = redact.Secrets()
	}
	b := &builder{redactor: redact.New(rules), numbers: map[versionOf]int{}, last: map[core.Key]int{}}
	var err error
	b.w, err = live.NewWriter(out, live.Header{
		Process: live.Process{Name: source, Replica: options.Name}, Started: started, Part: 1, Redacted: b.redactor.Words(),
	})
	if err != nil {
		return nil, err
	}
	for _, reason := range unseen {
		if err := b.w.Add(live.Unseen{Reason: reason}); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// next returns the number of the next entry.
func (b *builder) next() uint64 {
	b.number++
	return b.number
}

// object returns the number of a version, which is written if it is new.
func (b *builder) object(o live.Object) (int, error) {
	which := versionOf{o.Key, o.UID, o.ResourceVersion, o.Form}
	if number, known := b.numbers[which]; known && o.ResourceVersion != "" {
		b.is(o.Key, number)
		return number, nil
	}
	value, err := b.redactor.Text(o.Kind, o.Value)
	if err != nil {
		return 0, &live.EntryError{Reason: err}
	}
	o.Value = value
	number, err := b.w.AddObject(o)
	if err != nil {
		return 0, err
	}
	if len(b.numbers) >= numbersLimit {
		clear(b.numbers)
	}
	b.numbers[which] = number
	b.is(o.Key, number)
	return number, nil
}

// is notes the last version of an object.
func (b *builder) is(key core.Key, number int) {
	if len(b.last) >= lastLimit {
		clear(b.last)
	}
	b.last[key] = number
}

// call writes a call with the objects of its answer.
func (b *builder) call(c live.Call, answer []live.Object) error {
	c.N = b.next()
	b.now = max(b.now, c.At+c.Took)
	for _, o := range answer {
		number, err := b.object(o)
		if err != nil {
			return b.tolerate(err)
		}
		c.Answer = append(c.Answer, number)
	}
	if c.Sent != nil {
		sent, err := b.sent(c)
		if err != nil {
			return b.tolerate(&live.EntryError{Reason: err})
		}
		c.Sent = sent
	}
	if c.Failed != nil && b.redactor.Redacts(c.Object.Kind) {
		c.Failed = &live.Failure{Code: c.Failed.Code, Reason: c.Failed.Reason, Message: "(redacted)"} // it can quote values
	}
	return b.tolerate(b.w.Add(c))
}

// sent returns what a call sent, without what is redacted. An array can only be a JSON patch. What is sent to a
// subresource can be of another kind.
func (b *builder) sent(c live.Call) (json.RawMessage, error) {
	redacts := b.redactor.Text
	switch {
	case c.Verb == live.Patch && len(c.Sent) > 0 && c.Sent[0] == '[':
		return b.redactor.Patch(c.Object.Kind, c.Sent)
	case c.Verb == live.Patch, c.Verb == live.Apply:
		redacts = b.redactor.Merge
	}
	text, err := redacts(c.Object.Kind, c.Sent)
	var own identity
	if err != nil || json.Unmarshal(c.Sent, &own) != nil || own.Kind == "" || kindOf(own.APIVersion, own.Kind) == c.Object.Kind {
		return text, err
	}
	return redacts(kindOf(own.APIVersion, own.Kind), text)
}

// event writes that an object was seen to change, or to be gone.
func (b *builder) event(e live.Event) error {
	e.N = b.next()
	b.now = max(b.now, e.At)
	return b.tolerate(b.w.Add(e))
}

// gone writes that an object was deleted, of which the last version that is known is told; nothing if none is.
func (b *builder) gone(key core.Key, at time.Duration) error {
	number := b.last[key]
	if number == 0 {
		return nil
	}
	delete(b.last, key)
	return b.event(live.Event{At: at, Type: live.Deleted, Object: number, Missed: true})
}

// tolerate turns an error of one entry into a gap.
func (b *builder) tolerate(err error) error {
	var unsayable *live.EntryError
	var reason string
	switch {
	case errors.Is(err, live.ErrTooLarge):
		reason = live.TooLarge
	case errors.As(err, &unsayable):
		reason = live.Broken
	default:
		return err
	}
	return b.w.Add(live.Gap{At: b.now, Until: b.now, Reason: reason, Entries: 1})
}

func (b *builder) unseen(format string, args ...any) error {
	return b.w.Add(live.Unseen{At: b.now, Reason: fmt.Sprintf(format, args...)})
}

func (b *builder) end() error { return b.w.End(live.End{At: b.now}) }

// identity is what every object says about itself.
type identity struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name              string   `json:"name"`
		Namespace         string   `json:"namespace"`
		UID               string   `json:"uid"`
		ResourceVersion   string   `json:"resourceVersion"`
		DeletionTimestamp string   `json:"deletionTimestamp"`
		Finalizers        []string `json:"finalizers"`
		// DeletionGracePeriodSeconds is how long the object stays after that.
		DeletionGracePeriodSeconds int64 `json:"deletionGracePeriodSeconds"`
	} `json:"metadata"`
	Spec spec `json:"spec"`
}

// spec is what a Namespace says about itself besides, and nothing where something else stands there.
type spec struct{ finalizers []string }

// UnmarshalJSON implements json.Unmarshaler.
func (s *spec) UnmarshalJSON(text []byte) error {
	var held struct {
		Finalizers []string `json:"finalizers"`
	}
	if json.Unmarshal(text, &held) == nil {
		s.finalizers = held.Finalizers
	}
	return nil
}

// objectOf returns an object of JSON, and what it says about itself. It reports whether it is one: whether it has a
// kind and a name.
func objectOf(text json.RawMessage) (live.Object, identity, bool) {
	var id identity
	if json.Unmarshal(text, &id) != nil || id.Kind == "" || id.Metadata.Name == "" {
		return live.Object{}, id, false
	}
	return live.Object{
		Key: core.Key{Kind: kindOf(id.APIVersion, id.Kind), Namespace: id.Metadata.Namespace, Name: id.Metadata.Name},
		UID: id.Metadata.UID, ResourceVersion: id.Metadata.ResourceVersion, Value: text,
	}, id, true
}

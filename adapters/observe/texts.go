package observe

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
)

const (
	// textsLimit bounds the JSON that is kept of objects, which themselves take some times as much, and toldBytes is
	// what each takes besides.
	textsLimit = 1 << 20
	toldBytes  = 1 << 10
	// textLimit is how much of it one object may have.
	textLimit = 32 << 10
)

// membersRoom is how many members most objects have.
const membersRoom = 24

// texts makes JSON of objects, member by member: of two versions of an object, and of what was sent and what was
// answered, most members are the same. To see that takes less than to write them down again.
type texts struct {
	owned   *owned
	same    *comparisons
	layouts map[reflect.Type][]member
	// known are the last versions of objects, and former those before known was cleared the last time.
	known, former map[core.Key]*told
	bytes         int
	text          bytes.Buffer
}

// told is an object with the JSON of its members, in the order in which they are written.
type told struct {
	object  reflect.Value
	members [][]byte
	bytes   int
}

func newTexts(same *comparisons) *texts {
	return &texts{owned: newOwned(), same: same, layouts: map[reflect.Type][]member{}, known: map[core.Key]*told{}}
}

// member is a member of the JSON of an object, or its kind.
type member struct {
	field int
	same  comparison
	// alone is one of a type of structs that have this field only.
	alone reflect.Value
	// inner are the members of this member, if they are told apart, and begin is how it begins.
	inner []member
	begin string
	// omitsZero tells that these are left out together if all of them would be.
	omitsZero bool
}

// marshal writes an object as JSON to an empty buffer, and returns what that holds. Nobody may change the object any
// more. If a key is given, its members are kept.
func (t *texts) marshal(out *bytes.Buffer, key core.Key, object runtime.Object) (json.RawMessage, error) {
	value := reflect.ValueOf(object)
	members := t.layout(value.Type())
	if members == nil || value.IsNil() {
		return marshal(out, object)
	}
	w := telling{texts: t, out: out}
	keeps := key != core.Key{}
	if keeps {
		if last := t.last(key); last != nil && last.object.Type() == value.Elem().Type() {
			w.last = last
		}
		w.now = &told{object: value.Elem(), members: make([][]byte, 0, membersRoom), bytes: toldBytes}
	}
	var before reflect.Value
	if w.last != nil {
		before = w.last.object
	}
	if err := w.write("{", members, before, value.Elem()); err != nil {
		return nil, err
	}
	if keeps && w.now.bytes <= textLimit {
		t.keep(key, w.now)
	}
	return out.Bytes(), nil
}

// telling is an object on its way into a buffer.
type telling struct {
	*texts
	out       *bytes.Buffer
	last, now *told
	// at is how many members were written.
	at int
}

// write writes the members of a value. What was before is not valid if that is not known.
func (w *telling) write(begin string, members []member, before, value reflect.Value) error {
	w.out.WriteString(begin)
	empty := true
	for i := range members {
		m := &members[i]
		field := value.Field(m.field)
		var last reflect.Value
		if before.IsValid() {
			last = before.Field(m.field)
		}
		if m.inner != nil {
			if m.omitsZero && field.IsZero() {
				w.leavesOut(m.inner)
				continue
			}
			if !empty {
				w.out.WriteByte(',')
			}
			empty = false
			if err := w.write(m.begin, m.inner, last, field); err != nil {
				return err
			}
			continue
		}
		text, err := w.member(m, last, field)
		if err != nil {
			return err
		}
		if len(text) > 0 {
			if !empty {
				w.out.WriteByte(',')
			}
			empty = false
			w.out.Write(text)
		}
	}
	w.out.WriteByte('}')
	return nil
}

// member returns the JSON of a member: its name and its value, nothing if it is left out.
func (w *telling) member(m *member, before, field reflect.Value) (text []byte, err error) {
	defer func() { w.at++ }()
	if before.IsValid() && w.same.alike(m.same, before, field) {
		text = w.last.members[w.at]
		w.keeps(text)
		return text, nil
	}
	if entries, is := field.Interface().([]metav1.ManagedFieldsEntry); is {
		text, err = w.ownedFields(m, entries)
	} else {
		text, err = w.encode(m, field)
	}
	if w.now != nil && err == nil {
		w.keeps(bytes.Clone(text))
	}
	return text, err
}

// keeps keeps the JSON of a member, if it is to be kept.
func (w *telling) keeps(text []byte) {
	if w.now != nil {
		w.now.members = append(w.now.members, text)
		w.now.bytes += len(text)
	}
}

// leavesOut tells that members are left out.
func (w *telling) leavesOut(members []member) {
	for range members {
		w.keeps(nil)
		w.at++
	}
}

// encode has package json write a member. The next one overwrites it.
func (t *texts) encode(m *member, field reflect.Value) ([]byte, error) {
	if m.alone.Type() == field.Type() { // the kind
		m.alone.Set(field)
	} else {
		m.alone.Field(0).Set(field)
	}
	t.text.Reset()
	text, err := marshal(&t.text, m.alone.Addr().Interface())
	m.alone.SetZero()
	if err != nil {
		return nil, err
	}
	return text[1 : len(text)-1], nil
}

// ownedFields writes the entries of owned fields, as encode does.
func (t *texts) ownedFields(m *member, entries []metav1.ManagedFieldsEntry) ([]byte, error) {
	marked, fields := t.owned.takeOut(entries)
	text, err := t.encode(m, reflect.ValueOf(marked))
	if err != nil || len(fields) == 0 {
		return text, err
	}
	if text = t.owned.putIn(text, fields); text == nil {
		return t.encode(m, reflect.ValueOf(entries))
	}
	return text, nil
}

// last returns the last version of an object, nil if it is not kept.
func (t *texts) last(key core.Key) *told {
	if last := t.known[key]; last != nil {
		return last
	}
	return t.former[key]
}

// keep keeps a version of an object in place of the one before.
func (t *texts) keep(key core.Key, version *told) {
	if t.bytes > textsLimit/2 {
		t.known, t.former, t.bytes = map[core.Key]*told{}, t.known, 0
	}
	if before := t.known[key]; before != nil {
		t.bytes -= before.bytes
	}
	t.bytes += version.bytes
	t.known[key] = version
}

// layout returns the members of a type, nil if it is to be written as a whole.
func (t *texts) layout(of reflect.Type) []member {
	known, ok := t.layouts[of]
	if !ok {
		if of.Kind() == reflect.Pointer && of.Elem().Kind() == reflect.Struct && !of.Implements(reflect.TypeFor[json.Marshaler]()) && !of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			known = t.members(of.Elem())
		}
		t.layouts[of] = known
	}
	return known
}

// members looks for the members of a type: those of a struct whose fields say their names. There are none otherwise.
func (t *texts) members(of reflect.Type) []member {
	named := regexp.MustCompile(`^([A-Za-z0-9_-]+)(,|$)`)
	names := map[string]bool{"kind": true, "apiVersion": true}
	var members []member
	for i := range of.NumField() {
		field := of.Field(i)
		tag := field.Tag.Get("json")
		if field.Anonymous && field.Type == reflect.TypeFor[metav1.TypeMeta]() && (tag == "" || tag[0] == ',') { // whether the tag says "inline" or nothing
			members = append(members, member{field: i, same: t.same.comparison(field.Type), alone: reflect.New(field.Type).Elem()})
			continue
		}
		if tag == "-" || !field.IsExported() && !field.Anonymous {
			continue
		}
		name := named.FindStringSubmatch(tag)
		if name == nil || names[name[1]] || !field.IsExported() {
			return nil
		}
		names[name[1]] = true
		alone := reflect.StructOf([]reflect.StructField{{Name: field.Name, Type: field.Type, Tag: field.Tag}})
		m := member{field: i, same: t.same.comparison(field.Type), alone: reflect.New(alone).Elem()}
		if field.Type == reflect.TypeFor[metav1.ObjectMeta]() {
			m.inner, m.begin, m.omitsZero = t.members(field.Type), `"`+name[1]+`":{`, strings.Contains(tag, ",omitzero")
		}
		members = append(members, m)
	}
	return members
}

package live

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// fill sets a value at random, with a half of the fields left as they are. A field that is added to an entry is among
// them.
func fill(random *rand.Rand, v reflect.Value) {
	if random.IntN(2) == 0 && v.Kind() != reflect.Struct {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(random, v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(random, v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":"<b>"}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), random.IntN(3), 3))
		for i := range v.Len() {
			fill(random, v.Index(i))
		}
	case reflect.String:
		all := []string{"", "plain", "a \"quote\"", `back\slash`, "<&>", "tab\tline\n", "\u00e9\u2028", "broken \xff", "\x7f", strings.Repeat("x", 100)}
		v.SetString(all[random.IntN(len(all))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(random.Int64() - random.Int64())
	case reflect.Uint64:
		v.SetUint(random.Uint64())
	}
}

// TestText writes entries of all kinds as package json does. JSON that is left as it is comes last.
func TestText(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	of := text{}
	for range 3000 {
		for _, e := range []any{&Object{}, &Event{}, &Queued{}, &Begin{}, &Call{}, &Done{}} {
			fill(random, reflect.ValueOf(e).Elem())
			entry := reflect.ValueOf(e).Elem().Interface().(Entry)
			var want bytes.Buffer
			encoder := json.NewEncoder(&want)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(entry); err != nil {
				t.Fatal(err)
			}
			for _, trusts := range []bool{false, true} {
				if !of.entry(entry, trusts) {
					o, _ := entry.(Object)
					c, _ := entry.(Call)
					if trusts || o.Value == nil && c.Sent == nil {
						t.Fatalf("%+v is not written", entry)
					}
					continue
				}
				got := of.out.String() + "\n"
				if c, is := entry.(Call); is && trusts && c.Sent != nil {
					var one, other any
					if err := json.Unmarshal([]byte(got), &one); err != nil || json.Unmarshal(want.Bytes(), &other) != nil || !reflect.DeepEqual(one, other) {
						t.Fatalf("%v\ngot  %swant %s", err, got, want.String())
					}
					continue
				}
				if got != want.String() {
					t.Fatalf("got  %swant %s", got, want.String())
				}
			}
		}
	}
}

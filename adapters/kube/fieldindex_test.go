package kube

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// bySize finds Widgets by the size in their specs.
func bySize() FieldIndex {
	return FieldIndex{Kind: widgetKind, Field: "size", Values: func(object json.RawMessage) ([]string, error) {
		var widget struct {
			Spec struct{ Size json.Number }
		}
		err := json.Unmarshal(object, &widget)
		return []string{widget.Spec.Size.String()}, err
	}}
}

func TestCachedListsGoByIndexes(t *testing.T) {
	w := newWorld(t)
	server, err := w.server.WithFieldIndexes(bySize(), FieldIndex{Kind: widgetKind, Field: "broken", Values: func(json.RawMessage) ([]string, error) {
		return nil, errors.New("it is broken")
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"a": 1, "b": 2, "c": 1} {
		w.widget(name, tree{"spec": tree{"size": size}})
	}
	w.server = server
	cached := func(selector string) *Request {
		return &Request{Verb: List, Kind: widgetKind, Namespace: "default", FieldSelector: selector, FromCache: true}
	}
	for selector, want := range map[string]string{"": "a b c", "size=1": "a c", "size=3": "", "size=2,size=1": ""} {
		if got := strings.Join(names(w.must(cached(selector))), " "); got != want {
			t.Errorf("%q: got %q, want %q", selector, got, want)
		}
	}
	response, _ := w.do(cached("size=2"))
	if versions := response.Versions(); len(versions) != 1 || versions[0].Key.Name != "b" {
		t.Errorf("a list that shows b has the versions %v", versions)
	}
	for selector, want := range map[string]string{
		"colour=red": "caches have no index colour of Widget",
		"size!=1":    "an index finds only what is equal to something",
		"broken=1":   "index broken of Widget: it is broken",
	} {
		if got := w.unsupported(cached(selector)); !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", selector, got, want)
		}
	}
	// The server itself does not know indexes.
	live := cached("size=1")
	live.FromCache = false
	w.refuse(live, 400, "field label not supported: size")
}

func TestIndexesThatCannotBeUsed(t *testing.T) {
	server := newTestServer(t)
	nothing, empty := bySize(), bySize()
	nothing.Kind.Kind = "Nothing"
	empty.Values = nil
	for _, test := range []struct {
		indexes []FieldIndex
		want    string
	}{
		{[]FieldIndex{nothing}, "index size: "},
		{[]FieldIndex{empty}, "index size of Widget has no values: set Values"},
		{[]FieldIndex{bySize(), bySize()}, "there are two indexes size of Widget: give each its own name"},
	} {
		if _, err := server.WithFieldIndexes(test.indexes...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got the error %v, want %s", err, test.want)
		}
	}
}

package kube

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// shelved is a world with some objects.
type shelved map[core.Key]core.Content

func (s shelved) Get(key core.Key) core.Content { return s[key] }

func (s shelved) List(kind core.Kind, _ string) []core.Object {
	var all []core.Object
	for key, content := range s {
		if key.Kind == kind {
			all = append(all, core.Object{Key: key, Content: content})
		}
	}
	return all
}

func (s shelved) Held(core.Key) []core.Content { return nil }

// create creates a Widget, and returns it.
func (s shelved) create(t *testing.T, server core.Store, name string) (*storage.Object, error) {
	t.Helper()
	answer, err := server.Answer(s, &Request{
		Verb: Create, Kind: widgetKind, Namespace: "default", Body: fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q}}`, name),
	})
	if err != nil {
		return nil, err
	}
	if err := answer.Response.(*Response).Err(); err != nil {
		t.Fatal(err)
	}
	for _, write := range answer.Writes {
		s[write.Key] = write.Content
	}
	return storage.Of(s[keyOfWidget(name)]), nil
}

// TestAgesOfNewObjects: an object is created a second after the youngest of its group, and at one time as long as ages
// make no difference. None is created in the future.
func TestAgesOfNewObjects(t *testing.T) {
	server := newTestServer(t)
	kind := keyOfWidget("a").Kind
	for about, test := range map[string]struct {
		groups [][]core.Kind
		want   []string
	}{
		"none":      {nil, []string{"2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z"}},
		"of others": {[][]core.Kind{{"ConfigMap"}}, []string{"2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z"}},
		"its own":   {[][]core.Kind{{"ConfigMap", kind}}, []string{"1999-12-31T23:58:56Z", "1999-12-31T23:58:57Z"}},
	} {
		world := shelved{}
		for i, want := range test.want {
			o, err := world.create(t, server.Aged(test.groups), fmt.Sprint("w", i))
			if err != nil || o.Created() != want {
				t.Errorf("%s: object %d is created at %v, want %s: %v", about, i, o, want, err)
			}
		}
	}
	world, aged := shelved{}, server.Aged([][]core.Kind{{kind}})
	var err error
	created := 0
	for ; err == nil && created < 100; created++ {
		_, err = world.create(t, aged, fmt.Sprint("w", created))
	}
	if created != core.Youth+2 || !strings.Contains(fmt.Sprint(err), "more than 64 objects") {
		t.Errorf("%d objects are created: %v", created, err)
	}
}

// TestEarlier: what is shown of older objects says so, and nothing else of it is another one.
func TestEarlier(t *testing.T) {
	server, world := newTestServer(t), shelved{}
	for _, name := range []string{"a", "b"} {
		if _, err := world.create(t, server, name); err != nil {
			t.Fatal(err)
		}
	}
	by := map[core.Key]map[string]int{keyOfWidget("a"): {core.Creation: 1}, keyOfWidget("b"): {core.Creation: 62}}
	times := map[core.Key]string{keyOfWidget("a"): "1999-12-31T23:59:59Z", keyOfWidget("b"): "1999-12-31T23:58:58Z"}
	same := func(text string) string {
		for _, time := range times {
			text = strings.ReplaceAll(text, time, "2000-01-01T00:00:00Z")
		}
		return text
	}
	for key := range maps.Keys(by) {
		content := world[key].(*storage.Object)
		other := content.Earlier(by[key]).(*storage.Object)
		if other.Created() != times[key] || other.Tag() != content.Tag() || same(other.Canonical()) != content.Canonical() {
			t.Errorf("%s becomes %s", content.Canonical(), other.Canonical())
		}
		if content.Created() != "2000-01-01T00:00:00Z" {
			t.Errorf("%s was changed", content.Canonical())
		}
	}
	for _, request := range []*Request{
		{Verb: List, Kind: widgetKind, Namespace: "default"},
		{Verb: List, Kind: widgetKind, Namespace: "default", MetadataOnly: true},
		{Verb: Get, Kind: widgetKind, Namespace: "default", Name: "b"},
		{Verb: Get, Kind: widgetKind, Namespace: "default", Name: "b", MetadataOnly: true},
	} {
		answer, err := server.Answer(world, request)
		if err != nil {
			t.Fatal(err)
		}
		shown := answer.Response.(*Response)
		other := shown.Earlier(by).(*Response)
		if same(other.Identity()) != shown.Identity() || other.String() != shown.String() {
			t.Errorf("%s is answered with %s, and then with %s", request, shown.Identity(), other.Identity())
		}
		for _, o := range other.Versions() {
			if !strings.Contains(other.Identity(), times[o.Key]) || o.Content.(core.Aged).Created() != times[o.Key] {
				t.Errorf("%s: %s is not said to be created at %s: %s", request, o.Key, times[o.Key], other.Identity())
			}
		}
		if len(other.Versions()) != len(shown.Versions()) {
			t.Errorf("%s shows %d objects, and then %d", request, len(shown.Versions()), len(other.Versions()))
		}
	}
	refusal, err := server.Answer(world, &Request{Verb: Get, Kind: widgetKind, Namespace: "default", Name: "none"})
	if err != nil || refusal.Response.(*Response).Earlier(by).Identity() != refusal.Response.Identity() {
		t.Errorf("a refusal becomes %s: %v", refusal.Response.(*Response).Earlier(by).Identity(), err)
	}
}

// TestWritten: times of the clock are found wherever they stand, and what is shown with earlier ones says so there and
// nowhere else.
func TestWritten(t *testing.T) {
	server, world := newTestServer(t), shelved{}
	key := keyOfWidget("a")
	answer, err := server.Answer(world, &Request{Verb: Create, Kind: widgetKind, Namespace: "default", Body: []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","annotations":{
		"at":"2000-01-01T00:00:01Z","due":"2000-01-01T01:00:02+01:00","exact":"2000-01-01T00:00:01.001001Z","seconds":"946684801","later":"2000-01-01T02:00:01Z","given":"2024-05-06T07:08:09Z","text":"at 2000-01-01T00:00:01Z"}}}`)})
	if err != nil || answer.Response.(*Response).Err() != nil {
		t.Fatal(err, answer.Response)
	}
	world[key] = answer.Writes[0].Content
	content := world[key].(*storage.Object)
	want := map[string]string{
		"metadata.annotations.at": "2000-01-01T00:00:01Z", "metadata.annotations.due": "2000-01-01T01:00:02+01:00", "metadata.annotations.exact": "2000-01-01T00:00:01.001001Z",
		"metadata.annotations.seconds": "946684801", "metadata.annotations.later": "2000-01-01T02:00:01Z",
	}
	if got := content.Written(); !maps.Equal(got, want) {
		t.Errorf("%v are found, want %v", got, want)
	}
	by := map[string]int{core.Creation: 9, "metadata.annotations.at": 1, "metadata.annotations.due": 2, "metadata.annotations.exact": 3, "metadata.annotations.seconds": 4, "metadata.annotations.given": 0}
	then := map[string]string{
		"metadata.annotations.at": "2000-01-01T00:00:00Z", "metadata.annotations.due": "2000-01-01T01:00:00+01:00", "metadata.annotations.exact": "1999-12-31T23:59:58.001001Z",
		"metadata.annotations.seconds": "946684797", "metadata.annotations.later": "2000-01-01T02:00:01Z",
	}
	earlier := content.Earlier(by).(*storage.Object)
	if got := earlier.Written(); !maps.Equal(got, then) || earlier.Created() != "1999-12-31T23:59:51Z" || earlier.Tag() != content.Tag() {
		t.Errorf("earlier, %v are found, want %v; created at %s", got, then, earlier.Created())
	}
	if !strings.Contains(earlier.Canonical(), `"given":"2024-05-06T07:08:09Z"`) || !strings.Contains(earlier.Canonical(), `"text":"at 2000-01-01T00:00:01Z"`) || !maps.Equal(content.Written(), want) {
		t.Errorf("what is no time of the clock is another one: %s", earlier.Canonical())
	}
	shown, err := server.Answer(world, &Request{Verb: List, Kind: widgetKind, Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	other := shown.Response.(*Response).Earlier(map[core.Key]map[string]int{key: by})
	for _, text := range then {
		if !strings.Contains(other.Identity(), text) {
			t.Errorf("%s is not in the list: %s", text, other.Identity())
		}
	}
	if got := other.(*Response).Versions()[0].Content.(core.Aged).Written(); !maps.Equal(got, then) {
		t.Errorf("the list shows a version with %v", got)
	}
}

package foreign_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live/foreign"
)

// server is an API server that keeps an audit log, and knows the history of each object: its versions as JSON, and
// "gone".
type server struct {
	t         *rapid.T
	version   int
	objects   map[core.Key]map[string]any
	histories map[core.Key][]string
	log       []line
	calls     int
	failures  int
}

const gone = "gone"

// drawnResources are what the drawn history is about: one kind that the importer knows, and one that it has to learn.
func drawnResources() map[core.Kind][2]string {
	return map[core.Kind][2]string{"ConfigMap": {"v1", "/configmaps"}, "Widget.example.com": {"example.com/v1", "example.com/widgets"}}
}

func (s *server) logs(l line) {
	s.calls++
	l.at, l.id = float64(len(s.log)+1), strconv.Itoa(len(s.log))
	s.log = append(s.log, l)
}

// put stores a version, and returns it as JSON.
func (s *server) put(key core.Key, object map[string]any) string {
	s.version++
	kind, _, _ := strings.Cut(string(key.Kind), ".")
	object["kind"], object["apiVersion"] = kind, drawnResources()[key.Kind][0]
	metadata, _ := object["metadata"].(map[string]any)
	metadata["resourceVersion"] = strconv.Itoa(s.version)
	s.objects[key] = object
	text := s.json(object)
	s.histories[key] = append(s.histories[key], text)
	return text
}

func (s *server) remove(key core.Key) {
	delete(s.objects, key)
	s.histories[key] = append(s.histories[key], gone)
}

func (s *server) json(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// step makes a request that is drawn.
func (s *server) step() {
	t := s.t
	kinds := drawnResources()
	key := core.Key{
		Kind: rapid.SampledFrom(slices.Sorted(maps.Keys(kinds))).Draw(t, "kind"), Namespace: "web", Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"),
	}
	ref := kinds[key.Kind][1] + "/web/" + key.Name
	object, there := s.objects[key]
	verb := rapid.SampledFrom([]string{"create", "update", "patch", "apply", "status", "delete", "deletecollection", "get", "list", "watch", "refused"}).Draw(t, "verb")
	success := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
	metadata := func() map[string]any { m, _ := object["metadata"].(map[string]any); return m }
	deleting := there && metadata()["deletionTimestamp"] != nil
	field := func() string { return rapid.StringMatching(`[a-c<&]{0,3}`).Draw(t, "value") }
	switch {
	case verb == "create" && !there:
		object = map[string]any{"metadata": map[string]any{"name": key.Name, "namespace": "web", "uid": "u" + strconv.Itoa(s.version)}, "data": map[string]any{"n": field()}}
		if rapid.Bool().Draw(t, "held") {
			metadata()["finalizers"] = []any{"example.com/f"}
		}
		sent := s.json(object)
		s.logs(line{verb: "create", code: 201, ref: kinds[key.Kind][1] + "/web", request: sent, response: s.put(key, object)})
	case (verb == "update" || verb == "patch" || verb == "apply" || verb == "status") && there:
		sent := s.json(object)
		object["data"] = map[string]any{"n": field()}
		if deleting && verb == "update" {
			delete(metadata(), "finalizers")
		}
		l := line{verb: verb, ref: ref, request: sent}
		switch verb {
		case "status":
			l.verb, l.ref = "update", ref+"/status"
		case "patch":
			l.request = s.json(map[string]any{"data": object["data"]})
		case "apply":
			l.verb, l.uri = "patch", "/?fieldManager=m&force=true"
		}
		l.response = s.put(key, object)
		s.logs(l)
		if deleting && verb == "update" {
			s.remove(key)
		}
	case verb == "delete" && there && metadata()["finalizers"] == nil:
		s.logs(line{verb: "delete", ref: ref, response: success})
		s.remove(key)
	case verb == "delete" && there && !deleting:
		metadata()["deletionTimestamp"] = "2026-03-04T05:06:07Z"
		metadata()["deletionGracePeriodSeconds"] = 0
		s.logs(line{verb: "delete", ref: ref, response: s.put(key, object)})
	case verb == "list", verb == "deletecollection":
		var items []any
		for _, at := range slices.SortedFunc(maps.Keys(s.objects), func(a, b core.Key) int { return strings.Compare(a.Name, b.Name) }) {
			o := s.objects[at]
			if at.Kind != key.Kind {
				continue
			}
			m, _ := o["metadata"].(map[string]any)
			if verb == "deletecollection" && m["finalizers"] != nil {
				return // what becomes of it is in no answer
			}
			items = append(items, map[string]any{"metadata": m, "data": o["data"]}) // without its kind, as in lists
		}
		kind, _, _ := strings.Cut(string(key.Kind), ".")
		s.logs(line{verb: verb, ref: kinds[key.Kind][1] + "/web", response: s.json(map[string]any{
			"kind": kind + "List", "apiVersion": kinds[key.Kind][0], "metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)}, "items": items,
		})})
		if verb == "deletecollection" {
			for at := range maps.Clone(s.objects) {
				if at.Kind == key.Kind {
					s.remove(at)
				}
			}
		}
	case verb == "watch":
		s.logs(line{verb: "watch", ref: ref})
		s.calls--
	case verb == "refused":
		s.failures++
		s.logs(line{verb: "update", ref: ref, code: 409, reason: "Conflict", request: `{"metadata":{"resourceVersion":"1"}}`, response: strings.Replace(success, "Success", "Failure", 1)})
	case there:
		s.logs(line{verb: "get", ref: ref, response: s.json(object)})
	}
}

// historiesOf returns what a recording says became of each object.
func historiesOf(t *rapid.T, r recording) map[core.Key][]string {
	all := map[core.Key][]string{}
	last := map[core.Key]string{}
	happens := map[uint64]func(){}
	shows := func(number int) {
		o := r.objects[number-1]
		if o.ResourceVersion == last[o.Key] {
			return // once more
		}
		last[o.Key] = o.ResourceVersion
		var value any
		if err := json.Unmarshal(o.Value, &value); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		all[o.Key] = append(all[o.Key], string(text))
	}
	for _, c := range r.calls {
		happens[c.N] = func() {
			for _, number := range c.Answer {
				shows(number)
			}
		}
	}
	for _, e := range r.events {
		happens[e.N] = func() { all[r.objects[e.Object-1].Key] = append(all[r.objects[e.Object-1].Key], gone) }
	}
	for _, n := range slices.Sorted(maps.Keys(happens)) {
		happens[n]()
	}
	return all
}

// TestHistories writes drawn histories as audit logs of several API servers, and finds the same histories in the
// recording.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &server{t: t, objects: map[core.Key]map[string]any{}, histories: map[core.Key][]string{}}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s.step()
		}
		if len(s.log) == 0 {
			return
		}
		logs := make([][]fmt.Stringer, rapid.IntRange(1, 3).Draw(t, "servers"))
		for _, l := range s.log {
			i := rapid.IntRange(0, len(logs)-1).Draw(t, "server")
			logs[i] = append(logs[i], l)
			if rapid.IntRange(0, 9).Draw(t, "damage") == 0 {
				logs[i] = append(logs[i], text(l.String()[:rapid.IntRange(0, 60).Draw(t, "cut")]))
			}
		}
		var files []foreign.File
		for i, lines := range logs {
			content := logOf(lines...)
			if len(lines) == 0 {
				continue
			}
			if rapid.Bool().Draw(t, "zipped") {
				content = zipped(content)
			}
			files = append(files, fileOf(fmt.Sprint(i), content))
		}
		got := audited(t, files...)
		if histories := historiesOf(t, got); !reflect.DeepEqual(histories, s.histories) {
			t.Fatalf("got\n%v\nwant\n%v", histories, s.histories)
		}
		failures := 0
		for _, c := range got.calls {
			if c.Failed != nil {
				failures++
			}
		}
		if len(got.calls) != s.calls || failures != s.failures || len(got.gaps) > 0 {
			t.Fatalf("%d calls of which %d failed, want %d and %d; gaps %v", len(got.calls), failures, s.calls, s.failures, got.gaps)
		}
		if last := got.calls; len(last) > 0 && got.end < last[len(last)-1].At {
			t.Fatalf("the end is at %v, before the last call", got.end)
		}
	})
}

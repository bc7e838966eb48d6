package kube

import (
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// FuzzRequest looks for bodies and patches that the server cannot cope with, and
// checks that what it stores can be read, written back and settled.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{}`, `null`, `[]`, `{"metadata":{"name":"b","labels":{"x":"1"}},"spec":{"size":3}}`,
		`[{"op":"add","path":"/spec/-","value":[[]]}]`, `[{"op":"copy","from":"","path":"/spec"}]`,
		`{"metadata":{"ownerReferences":[{"uid":null}],"finalizers":[""]}}`,
		`{"metadata":null,"status":{"observedGeneration":1e400}}`, `{"spec":{"containers":[{"$patch":"delete"}]}}`,
		`{"$patch":"replace"}`, `{"$retainKeys":["x"]}`, `{"spec":{"$setElementOrder/containers":[{"name":"x"}]}}`,
	} {
		f.Add(uint8(0), []byte(body))
		f.Add(uint8(1), []byte(body))
		f.Add(uint8(5), []byte(body))
		f.Add(uint8(17), []byte(body))
	}
	verbs := []struct {
		verb      Verb
		patchType types.PatchType
	}{{verb: Create}, {verb: Update}, {Patch, types.JSONPatchType}, {Patch, types.MergePatchType}, {Patch, types.StrategicMergePatchType}, {Patch, types.ApplyYAMLPatchType}}
	kinds := []schema.GroupVersionKind{widgetKind, gadgetKind, podKind, deploymentKind}
	server := newTestServer(f)
	f.Fuzz(func(t *testing.T, choice uint8, body []byte) {
		w := emptyWorld(t, server)
		verb := verbs[int(choice)%len(verbs)]
		kind := kinds[int(choice)/len(verbs)%len(kinds)]
		w.must(creation(kind, tree{"name": "a"}, nil))
		r := request(verb.verb, kind, "a")
		if verb.verb == Create {
			r.Name = ""
		}
		r.PatchType, r.Body = verb.patchType, body
		if r.PatchType == types.ApplyYAMLPatchType {
			r.FieldManager, r.Force = "fuzz", true
		}
		if response, _ := w.do(r); response.Status != nil {
			return
		}
		w.settle()
		for key, content := range w.objects {
			if storage.IsRecord(key.Kind) {
				continue
			}
			r := request(Get, kind, key.Name)
			back := updating(kind, w.must(r))
			if response, writes := w.do(back); response.Status == nil && writes > 0 {
				t.Errorf("%s is written again by its identical update: %s", key, content.Canonical())
			}
			w.server.Outcome(key, content)
		}
	})
}

// TestAnswersAreAFunction sends random requests, and checks after each that the
// answer is the same when asked again, that it depends on nothing but what was read,
// and that no stored content has been changed.
func TestAnswersAreAFunction(t *testing.T) {
	server := newTestServer(t)
	rapid.Check(t, func(t *rapid.T) {
		w := emptyWorld(t, server)
		var shown []string
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			r := drawRequest(t, shown)
			before := maps.Clone(w.objects)
			texts := map[core.Key]string{}
			for key, content := range before {
				texts[key] = string(jsontree.Canonical(content.Fields()))
			}
			w.seen = map[core.Key]core.Content{}
			answer, err := server.Answer(w, r)
			if err != nil {
				t.Fatal(err)
			}
			again, err := server.Answer(w, r)
			checkSame(t, r, answer, again, err)
			onlyRead := emptyWorld(t, server)
			onlyRead.objects = maps.Clone(w.seen)
			again, err = server.Answer(onlyRead, r)
			checkSame(t, r, answer, again, err)
			for key, content := range before {
				if string(jsontree.Canonical(content.Fields())) != texts[key] {
					t.Fatalf("%s changes the stored %s", r, key)
				}
			}
			w.apply(answer.Writes)
			if answer.Response.(*Response).Status != nil && len(answer.Writes) > 0 {
				t.Fatalf("%s is refused and writes", r)
			}
			for _, write := range answer.Writes {
				if write.Content != nil && before[write.Key] != nil && write.Content.Canonical() == before[write.Key].Canonical() {
					t.Fatalf("%s writes what is there: %s", r, write.Content.Canonical())
				}
			}
			if response := answer.Response.(*Response); r.Verb == Get && response.Object != nil {
				shown = append(shown, string(response.Object))
			}
			checkRecords(t, w.objects)
		}
	})
}

// drawRequest makes up a request about a few objects. Updates start from what an
// earlier get has shown.
func drawRequest(t *rapid.T, shown []string) *Request {
	kind := rapid.SampledFrom([]schema.GroupVersionKind{widgetKind, gadgetKind}).Draw(t, "kind")
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
	switch rapid.IntRange(0, 6).Draw(t, "verb") {
	case 0:
		metadata := tree{"name": name}
		if rapid.Bool().Draw(t, "owned") {
			metadata["ownerReferences"] = []any{tree{"apiVersion": "example.com/v1", "kind": "Widget", "name": "a", "uid": string(storage.UID("", keyOfWidget("a"), 0))}}
		}
		if rapid.Bool().Draw(t, "kept") {
			metadata["finalizers"] = []any{"example.com/x"}
		}
		return creation(kind, metadata, nil)
	case 1:
		r := request(Delete, kind, name)
		r.Propagation = rapid.SampledFrom([]string{"", "Foreground", "Orphan"}).Draw(t, "propagation")
		return r
	case 2:
		return patching(kind, name, types.MergePatchType, rapid.SampledFrom([]string{
			`{"spec":{"size":1}}`, `{"spec":{"size":2}}`, `{"metadata":{"finalizers":null}}`,
			`{"metadata":{"ownerReferences":null}}`, `{"metadata":{"labels":{"x":"1"}}}`,
		}).Draw(t, "patch"))
	case 3:
		if len(shown) > 0 {
			body := rapid.SampledFrom(shown).Draw(t, "body")
			var o unstructured.Unstructured
			if err := jsontree.Decode([]byte(body), &o.Object); err != nil {
				t.Fatal(err)
			}
			kind.Kind = o.GetKind()
			r := request(Update, kind, o.GetName())
			r.Body = []byte(body)
			return r
		}
	case 4:
		return request(List, kind, "")
	case 5:
		spec := tree{}
		if rapid.Bool().Draw(t, "sized") {
			spec["size"] = rapid.IntRange(1, 2).Draw(t, "size")
		}
		r := applying(kind, name, rapid.SampledFrom([]string{"m", "n"}).Draw(t, "manager"), tree{"spec": spec})
		r.Force = rapid.Bool().Draw(t, "force")
		return r
	}
	return request(Get, kind, name)
}

// checkSame checks that a second answer is that of the first time.
func checkSame(t *rapid.T, r *Request, first, second core.Answer, err error) {
	if err != nil || second.Response.Identity() != first.Response.Identity() || len(second.Writes) != len(first.Writes) {
		t.Fatalf("%s: %s, then %s, %v", r, first.Response, second.Response, err)
	}
	for i, write := range first.Writes {
		if other := second.Writes[i]; write.Key != other.Key || (write.Content == nil) != (other.Content == nil) ||
			write.Content != nil && write.Content.Canonical() != other.Content.Canonical() {
			t.Fatalf("%s: writes %v, then %v", r, write, other)
		}
	}
}

// checkRecords checks that the records are those of the objects, and say what these are.
func checkRecords(t tester, objects map[core.Key]core.Content) {
	t.Helper()
	unneeded := 0
	for key, content := range objects {
		if storage.IsRecord(key.Kind) {
			unneeded++
			continue
		}
		o := content.(*storage.Object)
		for _, record := range storage.Records(key, o) {
			unneeded--
			if found := objects[record]; found == nil || found.Canonical() != storage.New(storage.SaidByRecords(o), 0).Canonical() {
				t.Fatalf("the record %s of %s is %v", record, key, found)
			}
		}
	}
	if unneeded != 0 {
		t.Fatalf("%d records are of no object", unneeded)
	}
}

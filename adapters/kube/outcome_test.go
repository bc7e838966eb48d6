package kube

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// outcomes returns what Outcome says of each object, by kind.
func (w *world) outcomes() map[core.Kind]any {
	all := map[core.Kind]any{}
	for key, content := range w.objects {
		if outcome := w.server.Outcome(key, content); outcome != nil {
			all[key.Kind] = outcome
		}
	}
	return all
}

func TestOutcome(t *testing.T) {
	w := newWorld(t)
	a := w.widget("a", nil)
	a.Object["status"] = tree{"observedGeneration": 1, "ready": true, "lastSeenTime": "2024-03-03T10:00:00Z", "since": "2024-03-03T10:00:00Z"}
	w.must(ofStatus(updating(widgetKind, a)))
	w.must(creation(gadgetKind, tree{
		"generateName": "g-", "labels": tree{"owner": string(a.GetUID())}, "ownerReferences": []any{ownerReference(a)},
	}, nil))
	w.must(creation(corev1.SchemeGroupVersion.WithKind("Event"), tree{"name": "e"}, nil))

	name := w.List("Gadget.example.com", "")[0].Key.Name
	expect(t, "outcomes", w.outcomes(), tree{
		"Widget.example.com": tree{
			"apiVersion": "example.com/v1", "kind": "Widget",
			"metadata": tree{"name": "a", "namespace": "default", "creationTimestamp": "<time>"},
			"status":   tree{"ready": true, "lastSeenTime": "<time>", "since": "2024-03-03T10:00:00Z"},
		},
		"Gadget.example.com": tree{
			"apiVersion": "example.com/v1", "kind": "Gadget",
			"metadata": tree{
				"name": name, "namespace": "default", "creationTimestamp": "<time>",
				"labels": tree{"owner": a.GetUID()},
				"ownerReferences": []any{tree{
					"apiVersion": "example.com/v1", "kind": "Widget", "name": "a", "uid": a.GetUID(), "controller": true, "blockOwnerDeletion": true,
				}},
			},
		},
	})
}

// outcomesKind is a kind with fields of all sorts.
var outcomesKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Record"}

const recordsDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: records.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Record, plural: records}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              observedGeneration: {type: integer}
              startTime: {type: string}
              at: {type: string, format: date-time}
              names: {type: object, additionalProperties: {type: string}}
              any: {type: object, x-kubernetes-preserve-unknown-fields: true}
              plain: {type: array, items: {type: string}}
              groups: {type: array, items: {type: object, properties: {members: {type: array, items: {type: string}}}}}
              set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              map:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [a, b]
                items: {type: object, required: [a, b], properties: {a: {type: string}, b: {type: integer}, c: {type: string}}}
              template: {type: object, x-kubernetes-preserve-unknown-fields: true}
              conditions: {type: array, items: {type: object, properties: {type: {type: string}, status: {type: string}}}}
          status:
            type: object
            properties:
              observedGeneration: {type: integer}
              counts: {type: object, additionalProperties: {type: integer}}
              conditions:
                type: array
                items:
                  type: object
                  properties:
                    type: {type: string}
                    status: {type: string}
                    observedGeneration: {type: integer}
                    lastTransitionTime: {type: string, format: date-time}
                    lastSeenTime: {type: string}
`

// outcomeOfCreated returns the outcome of an object that is created and then given a status, if there is one.
func outcomeOfCreated(t *testing.T, kind schema.GroupVersionKind, metadata, fields tree, options ...Option) any {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(recordsDefinition), definition); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, append(options, Definitions(definition))...)
	all := tree{"name": "a"}
	maps.Copy(all, metadata)
	given := complete(kind, fields)
	create := request(Create, kind, "")
	create.Body = object(kind, all, given)
	if kind.Kind == "Node" || kind.Kind == "PersistentVolume" {
		create.Namespace = ""
	}
	made := w.must(create)
	if status, ok := given["status"]; ok {
		made.Object["status"] = status
		update := ofStatus(updating(kind, made))
		update.Namespace = create.Namespace
		w.must(update)
	}
	w.settle()
	key := core.Key{Kind: KindOf(kind.GroupKind()), Namespace: create.Namespace, Name: "a"}
	objects := initialState(w.objects).objects()
	return w.server.CanonicalOutcome(objects, map[core.Key]any{key: w.server.Outcome(key, w.objects[key])})[key]
}

// What is left out of an outcome depends on the schema and the place, never on a name that somebody chose.
func TestWhatMattersInOutcomes(t *testing.T) {
	const one, other = "2024-03-03T10:00:00Z", "2025-04-04T11:00:00Z"
	spec := func(name string, value any) tree { return tree{"spec": tree{name: value}} }
	status := func(name string, value any) tree { return tree{"status": tree{name: value}} }
	condition := func(kind, name string, value any) tree { return tree{"type": kind, "status": "True", name: value} }
	node, lease := corev1.SchemeGroupVersion.WithKind("Node"), coordinationv1.SchemeGroupVersion.WithKind("Lease")
	for _, test := range []struct {
		name     string
		kind     schema.GroupVersionKind
		metadata [2]tree
		fields   [2]tree
		same     bool
	}{
		{name: "data called as a generation", kind: configMapKind, fields: [2]tree{{"data": tree{"observedGeneration": "1"}}, {"data": tree{"observedGeneration": "2"}}}},
		{name: "data called as a time", kind: configMapKind, fields: [2]tree{{"data": tree{"startTime": one}}, {"data": tree{"startTime": other}}}},
		{name: "labels called as a generation", kind: configMapKind, metadata: [2]tree{{"labels": tree{"observedGeneration": "1"}}, {"labels": tree{"observedGeneration": "2"}}}},
		{name: "annotations called as a time", kind: configMapKind, metadata: [2]tree{{"annotations": tree{"lastSyncTime": one}}, {"annotations": tree{"lastSyncTime": other}}}},
		{name: "annotations called as a DaemonSet's", kind: configMapKind, metadata: [2]tree{
			{"annotations": tree{"deprecated.daemonset.template.generation": "1"}}, {"annotations": tree{"deprecated.daemonset.template.generation": "2"}}}},
		{name: "environment", kind: podKind, fields: [2]tree{
			{"spec": tree{"containers": []any{tree{"name": "c", "image": "c:1", "env": []any{tree{"name": "startTime", "value": one}}}}}},
			{"spec": tree{"containers": []any{tree{"name": "c", "image": "c:1", "env": []any{tree{"name": "startTime", "value": other}}}}}}}},
		{name: "a number in the spec called as a generation", kind: outcomesKind, fields: [2]tree{spec("observedGeneration", 7), spec("observedGeneration", 9)}},
		{name: "a text in the spec called as a time", kind: outcomesKind, fields: [2]tree{spec("startTime", one), spec("startTime", other)}},
		{name: "a key called as a time", kind: outcomesKind, fields: [2]tree{spec("names", tree{"startTime": one}), spec("names", tree{"startTime": other})}},
		{name: "an unknown field called as a time", kind: outcomesKind, fields: [2]tree{spec("any", tree{"lastTransitionTime": one}), spec("any", tree{"lastTransitionTime": other})}},
		{name: "an unknown field called as a generation", kind: outcomesKind, fields: [2]tree{spec("any", tree{"observedGeneration": 1}), spec("any", tree{"observedGeneration": 2})}},
		{name: "a kind of which nothing is known", kind: gadgetKind, fields: [2]tree{{"data": tree{"observedGeneration": 1, "startTime": one}}, {"data": tree{"observedGeneration": 2, "startTime": one}}}},
		{name: "a key in the status called as a generation", kind: outcomesKind, fields: [2]tree{status("counts", tree{"observedGeneration": 5}), status("counts", tree{"observedGeneration": 6})}},
		{name: "a text in a condition called as a time", kind: outcomesKind, fields: [2]tree{
			status("conditions", []any{condition("Ready", "lastSeenTime", one)}), status("conditions", []any{condition("Ready", "lastSeenTime", other)})}},
		{name: "a time that is not there", kind: outcomesKind, fields: [2]tree{spec("at", one), {"spec": tree{}}}},
		{name: "conditions in the spec", kind: outcomesKind, fields: [2]tree{
			spec("conditions", []any{tree{"type": "A"}, tree{"type": "B"}}), spec("conditions", []any{tree{"type": "B"}, tree{"type": "A"}})}},

		{name: "a time by the schema", kind: outcomesKind, fields: [2]tree{spec("at", one), spec("at", other)}, same: true},
		{name: "the observed generation", kind: outcomesKind, fields: [2]tree{status("observedGeneration", 1), status("observedGeneration", 3)}, same: true},
		{name: "what a condition observed", kind: outcomesKind, same: true, fields: [2]tree{
			status("conditions", []any{condition("Ready", "observedGeneration", 1)}), status("conditions", []any{condition("Ready", "observedGeneration", 3)})}},
		{name: "the time of a condition", kind: outcomesKind, same: true, fields: [2]tree{
			status("conditions", []any{condition("Ready", "lastTransitionTime", one)}), status("conditions", []any{condition("Ready", "lastTransitionTime", other)})}},
		{name: "times of Kubernetes' own kinds", kind: lease, same: true, fields: [2]tree{spec("renewTime", "2024-03-03T10:00:00.000000Z"), spec("renewTime", "2025-03-03T10:00:00.000000Z")}},
		{name: "the time of a Pod", kind: podKind, same: true, fields: [2]tree{status("startTime", one), status("startTime", other)}},

		{name: "finalizers", kind: configMapKind, same: true, metadata: [2]tree{{"finalizers": []any{"x.com/a", "x.com/b"}}, {"finalizers": []any{"x.com/b", "x.com/a"}}}},
		{name: "owners", kind: configMapKind, same: true, metadata: [2]tree{
			{"ownerReferences": []any{owner("a", "1"), owner("b", "2")}}, {"ownerReferences": []any{owner("b", "2"), owner("a", "1")}}}},
		{name: "taints", kind: node, same: true, fields: [2]tree{
			spec("taints", []any{tree{"key": "a", "effect": "NoSchedule"}, tree{"key": "b", "effect": "NoSchedule"}}),
			spec("taints", []any{tree{"key": "b", "effect": "NoSchedule"}, tree{"key": "a", "effect": "NoSchedule"}})}},
		{name: "ports", kind: corev1.SchemeGroupVersion.WithKind("Service"), same: true, fields: [2]tree{
			spec("ports", []any{tree{"name": "a", "port": 80}, tree{"name": "b", "port": 81}}), spec("ports", []any{tree{"name": "b", "port": 81}, tree{"name": "a", "port": 80}})}},
		{name: "environment variables", kind: podKind, same: true, fields: [2]tree{withEnv("A", "1", "B", "2"), withEnv("B", "2", "A", "1")}},
		{name: "environment variables that refer to others", kind: podKind, fields: [2]tree{withEnv("A", "1", "B", "$(A)"), withEnv("B", "$(A)", "A", "1")}},
		{name: "arguments", kind: podKind, fields: [2]tree{
			{"spec": tree{"containers": []any{tree{"name": "c", "image": "c:1", "args": []any{"a", "b"}}}}},
			{"spec": tree{"containers": []any{tree{"name": "c", "image": "c:1", "args": []any{"b", "a"}}}}}}},
		{name: "initializing containers", kind: podKind, fields: [2]tree{
			{"spec": tree{"initContainers": []any{tree{"name": "a", "image": "c:1"}, tree{"name": "b", "image": "c:1"}}}},
			{"spec": tree{"initContainers": []any{tree{"name": "b", "image": "c:1"}, tree{"name": "a", "image": "c:1"}}}}}},
		{name: "a set", kind: outcomesKind, same: true, fields: [2]tree{spec("set", []any{"a", "b"}), spec("set", []any{"b", "a"})}},
		{name: "another set", kind: outcomesKind, fields: [2]tree{spec("set", []any{"a", "b"}), spec("set", []any{"b"})}},
		{name: "a map", kind: outcomesKind, same: true, fields: [2]tree{
			spec("map", []any{tree{"a": "x", "b": 1}, tree{"a": "x", "b": 2}}), spec("map", []any{tree{"a": "x", "b": 2}, tree{"a": "x", "b": 1}})}},
		{name: "a list", kind: outcomesKind, fields: [2]tree{spec("plain", []any{"a", "b"}), spec("plain", []any{"b", "a"})}},
		{name: "conditions", kind: outcomesKind, same: true, fields: [2]tree{
			status("conditions", []any{tree{"type": "A"}, tree{"type": "B"}}), status("conditions", []any{tree{"type": "B"}, tree{"type": "A"}})}},
		{name: "endpoints", kind: discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"), same: true, fields: [2]tree{
			{"addressType": "IPv4", "endpoints": []any{tree{"addresses": []any{"10.0.0.1"}}, tree{"addresses": []any{"10.0.0.2"}}}},
			{"addressType": "IPv4", "endpoints": []any{tree{"addresses": []any{"10.0.0.2"}}, tree{"addresses": []any{"10.0.0.1"}}}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var outcomes [2]string
			for i := range outcomes {
				outcomes[i] = string(jsontree.Canonical(outcomeOfCreated(t, test.kind, test.metadata[i], test.fields[i])))
			}
			if same := outcomes[0] == outcomes[1]; same != test.same {
				t.Errorf("the same: %t, want %t\n%s\n%s", same, test.same, outcomes[0], outcomes[1])
			}
		})
	}
}

// decoded is an object as the server reads it.
func decoded(t *testing.T, text []byte) tree {
	t.Helper()
	var fields tree
	if err := utiljson.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// TestTimesOfTheClock checks which values are taken for times that were read off the virtual clock, at first and after
// a long time.
func TestTimesOfTheClock(t *testing.T) {
	const long = 20 * 365 * 24 * time.Hour
	start := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	zone := time.FixedZone("CET", 3600)
	in := func(fields tree) tree { return tree{"spec": tree{"any": fields}} }
	at := func(value any) tree { return in(tree{"at": value}) }
	for _, test := range []struct {
		name       string
		one, other tree
		given      tree
		same       bool
	}{
		{name: "a text", one: at("2000-01-01T00:00:01Z"), other: at("2000-01-01T00:00:59Z"), same: true},
		{name: "another zone", one: at("2000-01-01T00:00:01Z"), other: at(start.In(zone).Format(time.RFC3339)), same: true},
		{name: "after a long time", one: at("2000-01-01T00:00:01Z"), other: at(start.Add(long).Format(time.RFC3339)), same: true},
		{name: "after a time that did not pass", one: at("2000-01-01T00:00:01Z"), other: at(start.Add(2 * long).Format(time.RFC3339))},
		{name: "a number", one: at(start.Unix()), other: at(start.Add(long).Unix()), same: true},
		{name: "milliseconds", one: at(start.UnixMilli()), other: at(start.Add(long).UnixMilli() + 1001), same: true},
		{name: "a number as text", one: at(strconv.FormatInt(start.Unix(), 10)), other: at(strconv.FormatInt(start.Add(long).Unix()+1, 10)), same: true},
		{name: "a number in a longer one", one: at("9466848011"), other: at("9466848012")},
		{name: "a number in a text", one: at("n-946684801"), other: at("n-946684802")},
		{name: "a number before", one: at(start.Unix() - 1), other: at(start.Unix() - 2)},
		{name: "a number a minute later", one: at(start.Unix() + 60), other: at(start.Unix() + 61)},
		{name: "an hour later, and later again", one: at("2000-01-01T01:00:01Z"), other: at(start.Add(long + time.Hour).Format(time.RFC3339)), same: true},
		{name: "not by whole minutes", one: at("2000-01-01T01:00:17Z"), other: at("2000-01-01T01:00:18Z")},
		{name: "an hour, and two", one: at("2000-01-01T01:00:01Z"), other: at("2000-01-01T02:00:01Z")},
		{name: "an hour before, and an hour later", one: at("2000-01-01T01:00:00Z"), other: at("1999-12-31T23:00:00Z")},
		{name: "an hour before, twice", one: at("1999-12-31T23:00:01Z"), other: at(start.Add(long - time.Hour).Format(time.RFC3339)), same: true},
		{name: "years later", one: at("2005-01-01T00:00:00Z"), other: at("2005-01-01T00:00:01Z")},
		{name: "several in a text", one: at("from 2000-01-01T00:00:00Z to 2000-01-01T00:00:01Z"), other: at("from 2000-01-01T00:00:02Z to 2000-01-01T00:00:01Z"), same: true},
		{name: "with something behind", one: at("2000-01-01T00:00:01.5.1"), other: at("2000-01-01T00:00:01.5.2")},
		{name: "a version", one: at("v2000-01-01T00:00:01Z"), other: at("v2000-01-01T00:00:02Z")},
		{name: "dates", one: at("2000-01-01"), other: at("2000-01-02")},
		{name: "keys", one: in(tree{"2000-01-01T00:00:01Z": "a"}), other: in(tree{"2000-01-01T00:00:02Z": "a"})},
		{name: "what is given", one: at("2000-01-01T00:00:01Z"), other: at("2000-01-01T00:00:02Z"), given: at("2000-01-01T00:00:02Z")},
		{name: "what is given in a text", one: at("2000-01-01T00:00:01Z"), other: at("2000-01-01T00:00:02Z"), given: at("until 2000-01-01T00:00:02Z.")},
		{name: "what is given as a number", one: at("2000-01-01T00:00:01Z"), other: at("2000-01-01T00:00:02Z"), given: at(start.Unix() + 2)},
		{name: "what is given as a time", one: at("2000-01-01T00:00:01Z"), other: at("2000-01-01T00:00:02Z"), given: tree{"spec": tree{"at": "2000-01-01T00:00:02Z"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			definition := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.Unmarshal([]byte(recordsDefinition), definition); err != nil {
				t.Fatal(err)
			}
			server, err := NewServer(clientgoscheme.Scheme, Definitions(definition))
			if err != nil {
				t.Fatal(err)
			}
			server.After(long)
			if test.given != nil {
				if _, err := server.Initial(&unstructured.Unstructured{Object: decoded(t, object(outcomesKind, tree{"name": "given"}, test.given))}); err != nil {
					t.Fatal(err)
				}
			}
			var outcomes [2]string
			for i, fields := range []tree{test.one, test.other} {
				content := storage.New(decoded(t, object(outcomesKind, tree{"name": "a", "namespace": "default"}, fields)), 0)
				key := core.Key{Kind: "Record.example.com", Namespace: "default", Name: "a"}
				outcome := map[core.Key]any{key: server.Outcome(key, content)}
				outcomes[i] = string(jsontree.Canonical(server.CanonicalOutcome([]core.Object{{Key: key, Content: content}}, outcome)[key]))
			}
			if same := outcomes[0] == outcomes[1]; same != test.same {
				t.Errorf("the same: %t, want %t\n%s\n%s", same, test.same, outcomes[0], outcomes[1])
			}
			if said := len(server.Assumptions()) > 0; said != test.same {
				t.Errorf("it assumes %q", server.Assumptions())
			}
		})
	}
}

func owner(name, uid string) tree {
	return tree{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}
}

// withEnv is a Pod with two environment variables.
func withEnv(name, value, name2, value2 string) tree {
	env := []any{tree{"name": name, "value": value}, tree{"name": name2, "value": value2}}
	return tree{"spec": tree{"containers": []any{tree{"name": "c", "image": "c:1", "env": env}}}}
}

// A number under the name of a generation, in a place where there is none, is what its author wrote.
func TestGenerationsByPlace(t *testing.T) {
	outcome := outcomeOfCreated(t, outcomesKind, nil, tree{
		"spec":   tree{"observedGeneration": 7, "any": tree{"observedGeneration": 8}},
		"status": tree{"counts": tree{"observedGeneration": 9}},
	}).(tree)
	expect(t, "spec", outcome["spec"], tree{"observedGeneration": 7, "any": tree{"observedGeneration": 8}})
	expect(t, "status", outcome["status"], tree{"counts": tree{"observedGeneration": 9}})
}

func TestUnordered(t *testing.T) {
	for _, test := range []struct {
		kind core.Kind
		path string
		// one and other differ in the order of the list; mistake is what the error says.
		one, other tree
		mistake    string
	}{
		{kind: "Record.example.com", path: "spec.plain", one: tree{"plain": []any{"a", "b"}}, other: tree{"plain": []any{"b", "a"}}},
		{kind: "Record.example.com", path: "spec.any.list", one: tree{"any": tree{"list": []any{2, 1}}}, other: tree{"any": tree{"list": []any{1, 2}}}},
		{
			kind: "Record.example.com", path: "spec.groups.members",
			one:   tree{"groups": []any{tree{"members": []any{"a", "b"}}, tree{"members": []any{"c"}}}},
			other: tree{"groups": []any{tree{"members": []any{"b", "a"}}, tree{"members": []any{"c"}}}},
		},
		{kind: "Pod", path: "spec.containers.args"},
		{kind: "Recorder.example.com", path: "spec.plain", mistake: "no such kind"},
		{kind: "Record", path: "spec.plain", mistake: "Record.example.com"},
		{kind: "Record.example.com", path: "spec.list", mistake: "plain"},
		{kind: "Record.example.com", path: "spec.startTime", mistake: "is no list"},
		{kind: "Record.example.com", path: "spec.startTime.list", mistake: "no fields"},
		{kind: "Record.example.com", path: "spec.plain[0]", mistake: "positions"},
		{kind: "Record.example.com", path: "", mistake: "empty"},
		{kind: "Pod", path: "spec.container", mistake: "containers"},
	} {
		t.Run(string(test.kind)+" "+test.path, func(t *testing.T) {
			definition := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.Unmarshal([]byte(recordsDefinition), definition); err != nil {
				t.Fatal(err)
			}
			_, err := NewServer(clientgoscheme.Scheme, Definitions(definition), Unordered(test.kind, test.path))
			if test.mistake != "" {
				if err == nil || !strings.Contains(err.Error(), test.mistake) {
					t.Errorf("got the error %v, want %q in it", err, test.mistake)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.one == nil {
				return
			}
			one, other := tree{"spec": test.one}, tree{"spec": test.other}
			expect(t, "with the order of the list", sameOutcomes(t, one, other), false)
			expect(t, "without", sameOutcomes(t, one, other, Unordered(test.kind, test.path)), true)
		})
	}
}

func sameOutcomes(t *testing.T, one, other tree, options ...Option) bool {
	t.Helper()
	a, b := outcomeOfCreated(t, outcomesKind, nil, one, options...), outcomeOfCreated(t, outcomesKind, nil, other, options...)
	return string(jsontree.Canonical(a)) == string(jsontree.Canonical(b))
}

func TestOutcomeLeavesTheObjectAlone(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	content := w.objects[keyOfWidget("a")]
	before := string(jsontree.Canonical(content.Fields()))
	w.server.Outcome(keyOfWidget("a"), content)
	expect(t, "the object after Outcome", string(jsontree.Canonical(content.Fields())), before)
}

// The generation that a controller has observed does not count if it is written in digits either; a hash under that
// name does.
func TestWrittenGenerationsInOutcomes(t *testing.T) {
	server := newTestServer(t)
	for observed, want := range map[string]tree{"2": {"ready": true}, "1": {"ready": true}, "854849693": {"ready": true, "observedGeneration": "854849693"}, "02": {"ready": true, "observedGeneration": "02"}} {
		content := storage.New(tree{"metadata": tree{"generation": int64(2)}, "status": tree{"ready": true, "observedGeneration": observed}}, 0)
		expect(t, "status with "+observed, server.Outcome(keyOfWidget("a"), content).(tree)["status"], any(want))
	}
}

// TestGeneratedNamesOfWhatIsWrittenAnew has the name of an object be generated, and the object be written anew without saying
// from what: nothing is different in the end.
func TestGeneratedNamesOfWhatIsWrittenAnew(t *testing.T) {
	outcome := func(anew bool, owner string) string {
		w := newWorld(t)
		by := w.widget(owner, nil)
		made := w.must(creation(gadgetKind, tree{"generateName": "g-", "ownerReferences": []any{ownerReference(by)}}, nil))
		if anew {
			made.SetGenerateName("")
			w.must(updating(gadgetKind, made))
		}
		objects := initialState(w.objects).objects()
		outcomes := map[core.Key]any{}
		for _, o := range objects {
			if o.Key.Kind == "Gadget.example.com" {
				outcomes[o.Key] = w.server.Outcome(o.Key, o.Content)
			}
		}
		var text strings.Builder
		for key, fields := range w.server.CanonicalOutcome(objects, outcomes) {
			text.WriteString(key.String() + " " + string(jsontree.Canonical(fields)))
		}
		return text.String()
	}
	if first, second := outcome(false, "a"), outcome(true, "a"); first != second || first == "" {
		t.Errorf("%s\nand then\n%s", first, second)
	}
}

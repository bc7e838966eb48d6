package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/orrery-dev/orrery/core"
)

func TestOutcome(t *testing.T) {
	w := newWorld(t)
	a := w.widget("a", nil)
	a.Object["status"] = tree{"observedGeneration": 1, "ready": true, "lastSeenTime": "2024-03-03T10:00:00Z", "since": "2024-03-03T10:00:00Z"}
	w.must(ofStatus(updating(widgetKind, a)))
	w.must(creation(gadgetKind, tree{
		"generateName": "g-", "labels": tree{"owner": string(a.GetUID())}, "ownerReferences": []any{ownerReference(a)},
	}, nil))
	w.must(creation(corev1.SchemeGroupVersion.WithKind("Event"), tree{"name": "e"}, nil))

	outcomes := map[core.Kind]any{}
	for key, content := range w.objects {
		if outcome := w.server.Outcome(key, content); outcome != nil {
			outcomes[key.Kind] = outcome
		}
	}
	expect(t, "outcomes", outcomes, tree{
		"Widget.example.com": tree{
			"apiVersion": "example.com/v1", "kind": "Widget",
			"metadata": tree{"name": "a", "namespace": "default", "creationTimestamp": "<time>"},
			"status":   tree{"ready": true, "lastSeenTime": "<time>", "since": "2024-03-03T10:00:00Z"},
		},
		"Gadget.example.com": tree{
			"apiVersion": "example.com/v1", "kind": "Gadget",
			"metadata": tree{
				"name": "g-<generated>", "generateName": "g-", "namespace": "default", "creationTimestamp": "<time>",
				"labels": tree{"owner": "<uid>"},
				"ownerReferences": []any{tree{
					"apiVersion": "example.com/v1", "kind": "Widget", "name": "a", "uid": "<uid>", "controller": true, "blockOwnerDeletion": true,
				}},
			},
		},
	})
}

func TestOutcomeOfConditions(t *testing.T) {
	ready, synced := tree{"type": "Ready", "status": "True"}, tree{"type": "Synced", "status": "False"}
	var outcomes []any
	for _, conditions := range [][]any{{ready, synced}, {synced, ready}} {
		w := newWorld(t)
		w.must(creation(gadgetKind, tree{"name": "a"}, tree{"status": tree{"conditions": conditions}}))
		key := core.Key{Kind: "Gadget.example.com", Namespace: "default", Name: "a"}
		outcomes = append(outcomes, w.server.Outcome(key, w.objects[key]).(tree)["status"])
	}
	want := tree{"conditions": []any{ready, synced}}
	expect(t, "outcomes of conditions in either order", outcomes, []any{want, want})
}

func TestOutcomeLeavesTheObjectAlone(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	content := w.objects[keyOfWidget("a")]
	before := string(canonicalJSON(content.Fields()))
	w.server.Outcome(keyOfWidget("a"), content)
	expect(t, "the object after Outcome", string(canonicalJSON(content.Fields())), before)
}

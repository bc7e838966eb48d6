package kube

import (
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

func TestGenerationCountsSpecChanges(t *testing.T) {
	w := newWorld(t)
	w.must(creation(deploymentKind, tree{"name": "d"}, tree{"spec": tree{"replicas": 1}}))
	for _, test := range []struct {
		name, patch string
		want        int64
	}{
		{"labels", `{"metadata":{"labels":{"x":"1"}}}`, 1},
		{"annotations of a Deployment", `{"metadata":{"annotations":{"x":"1"}}}`, 2},
		{"spec", `{"spec":{"replicas":2}}`, 3},
		{"the same spec", `{"spec":{"replicas":2}}`, 3},
		{"status", `{"status":{"replicas":2}}`, 3},
	} {
		d := w.must(patching(deploymentKind, "d", types.MergePatchType, test.patch))
		expect(t, "generation after a change of "+test.name, d.GetGeneration(), test.want)
	}
}

// TestGenerationOfEndpointSlices: their labels count, their annotations do not.
func TestGenerationOfEndpointSlices(t *testing.T) {
	w := newWorld(t)
	kind := discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice")
	w.must(creation(kind, tree{"name": "s"}, tree{"addressType": "IPv4", "endpoints": []any{}, "ports": []any{}}))
	for _, test := range []struct {
		name, patch string
		want        int64
	}{
		{"annotations", `{"metadata":{"annotations":{"x":"1"}}}`, 1},
		{"labels", `{"metadata":{"labels":{"x":"1"}}}`, 2},
		{"the same labels", `{"metadata":{"labels":{"x":"1"}}}`, 2},
		{"endpoints", `{"endpoints":[{"addresses":["10.0.0.1"]}]}`, 3},
		{"labels taken away", `{"metadata":{"labels":null}}`, 4},
	} {
		changed := w.must(patching(kind, "s", types.MergePatchType, test.patch))
		expect(t, "generation after a change of "+test.name, changed.GetGeneration(), test.want)
	}
}

func TestSettleKeepsTheOrderOfGenerations(t *testing.T) {
	server := newTestServer(t)
	for _, test := range []struct{ generation, observed, condition, wantGeneration, wantObserved, wantCondition int64 }{
		{1, 0, 0, 1, 0, 0},
		{1, 1, 1, 1, 1, 1},
		{2, 1, 1, 2, 1, 1},
		{9, 9, 9, 1, 1, 1},
		{9, 8, 7, 3, 2, 1},
		{9, 0, 4, 2, 0, 1},
		{3, 5, 4, 1, 3, 2},
	} {
		object := func(generation, observed, condition int64) tree {
			return tree{
				"metadata": tree{"generation": generation},
				"status":   tree{"observedGeneration": observed, "conditions": []any{tree{"observedGeneration": condition}}},
			}
		}
		settled := server.Normalize(keyOfWidget("a"), []core.Content{storage.New(object(test.generation, test.observed, test.condition), 4)}, nil)[0]
		expect(t, "settled", settled.Fields(), object(test.wantGeneration, test.wantObserved, test.wantCondition))
		if settled.(*storage.Object).Again != 0 {
			t.Error("it still counts an equal version that is gone")
		}
	}
}

// TestSettleCountsWrittenGenerations: a controller that writes the observed generation in digits compares it with the
// one it is shown, so both are counted anew.
func TestSettleCountsWrittenGenerations(t *testing.T) {
	server := newTestServer(t)
	object := func(generation int64, observed, condition any) tree {
		return tree{
			"metadata": tree{"generation": generation},
			"status":   tree{"observedGeneration": observed, "conditions": []any{tree{"observedGeneration": condition}}},
		}
	}
	for _, test := range []struct{ name, observed, condition, wantObserved, wantCondition string }{
		{"the same", "9", "9", "1", "1"},
		{"earlier", "8", "7", "2", "1"},
		{"a hash of digits", "854849693", "9", "854849693", "1"},
		{"a hash", "6f4b4dcb9", "", "6f4b4dcb9", ""},
		{"none yet", "0", "09", "0", "09"},
	} {
		versions := []core.Content{storage.New(object(9, test.observed, test.condition), 0)}
		settled := server.Normalize(keyOfWidget("a"), versions, nil)[0].Fields().(tree)
		status := settled["status"].(tree)
		expect(t, test.name+": observed", status["observedGeneration"], any(test.wantObserved))
		expect(t, test.name+": observed in the condition", status["conditions"].([]any)[0].(tree)["observedGeneration"], any(test.wantCondition))
	}
	of := func(status tree) tree { return tree{"metadata": tree{"generation": int64(9)}, "status": status} }
	for _, elsewhere := range []tree{{"workloadObservedGeneration": "9"}, {"of": tree{"observedGeneration": "9"}}} {
		settled := server.Normalize(keyOfWidget("a"), []core.Content{storage.New(of(elsewhere), 0)}, nil)[0]
		expect(t, "of another object", settled.Fields().(tree)["status"], any(elsewhere))
	}
}

func TestSettleIsIdempotentAndKeepsOrder(t *testing.T) {
	server := newTestServer(t)
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int64Range(0, 9), 1, 6).Draw(t, "generations")
		conditions := make([]any, len(numbers))
		for i, n := range numbers {
			conditions[i] = tree{"observedGeneration": n}
		}
		before := storage.New(tree{"metadata": tree{"generation": int64(5)}, "status": tree{"conditions": conditions}}, rapid.IntRange(0, 2).Draw(t, "again"))
		once := server.Normalize(keyOfWidget("a"), []core.Content{before}, nil)[0]
		if twice := server.Normalize(keyOfWidget("a"), []core.Content{once}, nil)[0]; twice.Canonical() != once.Canonical() {
			t.Fatalf("settled twice: %s, once: %s", twice.Canonical(), once.Canonical())
		}
		settled := once.Fields().(tree)["status"].(tree)["conditions"].([]any)
		for i, a := range numbers {
			for j, b := range numbers {
				x, y := settled[i].(tree)["observedGeneration"].(int64), settled[j].(tree)["observedGeneration"].(int64)
				if (a < b) != (x < y) || (a == 0) != (x == 0) {
					t.Fatalf("%d and %d became %d and %d", a, b, x, y)
				}
			}
		}
	})
}

// TestSettleLeavesCountedGenerations settles an object of a kind whose generations are to be counted on.
func TestSettleLeavesCountedGenerations(t *testing.T) {
	server := newTestServer(t, CountGenerations("Widget.example.com"))
	object := tree{"metadata": tree{"generation": int64(9)}, "status": tree{"observedGeneration": int64(7)}}
	settled := server.Normalize(keyOfWidget("a"), []core.Content{storage.New(object, 0)}, nil)[0]
	expect(t, "settled", settled.Fields(), object)
}

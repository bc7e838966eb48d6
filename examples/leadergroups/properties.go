package leadergroups

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

const (
	groupSetKind    core.Kind = "GroupSet.example.orrery.dev"
	statefulSetKind core.Kind = "StatefulSet.apps"
	podKind         core.Kind = "Pod"
)

// Properties are asked about every state, so they look at objects as they are stored: making Go values of them would take most of the time of a check.

// oneUnavailable says that an update takes down one group at a time.
func oneUnavailable() core.Property {
	return core.Property{
		Name: "one group is unavailable at most",
		Doc:  "All groups but one have a leader that is ready, and all of its own workers.",
		Invariant: func(s core.State) error {
			for _, object := range s.List(groupSetKind, "") {
				if down := unavailable(s, read(object.Content)); len(down) > 1 {
					return fmt.Errorf("the groups %s are unavailable at the same time", strings.Join(down, ", "))
				}
			}
			return nil
		},
	}
}

// workersMatch says that a leader has workers of its own revision.
func workersMatch() core.Property {
	return core.Property{
		Name: "workers are of the revision of their leader",
		Doc:  "Every StatefulSet that a leader owns is of the revision of the leader.",
		Invariant: func(s core.State) error {
			for _, object := range s.List(statefulSetKind, "") {
				workers := read(object.Content)
				leader := get(s, podKind, workers.GetNamespace(), workers.GetName())
				if leader == nil || !metav1.IsControlledBy(workers, leader) {
					continue // these are not workers, or their leader is gone
				}
				if got, want := workers.GetLabels()[revisionLabel], leader.GetLabels()[revisionLabel]; got != want {
					return fmt.Errorf("the workers of %s are of revision %s, and their leader is of %s", leader.GetName(), got, want)
				}
			}
			return nil
		},
	}
}

// allUpdated says that in the end all groups are available, and run what the user wants.
func allUpdated() core.Property {
	return properties.EventuallyAlways("all groups are available and of the current revision", func(s core.State) bool {
		for _, object := range s.List(groupSetKind, "") {
			set := read(object.Content)
			if len(unavailable(s, set)) > 0 {
				return false
			}
			wanted, _, _ := unstructured.NestedString(set.Object, "spec", "template", "image")
			for number := range count(set, "groups") {
				leader := get(s, podKind, set.GetNamespace(), member(set, number))
				containers, _, _ := unstructured.NestedFieldNoCopy(leader.Object, "spec", "containers")
				if containers.([]any)[0].(map[string]any)["image"] != wanted {
					return false
				}
			}
		}
		return true
	})
}

// unavailable returns the names of the groups of a set that are not available: with a leader that is ready, and workers of its own that are.
func unavailable(s core.State, set *unstructured.Unstructured) []string {
	var down []string
	for number := range count(set, "groups") {
		leader := get(s, podKind, set.GetNamespace(), member(set, number))
		if !isReady(leader) || !hasWorkers(s, leader, count(set, "template", "size")-1) {
			down = append(down, member(set, number))
		}
	}
	return down
}

// hasWorkers reports whether a leader has a number of workers of its own that are ready.
func hasWorkers(s core.State, leader *unstructured.Unstructured, number int64) bool {
	workers := get(s, statefulSetKind, leader.GetNamespace(), leader.GetName())
	if workers == nil || !metav1.IsControlledBy(workers, leader) {
		return false
	}
	for place := range number {
		worker := get(s, podKind, leader.GetNamespace(), member(workers, place+1))
		if !isReady(worker) || !metav1.IsControlledBy(worker, workers) {
			return false
		}
	}
	return true
}

// isReady reports whether a Pod is there to stay, and ready.
func isReady(pod *unstructured.Unstructured) bool {
	if pod == nil || pod.GetDeletionTimestamp() != nil {
		return false
	}
	conditions, _, _ := unstructured.NestedFieldNoCopy(pod.Object, "status", "conditions")
	all, _ := conditions.([]any)
	return slices.ContainsFunc(all, func(condition any) bool {
		fields, _ := condition.(map[string]any)
		return fields["type"] == string(corev1.PodReady) && fields["status"] == string(corev1.ConditionTrue)
	})
}

// count returns a number of a specification.
func count(object *unstructured.Unstructured, path ...string) int64 {
	number, _, _ := unstructured.NestedInt64(object.Object, append([]string{"spec"}, path...)...)
	return number
}

// member is the name of the Pod of a number.
func member(set *unstructured.Unstructured, number int64) string {
	return fmt.Sprintf("%s-%d", set.GetName(), number)
}

// get returns an object of a state, nil if it is not there.
func get(s core.State, kind core.Kind, namespace, name string) *unstructured.Unstructured {
	content := s.Get(core.Key{Kind: kind, Namespace: namespace, Name: name})
	if content == nil {
		return nil
	}
	return read(content)
}

func read(content core.Content) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: content.Fields().(map[string]any)}
}

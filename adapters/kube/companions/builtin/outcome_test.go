package builtin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
)

// outcome is what the objects of a world say, in an order that follows from it: without what depends on the clock, on chance and on how often something was written.
func outcome(w *world) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	replacer := renaming(w)
	var all []string
	for key, content := range w.objects {
		if text := normal(key, content, replacer); text != "" {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// renaming replaces the names and hashes of revisions by their numbers.
func renaming(w *world) *strings.Replacer {
	var names []string
	for _, o := range w.List("ControllerRevision.apps", "") {
		object, err := shown(o.Content)
		if err != nil {
			panic(err)
		}
		revision := object.(*appsv1.ControllerRevision)
		names = append(names, revision.Name, fmt.Sprintf("revision-%d", revision.Revision))
		names = append(names, revision.Labels["controller.kubernetes.io/hash"], fmt.Sprintf("hash-%d", revision.Revision))
	}
	return strings.NewReplacer(names...)
}

// generated is how many characters a server adds to make a name.
const generated = 5

// normal is what an object says, "" for the server's own records.
func normal(key core.Key, content core.Content, replacer *strings.Replacer) string {
	tree, ok := content.Fields().(map[string]any)
	if !ok || tree["kind"] == nil {
		return ""
	}
	tree = runtime.DeepCopyJSON(tree)
	metadata := tree["metadata"].(map[string]any)
	if base, ok := metadata["generateName"].(string); ok && len(key.Name) == len(base)+generated {
		metadata["name"] = base
	}
	for _, counted := range []string{"uid", "resourceVersion", "generation", "managedFields"} {
		delete(metadata, counted)
	}
	text, err := json.Marshal(plain(tree))
	if err != nil {
		panic(err)
	}
	return regexp.MustCompile(`default/j-[a-z0-9-]+`).ReplaceAllString(replacer.Replace(string(text)), "a Pod")
}

// plain is a value without times, uids, empty values, and counters of versions.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			field = plain(field)
			if field == nil || name == "uid" || name == "observedGeneration" {
				delete(v, name)
				continue
			}
			v[name] = field
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "a time"
		}
	}
	return value
}

// podsOf are the Pods of a world in an order that follows from what they say.
func podsOf(w *world) []*corev1.Pod {
	replacer := renaming(w)
	type said struct {
		text string
		pod  *corev1.Pod
	}
	var all []said
	for _, o := range w.List("Pod", "") {
		object, err := shown(o.Content)
		if err != nil {
			panic(err)
		}
		all = append(all, said{normal(o.Key, o.Content, replacer), object.(*corev1.Pod)})
	}
	slices.SortStableFunc(all, func(a, b said) int { return strings.Compare(a.text, b.text) })
	pods := make([]*corev1.Pod, len(all))
	for i, s := range all {
		pods[i] = s.pod
	}
	return pods
}

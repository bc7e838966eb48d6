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
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// outcome is what the objects of a world say, in an order that follows from it: without what depends on the clock, on
// chance and on how often something was written.
func outcome(w *world) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	replacer := renaming(w)
	var all []string
	for key, content := range w.objects {
		if text := normal(w, key, content, replacer); text != "" {
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
		for _, label := range []string{"controller.kubernetes.io/hash", appsv1.DefaultDaemonSetUniqueLabelKey} {
			if hash := revision.Labels[label]; hash != "" {
				names = append(names, hash, fmt.Sprintf("hash-%d", revision.Revision))
			}
		}
	}
	return strings.NewReplacer(names...)
}

// generated is how many characters a server adds to make a name.
const generated = 5

// normal is what an object says, "" for the server's own records.
func normal(w *world, key core.Key, content core.Content, replacer *strings.Replacer) string {
	tree, ok := content.Fields().(map[string]any)
	if !ok || tree["kind"] == nil {
		return ""
	}
	tree = runtime.DeepCopyJSON(tree)
	metadata := tree["metadata"].(map[string]any)
	markGone(w, metadata)
	if base, ok := metadata["generateName"].(string); ok && len(key.Name) == len(base)+generated {
		metadata["name"] = base
	}
	for _, counted := range []string{"uid", "resourceVersion", "generation", "managedFields"} {
		delete(metadata, counted)
	}
	sortLists(metadata["finalizers"])
	for field, counted := range map[string]string{"annotations": appsv1.DeprecatedTemplateGeneration, "labels": "pod-template-generation"} {
		if all, ok := metadata[field].(map[string]any); ok {
			delete(all, counted)
		}
	}
	if spec, ok := tree["spec"].(map[string]any); ok {
		sortLists(spec["volumes"]) // the real controller of StatefulSets puts them in the order of a map
	}
	if kind := tree["kind"]; kind == "EndpointSlice" || kind == "Endpoints" {
		// Lists are sets here. When Pods and Services changed last, the real controllers remember, for whoever measures
		// how long it takes until it is known.
		sortLists(tree)
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			delete(annotations, corev1.EndpointsLastChangeTriggerTime)
		}
	}
	text, err := json.Marshal(plain(tree))
	if err != nil {
		panic(err)
	}
	text = regexp.MustCompile(`"c-[0-9]{5,}"`).ReplaceAll(text, []byte(`"a run"`)) // it has the minute that it is for in its name
	text = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAll(text, []byte("a uid"))
	said := regexp.MustCompile(`default/j-[a-z0-9-]+`).ReplaceAllString(replacer.Replace(string(text)), "a Pod")
	// Revisions that are gone have names that nobody knows.
	return regexp.MustCompile(`"controller-revision-hash":"s-[0-9a-z]+"`).ReplaceAllString(said, `"controller-revision-hash":"a revision that is gone"`)
}

// markGone tells the owners that are there, in the metadata of an object, from those that are gone: their uids say it,
// and are left out.
func markGone(w *world, metadata map[string]any) {
	references, _ := metadata["ownerReferences"].([]any)
	for _, reference := range references {
		fields := reference.(map[string]any)
		kind := schema.FromAPIVersionAndKind(fields["apiVersion"].(string), fields["kind"].(string))
		namespace, _ := metadata["namespace"].(string)
		owner := w.objects[core.Key{Kind: kube.KindOf(kind.GroupKind()), Namespace: namespace, Name: fields["name"].(string)}]
		if owner == nil || string(metaOf(core.Object{Content: owner}).GetUID()) != fields["uid"] {
			fields["owner"] = "gone"
		}
	}
}

// plain is a value without times, uids, empty values, and counters of versions.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			field = plain(field)
			if field == nil || name == "uid" || name == "observedGeneration" || name == "resourceVersion" {
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

// sortLists brings lists in a value into an order that follows from what is in them, without what [plain] leaves out.
func sortLists(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, field := range v {
			sortLists(field)
		}
	case []any:
		for _, element := range v {
			sortLists(element)
		}
		key := func(element any) string {
			text, err := json.Marshal(plain(runtime.DeepCopyJSONValue(element)))
			if err != nil {
				panic(err)
			}
			return string(text)
		}
		slices.SortStableFunc(v, func(a, b any) int { return strings.Compare(key(a), key(b)) })
	}
}

// inOrder are the objects of a kind in an order that follows from what they say.
func inOrder(w *world, kind core.Kind) []core.Object {
	replacer := renaming(w)
	said := map[core.Key]string{}
	all := w.List(kind, "")
	for _, o := range all {
		said[o.Key] = normal(w, o.Key, o.Content, replacer)
	}
	slices.SortStableFunc(all, func(a, b core.Object) int { return strings.Compare(said[a.Key], said[b.Key]) })
	return all
}

// podsOf are the Pods of a world in an order that follows from what they say.
func podsOf(w *world) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, o := range inOrder(w, "Pod") {
		object, err := shown(o.Content)
		if err != nil {
			panic(err)
		}
		pods = append(pods, object.(*corev1.Pod))
	}
	return pods
}

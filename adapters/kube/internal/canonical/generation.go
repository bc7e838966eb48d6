package canonical

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Normalize counts anew what the server counts up. It brings metadata.generation, the generations that the status has
// observed, and the generation of a DaemonSet's template to the smallest numbers that keep their order across all
// versions: 0 stays 0, others count from
// 1. Generations of kinds that are to be counted on stay as they are. Equal versions are counted anew; if the names of versions are in their order, all versions are. What is pinned keeps its numbers.
func (f *Form) Normalize(key core.Key, versions []core.Content, pinned []bool) []core.Content {
	if storage.IsRecord(key.Kind) {
		return versions
	}
	stays := func(i int) bool { return pinned != nil && pinned[i] }
	places := f.places.of(f.registry.Named(key.Kind))
	generations := numbers{}
	for i, version := range versions {
		visitGenerations(places, storage.Of(version).Tree, func(n int64) int64 {
			if n > 0 {
				generations.add(n, stays(i) || f.counting[key.Kind])
			}
			return n
		})
	}
	generations.settle(1)
	settled, counted := make([]core.Content, len(versions)), make([]numbers, len(versions))
	equal := map[string]numbers{}
	for i, version := range versions {
		object := renumbered(storage.Of(version), places, generations)
		settled[i] = object
		among := f.among(object)
		if equal[among] == nil {
			equal[among] = numbers{}
		}
		counted[i] = equal[among]
		counted[i].add(int64(object.Again), stays(i))
	}
	for _, group := range equal {
		group.settle(0)
	}
	for i := range settled {
		object := storage.Of(settled[i])
		if again := int(counted[i][int64(object.Again)].becomes); again != object.Again {
			settled[i] = storage.New(object.Tree, again, object.Unshown...).From(object)
		}
	}
	return settled
}

// among names the versions among which one is counted.
func (f *Form) among(o *storage.Object) string {
	if f.Ordered {
		return ""
	}
	return o.Text
}

// numbers are what the server has counted up, with what they become.
type numbers map[int64]number

type number struct {
	pinned  bool
	becomes int64
}

func (n numbers) add(counted int64, pinned bool) {
	n[counted] = number{pinned: pinned || n[counted].pinned}
}

// settle has all numbers but those that are pinned become the smallest ones that keep their order.
func (n numbers) settle(first int64) {
	next := first
	for _, counted := range slices.Sorted(maps.Keys(n)) {
		if n[counted].pinned {
			next = counted
		}
		n[counted] = number{n[counted].pinned, next}
		next++
	}
}

// renumbered is the object with each of its generations replaced by what it becomes.
func renumbered(o *storage.Object, places *place, generations numbers) *storage.Object {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(generations)), func(n int64) bool { return generations[n].becomes != n }) {
		return o
	}
	tree := runtime.DeepCopyJSON(o.Tree)
	visitGenerations(places, tree, func(n int64) int64 {
		if n <= 0 {
			return n
		}
		return generations[n].becomes
	})
	return storage.New(tree, o.Again, o.Unshown...).From(o)
}

// Further returns a content of an object of a kind as it is shown if so many more generations were counted before,
// itself if it shows none. It keeps its resource version.
func (f *Form) Further(kind core.Kind, content core.Content, by int) core.Content {
	object := storage.Of(content)
	tree := maps.Clone(object.Tree)
	for _, part := range []string{"metadata", "status"} { // where generations are
		if value, there := tree[part]; there {
			tree[part] = runtime.DeepCopyJSONValue(value)
		}
	}
	if !f.Raise(kind, tree, by) {
		return content
	}
	return object.ShownAs(tree)
}

// Raise has the generations in an object of a kind be what they are if so many more were counted before, and reports
// whether any is another one then. Those of kinds that are counted on stay as they are.
func (f *Form) Raise(kind core.Kind, tree map[string]any, by int) bool {
	if by == 0 || f.counting[kind] || storage.IsRecord(kind) {
		return false
	}
	changed := false
	visitGenerations(f.places.of(f.registry.Named(kind)), tree, func(n int64) int64 {
		if n <= 0 {
			return n
		}
		changed = true
		return n + int64(by)
	})
	return changed
}

// Lower takes back what [Form.Raise] has done, in an object or a part of one. Other numbers stay as they are.
func (f *Form) Lower(kind core.Kind, tree map[string]any, by int) {
	if by == 0 || storage.IsRecord(kind) {
		return
	}
	visitGenerationsUpTo(math.MaxInt64, f.places.of(f.registry.Named(kind)), tree, func(n int64) int64 {
		if n > int64(by) && n <= int64(by)+core.MostCounted {
			return n - int64(by)
		}
		return n
	})
}

// visitGenerations calls visit for the generation of an object and for all that
// were observed of it, and stores what it returns where that is different.
func visitGenerations(places *place, tree map[string]any, visit func(int64) int64) {
	visitGenerationsUpTo(generationOf(tree), places, tree, visit)
}

// visitGenerationsUpTo does so where the newest generation is known: a part of an object may not have it.
func visitGenerationsUpTo(newest int64, places *place, tree map[string]any, visit func(int64) int64) {
	if metadata, ok := tree["metadata"].(map[string]any); ok {
		visitNumber(metadata, "generation", visit)
	}
	builtin.VisitTemplateGeneration(tree, visit)
	if status, ok := tree["status"]; ok {
		visitObserved(places.field("status"), "status", newest, status, visit)
	}
}

// generationOf returns the generation of an object, 0 if it has none.
func generationOf(tree map[string]any) int64 {
	metadata, _ := tree["metadata"].(map[string]any)
	n, _ := metadata["generation"].(int64)
	return n
}

// visitObserved visits the observed generations in a value of the status of an object whose generation is the newest:
// the fields of that name which the schema declares as whole numbers, at any depth, and where it does not, the numbers
// and numerals in the places that the API conventions give them.
func visitObserved(p *place, path string, newest int64, value any, visit func(int64) int64) {
	switch value := value.(type) {
	case map[string]any:
		if p.declaresInteger(observedGeneration) || p.observes(path) {
			visitNumber(value, observedGeneration, visit)
		}
		if n, written := writtenGeneration(path, value[observedGeneration], newest); written {
			if changed := visit(n); changed != n {
				value[observedGeneration] = strconv.FormatInt(changed, 10)
			}
		}
		for name, below := range value {
			switch below.(type) {
			case map[string]any, []any:
				visitObserved(p.field(name), path+"."+name, newest, below, visit)
			}
		}
	case []any:
		for _, below := range value {
			visitObserved(p.item(), path, newest, below, visit)
		}
	}
}

// writtenGeneration returns the generation that a text at the path says was observed, as some controllers write it in
// decimal digits. A number that the object has not come to is something else, such as a hash that happens to have no
// letters.
func writtenGeneration(path string, value any, newest int64) (int64, bool) {
	text, _ := value.(string)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > newest || text != strconv.FormatInt(n, 10) {
		return 0, false
	}
	return n, path == "status" || inStatus(path) && strings.HasSuffix(path, ".conditions")
}

func visitNumber(fields map[string]any, name string, visit func(int64) int64) {
	n, ok := fields[name].(int64)
	if !ok {
		return
	}
	if changed := visit(n); changed != n {
		fields[name] = changed
	}
}

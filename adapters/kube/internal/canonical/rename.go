package canonical

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Rename renames an object. In an object it renames all texts but kinds with their versions, and what the server makes
// of names: the object's own uid and the uids of the objects that it refers to by kind and name, wherever they are; the
// letters in its generated name; and the address and the ports of a Service. The generated names of other objects, uids
// without the name that belongs to them and resource versions stay as they are.
func (f *Form) Rename(o core.Object, rename core.Renaming) core.Object {
	if o.Content == nil {
		return core.Object{Key: renamedKey(o.Key, rename)}
	}
	content := storage.Of(o.Content)
	r := f.renamer(o.Key, content, rename)
	key := r.to
	switch o.Key.Kind {
	case storage.ReferenceKind:
		key = storage.ReferenceKey(r.text(o.Key.Namespace), r.to)
	case storage.AllocationKind:
		key = storage.AllocationKey(storage.MovedAllocation(o.Key.Name, r.from, r.to))
	}
	return core.Object{Key: key, Content: storage.New(r.tree(content.Tree), content.Again, content.Unshown...).From(content)}
}

func renamedKey(key core.Key, rename core.Renaming) core.Key {
	return core.Key{Kind: key.Kind, Namespace: rename(key.Namespace), Name: rename(key.Name)}
}

// renamer renames one object, or a record of it.
type renamer struct {
	form   *Form
	rename core.Renaming
	// from and to are the keys of the object.
	from, to core.Key
	// uids exchanges the uids that are known.
	uids *strings.Replacer
}

// renamer returns the one for the content of a key.
func (f *Form) renamer(key core.Key, content *storage.Object, rename core.Renaming) *renamer {
	object := content.Meta()
	if storage.IsRecord(key.Kind) {
		object = storage.RecordedOf(content)
		kind := kinds.Name(object.GroupVersionKind().GroupKind())
		key = core.Key{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
	}
	r := &renamer{form: f, rename: rename, from: key, to: renamedKey(key, rename)}
	r.to.Name = renamedName(object, rename)
	exchanged := exchangeUID(nil, string(object.GetUID()), r.from, r.to)
	r.uids = strings.NewReplacer(r.exchangeReferred(exchanged, object.Object)...)
	return r
}

// renamedName is the name of an object that is renamed. A generated one has the letters for the renamed owners; if it
// has not those for the owners that are there, they have changed meanwhile, and nobody knows who they were.
func renamedName(object *unstructured.Unstructured, rename core.Renaming) string {
	name, owners := object.GetName(), object.GetOwnerReferences()
	base, generated := storage.GeneratedFrom(name, object.GetGenerateName())
	number, current := strings.CutPrefix(name, base+storage.OwnerLetters(base, owners))
	if !generated || !current {
		return rename(name)
	}
	for i, owner := range owners {
		owners[i].Name = rename(owner.Name)
	}
	base = storage.GeneratedBase(rename(object.GetGenerateName()))
	return base + storage.OwnerLetters(base, owners) + number
}

// exchangeUID appends a uid and what takes its place if it is one of an object that is renamed.
func exchangeUID(exchanged []string, uid string, from, to core.Key) []string {
	if from == to {
		return exchanged
	}
	// An ordinal is high only where as many uids of earlier objects are still known.
	const ordinals = 16
	for ordinal := range ordinals {
		if uid == string(storage.UID("", from, ordinal)) {
			return append(exchanged, uid, string(storage.UID("", to, ordinal)))
		}
	}
	return exchanged
}

// exchangeReferred appends the uids in references, and what takes their places.
func (r *renamer) exchangeReferred(exchanged []string, value any) []string {
	switch value := value.(type) {
	case map[string]any:
		if uid, ok := value["uid"].(string); ok {
			if key, ok := r.referred(value); ok {
				exchanged = exchangeUID(exchanged, uid, key, renamedKey(key, r.rename))
			}
		}
		for _, below := range value {
			exchanged = r.exchangeReferred(exchanged, below)
		}
	case []any:
		for _, below := range value {
			exchanged = r.exchangeReferred(exchanged, below)
		}
	}
	return exchanged
}

// referred is the key of what a reference names, if it is of a kind that the server knows. It is in the namespace of
// the object unless the reference names another one.
func (r *renamer) referred(reference map[string]any) (core.Key, bool) {
	apiVersion, _ := reference["apiVersion"].(string)
	kind, _ := reference["kind"].(string)
	name, _ := reference["name"].(string)
	known := r.form.registry.Named(kinds.Name(schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()))
	if known == nil {
		return core.Key{}, false
	}
	key := core.Key{Kind: known.Name, Name: name}
	if known.Namespaced {
		key.Namespace = r.from.Namespace
		if namespace, ok := reference["namespace"].(string); ok {
			key.Namespace = namespace
		}
	}
	return key, true
}

// text renames a text.
func (r *renamer) text(text string) string {
	switch {
	case text == r.from.Name:
		return r.to.Name
	case r.from.Kind == kinds.Service && strings.HasPrefix(text, storage.AddressPrefix):
		return storage.MovedAllocation(text, r.from, r.to)
	}
	return r.rename(r.uids.Replace(text))
}

// value renames all texts in a value.
func (r *renamer) value(value any) any {
	switch value := value.(type) {
	case string:
		return r.text(value)
	case map[string]any:
		return r.fields(value)
	case []any:
		items := slices.Clone(value)
		for i, item := range items {
			items[i] = r.value(item)
		}
		return items
	}
	return value
}

// fields renames all texts in a map, but no kind that has a version.
func (r *renamer) fields(fields map[string]any) map[string]any {
	_, versioned := fields["apiVersion"].(string)
	_, ofKind := fields["kind"].(string)
	renamed := make(map[string]any, len(fields))
	for name, value := range fields {
		if versioned && ofKind && (name == "apiVersion" || name == "kind") {
			renamed[name] = value
			continue
		}
		renamed[r.text(name)] = r.value(value)
	}
	return renamed
}

// tree renames a whole content.
func (r *renamer) tree(tree map[string]any) map[string]any {
	renamed := r.fields(tree)
	if spec, ok := renamed["spec"].(map[string]any); ok && r.from.Kind == kinds.Service {
		r.movePorts(spec)
	}
	return renamed
}

// movePorts gives a Service the ports that one of the new name gets.
func (r *renamer) movePorts(spec map[string]any) {
	move := func(port int64) int64 { return int64(storage.MovedPort(int(port), r.from, r.to)) }
	visitNumber(spec, "healthCheckNodePort", move)
	ports, _ := spec["ports"].([]any)
	for _, port := range ports {
		if fields, ok := port.(map[string]any); ok {
			visitNumber(fields, "nodePort", move)
		}
	}
}

package mutation

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Part is the part of an object that a request can change.
type Part string

// The parts.
const (
	// Spec is all but the metadata of the object itself and the status.
	Spec Part = "spec"
	// Status is what the status subresource changes.
	Status Part = "status"
)

// Mutations are the changes of one part of a kind.
type Mutations struct {
	// Paths is how many fields there are.
	Paths int
	All   []Mutation
}

// Of returns the changes of a part of the objects of a Go type. In a template of Pods only
// the fields next to the spec of the Pod are changed in all ways: a Pod has the others.
func Of(kind reflect.Type, part Part, constants Constants) (*Mutations, error) {
	known, err := readScaffolds()
	if err != nil {
		return nil, err
	}
	kind = pointee(kind)
	w := &walker{constants: constants, scaffolds: known, shallow: kind != reflect.TypeFor[corev1.Pod]()}
	if part == Spec {
		w.walk(nil, kind)
	} else if status, ok := kind.FieldByName("Status"); ok {
		w.members([]step{{name: "status", scaffold: tree{}}}, status.Type, nil)
	}
	return &w.found, nil
}

// walker finds the changes of a type.
type walker struct {
	constants Constants
	scaffolds scaffolds
	// shallow leaves out what is deep in a template of Pods.
	shallow bool
	// above are the structs that the walk is in.
	above []reflect.Type
	found Mutations
}

// add adds changes of one field.
func (w *walker) add(path []step, guess Guess, values ...any) {
	for _, value := range values {
		w.found.All = append(w.found.All, Mutation{path: slices.Clone(path), Value: value, Guess: guess})
	}
}

// with is a path with one more step.
func with(path []step, next step) []step { return append(slices.Clone(path), next) }

// lastName is the name of the last member on a path.
func lastName(path []step) string {
	for _, s := range slices.Backward(path) {
		if s.name != "" {
			return s.name
		}
	}
	return ""
}

// belowTemplate reports whether the walk is below the spec of the Pods in a template, and not
// right below it.
func (w *walker) belowTemplate() bool {
	return w.shallow && slices.ContainsFunc(w.above, isPodSpec) && !isPodSpec(w.above[len(w.above)-1])
}

func isPodSpec(t reflect.Type) bool { return t == reflect.TypeFor[corev1.PodSpec]() }

// walk adds the changes of a field of a type.
func (w *walker) walk(path []step, t reflect.Type) {
	t = pointee(t)
	if w.special(path, t) {
		return
	}
	switch t.Kind() {
	case reflect.Slice:
		w.list(path, t)
	case reflect.Map:
		w.found.Paths++
		w.mapping(path, t)
	case reflect.Struct:
		w.structure(path, t)
	default:
		w.scalar(path, t)
	}
}

// structure adds the changes of a struct as a whole, and of its fields.
func (w *walker) structure(path []step, t reflect.Type) {
	recursive := slices.Contains(w.above, t) && t != reflect.TypeFor[metav1.LabelSelector]()
	if recursive || t == reflect.TypeFor[corev1.EphemeralContainer]() {
		return // The latter can only be set through their subresource.
	}
	if len(path) > 0 {
		w.found.Paths++
		w.add(path, Valid, w.scaffolds.of(t))
		w.add(path, Invalid, tree{})
	}
	if w.belowTemplate() && !isPodSpec(t) {
		return
	}
	w.above = append(w.above, t)
	w.members(path, t, nil)
	w.above = w.above[:len(w.above)-1]
}

// members adds the changes of the fields of a struct. siblings are the other members of
// a union that the struct is inlined in.
func (w *walker) members(path []step, t reflect.Type, siblings []string) {
	if t == reflect.TypeFor[metav1.ObjectMeta]() {
		w.metadata(path)
		return
	}
	siblings = append(slices.Clip(siblings), alternatives(t)...)
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == reflect.TypeFor[metav1.TypeMeta]():
		case name == "" && (strings.Contains(options, "inline") || f.Anonymous):
			w.members(path, f.Type, siblings)
		case name == "" || name == "-" || len(path) == 0 && (name == "metadata" || name == "status"):
		default:
			w.member(path, t, f.Type, name, siblings)
		}
	}
}

// member adds the changes of one field of a struct.
func (w *walker) member(path []step, of, t reflect.Type, name string, siblings []string) {
	next := step{name: name, scaffold: w.scaffolds.of(t)}
	if slices.Contains(siblings, name) {
		next.others = slices.DeleteFunc(slices.Clone(siblings), func(other string) bool { return other == name })
	}
	switch {
	case name == "initContainers" && t.Kind() == reflect.Slice:
		// Those that end have no probes.
		sidecar := tree{"restartPolicy": "Always"}
		for key, value := range w.scaffolds.of(t.Elem()).(tree) {
			sidecar[key] = value
		}
		next.scaffold = []any{sidecar}
	case of.Name() == "MetricSpec" && name != "type":
		next.also = tree{"type": strings.ToUpper(name[:1]) + name[1:]}
	case of.Name() == "EnvVar" && name == "valueFrom":
		next.others = []string{"value"}
	}
	first := len(w.found.All)
	w.walk(with(path, next), t)
	if len(next.others) > 0 && len(w.found.All) > first {
		both := w.found.All[first]
		both.Guess, both.Conflict = Invalid, true
		w.found.All = append(w.found.All, both)
	}
}

// metadata adds the changes of metadata in a template.
func (w *walker) metadata(path []step) {
	for _, name := range []string{"labels", "annotations"} {
		w.found.Paths++
		w.mapping(with(path, step{name: name, scaffold: tree{}}), reflect.TypeFor[map[string]string]())
	}
	w.found.Paths += 2
	w.add(with(path, step{name: "name"}), Valid, "given")
	w.add(with(path, step{name: "name"}), Invalid, "Not Valid!")
	w.add(with(path, step{name: "namespace"}), Invalid, "other")
}

// alternatives are the members of a struct of which only one is set, none if it is no union.
func alternatives(t reflect.Type) []string {
	switch t.Name() {
	case "MetricSpec":
		return []string{"object", "pods", "resource", "containerResource", "external"}
	case "ServiceBackendPort":
		return []string{"name", "number"}
	case "VolumeSource", "PersistentVolumeSource", "EnvVarSource", "ProbeHandler", "LifecycleHandler", "IngressBackend",
		"VolumeProjection", "EnvFromSource", "NetworkPolicyPeer", "DownwardAPIVolumeFile":
	default:
		return nil
	}
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && f.Type.Kind() == reflect.Pointer {
			names = append(names, name)
		}
	}
	return names
}

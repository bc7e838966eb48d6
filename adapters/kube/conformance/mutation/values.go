package mutation

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// special adds the changes of a field whose type has a form of its own in JSON. It tells
// whether it is one.
func (w *walker) special(path []step, t reflect.Type) bool {
	var valid, invalid []any
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		valid = []any{"1", "100m", "2Gi", int64(3)}
		invalid = []any{"-1", "0", "nonsense"}
	case reflect.TypeFor[intstr.IntOrString]():
		valid = []any{int64(1), "25%", "http", int64(0)}
		invalid = []any{int64(-1), "150%", "-5%", "Not Valid!", int64(70000)}
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		valid = []any{"2030-01-01T00:00:00Z", "2030-01-01T00:00:00.123456Z", nil}
		invalid = []any{"yesterday"}
	case reflect.TypeFor[metav1.Duration]():
		valid = []any{"10s"}
		invalid = []any{"-10s", "soon"}
	case reflect.TypeFor[runtime.RawExtension]():
		valid = []any{tree{"b": int64(2)}, "text", int64(5)}
	default:
		return false
	}
	w.found.Paths++
	w.add(path, Valid, valid...)
	w.add(path, Invalid, invalid...)
	return true
}

// scalar adds the changes of a field that is a number, a text or a choice.
func (w *walker) scalar(path []step, t reflect.Type) {
	switch t.Kind() {
	case reflect.Bool:
		w.add(path, Valid, true, false)
		w.add(path, Mistyped, "yes")
	case reflect.Int, reflect.Int32, reflect.Int64:
		w.add(path, Valid, int64(1), int64(3), int64(80))
		w.add(path, Invalid, int64(0), int64(-1), int64(70000), int64(2147483647))
		w.add(path, Mistyped, "x")
	case reflect.String:
		valid, invalid := w.texts(t, lastName(path))
		w.add(path, Valid, valid...)
		w.add(path, Invalid, invalid...)
		w.add(path, Mistyped, int64(5))
	default:
		return
	}
	w.found.Paths++
}

// texts are values for a text in a field of a name.
func (w *walker) texts(t reflect.Type, name string) (valid, invalid []any) {
	if constants := w.constants.of(t); len(constants) > 0 {
		for _, constant := range constants {
			valid = append(valid, constant)
		}
		return valid, []any{"", "Nonsense"}
	}
	lower := strings.ToLower(name)
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(lower, part) {
				return true
			}
		}
		return false
	}
	switch {
	case strings.HasSuffix(lower, "ip"), strings.HasSuffix(lower, "ips"), has("nameserver", "address"):
		return []any{"10.1.2.3", "2001:db8::1"}, []any{"", "300.1.1.1", "010.1.2.3", "nonsense", "127.0.0.1"}
	case has("cidr", "ranges"), lower == "except":
		return []any{"10.1.0.0/16", "2001:db8::/64"}, []any{"", "10.1.0.0/99", "nonsense", "10.1.2.3/16"}
	case has("path"):
		return []any{"/some/path", "relative/path", "metadata.namespace", "metadata.labels['a']", "spec.nodeName", "status.podIP"},
			[]any{"", "../up", "/a/../b", "a:b", "metadata.nothing"}
	case lower == "schedule":
		return []any{"0 0 * * *", "@every 1h"}, []any{"", "nonsense", "TZ=UTC 0 0 * * *", "99 * * * *"}
	case lower == "timezone":
		return []any{"Europe/Berlin", "Etc/UTC"}, []any{"", "Nowhere/Else", "Local"}
	case lower == "url":
		return []any{"https://example.com/x"}, []any{"", "http://example.com/x", "nonsense", "https://u@example.com/x?y=z#f"}
	case has("expression"):
		return []any{"true", "object.metadata.name == 'a'"}, []any{"", "1 +", "nosuch.variable"}
	}
	const tooLong = 300
	return []any{"a-name", "example.com/a-name", "a.example.com"},
		[]any{"", "Not Valid!", "UPPER", "a_b", strings.Repeat("x", tooLong), " img ", "*.example.com"}
}

// list adds the changes of a list as a whole, and of its first item.
func (w *walker) list(path []step, t reflect.Type) {
	w.found.Paths++
	item := pointee(t.Elem())
	if item.Kind() == reflect.Uint8 {
		w.add(path, Valid, "aGVsbG8=", "")
		w.add(path, Invalid, "not base64!")
		return
	}
	w.add(path, Valid, []any{})
	switch item.Kind() {
	case reflect.Struct:
		w.structures(path, item)
	case reflect.String:
		valid, invalid := w.texts(item, lastName(path))
		for _, value := range valid {
			w.add(path, Valid, []any{value})
		}
		for _, value := range invalid {
			w.add(path, Invalid, []any{value})
		}
		if all := append(valid, invalid...); len(all) > 1 {
			w.add(path, Invalid, []any{all[0], all[0]}, []any{all[0], all[1]})
		}
		w.add(path, Mistyped, "text")
	default:
		w.add(path, Valid, []any{int64(1)}, []any{int64(2), int64(1)})
		w.add(path, Invalid, []any{int64(-1)}, []any{int64(1), int64(1)}, []any{int64(0)})
	}
}

// structures adds the changes of a list of structs.
func (w *walker) structures(path []step, item reflect.Type) {
	scaffold := w.scaffolds.of(item)
	if item != reflect.TypeFor[resource.Quantity]() && item != reflect.TypeFor[metav1.Time]() {
		w.add(path, Valid, []any{scaffold})
		w.add(path, Invalid, []any{scaffold, scaffold}, []any{tree{}})
		inTemplate := len(w.above) > 0 && isPodSpec(w.above[len(w.above)-1]) && w.shallow
		if w.belowTemplate() || inTemplate && lastName(path) != "containers" {
			return
		}
	}
	w.walk(with(path, step{scaffold: scaffold}), item)
}

// mapping adds the changes of a map as a whole.
func (w *walker) mapping(path []step, t reflect.Type) {
	w.add(path, Valid, tree{})
	switch value := t.Elem(); {
	case value == reflect.TypeFor[resource.Quantity]():
		w.add(path, Valid, tree{"cpu": "100m"}, tree{"memory": "1Gi"}, tree{"storage": "2Gi"}, tree{"ephemeral-storage": "1Gi"},
			tree{"example.com/gpu": "1"}, tree{"hugepages-2Mi": "2Mi"}, tree{"pods": "1"}, tree{"cpu": "0.0001"})
		w.add(path, Invalid, tree{"cpu": "-1"}, tree{"nonsense": "1"}, tree{"not a key!": "1"}, tree{"example.com/gpu": "500m"},
			tree{"memory": "100m"}, tree{"storage": "-1Gi"}, tree{"storage": "0"}, tree{"kubernetes.io/x": "1"}, tree{"cpu": "x"})
	case value.Kind() == reflect.String:
		const tooLong = 70
		w.add(path, Valid, tree{"a": "b"}, tree{"example.com/a": "b", "app": "x"}, tree{"a": ""})
		w.add(path, Invalid, tree{"not a key!": "v"}, tree{"a": "not a value!"}, tree{"": "v"}, tree{"a/b/c": "v"},
			tree{"a": strings.Repeat("x", tooLong)}, tree{"a": int64(1)})
	case value.Kind() == reflect.Slice && value.Elem().Kind() == reflect.Uint8:
		w.add(path, Valid, tree{"a": "aGVsbG8="}, tree{"k": "aGVsbG8="}, tree{"a": ""})
		w.add(path, Invalid, tree{"not a key!": "aGVsbG8="}, tree{"..": "aGVsbG8="}, tree{"a": "not base64!"}, tree{"": "aGVsbG8="})
	case value.Kind() == reflect.Slice:
		w.add(path, Valid, tree{"a": []any{"b"}})
		w.add(path, Invalid, tree{"not a key!": []any{}})
	}
}

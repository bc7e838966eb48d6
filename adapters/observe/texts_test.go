package observe

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery/core"
)

// filling sets values at random.
type filling struct {
	*rand.Rand
	depth int
}

func (f filling) fill(v reflect.Value) {
	if f.IntN(3) == 0 || f.depth > 8 || !v.CanSet() {
		return
	}
	f.depth++
	switch t := v.Addr().Interface().(type) {
	case *time.Time:
		*t = time.Unix(int64(f.IntN(1<<30)), 0)
		return
	case *resource.Quantity:
		*t = *resource.NewMilliQuantity(int64(f.IntN(5000)), resource.DecimalSI)
		return
	case *metav1.FieldsV1:
		_ = t.UnmarshalJSON([]byte(`{"f:a":{}}`)) // it takes whatever it gets
		return
	case *runtime.RawExtension:
		t.Raw = []byte(`{"raw":1}`)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), f.IntN(3), 3))
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key)
			f.fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString([]string{"", "a", "b<", "c\"", "\u2028"}[f.IntN(5)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.IntN(100)))
	case reflect.Uint8:
		v.SetUint(uint64(f.IntN(100)))
	case reflect.Float64:
		v.SetFloat(f.Float64())
	}
}

// TestTextsOfAllKinds writes objects of all kinds of Kubernetes as package json does, one version after the other, in
// which most members are the same; and it compares them as their JSON compares.
func TestTextsOfAllKinds(t *testing.T) {
	const seed = 1
	f := filling{Rand: rand.New(rand.NewPCG(seed, seed))}
	same := &comparisons{}
	texts := newTexts(same)
	types := scheme.Scheme.AllKnownTypes()
	split, kept := 0, 0
	for _, kind := range slices.SortedFunc(maps.Keys(types), func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) }) {
		of := types[kind]
		for range 4 {
			value := reflect.New(of)
			f.fill(value.Elem())
			object, is := value.Interface().(runtime.Object)
			if !is {
				continue
			}
			key := core.Key{Kind: core.Kind(kind.Kind), Name: kind.Group}
			for version := range 3 {
				object = object.DeepCopyObject()
				copied := object.DeepCopyObject()
				if version > 0 { // one of its fields has another value
					f.fill(reflect.ValueOf(object).Elem().Field(f.IntN(of.NumField())))
				}
				want, wantErr := marshal(&bytes.Buffer{}, object)
				got, err := texts.marshal(&bytes.Buffer{}, key, object)
				if (err == nil) != (wantErr == nil) || !bytes.Equal(got, want) {
					t.Fatalf("%s: got  %s, %v\nwant %s, %v", kind, got, err, want, wantErr)
				}
				before, err := marshal(&bytes.Buffer{}, copied)
				if err != nil {
					continue
				}
				if same.objects(object, copied) && !bytes.Equal(before, want) {
					kinds := [2]schema.GroupVersionKind{object.GetObjectKind().GroupVersionKind(), copied.GetObjectKind().GroupVersionKind()}
					if kinds[0] == kinds[1] || !kinds[0].Empty() && !kinds[1].Empty() {
						t.Fatalf("%s: the same\n%s\n%s", kind, before, want)
					}
				}
				if !same.objects(copied, copied.DeepCopyObject()) {
					t.Fatalf("%s: a copy is another object: %s", kind, before)
				}
				if texts.layout(reflect.TypeOf(object)) != nil {
					split++
				}
				if texts.last(key) != nil {
					kept++
				}
			}
		}
	}
	if split < 1000 || kept < 1000 {
		t.Errorf("%d objects were written member by member, and %d kept", split, kept)
	}
	if texts.bytes > textsLimit/2+textLimit {
		t.Errorf("%d bytes of text are kept", texts.bytes)
	}
}

// odd is an object that refers to itself.
type odd struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Self              *odd
}

// DeepCopyObject implements runtime.Object.
func (o *odd) DeepCopyObject() runtime.Object {
	out := &odd{TypeMeta: o.TypeMeta, ObjectMeta: o.ObjectMeta}
	out.Self = out
	return out
}

// plainKind is an object of which the tag of the kind says nothing, as those of Kubernetes 1.37.
type plainKind struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              map[string]string `json:"spec"`
}

// DeepCopyObject implements runtime.Object.
func (o *plainKind) DeepCopyObject() runtime.Object {
	return &plainKind{o.TypeMeta, *o.ObjectMeta.DeepCopy(), maps.Clone(o.Spec)}
}

// TestTextsOfOtherTags takes objects apart whatever the tag of their kind is, and leaves metadata out as package json
// does.
func TestTextsOfOtherTags(t *testing.T) {
	texts := newTexts(&comparisons{})
	for _, o := range []*plainKind{
		{}, {metav1.TypeMeta{Kind: "A", APIVersion: "v1"}, metav1.ObjectMeta{Name: "a"}, map[string]string{"a": "b"}}, {Spec: map[string]string{"a": "b"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}},
	} {
		want, err := marshal(&bytes.Buffer{}, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := texts.marshal(&bytes.Buffer{}, core.Key{Name: "a"}, o); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
	if members := texts.layout(reflect.TypeFor[*plainKind]()); len(members) != 3 || members[1].inner == nil {
		t.Errorf("members %+v", members)
	}
}

// TestComparisons tells objects apart that are nearly the same, and ends for one that refers to itself.
func TestComparisons(t *testing.T) {
	same := &comparisons{}
	cm := func(change func(*corev1.ConfigMap)) runtime.Object {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"a": "b"}}, Data: map[string]string{"k": "v"}, BinaryData: map[string][]byte{"k": []byte("v")}}
		change(o)
		return o
	}
	plain := cm(func(*corev1.ConfigMap) {})
	tree := func(value any) runtime.Object {
		return &unstructured.Unstructured{Object: map[string]any{"kind": "A", "apiVersion": "v1", "list": []any{map[string]any{"value": value}}}}
	}
	self := (&odd{}).DeepCopyObject()
	for name, test := range map[string]struct {
		a, b runtime.Object
		want bool
	}{
		"same":             {plain, cm(func(*corev1.ConfigMap) {}), true},
		"kind left out":    {plain, cm(func(o *corev1.ConfigMap) { o.Kind, o.APIVersion = "ConfigMap", "v1" }), true},
		"another kind":     {cm(func(o *corev1.ConfigMap) { o.Kind = "A" }), cm(func(o *corev1.ConfigMap) { o.Kind = "B" }), false},
		"another value":    {plain, cm(func(o *corev1.ConfigMap) { o.Data["k"] = "w" }), false},
		"another key":      {plain, cm(func(o *corev1.ConfigMap) { o.Data = map[string]string{"l": "v"} }), false},
		"another length":   {plain, cm(func(o *corev1.ConfigMap) { o.Labels["c"] = "d" }), false},
		"other bytes":      {plain, cm(func(o *corev1.ConfigMap) { o.BinaryData["k"] = []byte("w") }), false},
		"none and empty":   {plain, cm(func(o *corev1.ConfigMap) { o.Annotations = map[string]string{} }), false},
		"a pointer":        {plain, cm(func(o *corev1.ConfigMap) { o.Immutable = new(bool) }), false},
		"another type":     {plain, &corev1.Secret{}, false},
		"trees":            {tree(int64(1)), tree(int64(1)), true},
		"other trees":      {tree(int64(1)), tree(int64(2)), false},
		"float and int":    {tree(int64(1)), tree(float64(1)), false},
		"zero":             {tree(float64(0)), tree(math.Copysign(0, -1)), false},
		"refers to itself": {self, self.DeepCopyObject(), false},
	} {
		if got := same.objects(test.a, test.b); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

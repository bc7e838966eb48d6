package informer

import (
	"reflect"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const pod = `{"metadata": {"name": "a", "creationTimestamp": "2000-01-01T00:00:00Z", "labels": {"app": "x"}},
	"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "100m", "memory": "1Gi"}}}]}}`

// TestDecoder checks that what is decoded again is the same, in memory of its own, and that nothing else is decoded for
// it.
func TestDecoder(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, as := range []Representation{Typed, Untyped, MetadataOnly} {
		d, of := NewDecoder(scheme), Form{Kind: corev1.SchemeGroupVersion.WithKind("Pod"), As: as}
		want, err := of.decode([]byte(pod), scheme)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			got, err := d.Decode(of, []byte(pod))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("form %d: decoded is %v, want %v", as, got, want)
			}
			got.GetLabels()["app"] = "changed"
			got.SetLabels(map[string]string{"app": "y"})
			got.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		}
		if len(d.known) != 1 {
			t.Errorf("form %d: %d objects are kept, want 1", as, len(d.known))
		}
		for range mostDecoded + 1 {
			of.Kind.Version += "x"
			_, _ = d.Decode(of, []byte(pod))
		}
		if len(d.known) > mostDecoded {
			t.Errorf("form %d: %d objects are kept", as, len(d.known))
		}
		if _, err := d.Decode(of, []byte("no JSON")); err == nil {
			t.Errorf("form %d: what is no JSON was decoded", as)
		}
	}
}

// shallow is a Pod that copies itself badly.
type shallow struct{ corev1.Pod }

// DeepCopyObject implements [runtime.Object].
func (s *shallow) DeepCopyObject() runtime.Object { c := *s; return &c }

// other is a Pod that copies itself as something else.
type other struct{ corev1.Pod }

// TestBadCopies checks that objects which do not make good copies of themselves are decoded each time.
func TestBadCopies(t *testing.T) {
	for _, bad := range []client.Object{&shallow{}, &other{}} {
		kind := schema.GroupVersionKind{Version: "v1", Kind: "Bad"}
		scheme := runtime.NewScheme()
		scheme.AddKnownTypeWithName(kind, bad)
		d, of := NewDecoder(scheme), Form{Kind: kind}
		for range 3 {
			got, err := d.Decode(of, []byte(pod))
			if err != nil {
				t.Fatal(err)
			}
			if reflect.TypeOf(got) != reflect.TypeOf(bad) || got.GetLabels()["app"] != "x" {
				t.Fatalf("decoded is a %T with the labels %v", got, got.GetLabels())
			}
			got.GetLabels()["app"] = "changed"
		}
	}
}

// TestItems wants the items of a list each time it is read, whatever is kept of it, and the error of what is none.
func TestItems(t *testing.T) {
	d := NewDecoder(runtime.NewScheme())
	for range 3 {
		for text, want := range map[string]int{`{"items": [{"a": 1}, {"a": 2}]}`: 2, `{"items": []}`: 0, `{}`: 0} {
			items, err := d.Items([]byte(text))
			if err != nil || len(items) != want || want > 0 && string(items[1]) != `{"a": 2}` {
				t.Errorf("%s has the items %s, %v", text, items, err)
			}
		}
		if items, err := d.Items([]byte(`{"items": [`)); err == nil {
			t.Errorf("half a list has the items %s", items)
		}
	}
	if len(d.lists) != 3 {
		t.Errorf("%d lists are kept, want 3", len(d.lists))
	}
	for n := range mostLists + 1 {
		if _, err := d.Items([]byte(`{"items": [` + strconv.Itoa(n) + `]}`)); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.lists) > mostLists {
		t.Errorf("%d lists are kept", len(d.lists))
	}
}

package cel

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// TestGoTypes checks that what is written of random objects of Kubernetes' own kinds is as their shapes say: no field
// is missing, and each can be read.
func TestGoTypes(t *testing.T) {
	kinds, err := Types{}.kinds()
	if err != nil {
		t.Fatal(err)
	}
	if len(kinds.all) < 60 {
		t.Errorf("there are only %d kinds", len(kinds.all))
	}
	codecs := serializer.NewCodecFactory(clientgoscheme.Scheme)
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs)
	for _, k := range kinds.all {
		t.Run(string(k.name()), func(t *testing.T) {
			shape := k.shape(newShapes(nil))
			for range 5 {
				object, err := clientgoscheme.Scheme.New(k.GroupVersionKind)
				if err != nil {
					t.Fatal(err)
				}
				filler.Fill(object)
				tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
				if err != nil {
					t.Fatal(err)
				}
				for _, problem := range unreadable(string(k.name()), shape, tree) {
					t.Error(problem)
				}
			}
		})
	}
}

// unreadable returns the fields of a tree that a shape does not know or cannot read.
func unreadable(path string, s *shape, tree any) []string {
	var problems []string
	value := s.NativeToValue(tree)
	if types.IsError(value) {
		return []string{fmt.Sprintf("%s: %v", path, value)}
	}
	switch value := value.(type) {
	case *mapping:
		for _, name := range slices.Sorted(maps.Keys(value.tree)) {
			if value.tree[name] == nil {
				continue
			}
			if s.fields != nil && s.fields[name] == nil && name != "resourceVersion" {
				problems = append(problems, fmt.Sprintf("%s has no field %s", path, name))
			}
			problems = append(problems, unreadable(path+"."+name, s.field(name), value.tree[name])...)
		}
	case traits.Lister:
		for _, item := range tree.([]any) {
			elem := s.elem
			if elem == nil {
				elem = anything()
			}
			problems = append(problems, unreadable(path+"[]", elem, item)...)
		}
	}
	return problems
}

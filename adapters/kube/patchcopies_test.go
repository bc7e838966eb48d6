package kube

import (
	"fmt"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"
)

// copies is a patch of so many operations that copy one text.
func copies(n int) string {
	operations := make([]string, n)
	for i := range operations {
		operations[i] = fmt.Sprintf(`{"op":"copy","from":"/data/a","path":"/data/c%d"}`, i%2)
	}
	return "[" + strings.Join(operations, ",") + "]"
}

// TestPatchLimits: a real server (k8s.io/apiserver, server/config.go and endpoints/handlers/patch.go) takes 10,000
// operations, and copies of 3 MiB in all.
func TestPatchLimits(t *testing.T) {
	const limit = 3 << 20
	text := strings.Repeat("x", limit/12-2) // with its quotes a twelfth of the limit
	w := newWorld(t)
	w.must(creation(configMapKind, tree{"name": "a"}, tree{"data": tree{"a": text}}))
	patch := func(body string) *Request { return patching(configMapKind, "a", types.JSONPatchType, body) }
	w.must(patch(copies(12)))
	// Its words for whatever does not apply: it does not pass on what the library says.
	w.refuse(patch(copies(13)), 422, "the server rejected our request due to an error in our request")
	operations, err := jsonpatch.DecodePatch([]byte(copies(13)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = applyOperations(operations, []byte(fmt.Sprintf(`{"data":{"a":%q}}`, text)))
	if want := fmt.Sprintf("Unable to complete the copy, the accumulated size increase of copy is %d, exceeding the limit %d", limit+limit/12, limit); err == nil || err.Error() != want {
		t.Errorf("the library's words are %v, want %s", err, want)
	}
	kept := w.must(request(Get, configMapKind, "a"))
	expect(t, "texts after the refusal", len(kept.Object["data"].(tree)), 3)

	tests := `{"op":"test","path":"/metadata/name","value":"b"}`
	w.must(creation(configMapKind, tree{"name": "b"}, nil))
	many := func(body string) *Request { return patching(configMapKind, "b", types.JSONPatchType, body) }
	w.must(many("[" + tests + strings.Repeat(","+tests, 9_999) + "]"))
	w.refuse(many("["+tests+strings.Repeat(","+tests, 10_000)+"]"), 413, "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001")
}

// TestCopiesOneByOne compares patches whose copies are counted with what the library makes of them.
func TestCopiesOneByOne(t *testing.T) {
	large := strings.Repeat("<", 20<<10)
	document := []byte(fmt.Sprintf(`{"a":{"text":%q,"list":[1,{"b":[2,3]}]},"m~n":{"x/y":7}}`, large))
	for _, test := range []struct {
		name, patch string
		// copied is how many bytes the copies amount to, 0 if the patch does not apply.
		copied int64
	}{
		{"nothing is copied", `[{"op":"add","path":"/c","value":1}]`, 0},
		{"copies and others", `[{"op":"copy","from":"/a/list/1/b","path":"/a/list/-"},{"op":"remove","path":"/a/text"},{"op":"copy","from":"/a","path":"/d"},
			{"op":"add","path":"/e","value":true}]`, 5 + 30},
		{"from the end", `[{"op":"copy","from":"/a/list/-1","path":"/c"}]`, 11},
		{"of escaped names", `[{"op":"copy","from":"/m~0n/x~1y","path":"/c"},{"op":"copy","from":"/c","path":"/m~0n/z"}]`, 2},
		{"what is written longer", `[{"op":"copy","from":"/a/text","path":"/c"}]`, 6*20<<10 + 2},
		{"what is not there", `[{"op":"copy","from":"/a/nothing","path":"/c"}]`, 0},
		{"to where nothing is", `[{"op":"copy","from":"/a/text","path":"/nowhere/c"}]`, 0},
		{"beyond the list", `[{"op":"copy","from":"/a/list/7","path":"/c"}]`, 0},
		{"without a source", `[{"op":"copy","path":"/c"}]`, 0},
	} {
		operations, err := jsonpatch.DecodePatch([]byte(test.patch))
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := operations.Apply(document)
		var copied int64
		if wantErr == nil {
			at := document
			for i, o := range operations {
				if o.Kind() == "copy" {
					copied += copySize(o, at)
				}
				if at, err = operations[i : i+1].Apply(at); err != nil {
					t.Fatal(err)
				}
			}
			if string(at) != string(want) {
				t.Errorf("%s: one by one it comes to %s, want %s", test.name, at, want)
			}
			if copied != test.copied {
				t.Errorf("%s: %d bytes are copied, want %d", test.name, copied, test.copied)
			}
			if most := mayCopy(operations, len(document)); most < copied {
				t.Errorf("%s: %d bytes may be copied, and %d are", test.name, most, copied)
			}
		} else if test.copied != 0 {
			t.Errorf("%s: %v", test.name, wantErr)
		}
		// Enough copies in front for each to be counted, which are too few to be refused.
		padded := append(padding(t, 12), operations...)
		want, wantErr = padded.Apply(document)
		got, gotErr := applyOperations(padded, document)
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || string(got) != string(want) {
			t.Errorf("%s: counted it comes to %.200s, %v; the library comes to %.200s, %v", test.name, got, gotErr, want, wantErr)
		}
	}
}

// padding is a patch that copies a number so many times.
func padding(t *testing.T, n int) jsonpatch.Patch {
	t.Helper()
	one := `{"op":"copy","from":"/a/list/0","path":"/padding"}`
	patch, err := jsonpatch.DecodePatch([]byte("[" + one + strings.Repeat(","+one, n-1) + "]"))
	if err != nil {
		t.Fatal(err)
	}
	return patch
}

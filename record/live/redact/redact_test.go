package redact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/redact"
)

// rules are those for Secrets, and some that users could have.
func rules() []redact.Rule {
	return append(redact.Secrets(),
		redact.Rule{Kind: "Deployment.apps", Pointer: "/spec/template/spec/containers/*/env/*/value"},
		redact.Rule{Kind: "Deployment.apps", Pointer: "/spec/args/1"},
		redact.Rule{Kind: "ConfigMap", Pointer: "/data/tls.key"},
		redact.Rule{Kind: "ConfigMap", Pointer: "/data/a~1b~0c"},
		redact.Rule{Kind: "ConfigMap", Pointer: "/binaryData"},
		redact.Rule{Kind: "Widget.example.com", Pointer: "/spec/*/*/password"},
		redact.Rule{Kind: "Widget.example.com", Pointer: "/spec/users/*"},
		redact.Rule{Pointer: "/metadata/labels/owner"},
	)
}

// replaced returns what becomes of a text: each digest as "#".
func replaced(text []byte) string {
	parts := strings.Split(string(text), `"redacted:`)
	for i := 1; i < len(parts); i++ {
		_, behind, _ := strings.Cut(parts[i], `"`)
		parts[i] = "#" + behind
	}
	return strings.Join(parts, "")
}

func TestText(t *testing.T) {
	tests := []struct {
		name       string
		kind       core.Kind
		text, want string
	}{
		{"values of a Secret", "Secret", `{"data":{"a":"x","tls.key":"y"},"stringData":{"b":"z"},"type":"Opaque"}`, `{"data":{"a":#,"tls.key":#},"stringData":{"b":#},"type":"Opaque"}`},
		{"a value that is null stays", "Secret", `{"data":{"a":null}}`, `{"data":{"a":null}}`},
		{"a value where a map should be", "Secret", `{"data":"x","stringData":["y",{"z":"z"}]}`, `{"data":#,"stringData":[#,#]}`},
		{"no object at all", "Secret", `["x"]`, `#`},
		{"another kind", "Pod", `{"data":{"a":"x"},"n":12345678901234567890,"f":1.50}`, `{"data":{"a":"x"},"n":12345678901234567890,"f":1.50}`},
		{"numbers keep their digits", "ConfigMap", `{"n":12345678901234567890,"f":1.50}`, `{"f":1.50,"n":12345678901234567890}`},
		{"letters stay readable", "ConfigMap", `{"n":"<&>"}`, `{"n":"<&>"}`},
		{"a name with dots", "ConfigMap", `{"data":{"tls.key":"x","tls":{"key":"y"},"tls.crt":"z"}}`, `{"data":{"tls":{"key":"y"},"tls.crt":"z","tls.key":#}}`},
		{"a name with a slash", "ConfigMap", `{"data":{"a/b~c":"x","a":{"b~c":"y"}}}`, `{"data":{"a":{"b~c":"y"},"a/b~c":#}}`},
		{"a whole map", "ConfigMap", `{"binaryData":{"a":"x"}}`, `{"binaryData":#}`},
		{"items of lists", "Deployment.apps", `{"spec":{"template":{"spec":{"containers":[{"env":[{"name":"A","value":"x"},{"name":"B"}]},{"name":"c"}]}}}}`, `{"spec":{"template":{"spec":{"containers":[{"env":[{"name":"A","value":#},{"name":"B"}]},{"name":"c"}]}}}}`},
		{"an item by its number", "Deployment.apps", `{"spec":{"args":["a","x","c"]}}`, `{"spec":{"args":["a",#,"c"]}}`},
		{"keys of maps in maps", "Widget.example.com", `{"spec":{"db":{"main":{"password":"x","user":"u"}},"password":"p","users":{"root":{"password":"x"}}}}`, `{"spec":{"db":{"main":{"password":#,"user":"u"}},"password":#,"users":{"root":#}}}`},
		{"every kind", "Pod", `{"metadata":{"labels":{"owner":"x","app":"a"}}}`, `{"metadata":{"labels":{"app":"a","owner":#}}}`},
		{"what was applied last", "Secret", `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"x","a":"b"}}}`, `{"metadata":{"annotations":{"a":"b","kubectl.kubernetes.io/last-applied-configuration":#}}}`},
		{"owned items", "Secret", `{"metadata":{"managedFields":[{"manager":"m","fieldsV1":{"f:data":{"v:\"x\"":{}}}},7]}}`, `{"metadata":{"managedFields":[{"manager":"m"},7]}}`},
		{"metadata that is none", "Secret", `{"metadata":[{"annotations":1}]}`, `{"metadata":[{"annotations":1}]}`},
		{"a token", "TokenRequest.authentication.k8s.io", `{"status":{"token":"x","expirationTimestamp":"t"}}`, `{"status":{"expirationTimestamp":"t","token":#}}`},
		{"a token that is reviewed", "TokenReview.authentication.k8s.io", `{"spec":{"token":"x","audiences":["a"]}}`, `{"spec":{"audiences":["a"],"token":#}}`},
	}
	r := redact.New(rules())
	for _, test := range tests {
		got, err := r.Text(test.kind, []byte(test.text))
		if test.kind == "Pod" && !strings.Contains(test.text, "owner") { // it is written anew, since there is a rule for every kind
			test.want = `{"data":{"a":"x"},"f":1.50,"n":12345678901234567890}`
		}
		if err != nil || replaced(got) != test.want {
			t.Errorf("%s:\n%s\nbecomes %s, %v\nwant    %s", test.name, test.text, got, err, test.want)
		}
	}
	for _, text := range []string{``, `{`, `hush`, `{} hush`, `{"data":{"a":"hush"}}{"data":{}}`} {
		if got, err := r.Text("Secret", []byte(text)); err == nil {
			t.Errorf("%q becomes %s, want an error", text, got)
		}
	}
}

// TestMerge is about patches: their lists have some of the items, and strategic ones repeat items beside the lists.
func TestMerge(t *testing.T) {
	tests := []struct {
		name       string
		kind       core.Kind
		text, want string
	}{
		{"of a Secret", "Secret", `{"data":{"a":"x","b":null,"$patch":"replace"}}`, `{"data":{"$patch":#,"a":#,"b":null}}`},
		{"a number stands for every item", "Deployment.apps", `{"spec":{"args":["x"]}}`, `{"spec":{"args":[#]}}`},
		{"items that are taken out", "Deployment.apps", `{"spec":{"$deleteFromPrimitiveList/args":["x","y"]}}`, `{"spec":{"$deleteFromPrimitiveList/args":[#,#]}}`},
		{"the order of items", "Deployment.apps", `{"spec":{"$setElementOrder/args":["x"]}}`, `{"spec":{"$setElementOrder/args":[#]}}`},
		{"the order of items by name", "Deployment.apps", `{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"name":"c","env":[{"name":"A","value":"x"}]}]}}}}`, `{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"env":[{"name":"A","value":#}],"name":"c"}]}}}}`},
	}
	r := redact.New(rules())
	for _, test := range tests {
		if got, err := r.Merge(test.kind, []byte(test.text)); err != nil || replaced(got) != test.want {
			t.Errorf("%s:\n%s\nbecomes %s, %v\nwant    %s", test.name, test.text, got, err, test.want)
		}
	}
}

func TestPatch(t *testing.T) {
	tests := []struct {
		name       string
		kind       core.Kind
		text, want string
	}{
		{"there", "Secret", `[{"op":"add","path":"/data/a","value":"x"}]`, `[{"op":"add","path":"/data/a","value":#}]`},
		{"above", "Secret", `[{"op":"add","path":"/data","value":{"a":"x"}}]`, `[{"op":"add","path":"/data","value":#}]`},
		{"all", "Secret", `[{"op":"replace","path":"","value":{"data":{"a":"x"}}}]`, `[{"op":"replace","path":"","value":#}]`},
		{"below", "ConfigMap", `[{"op":"add","path":"/binaryData/a/b","value":"x"}]`, `[{"op":"add","path":"/binaryData/a/b","value":#}]`},
		{"beside", "Secret", `[{"op":"add","path":"/type","value":"x"},{"op":"remove","path":"/data/a"}]`, `[{"op":"add","path":"/type","value":"x"},{"op":"remove","path":"/data/a"}]`},
		{"a name with dots and slashes", "ConfigMap", `[{"op":"add","path":"/data/tls.key","value":"x"},{"op":"add","path":"/data/a~1b~0c","value":"x"},{"op":"add","path":"/data/tls/key","value":"y"}]`, `[{"op":"add","path":"/data/tls.key","value":#},{"op":"add","path":"/data/a~1b~0c","value":#},{"op":"add","path":"/data/tls/key","value":"y"}]`},
		{"an item anywhere", "Deployment.apps", `[{"op":"add","path":"/spec/args/0","value":"x"},{"op":"add","path":"/spec/args/-","value":"x"},{"op":"test","path":"/spec/replicas","value":1}]`, `[{"op":"add","path":"/spec/args/0","value":#},{"op":"add","path":"/spec/args/-","value":#},{"op":"test","path":"/spec/replicas","value":1}]`},
		{"what repeats fields", "Secret", `[{"op":"add","path":"/metadata/annotations","value":{"a":"x"}},{"op":"add","path":"/metadata/managedFields/0","value":{}},{"op":"add","path":"/metadata","value":{}},{"op":"add","path":"/metadata/labels","value":{}}]`, `[{"op":"add","path":"/metadata/annotations","value":#},{"op":"add","path":"/metadata/managedFields/0","value":#},{"op":"add","path":"/metadata","value":#},{"op":"add","path":"/metadata/labels","value":#}]`},
	}
	r := redact.New(rules())
	for _, test := range tests {
		if got, err := r.Patch(test.kind, []byte(test.text)); err != nil || replaced(got) != test.want {
			t.Errorf("%s:\n%s\nbecomes %s, %v\nwant    %s", test.name, test.text, got, err, test.want)
		}
	}
	for _, text := range []string{``, `[`, `{"op":"add"}`, `["hush"]`, `"hush"`, `[] hush`} {
		if got, err := r.Patch("Secret", []byte(text)); err == nil {
			t.Errorf("%q becomes %s, want an error", text, got)
		}
	}
}

// TestWithoutRules returns what is given, whatever it is.
func TestWithoutRules(t *testing.T) {
	r := redact.New(redact.Secrets())
	for _, of := range []func(core.Kind, []byte) (json.RawMessage, error){r.Text, r.Merge, r.Patch} {
		if got, err := of("Pod", []byte(` hush `)); err != nil || string(got) != ` hush ` {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if r.Redacts("Pod") || !r.Redacts("Secret") {
		t.Error("the wrong kinds are redacted")
	}
	if got := fmt.Sprint(redact.New(rules()).Words()); got != "[data and stringData of Secrets tokens of TokenRequests and TokenReviews "+
		"/spec/template/spec/containers/*/env/*/value of Deployment.apps /spec/args/1 of Deployment.apps /data/tls.key of ConfigMap /data/a~1b~0c of ConfigMap /binaryData of ConfigMap "+
		"/spec/*/*/password of Widget.example.com /spec/users/* of Widget.example.com /metadata/labels/owner of every kind]" {
		t.Errorf("in words: %s", got)
	}
}

// TestDigests are equal for equal values of one redactor, and tell nothing to whoever has none or another one.
func TestDigests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		text, err := json.Marshal(map[string]any{"data": map[string]string{"1": a, "2": b, "3": a}})
		if err != nil {
			t.Fatal(err)
		}
		var digests [2]struct{ Data map[string]string }
		one := redact.New(redact.Secrets())
		for i, r := range []*redact.Redactor{one, redact.New(redact.Secrets())} {
			got, err := r.Text("Secret", text)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := r.Text("Secret", text); err != nil || string(again) != string(got) {
				t.Fatalf("got %s and then %s, %v", got, again, err)
			}
			if err := json.Unmarshal(got, &digests[i]); err != nil {
				t.Fatal(err)
			}
		}
		data := digests[0].Data
		if data["1"] != data["3"] || (data["1"] == data["2"]) != (a == b) || data["1"] == digests[1].Data["1"] {
			t.Errorf("digests %v and, with another key, %v", data, digests[1].Data)
		}
		for _, digest := range data {
			if !live.IsRedacted(digest) || len(digest) != len("redacted:")+16 {
				t.Errorf("%q does not look like a digest", digest)
			}
		}
	})
}

// FuzzText redacts anything, and gives JSON without what was in a Secret.
func FuzzText(f *testing.F) {
	f.Add([]byte(`{"data":{"a":"hush"},"stringData":{"a":["hush"]},"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hush"},"managedFields":[{"fieldsV1":"hush"}]}}`))
	f.Add([]byte(`[{"op":"add","path":"/data/a","value":"hush"}]`))
	f.Add([]byte(`[[[[]]]]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := redact.New(rules())
		for _, of := range []func(core.Kind, []byte) (json.RawMessage, error){r.Text, r.Merge, r.Patch} {
			got, err := of("Secret", text)
			if err == nil && !json.Valid(got) {
				t.Errorf("%q becomes %q", text, got)
			}
		}
		if got, err := r.Text("Secret", text); err == nil {
			var o map[string]any
			if json.Unmarshal(got, &o) == nil && (!hidden(o["data"]) || !hidden(o["stringData"])) {
				t.Errorf("%q becomes %s", text, got)
			}
		}
	})
}

// hidden reports whether all values in something are digests, or nothing.
func hidden(v any) bool {
	all := true
	switch v := v.(type) {
	case nil:
	case string:
		all = live.IsRedacted(v)
	case map[string]any:
		for _, value := range v {
			all = all && hidden(value)
		}
	case []any:
		for _, value := range v {
			all = all && hidden(value)
		}
	default:
		all = false
	}
	return all
}

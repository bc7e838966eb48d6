package kube_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// The golden cases are requests with what a real API server has answered to them. They
// are recorded by the test in the folder conformance, which says how they are written.

// goldenCase is a file of testdata/golden.
type goldenCase struct {
	About string       `json:"about"`
	Kinds []string     `json:"kinds"`
	Steps []goldenStep `json:"steps"`
	// Stored are the objects of the kinds after the last step.
	Stored map[string]any `json:"stored"`
}

type goldenStep struct {
	Request json.RawMessage `json:"request"`
	Answer  struct {
		Refused *metav1.Status `json:"refused"`
		Object  map[string]any `json:"object"`
	} `json:"answer"`
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there are no golden cases")
	}
	server := goldenServer(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var golden goldenCase
			if err := json.Unmarshal(text, &golden); err != nil {
				t.Fatal(err)
			}
			newReplay(t, server).run(&golden)
		})
	}
}

func goldenServer(t *testing.T) *kube.Server {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, coordinationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	server, err := kube.NewServer(scheme, kube.DefinitionFiles("testdata/golden/definitions.yaml"), kube.StrictNamespaces(), kube.ManagedFields())
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// replay is a golden case at work: a store with what was seen of its objects.
type replay struct {
	t       *testing.T
	server  *kube.Server
	objects map[core.Key]core.Content
	ignored []ignoredField

	// uids and versions are those seen of each object, by "KIND NAMESPACE/NAME".
	uids     map[string]string
	versions map[string][]string
	// more is the token of the last list.
	more string
}

func newReplay(t *testing.T, server *kube.Server) *replay {
	t.Helper()
	r := &replay{
		t:        t,
		server:   server,
		objects:  map[core.Key]core.Content{},
		ignored:  ignoredFields(t),
		uids:     map[string]string{},
		versions: map[string][]string{},
	}
	for _, namespace := range []string{"one-run", "two-run"} {
		response := r.answer(&kube.Request{
			Verb: kube.Create,
			Kind: corev1.SchemeGroupVersion.WithKind("Namespace"),
			Body: fmt.Appendf(nil, `{"metadata":{"name":%q}}`, namespace),
			// The clients of the golden cases have this name.
			FieldManager: "orrery",
		})
		if response.Status != nil {
			t.Fatal(response)
		}
		r.shown("Namespace", response)
	}
	return r
}

// Get implements [core.Snapshot].
func (r *replay) Get(key core.Key) core.Content { return r.objects[key] }

// Held implements [core.Snapshot].
func (r *replay) Held(core.Key) []core.Content { return nil }

// List implements [core.Snapshot].
func (r *replay) List(kind core.Kind, namespace string) []core.Object {
	var objects []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(r.objects), core.Key.Compare) {
		if key.Kind == kind && (namespace == "" || key.Namespace == namespace) {
			objects = append(objects, core.Object{Key: key, Content: r.objects[key]})
		}
	}
	return objects
}

func (r *replay) run(golden *goldenCase) {
	stored := map[string]any{}
	for i, step := range golden.Steps {
		request := r.request(step.Request)
		response := r.answer(request)
		what := fmt.Sprintf("step %d, %s", i+1, request)
		switch want := step.Answer; {
		case (response.Status == nil) != (want.Refused == nil):
			r.t.Fatalf("%s: the real answer is %v, the simulated one is %s", what, want.Refused, response)
		case want.Refused != nil:
			r.compareRefusal(what, want.Refused, response.Status)
		case want.Object != nil:
			r.compare(what, want.Object, r.shown(request.Kind.Kind, response))
		}
		stored = r.stored(golden.Kinds) // This tells of the versions that no answer has.
	}
	r.compare("stored at the end", golden.Stored, stored)
}

func (r *replay) compare(what string, want, got map[string]any) {
	r.t.Helper()
	for _, change := range core.DiffFields(plain(want), plain(got)) {
		if change.From == "(set)" && change.To != nil {
			continue // It was not compared when the case was recorded.
		}
		r.t.Errorf("%s: real → simulated: %s", what, change)
	}
}

// compareRefusal compares refusals. Causes may come in any order.
func (r *replay) compareRefusal(what string, want, got *metav1.Status) {
	r.t.Helper()
	same := want.Code == got.Code && want.Reason == got.Reason && r.fits(want.Message, got.Message)
	if want.Details != nil && got.Details != nil {
		same = same && r.fits(want.Details.Name, got.Details.Name) && want.Details.Group == got.Details.Group &&
			want.Details.Kind == got.Details.Kind && len(want.Details.Causes) == len(got.Details.Causes)
		for _, cause := range want.Details.Causes {
			same = same && slices.ContainsFunc(got.Details.Causes, func(other metav1.StatusCause) bool {
				return cause.Type == other.Type && cause.Field == other.Field && r.fits(cause.Message, other.Message)
			})
		}
	}
	if !same || (want.Details == nil) != (got.Details == nil) {
		r.t.Errorf("%s is refused otherwise\nreal:      %+v\nsimulated: %+v", what, want, got)
	}
}

// unlike finds words in parentheses that stand for what need not be the same.
var unlike = regexp.MustCompile(`\\\((?:as the causes|object|version|uid|address|generated|scheme)\\\)`)

// fits reports whether a text of the simulated server is one of the real server.
func (r *replay) fits(real, simulated string) bool {
	pattern := unlike.ReplaceAllString(regexp.QuoteMeta(real), "(?s:.*)")
	for _, identity := range slices.Sorted(maps.Keys(r.uids)) {
		simulated = strings.ReplaceAll(simulated, r.uids[identity], "uid of "+identity)
	}
	return regexp.MustCompile("^" + pattern + "$").MatchString(now.ReplaceAllString(simulated, "now"))
}

// answer makes a request and commits its writes.
func (r *replay) answer(request *kube.Request) *kube.Response {
	r.t.Helper()
	answer, err := r.server.Answer(r, request)
	if err != nil {
		r.t.Fatalf("%s: %v", request, err)
	}
	for _, write := range answer.Writes {
		if write.Content == nil {
			delete(r.objects, write.Key)
		} else {
			r.objects[write.Key] = write.Content
		}
	}
	return answer.Response.(*kube.Response)
}

// tokens are what requests have in the place of values of the server.
var tokens = regexp.MustCompile(`\{\{(?:uid ([^}]+)|version (\d+) of ([^}]+)|continue)\}\}`)

// request reads a request and puts the values of this run into it.
func (r *replay) request(text json.RawMessage) *kube.Request {
	r.t.Helper()
	filled := tokens.ReplaceAllStringFunc(string(text), func(token string) string {
		parts := tokens.FindStringSubmatch(token)
		switch {
		case parts[1] != "":
			return r.uids[parts[1]]
		case parts[2] != "":
			number, err := strconv.Atoi(parts[2])
			if err != nil || number > len(r.versions[parts[3]]) {
				r.t.Fatalf("%s: there is no such version, only %q", token, r.versions[parts[3]])
			}
			return r.versions[parts[3]][number-1]
		}
		return r.more
	})
	var recorded struct {
		kube.Request
		Body string
	}
	if err := json.Unmarshal([]byte(filled), &recorded); err != nil {
		r.t.Fatal(err)
	}
	recorded.Request.Body = []byte(recorded.Body)
	return &recorded.Request
}

// stored are all objects of some kinds, as clients see them.
func (r *replay) stored(kinds []string) map[string]any {
	objects := map[string]any{}
	for _, key := range slices.SortedFunc(maps.Keys(r.objects), core.Key.Compare) {
		fields, _ := r.objects[key].Fields().(map[string]any)
		content := unstructured.Unstructured{Object: fields}
		if !slices.Contains(kinds, content.GetKind()) {
			continue
		}
		object := r.shown(content.GetKind(), r.answer(&kube.Request{Verb: kube.Get, Kind: content.GroupVersionKind(), Namespace: key.Namespace, Name: key.Name}))
		metadata, _ := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		identity := identityOf(content.GetKind(), key.Namespace, name)
		for objects[identity] != nil {
			identity += "+"
		}
		objects[identity] = object
	}
	return objects
}

// shown is what a client is sent, with words for values that differ from server to server.
// The objects are of a kind; a subresource may show them as another one.
func (r *replay) shown(kind string, response *kube.Response) map[string]any {
	r.t.Helper()
	var object map[string]any
	if err := json.Unmarshal(response.Object, &object); err != nil {
		r.t.Fatal(err)
	}
	items, list := object["items"].([]any)
	if !list {
		return r.object(kind, object)
	}
	result := map[string]any{"kind": object["kind"], "apiVersion": object["apiVersion"]}
	metadata, _ := object["metadata"].(map[string]any)
	if r.more, _ = metadata["continue"].(string); r.more != "" {
		result["more"] = true
		result["remaining"] = metadata["remainingItemCount"]
	}
	shown := []any{}
	for _, item := range items {
		o := item.(map[string]any)
		o["kind"], o["apiVersion"] = kind, object["apiVersion"]
		shown = append(shown, r.object(kind, o))
	}
	result["items"] = shown
	return result
}

func (r *replay) object(kind string, object map[string]any) map[string]any {
	u := unstructured.Unstructured{Object: object}
	identity := identityOf(kind, u.GetNamespace(), generated.ReplaceAllString(u.GetName(), "${1}(generated)"))
	if uid := string(u.GetUID()); uid != "" {
		r.uids[identity] = uid
	}
	if version := u.GetResourceVersion(); version != "" {
		if !slices.Contains(r.versions[identity], version) {
			r.versions[identity] = append(r.versions[identity], version)
		}
		u.SetResourceVersion(fmt.Sprintf("version %d", slices.Index(r.versions[identity], version)+1))
		if strings.Contains(identity, "(generated)") {
			u.SetResourceVersion("(set)")
		}
	}
	u.SetManagedFields(nil) // Golden cases leave it out.
	for _, field := range r.ignored {
		if field.Kind == "" || field.Kind == kind {
			field.ignore(object, strings.Split(field.Path, "."))
		}
	}
	return r.words(object)
}

var (
	generated = regexp.MustCompile(`\b(gen-run-)[a-z0-9]{5}\b`)
	now       = regexp.MustCompile(`\b2000-01-01T00:00:[0-9.]+Z`)
)

// words replaces uids, generated names and times below a value.
func (r *replay) words(value map[string]any) map[string]any {
	r.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		r.t.Fatal(err)
	}
	filled := string(text)
	for _, identity := range slices.Sorted(maps.Keys(r.uids)) {
		filled = strings.ReplaceAll(filled, r.uids[identity], "uid of "+identity)
	}
	filled = generated.ReplaceAllString(now.ReplaceAllString(filled, "now"), "${1}(generated)")
	var result map[string]any
	if err := json.Unmarshal([]byte(filled), &result); err != nil {
		r.t.Fatal(err)
	}
	return result
}

// ignoredField is an entry of the list of what is not compared.
type ignoredField struct {
	Kind      string `json:"kind"`
	Path      string `json:"path"`
	Except    string `json:"except"`
	Treatment string `json:"treatment"`
	Reason    string `json:"reason"`
}

func ignoredFields(t *testing.T) []ignoredField {
	t.Helper()
	text, err := os.ReadFile("testdata/golden/normalisations.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var fields []ignoredField
	if err := yaml.UnmarshalStrict(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func (f ignoredField) ignore(at map[string]any, path []string) {
	name, list := strings.CutSuffix(path[0], "[*]")
	value, found := at[name]
	below := []any{value}
	if items, ok := value.([]any); ok && list {
		below = items
	}
	switch {
	case !found:
	case len(path) > 1:
		for _, item := range below {
			if object, ok := item.(map[string]any); ok {
				f.ignore(object, path[1:])
			}
		}
	case f.Except != "" && (value == f.Except || reflect.DeepEqual(value, []any{f.Except})):
	case f.Treatment == "drop":
		delete(at, name)
	default:
		at[name] = "(set)"
	}
}

// identityOf names an object in the way of the golden cases.
func identityOf(kind, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	return schema.ParseGroupKind(kind).Kind + " " + name
}

// plain brings numbers to the types that JSON gives them.
func plain(value map[string]any) map[string]any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a tree of JSON values cannot be written as JSON: %v", err))
	}
	result := map[string]any{}
	if err := json.Unmarshal(text, &result); err != nil {
		panic(fmt.Sprintf("JSON cannot be read back: %v", err))
	}
	return result
}

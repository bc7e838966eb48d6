package kube

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/core"
)

func TestFaultsOfRequests(t *testing.T) {
	server := newTestServer(t)
	const lost = "committed, but the answer is lost"
	reads := []string{"timeout", "internal error"}
	writes := []string{"timeout", "throttled", "internal error", lost}
	guarded := append([]string{"conflict"}, writes...)
	from, blind := []byte(`{"metadata":{"resourceVersion":"7"}}`), []byte(`{"metadata":{"name":"a"}}`)
	for _, test := range []struct {
		name    string
		request Request
		want    []string
	}{
		{"get", Request{Verb: Get}, reads},
		{"list", Request{Verb: List}, reads},
		{"get from a cache", Request{Verb: Get, FromCache: true}, nil},
		{"create", Request{Verb: Create, Body: blind}, writes},
		{"update of a version", Request{Verb: Update, Body: from}, guarded},
		{"update of any version", Request{Verb: Update, Body: blind}, writes},
		{"status update", Request{Verb: Update, Subresource: "status", Body: from}, guarded},
		{"dry run", Request{Verb: Update, Body: from, DryRun: true}, []string{"conflict", "timeout", "throttled", "internal error"}},
		{"merge patch", Request{Verb: Patch, PatchType: types.MergePatchType, Body: blind}, writes},
		{"merge patch of a version", Request{Verb: Patch, PatchType: types.MergePatchType, Body: from}, guarded},
		{"JSON patch", Request{Verb: Patch, PatchType: types.JSONPatchType, Body: []byte(`[{"op":"remove","path":"/spec"}]`)}, writes},
		{"JSON patch of a version", Request{Verb: Patch, PatchType: types.JSONPatchType,
			Body: []byte(`[{"op":"test","path":"/metadata/resourceVersion","value":"7"}]`)}, guarded},
		{"apply", Request{Verb: Patch, PatchType: types.ApplyYAMLPatchType, Body: []byte("metadata:\n  name: a\n")}, writes},
		{"apply to a version", Request{Verb: Patch, PatchType: types.ApplyYAMLPatchType, Body: []byte("metadata:\n  resourceVersion: \"7\"\n")}, guarded},
		{"delete", Request{Verb: Delete}, writes},
		{"delete of a version", Request{Verb: Delete, PreconditionResourceVersion: "7"}, guarded},
		{"delete of an instance", Request{Verb: Delete, PreconditionUID: "u"}, guarded},
		{"delete of many", Request{Verb: DeleteCollection}, writes},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.request.Kind, test.request.Namespace, test.request.Name = widgetKind, "default", "a"
			faults := server.Faults(&test.request)
			var names []string
			for _, f := range faults {
				names = append(names, f.Name)
				if f.Commits != (f.Name == lost) {
					t.Errorf("%s: commits: %t", f.Name, f.Commits)
				}
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("got %q, want %q", names, test.want)
			}
			if !reflect.DeepEqual(faults, server.Faults(&test.request)) {
				t.Error("the faults differ from time to time")
			}
		})
	}
}

func TestFaultsAreWhatClientsKnow(t *testing.T) {
	server := newTestServer(t)
	update := &Request{Verb: Update, Kind: widgetKind, Namespace: "default", Name: "a", Body: []byte(`{"metadata":{"resourceVersion":"7"}}`)}
	errs := map[string]error{}
	for _, f := range server.Faults(update) {
		errs[f.Name] = f.Response.(*Response).Err()
	}
	for name, is := range map[Failure]func(error) bool{
		Conflict:      apierrors.IsConflict,
		Timeout:       apierrors.IsTimeout,
		Throttled:     apierrors.IsTooManyRequests,
		InternalError: apierrors.IsInternalError,
		AnswerLost:    apierrors.IsTimeout,
	} {
		if err := errs[string(name)]; err == nil || !is(err) {
			t.Errorf("%s is not told by its error: %v", name, err)
		}
	}
	if got := errs["conflict"].Error(); got != staleWidget {
		t.Errorf("got %q, want %q", got, staleWidget)
	}
	if errs["timeout"] == nil || errs["timeout"].Error() != errs[string(AnswerLost)].Error() {
		t.Error("a client can tell that its request was done")
	}
	remove := &Request{Verb: Delete, Kind: widgetKind, Namespace: "default", Name: "a", PreconditionResourceVersion: "7"}
	conflict := server.Faults(remove)[0].Response.String()
	if !strings.HasPrefix(conflict, `409 Conflict: Operation cannot be fulfilled on Widget.example.com "a": the ResourceVersion in the precondition (7) does not match`) {
		t.Errorf("got %s", conflict)
	}
}

func TestFailuresThatAreChosen(t *testing.T) {
	update := &Request{Verb: Update, Kind: widgetKind, Namespace: "default", Name: "a", Body: []byte(`{"metadata":{"resourceVersion":"7"}}`)}
	for _, test := range []struct {
		name string
		some []Failure
		want int
	}{
		{"none", nil, 0},
		{"two", []Failure{AnswerLost, Conflict}, 2},
		{"one twice", []Failure{Conflict, Conflict}, 1},
	} {
		if got := len(newTestServer(t, Failures(test.some...)).Faults(update)); got != test.want {
			t.Errorf("%s: got %d failures, want %d", test.name, got, test.want)
		}
	}
	_, err := NewServer(runtime.NewScheme(), Failures("flood"))
	if err == nil || !strings.Contains(err.Error(), `there is no failure "flood" of requests: use ["conflict" "timeout"`) {
		t.Errorf("got the error %v", err)
	}
}

func TestWhatIsNotARequestCannotFail(t *testing.T) {
	server := newTestServer(t)
	unknown := &Request{Verb: Get, Kind: widgetKind.GroupVersion().WithKind("Nothing"), Name: "a"}
	for _, call := range []core.Call{stranger{}, unknown} {
		if faults := server.Faults(call); faults != nil {
			t.Errorf("%s: %v", call, faults)
		}
	}
}

// stranger is a call that is no request.
type stranger struct{}

func (stranger) Identity() string    { return "stranger" }
func (stranger) String() string      { return "stranger" }
func (stranger) Source() core.Source { return core.Live }

package kube

import (
	"errors"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
)

// otherCall is a call to something that is no API server.
type otherCall struct{}

func (otherCall) Identity() string    { return "other" }
func (otherCall) String() string      { return "send a letter" }
func (otherCall) Source() core.Source { return core.Live }

// What cannot be answered is told in the words of the user, with what to do.
func TestCallsThatAreNoRequests(t *testing.T) {
	server := newTestServer(t)
	for _, test := range []struct {
		call core.Call
		want []string
	}{
		{&Unmodelled{Asked: "GET /version", Reason: "discovery is not modelled: ask the manager"}, []string{"GET /version", "discovery is not modelled: ask the manager"}},
		{otherCall{}, []string{"send a letter", "leave it out"}},
	} {
		_, err := server.Answer(emptyWorld(t, server), test.call)
		var unsupported *core.Unsupported
		if !errors.As(err, &unsupported) {
			t.Errorf("%s: got %v", test.call, err)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want %q in it", err, want)
			}
		}
		if strings.Contains(err.Error(), "Unmodelled") {
			t.Errorf("%q has a word of ours", err)
		}
	}
}

// A 500 tells a controller that the server is broken. What is not known of a kind is told to the user instead.
func TestApplyToKindsWithoutFieldTypes(t *testing.T) {
	kind := apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")
	for _, test := range []struct {
		name    string
		options []Option
		request *Request
	}{
		{"apply to what is new", nil, applying(kind, "others.example.com", "m", nil)},
		{"apply to what is there", nil, applying(kind, "things.example.com", "m", nil)},
		{"forced apply", nil, forced(applying(kind, "things.example.com", "m", nil))},
		{"dry run", nil, func() *Request { r := applying(kind, "things.example.com", "m", nil); r.DryRun = true; return r }()},
		{"recorded create", []Option{ManagedFields()}, creation(kind, tree{"name": "others.example.com"}, nil)},
	} {
		t.Run(test.name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := apiextensionsv1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			server, err := NewServer(scheme, test.options...)
			if err != nil {
				t.Fatal(err)
			}
			w := emptyWorld(t, server)
			if len(test.options) == 0 {
				clusterWide(w.must, creation(kind, tree{"name": "things.example.com"}, nil))
			}
			reason := clusterWide(w.unsupported, test.request)
			if !strings.Contains(reason, "CustomResourceDefinition.apiextensions.k8s.io") || !strings.Contains(reason, "update") {
				t.Errorf("%q does not say what to change", reason)
			}
		})
	}
}

// clusterWide makes a request for an object that has no namespace.
func clusterWide[T any](making func(*Request) T, r *Request) T {
	r.Namespace = ""
	return making(r)
}

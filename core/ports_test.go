package core_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// things is a snapshot of texts that knows nothing of projections and selections.
type things map[core.Key]stuff

func (s things) Get(key core.Key) core.Content {
	if content, there := s[key]; there {
		return content
	}
	return nil
}

func (s things) List(kind core.Kind, namespace string) []core.Object {
	var all []core.Object
	for key, content := range s {
		if key.Kind == kind && (namespace == "" || key.Namespace == namespace) {
			all = append(all, core.Object{Key: key, Content: content})
		}
	}
	slices.SortFunc(all, func(a, b core.Object) int { return a.Key.Compare(b.Key) })
	return all
}

func (things) Held(core.Key) []core.Content { return nil }

// knowing is one that knows of them.
type knowing struct{ things }

func (knowing) Project(key core.Key, p core.Projection) core.Content {
	return stuff("its " + p.Identity() + " of " + key.Name)
}

func (knowing) Select(kind core.Kind, namespace string, s core.Selection) []core.Object {
	return []core.Object{{Key: core.Key{Kind: kind, Namespace: namespace, Name: s.Identity()}}}
}

// initials projects to the first letter, and selects what begins with a.
type initials struct{}

func (initials) Identity() string                   { return "initials" }
func (initials) Project(o core.Object) core.Content { return o.Content.(stuff)[:1] }
func (initials) Selects(o core.Object) bool         { return strings.HasPrefix(o.Content.Canonical(), "a") }

func TestProjectAndSelect(t *testing.T) {
	key := func(namespace, name string) core.Key { return core.Key{Kind: "K", Namespace: namespace, Name: name} }
	s := things{key("n", "1"): "alpha", key("n", "2"): "beta", key("m", "3"): "alef", {Kind: "L", Namespace: "n", Name: "4"}: "a"}
	if got := core.Project(s, key("n", "2"), initials{}); got != stuff("b") {
		t.Errorf("the part is %v", got)
	}
	if got := core.Project(s, key("n", "5"), initials{}); got != nil {
		t.Errorf("the part of nothing is %v", got)
	}
	if got := core.Project(knowing{s}, key("n", "2"), initials{}); got != stuff("its initials of 2") {
		t.Errorf("the part is %v", got)
	}
	for namespace, want := range map[string]string{"": "m/3 n/1", "n": "n/1", "o": ""} {
		var names []string
		for _, o := range core.Select(s, "K", namespace, initials{}) {
			names = append(names, o.Key.Namespace+"/"+o.Key.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("in %q these are selected: %s", namespace, got)
		}
	}
	if got := core.Select(knowing{s}, "K", "n", initials{}); len(got) != 1 || got[0].Key != key("n", "initials") {
		t.Errorf("these are selected: %v", got)
	}
}

// TestSaidBy says who logged a line, and counts warnings.
func TestSaidBy(t *testing.T) {
	for _, test := range []struct {
		line core.TraceLog
		want string
	}{
		{core.TraceLog{}, ""}, {core.TraceLog{Aside: true}, "in another goroutine"}, {core.TraceLog{Handler: "web"}, "by the event handler of web"}, {core.TraceLog{Handler: "web", Aside: true}, "by the event handler of web"},
	} {
		if got := test.line.By(); got != test.want {
			t.Errorf("it is said that it is %s", got)
		}
	}
	if n := (&core.Report{Findings: []core.Finding{{}, {Warning: true}, {}, {Warning: true}}}).Warnings(); n != 2 {
		t.Errorf("there are %d warnings", n)
	}
}

package cel_test

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/cel"
)

// TestChange checks what counts as a change of an object.
func TestChange(t *testing.T) {
	object := func(uid string, n int64) core.Object {
		return core.Object{Key: core.Key{Kind: "Deployment.apps", Name: "web"}, Content: tree{map[string]any{
			"metadata": map[string]any{"uid": uid}, "spec": map[string]any{"replicas": n},
		}}}
	}
	c, err := cel.CompileChange("deployments", "new.spec.replicas > old.spec.replicas && new.metadata.uid == old.metadata.uid", cel.Types{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		before, after core.Object
		want          bool
	}{
		{object("a", 1), object("a", 2), true},
		{object("a", 2), object("a", 1), false},
		{object("a", 1), object("b", 2), false},
	} {
		if got, err := c.Holds(test.before, test.after); err != nil || got != test.want {
			t.Errorf("it is %t, %v, want %t", got, err, test.want)
		}
	}
	for kind, want := range map[string]string{
		"deploymets": `no kind is called "deploymets": did you mean deployments?`,
		"events":     `"events" is ambiguous`,

		`family("")`:         `family takes one text, a name: family("name")`,
		`family(x)`:          `family takes one text, a name: family("name")`,
		`variable("x"`:       `variable takes one text, a name: variable("name")`,
		`objects("Pdo")`:     `no kind is called "Pdo": did you mean Pod?`,
		`objects("Pod", "")`: `objects takes one text, a name: objects("name")`,
		`variable("x", "y")`: `variable takes one text, a name: variable("name")`,
	} {
		if _, err := cel.CompileChange(kind, "true", cel.Types{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", kind, err, want)
		}
	}
	for expression, want := range map[string]string{
		"nwe.spec.replicas > 0":                       `nothing is called "nwe": did you mean new?`,
		"old.spec.replcias > 0":                       `did you mean replicas?`,
		"pods.size() > 0":                             `nothing is called "pods"`,
		`new.spec == object("Pod", "a", "b").value()`: "an expression about a step can only use old and new",
		`objects("Pod").size() == 0 && old == new`:    "an expression about a step can only use old and new",
	} {
		if _, err := cel.CompileChange("deployments", expression, cel.Types{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", expression, err, want)
		}
	}
}

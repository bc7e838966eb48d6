package fieldrules

import (
	"slices"
	"testing"
)

func TestCoverage(t *testing.T) {
	table, err := read(nil, `# a comment
Pod
  spec
  spec: !odd containers labels name
  spec.containers: image !args
Deployment.apps
  spec
  spec: replicas template
  spec.template: spec
  spec.template.spec = Pod spec
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kind, object string
		want         []string
	}{
		{"Pod", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"name": "a"}}`, nil},
		{"Pod", `{"spec": {"odd": 1}}`, []string{"spec.odd"}},
		{"Pod", `{"spec": {"odd": null}}`, nil},
		{"Pod", `{"spec": {"labels": {"a": "b"}}}`, nil},
		{"Pod", `{"spec": {"containers": [{"image": "i"}, {"args": ["a"]}, {"args": ["b"], "more": {}}]}}`, []string{"spec.containers[].args", "spec.containers[].more"}},
		{"Deployment.apps", `{"spec": {"replicas": 1, "template": {"spec": {"odd": 1}}}}`, []string{"spec.template.spec.odd"}},
		{"Nobody.knows", `{"metadata": {}, "spec": {"a": 1}, "rules": []}`, []string{"rules", "spec"}},
	} {
		if got := table.Coverage(test.kind).Unchecked(treeOf(t, test.object)); !slices.Equal(got, test.want) {
			t.Errorf("%s %s: %q, not %q", test.kind, test.object, got, test.want)
		}
	}
	var all *Coverage
	if got := all.Unchecked(treeOf(t, `{"spec": {}}`)); got != nil {
		t.Errorf("where all is checked, %q is not", got)
	}
}

package kube

import (
	"testing"

	"k8s.io/apimachinery/pkg/fields"
)

// TestIndexNamesSurviveSelectors has every name of a few characters come back from the text of a field selector.
func TestIndexNamesSurviveSelectors(t *testing.T) {
	names := []string{""}
	for range 4 {
		var longer []string
		for _, name := range names {
			for _, c := range `a%=!,\2D` {
				longer = append(longer, name+string(c))
			}
		}
		names = longer
		for _, name := range names {
			encoded := IndexInSelectors(name)
			selector, err := fields.ParseSelector(encoded + "=" + fields.EscapeValue(name))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all := selector.Requirements()
			if len(all) != 1 || all[0].Field != encoded || indexNamed(all[0].Field) != name || all[0].Value != name {
				t.Errorf("%s came back as %v", name, all)
			}
		}
	}
	if got := IndexInSelectors(".metadata.controller"); got != ".metadata.controller" {
		t.Errorf("a plain name becomes %s", got)
	}
}

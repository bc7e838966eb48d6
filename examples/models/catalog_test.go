package models

import (
	"slices"
	"strings"
	"testing"
)

func TestCatalog(t *testing.T) {
	entries := Catalog()
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
		t.Run(e.Name, func(t *testing.T) {
			if e.Doc == "" || !strings.HasSuffix(e.Doc, ".") {
				t.Errorf("the doc is not a sentence: %q", e.Doc)
			}
			if got := build(t, e).Name; got != e.Name {
				t.Errorf("the system is called %q", got)
			}
			for _, p := range e.Params {
				if p.Default < p.Min || p.Default > p.Max || p.Doc == "" {
					t.Errorf("bad parameter %+v", p)
				}
				values, err := e.Parse(nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, value := range []int{p.Min, p.Max} {
					values[p.Name] = value
					if _, err := e.Build(values); err != nil {
						t.Errorf("%s=%d: %v", p.Name, value, err)
					}
				}
			}
		})
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("the names are not in order, or not unique: %v", names)
	}
}

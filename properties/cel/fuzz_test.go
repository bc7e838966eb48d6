package cel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/properties/cel"
)

// FuzzCompile checks that whatever is written is either a mistake with a place, or an expression that is true, false,
// or neither with a place, in a state.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`pods.all(p, has(p.metadata.ownerReferences))`,
		`objects("Widget.example.com").exists(w, w.spec.parts.map(x, x + "é").size() > 1)`,
		`object("Pod", "shop", "web-0").?spec.containers[?0].?image.orValue("") == "x"`,
		`variable("x").y[0] / 0 == family("a").size()`,
		"pods.all(p,\n\tp.spec.foo == 1)",
		`[1, 2].all(i, [3].exists(j, i in [j]))`,
		`deployments.filter(d, d.metadata.labels.exists(k, v, k == v)) == []`,
		`quantity("1").add(quantity("2")).isGreaterThan(quantity("x"))`,
		`"a".replace("", "b").matches("(") || timestamp("x") == timestamp(1)`,
		`core.v1.Pod{metadata: 1} == pods[0]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) { evaluate(t, expression) })
}

// expressions are well-formed ones. Many make sense, as nothing is known of what some look at.
func expressions(depth int) *rapid.Generator[string] {
	leaves := []string{
		`pods`, `gauges`, `objects("Widget.example.com")`, `objects("Widget.example.com")[0].spec`, `object("Pod", "shop", "stray")`,
		`variable("x")`, `family("a")`, `dyn(1)`, `dyn("a")`, `dyn([1, "b"])`, `dyn({"a": 1})`, `p`, `1`, `"a"`, `true`, `null`,
	}
	forms := []string{
		`(%s && %s)`, `(%s || %s)`, `!(%s)`, `(%s == %s)`, `(%s < %s)`, `(%s + %s)`, `(%s - %s)`, `(%s / %s)`, `(%s in %s)`, `(%s ? %s : %s)`,
		`%s.all(p, %s)`, `%s.exists(p, q, %s == q)`, `%s.filter(p, %s)`, `%s.map(p, %s)`, `size(%s)`, `has(%s.spec.size)`, `%s.metadata.name`,
		`%s.spec`, `%s.?spec.size.orValue(%s)`, `%s[%s]`, `%s[?%s]`, `[%s, %s]`, `{"a": %s}`, `string(%s)`, `%s.matches(string(%s))`, `%s.value()`,
	}
	return rapid.Custom(func(t *rapid.T) string {
		if depth == 0 || rapid.IntRange(0, 4).Draw(t, "leaf") == 0 {
			return rapid.SampledFrom(leaves).Draw(t, "name")
		}
		form := rapid.SampledFrom(forms).Draw(t, "form")
		parts := make([]any, strings.Count(form, "%s"))
		for i := range parts {
			parts[i] = expressions(depth-1).Draw(t, "part")
		}
		return fmt.Sprintf(form, parts...)
	})
}

// TestAnything does the same with expressions that are well-formed.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := expressions(3).Draw(t, "a"), expressions(2).Draw(t, "b")
		evaluate(t, fmt.Sprintf(`objects("Widget.example.com").all(p, dyn(%s) == dyn(%s))`, a, b))
	})
}

// evaluate reads an expression, and evaluates it if it is none that makes no sense.
func evaluate(t rapid.TB, expression string) {
	mistaken := func(err error) {
		t.Helper()
		var m *cel.Mistake
		if !errors.As(err, &m) {
			t.Fatalf("it is no mistake: %v", err)
		}
		if m.From < 0 || m.From > m.To || m.To > len(m.Expression) || m.Expression != expression || m.Message == "" {
			t.Errorf("%+v", m)
		}
		if !strings.Contains(m.Error(), m.Message) {
			t.Errorf("it says %q", m.Error())
		}
	}
	world := worldOf(t, shop+"---\n"+instruments)
	for _, types := range []cel.Types{{}, knownTypes(t)} {
		p, err := cel.Compile(expression, types)
		if err != nil {
			mistaken(err)
			continue
		}
		first, err := p.Holds(world)
		if err != nil {
			mistaken(err)
		}
		if again, _ := p.Holds(world); again != first {
			t.Error("it is true, and then it is not")
		}
	}
	if _, err := cel.CompileChange("deployments", expression, cel.Types{}); err != nil {
		mistaken(err)
	}
	if _, err := cel.CompileChange(expression, "true", cel.Types{}); err != nil {
		mistaken(err)
	}
}

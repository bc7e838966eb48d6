package cel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/cel"
)

// sized is an object of which nothing matters but a number in its spec.
type sized = map[string]map[string]int

func ofSize(n int) sized { return sized{"spec": {"replicas": n}, "status": {}} }

// scaling is a model in which a Deployment is scaled from 1 to 3, and from there to 2 and back for ever.
func scaling() plain.Model {
	web := plain.NewFamily[sized]("Deployment.apps").Named("web")
	return plain.Model{
		Name:    "scaling",
		Initial: []core.Initial{plain.Start(web.Is(ofSize(1)))},
		Processes: []plain.Process{{Name: "scaler", Actions: []plain.Action{{Name: "scale", Do: func(w *plain.World) {
			if n := web.Get(w)["spec"]["replicas"]; n < 3 {
				web.Set(w, ofSize(n+1))
			} else {
				web.Set(w, ofSize(2))
			}
		}}}}},
	}
}

// check checks one property of a model, with or without a reduction.
func check(t *testing.T, model plain.Model, reduction orrery.Reduction, p core.Property) *orrery.Result {
	t.Helper()
	model.Properties = []core.Property{p}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(context.Background(), system, orrery.Options{Reduction: reduction})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestClaims(t *testing.T) {
	for _, test := range []struct {
		property core.Property
		// summary is part of that of the finding, empty if the property holds.
		summary string
		// steps are those of its run, with what repeats.
		steps      int
		controller string
	}{
		{cel.Always("small", `deployments.all(d, d.spec.replicas <= 3)`), "", 0, ""},
		{cel.Always("smaller", `deployments.all(d, d.spec.replicas <= 2)`),
			`smaller: not true: deployments.all(d, d.spec.replicas <= 2); not of Deployment.apps web`, 2, "scaler"},
		{cel.Always("at the start", `deployments.size() == 1 && deployments.all(d, d.spec.replicas > 1)`), "not of Deployment.apps web", 0, ""},
		{cel.Always("unclear", `deployments.all(d, d.status.readyReplicas > 0)`),
			"unclear: neither true nor false: deployments.all(d, d.status.readyReplicas > 0): column 29: there is no readyReplicas here", 0, ""},
		{cel.Eventually("three", `deployments.exists(d, d.spec.replicas == 3)`), "", 0, ""},
		{cel.Eventually("four", `deployments.exists(d, d.spec.replicas == 4)`), `a run never reaches a state in which "deployments.exists(d, d.spec.replicas == 4)" is true`, 3, "scaler"},
		{cel.Eventually("then unclear", `deployments[0].spec.replicas < 2 || deployments[0].status.readyReplicas == 0`),
			`the system reaches a state in which "deployments[0].spec.replicas < 2 || deployments[0].status.readyReplicas == 0" is neither true nor false: column 59: there is no readyReplicas here`, 1, "scaler"},
		{cel.EventuallyAlways("grown", `deployments.all(d, d.spec.replicas > 1)`), "", 0, ""},
		{cel.EventuallyAlways("settled", `deployments.all(d, d.spec.replicas == 3)`), `"deployments.all(d, d.spec.replicas == 3)" never becomes true permanently`, 3, "scaler"},
		{cel.LeadsTo("again", `deployments[0].spec.replicas == 2`, `deployments[0].spec.replicas == 3`), "", 0, ""},
		{cel.LeadsTo("down", `deployments[0].spec.replicas == 3`, `deployments[0].spec.replicas == 1`), "down: what should follow never happens", 3, "scaler"},
		{cel.InfinitelyOften("often", `deployments.all(d, d.spec.replicas == 2)`), "", 0, ""},
		{cel.InfinitelyOften("seldom", `deployments.all(d, d.spec.replicas == 1)`),
			`from some point on, "deployments.all(d, d.spec.replicas == 1)" is never true again`, 3, "scaler"},
		{cel.Steps("by one", "deployments", `new.spec.replicas - old.spec.replicas in [1, -1]`), "", 0, ""},
		{cel.Steps("growing", "Deployment.apps", `new.spec.replicas >= old.spec.replicas`),
			"a step changes Deployment.apps web, and this is not true: new.spec.replicas >= old.spec.replicas", 3, "scaler"},
		{cel.Steps("unclear", "apps/Deployment", `new.status.replicas == 0`), "a step changes Deployment.apps web, and it is neither true nor false", 1, "scaler"},
		{cel.Steps("others", `objects("Pod")`, `false`), "", 0, ""},
	} {
		for _, reduction := range []orrery.Reduction{orrery.ByPartialOrder, orrery.NoReduction} {
			t.Run(test.property.Name+" "+string(reduction), func(t *testing.T) {
				report := check(t, scaling(), reduction, test.property).Report
				if test.summary == "" {
					if report.Verdict == core.Violated {
						t.Fatalf("it is violated: %s", report.Findings[0].Summary)
					}
					return
				}
				if report.Verdict != core.Violated {
					t.Fatalf("the verdict is %q", report.Verdict)
				}
				f := report.Findings[0]
				if !strings.Contains(f.Summary, test.summary) {
					t.Errorf("the summary is %q, want %q", f.Summary, test.summary)
				}
				if f.Steps != test.steps {
					t.Errorf("it takes %d steps, want %d", f.Steps, test.steps)
				}
				if test.controller != "" && (len(f.Controllers) == 0 || f.Controllers[0] != test.controller) {
					t.Errorf("the controllers are %v", f.Controllers)
				}
			})
		}
	}
}

// TestMistakenClaims checks that a property whose expression is wrong is refused before anything runs, and that the
// place is shown.
func TestMistakenClaims(t *testing.T) {
	for name, p := range map[string]core.Property{
		"always":            cel.Always("p", `pods.all(p, p.sepc.nodeName == "")`),
		"eventually":        cel.Eventually("p", `pods.all(p, p.sepc.nodeName == "")`),
		"eventually always": cel.EventuallyAlways("p", `pods.all(p, p.sepc.nodeName == "")`),
		"infinitely often":  cel.InfinitelyOften("p", `pods.all(p, p.sepc.nodeName == "")`),
		"leads to":          cel.LeadsTo("p", `true`, `pods.all(p, p.sepc.nodeName == "")`),
		"steps":             cel.Steps("p", "pods", `new.sepc.nodeName == ""`),
	} {
		t.Run(name, func(t *testing.T) {
			ran := false
			system, err := plain.Model{
				Name:    "idle",
				Initial: []core.Initial{plain.Start()},
				Controllers: []plain.Controller{{Name: "c", Requests: []core.Request{"r"}, Reconcile: func(*plain.World, core.Request) core.Result {
					ran = true
					return core.Result{}
				}}},
			}.System()
			if err != nil {
				t.Fatal(err)
			}
			system.Properties = []core.Property{p}
			_, err = orrery.Run(context.Background(), system, orrery.Options{})
			var m *cel.Mistake
			if !errors.As(err, &m) || !strings.Contains(err.Error(), `core.v1.Pod has no field "sepc": did you mean spec?`) ||
				!strings.Contains(err.Error(), "\n  "+m.Expression+"\n") {
				t.Fatalf("the error is %v", err)
			}
			if marked := m.Expression[m.From:m.To]; marked != "sepc" {
				t.Errorf("%q is marked", marked)
			}
			if ran {
				t.Error("a controller ran")
			}
		})
	}
}

// TestReduction checks that only what an expression looks at keeps orders from being left out: that of two Services
// does not if it is about a Deployment.
func TestReduction(t *testing.T) {
	model := func() plain.Model {
		m := scaling()
		for _, name := range []string{"a", "b"} {
			service := plain.NewFamily[sized]("Service").Named(name)
			m.Initial[0].Objects = append(m.Initial[0].Objects, service.Is(ofSize(1)))
			m.Processes = append(m.Processes, plain.Process{Name: name, Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) {
				n := service.Get(w)["spec"]["replicas"]
				w.Require(n < 5)
				service.Set(w, ofSize(n+1))
			}}}})
		}
		return m
	}
	states := func(reduction orrery.Reduction, p core.Property) int {
		result := check(t, model(), reduction, p)
		if result.Report.Verdict != core.Violated {
			t.Errorf("%s: %s", reduction, result.Report.Verdict)
		}
		return result.Graph.States()
	}
	about := func(kinds string) core.Property {
		return cel.Always("never three", `deployments.all(d, d.spec.replicas < 3) && `+kinds)
	}
	full := states(orrery.NoReduction, about("true"))
	few := states(orrery.ByPartialOrder, about("true"))
	more := states(orrery.ByPartialOrder, about(`services.size() == 2`))
	if few >= more || more > full {
		t.Errorf("there are %d states in full, %d if Deployments are looked at, and %d if Services are, too", full, few, more)
	}
	step := states(orrery.ByPartialOrder, cel.Steps("growing", "deployments", `old.spec.replicas <= new.spec.replicas`))
	if step >= full {
		t.Errorf("there are %d states for a property of steps, as many as in full", step)
	}
}

// TestLooks checks what is read of a state: only what it takes to know whether the expression is true.
func TestLooks(t *testing.T) {
	for expression, want := range map[string]string{
		`true`:                                  "",
		`pods.size() == 2`:                      "list Pod",
		`pods.size() == 2 && pods.all(p, true)`: "list Pod",
		`pods.size() == 3 && services.size() == 0`:                           "list Pod",
		`pods.size() == 2 && services.size() == 0`:                           "list Pod, list Service",
		`objects("Pod", "shop").size() == 2`:                                 "list Pod shop",
		`object("Node", "one").hasValue()`:                                   "get Node one",
		`object("Pod", "shop", "web").hasValue()`:                            "get Pod shop/web",
		`objects("Widget.example.com").size() == 1`:                          "list Widget.example.com",
		`pods.all(p, pods.all(q, services.all(s, s == s)))`:                  "list Pod, list Service",
		`pods.all(p, !object("Secret", "shop", p.metadata.name).hasValue())`: "list Pod, get Secret shop/stray, get Secret shop/web-0",
	} {
		p, err := cel.Compile(expression, cel.Types{})
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		w := worldOf(t, shop)
		if _, err := p.Holds(w); err != nil {
			t.Errorf("%s: %v", expression, err)
		}
		if got := strings.Join(w.looks, ", "); got != want {
			t.Errorf("%s looks at %q, want %q", expression, got, want)
		}
	}
}

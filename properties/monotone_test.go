package properties_test

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

func TestMonotone(t *testing.T) {
	ready, count, phase := plain.NewFamily[bool]("Ready"), plain.NewFamily[int]("Count"), plain.NewFamily[string]("Phase")
	type conditions = map[string]map[string][]map[string]string
	service := plain.NewFamily[conditions]("Service")
	status := func(values ...string) conditions {
		list := []map[string]string{}
		for _, v := range values {
			kind, value, _ := strings.Cut(v, "=")
			list = append(list, map[string]string{"type": kind, "status": value})
		}
		return conditions{"status": {"conditions": list}}
	}
	type generations = map[string]map[string]int
	batch := plain.NewFamily[generations]("Batch")
	progress := func(generation, observed, done int) generations {
		return generations{"metadata": {"generation": generation}, "status": {"observedGeneration": observed, "done": done}}
	}
	onceReady := properties.Monotone("Ready", "")
	try(t, []fixture{
		{name: "good: it becomes ready", property: onceReady, start: []core.Object{ready.Named("a").Is(false)},
			controllers: []plain.Controller{sets("prober", ready, "a", true)}},
		{name: "bad: it is taken back", property: onceReady, start: []core.Object{ready.Named("a").Is(false)},
			controllers: []plain.Controller{sets("prober", ready, "a", true), after("router", ready, true, false)},
			want:        []string{"router moves Ready a back from true to false"}},
		{name: "ugly: many are taken back for one reason", property: onceReady,
			start:       []core.Object{ready.Named("a").Is(true), ready.Named("b").Is(true), ready.Named("c").Is(true)},
			controllers: []plain.Controller{after("router", ready, true, false)},
			want:        []string{"And 2 more like this: Ready b and Ready c."}},
		{name: "ugly: two take it back", property: onceReady, start: []core.Object{ready.Named("a").Is(true)},
			controllers: []plain.Controller{sets("one", ready, "a", false), sets("other", ready, "a", false)},
			want:        []string{"one moves Ready a back", "other moves Ready a back"}},
		{name: "ugly: a user takes it back", property: onceReady, start: []core.Object{ready.Named("a").Is(true)},
			controllers: []plain.Controller{sets("prober", ready, "a", true)},
			user:        []plain.Action{action("unready", func(w *plain.World) { ready.Named("a").Set(w, false) })}},
		{name: "bad: a number falls", property: properties.Monotone("Count", ""), start: []core.Object{count.Named("a").Is(1)},
			controllers: []plain.Controller{sets("up", count, "a", 2), after("down", count, 2, 1)},
			want:        []string{"down moves Count a back from 2 to 1"}},
		{name: "bad: a quantity falls", property: properties.Monotone("Phase", ""), start: []core.Object{phase.Named("a").Is("10Gi")},
			controllers: []plain.Controller{sets("up", phase, "a", "1Ti"), after("down", phase, "1Ti", "1023Gi")},
			want:        []string{`down moves Phase a back from "1Ti" to "1023Gi"`}},
		{name: "bad: an order of words", property: properties.Monotone("Phase", "", "Pending", "Running", "Done"), start: []core.Object{phase.Named("a").Is("Running")},
			controllers: []plain.Controller{sets("done", phase, "a", "Done"), after("again", phase, "Done", "Running"), sets("loses", phase, "a", "Lost")},
			want:        []string{`again moves Phase a back from "Done" to "Running"`}},
		{name: "ugly: words without an order", property: properties.Monotone("Phase", ""), start: []core.Object{phase.Named("a").Is("Running")},
			controllers: []plain.Controller{sets("done", phase, "a", "Done")}, unsure: "have no order by themselves"},
		{name: "bad: a condition", property: properties.Monotone("Service", "status.conditions.Ready.status"),
			start:       []core.Object{service.Named("a").Is(status("Found=True", "Ready=True"))},
			controllers: []plain.Controller{sets("router", service, "a", status("Ready=False", "Found=True"))},
			want:        []string{`router moves Service a: status.conditions.Ready.status back from "True" to "False"`}},
		{name: "good: a condition moves", property: properties.Monotone("Service", "status.conditions.Ready.status"),
			start:       []core.Object{service.Named("a").Is(status("Found=False", "Ready=True"))},
			controllers: []plain.Controller{sets("router", service, "a", status("Ready=True", "Found=False"))}},
		{name: "ugly: a path that is nowhere", property: properties.Monotone("Service", "status.conditions.Redy.status"),
			start:       []core.Object{service.Named("a").Is(status("Ready=True"))},
			controllers: []plain.Controller{sets("router", service, "a", status("Ready=False"))}, unsure: "correct the kind or the path"},
		{name: "good: there is something new to do", property: properties.Monotone("Batch", "status.done"),
			start:       []core.Object{batch.Named("a").Is(progress(2, 1, 5))},
			controllers: []plain.Controller{sets("worker", batch, "a", progress(2, 2, 0))}},
		{name: "bad: there is nothing new to do", property: properties.Monotone("Batch", "status.done"),
			start:       []core.Object{batch.Named("a").Is(progress(2, 2, 5))},
			controllers: []plain.Controller{sets("worker", batch, "a", progress(2, 2, 0))},
			want:        []string{"worker moves Batch a: status.done back from 5 to 0"}},
	})
}

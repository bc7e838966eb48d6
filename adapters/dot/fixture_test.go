package dot_test

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/core"
)

func deployment(image, replicas any) core.TraceObject {
	return core.TraceObject{Kind: "Deployment.apps", Namespace: "shop", Name: "web", Fields: map[string]any{
		"spec": map[string]any{
			"replicas": replicas,
			"template": map[string]any{"containers": []any{map[string]any{"image": image, "name": "web"}}},
		},
		"status": map[string]any{},
	}}
}

func write(number int, controller, path string, from, to any) core.TraceStep {
	return core.TraceStep{
		Kind: "reconcile", Controller: controller, Request: "shop/web",
		From: core.StateID(number - 1), To: core.StateID(number),
		Calls: []core.TraceCall{
			{Call: "get Deployment.apps shop/web", Response: "found"},
			{Call: "update Deployment.apps shop/web", Response: "ok", Wrote: true},
		},
		Changes: []core.TraceChange{{Kind: "Deployment.apps", Namespace: "shop", Name: "web", Verb: "changed",
			Fields: []core.FieldChange{{Path: path, From: from, To: to}}}},
	}
}

const image = "spec.template.containers[name=web].image"

// fight is a livelock: two controllers fight over a field.
func fight() core.Finding {
	created := core.TraceStep{Kind: "reconcile", Controller: "autoscaler", Request: "shop/web", To: 1,
		Calls: []core.TraceCall{{Call: "create HorizontalPodAutoscaler.autoscaling shop/web", Response: "ok", Wrote: true}},
		Changes: []core.TraceChange{{Kind: "HorizontalPodAutoscaler.autoscaling", Namespace: "shop", Name: "web", Verb: "created",
			Fields: []core.FieldChange{{Path: "spec", To: map[string]any{"minReplicas": 2, "maxReplicas": 5}}}}}}
	fired := core.TraceStep{Kind: "fire", Controller: "autoscaler", Request: "shop/web", From: 2, To: 3}
	failed := write(4, "deployer", "spec.replicas", 1, 3)
	failed.Result = `error: the server said "no": too many requests, please try again later & with less haste (\d+ left)`
	return core.Finding{
		ID: 1, Property: "stable convergence", Steps: 5,
		Summary: "deployer and autoscaler change spec.replicas of Deployment.apps shop/web for ever",
		Trace: core.Trace{
			Initial:    []core.TraceObject{deployment("web:1", 3)},
			Steps:      []core.TraceStep{created, write(2, "autoscaler", "spec.replicas", 3, 1), fired, failed, write(5, "autoscaler", "spec.replicas", 3, 1)},
			CycleStart: 2,
		},
	}
}

// race is a difference in outcomes: the last of two writers wins.
func race() core.Finding {
	common := write(1, "defaulter", "spec.replicas", nil, 2)
	other := core.Trace{
		Initial:    []core.TraceObject{deployment("web:1", nil)},
		Steps:      []core.TraceStep{common, write(2, "pinner", image, "web:1", "web:stable"), write(3, "upgrader", image, "web:stable", "web:2")},
		CycleStart: -1,
	}
	return core.Finding{
		ID: 2, Property: "same outcome", Steps: 3,
		Summary: "the image of Deployment.apps shop/web at the end depends on who comes last",
		Trace: core.Trace{
			Initial:    []core.TraceObject{deployment("web:1", nil)},
			Steps:      []core.TraceStep{common, write(2, "upgrader", image, "web:1", "web:2"), write(3, "pinner", image, "web:2", "web:stable")},
			CycleStart: -1,
		},
		Other: &other,
	}
}

// stroll is a race of which one run does nothing for some steps before its end.
func stroll() core.Finding {
	finding := race()
	steps := &finding.Trace.Steps
	for i := len(*steps); i < 16; i++ {
		*steps = append(*steps, core.TraceStep{
			Kind: "reconcile", Controller: "idler", Request: "shop/web", From: core.StateID(i), To: core.StateID(i + 1),
			Calls: []core.TraceCall{{Call: "get Deployment.apps shop/web", Response: "found"}},
		})
	}
	(*steps)[8].Result = "asks to be run again"
	return finding
}

// pause is a quiet state in which a request that nobody makes would still change
// something.
func pause() core.Finding {
	probe := write(2, "labeller", "metadata.labels", nil, map[string]any{"app": "web", "tier": "front"})
	probe.Kind, probe.To = "probe", probe.From
	return core.Finding{
		ID: 1, Property: "fixpoint", Steps: 2,
		Summary: "the system becomes quiescent too early",
		Trace: core.Trace{
			Initial:    []core.TraceObject{deployment("web:1", 1)},
			Steps:      []core.TraceStep{write(1, "deployer", "spec.replicas", 1, 2), probe},
			CycleStart: -1,
		},
	}
}

// storm is a run with steps of every kind in which things go wrong.
func storm() core.Finding {
	finding := fight()
	finding.Trace.CycleStart = -1
	step := func(kind, controller string, request core.Request) core.TraceStep {
		return core.TraceStep{Kind: kind, Controller: controller, Request: request}
	}
	acts := write(1, "user", "spec.replicas", 3, 5)
	acts.Kind, acts.Request = "user", "scale Deployment shop/web"
	asks := step("call", "deployer", "shop/web")
	asks.Calls = []core.TraceCall{{Call: "get Deployment.apps shop/web", Response: "found, with 3"}}
	fails := write(6, "deployer", "spec.replicas", 5, 3)
	fails.Kind, fails.Calls, fails.Detail = "call", fails.Calls[1:], `call 2, "update Deployment.apps shop/web", fails: committed, but the answer is lost`
	ends := step("return", "deployer", "shop/web")
	ends.Result = "returns the error: timeout"
	told := step("deliver", "deployer", "Deployment.apps")
	told.Enqueued = []string{"deployer(shop/web)"}
	late := write(10, "autoscaler", "spec.replicas", 3, 1)
	late.Late, late.Detail = true, `it crashes between call "update Deployment.apps shop/web" and call 3, "create Note done", and starts again, and its view of Deployment.apps is 1 change behind`
	finding.Trace.Steps = []core.TraceStep{
		acts, step("begin", "deployer", "shop/web"), asks, fails, ends, told, step("deliver", "autoscaler", "Deployment.apps"),
		late, step("restart", "autoscaler", ""),
	}
	return finding
}

// count is a run in which a controller counts in memory what it does, and loses it in a crash.
func count() core.Finding {
	value := func(text string) *string { return &text }
	kept := func(from, to *string) core.MemoryChange {
		return core.MemoryChange{Controller: "deployer", Field: "Deployer.tries[shop/web]", From: from, To: to}
	}
	finding := pause()
	finding.Trace.Memory = []core.MemoryChange{kept(value("0"), value("5"))}
	told := kept(value("5"), value("6"))
	told.Event = "Deployment.apps shop/web"
	finding.Trace.Steps[0].Memory = []core.MemoryChange{told}
	lost := kept(value("6"), nil)
	lost.Lost = true
	look := core.TraceStep{Kind: "reconcile", Controller: "deployer", Request: "shop/web", Memory: []core.MemoryChange{kept(value("6"), value("7"))}}
	finding.Trace.Steps = append(finding.Trace.Steps[:1], look, core.TraceStep{Kind: "restart", Controller: "deployer", Memory: []core.MemoryChange{lost}})
	return finding
}

// march is a run too long to be drawn step by step.
func march(steps, cycleStart int) core.Finding {
	trace := core.Trace{Initial: []core.TraceObject{deployment("web:1", 0)}, CycleStart: cycleStart}
	for i := range steps {
		trace.Steps = append(trace.Steps, write(i+1, "scaler", "spec.replicas", i, i+1))
	}
	return core.Finding{ID: 1, Property: "at most 30 replicas", Summary: "there are too many replicas", Steps: steps, Trace: trace}
}

// threads is the graph of two threads that each read a counter and then write
// it back with one more, without a lock.
func threads() dot.Space {
	type local struct{ read, done bool }
	type state struct {
		counter int
		seen    [2]int
		threads [2]local
	}
	space := dot.Space{System: "model/increment (n=2)"}
	numbers := map[state]core.StateID{}
	var queue []state
	add := func(s state) core.StateID {
		id, known := numbers[s]
		if !known {
			id = core.StateID(len(queue))
			numbers[s] = id
			queue = append(queue, s)
		}
		return id
	}
	add(state{})
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		node := dot.State{Initial: i == 0, Quiescent: s.threads[0].done && s.threads[1].done}
		node.Objects = append(node.Objects, core.TraceObject{Kind: "Counter", Name: "c", Fields: map[string]any{"value": s.counter}})
		for t := range 2 {
			phase := "start"
			if s.threads[t].read {
				phase = fmt.Sprintf("has read %d", s.seen[t])
			}
			if s.threads[t].done {
				phase = "done"
			}
			node.Objects = append(node.Objects, core.TraceObject{Kind: "Thread", Name: fmt.Sprint(t + 1), Fields: map[string]any{"phase": phase, "kind": "worker"}})
			next := s
			switch {
			case s.threads[t].done:
				continue
			case s.threads[t].read:
				next.counter, next.threads[t].done, next.seen[t] = s.seen[t]+1, true, 0
			default:
				next.seen[t], next.threads[t].read = s.counter, true
			}
			node.Edges = append(node.Edges, core.Edge{From: core.StateID(i), To: add(next), Wrote: true,
				Step: core.Step{Item: core.Item{Strategy: fmt.Sprintf("thread %d", t+1), Request: "counter"}}})
		}
		space.States = append(space.States, node)
	}
	space.Total = len(space.States)
	seen := map[int]bool{}
	for i, s := range queue {
		if space.States[i].Quiescent && !seen[s.counter] {
			seen[s.counter] = true
			space.Outcomes = append(space.Outcomes, core.OutcomeReport{State: core.StateID(i), States: 1, Objects: space.States[i].Objects})
		}
	}
	return space
}

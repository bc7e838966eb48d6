package builtin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/core"
)

// controller starts the workers of a real controller, and returns when the context ends.
type controller func(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (run func(context.Context), err error)

// side is one side of a comparison: a world with controllers in it.
type side struct {
	*world
	// settle runs the controllers until they have nothing left to do.
	settle func() error
	// tick lets the time come at which what happens once a day is due.
	tick func()
}

// realSide runs real controllers. It is to be called in a bubble; stop ends them.
//
// What several come to may depend on which of them is faster. So the first is where the server is, and those after it
// are so far away that the ones before them have nothing left to do by the time that an event, a request or an answer
// has arrived. All caches show the present.
func realSide(options []kube.Option, all ...controller) (s *side, stop func(), err error) {
	// Resource versions of the simulated server are in no order.
	gates := map[string]bool{}
	for _, kind := range []string{"ReplicaSet", "StatefulSet", "Job", "DaemonSet"} {
		gates["StaleControllerConsistency"+kind] = false
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return nil, nil, err
	}
	w, err := newWorld(options...)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for n, start := range all {
		latency := time.Duration(n) * 10 * time.Second
		client, err := w.clientset(latency)
		if err != nil {
			cancel()
			return nil, nil, err
		}
		run, err := start(ctx, watch(w, latency), client)
		if err != nil {
			cancel()
			return nil, nil, err
		}
		running.Go(func() { run(ctx) })
	}
	settle := func() error {
		synctest.Wait()
		for range 4 { // back-offs are over
			time.Sleep(10 * time.Minute)
			synctest.Wait()
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.refused) > 0 {
			return fmt.Errorf("the simulated server: %s", w.refused)
		}
		return nil
	}
	tick := func() {
		const day = 24 * time.Hour
		time.Sleep(time.Until(time.Now().Truncate(day).Add(day + time.Second)))
	}
	return &side{w, settle, tick}, func() { cancel(); running.Wait() }, nil
}

// standInSide runs companions. One that is named before another goes first, as on the real side. next says which of a
// number of requests that one has is taken next.
func standInSide(options []kube.Option, next func(int) int, all ...companions.Companion) (*side, error) {
	w, err := newWorld(options...)
	if err != nil {
		return nil, err
	}
	var instances []core.Instance
	var watched []sets.Set[core.Kind]
	for _, companion := range all {
		strategy, err := companion(w.server)
		if err != nil {
			return nil, err
		}
		instance, err := strategy.New()
		if err != nil {
			return nil, err
		}
		instances, watched = append(instances, instance), append(watched, sets.New(strategy.Describe().Watches...))
	}
	var changes []change
	w.changed = func(made []change) []func() {
		changes = append(changes, made...)
		return nil
	}
	clock := &dues{}
	// As on the real side, where all back-offs are over, who fails without a change waits for the next one.
	queues, failed := make([][]core.Request, len(all)), make([][]core.Request, len(all))
	deliver := func() {
		for i := range failed {
			if len(changes) > 0 {
				queues[i], failed[i] = append(queues[i], failed[i]...), nil
			}
		}
		for len(changes) > 0 {
			c := changes[0]
			changes = changes[1:]
			clock.see(c)
			for i, instance := range instances {
				if !watched[i].Has(c.key.Kind) {
					continue
				}
				for _, request := range instance.Handle(w, core.Event{Key: c.key, Old: c.old, New: c.new}) {
					if !slices.Contains(queues[i], request) {
						queues[i] = append(queues[i], request)
					}
				}
			}
		}
	}
	settle := func() error {
		const many = 1000
		for range many {
			deliver()
			busy := slices.IndexFunc(queues, func(queue []core.Request) bool { return len(queue) > 0 })
			if busy >= 0 {
				at := next(len(queues[busy]))
				request := queues[busy][at]
				queues[busy] = slices.Delete(queues[busy], at, at+1)
				if clock.holds(request) {
					failed[busy] = append(failed[busy], request)
					continue
				}
				if result := instances[busy].Reconcile(w, request); result.Err != nil {
					failed[busy] = append(failed[busy], request)
				}
				deliver()
			}
			if len(w.refused) > 0 {
				return fmt.Errorf("the simulated server: %s", w.refused)
			}
			if busy < 0 {
				return nil
			}
		}
		return fmt.Errorf("the companions do not settle: %v", queues)
	}
	tick := func() {
		clock.come = true
		for i := range failed {
			queues[i], failed[i] = append(queues[i], failed[i]...), nil
		}
	}
	return &side{w, settle, tick}, nil
}

// dues holds back what a companion does when something is due, which is at any time, until that time has come for the
// real controller.
type dues struct{ come bool }

func (d *dues) holds(request core.Request) bool {
	return strings.HasPrefix(string(request), "due ") && !d.come
}

// see notes that a CronJob has begun what was due.
func (d *dues) see(c change) {
	scheduled := func(content core.Content) any {
		tree, _ := content.Fields().(map[string]any)
		status, _ := tree["status"].(map[string]any)
		return status["lastScheduleTime"]
	}
	if c.key.Kind == "CronJob.batch" && c.old != nil && c.new != nil && scheduled(c.old) != scheduled(c.new) {
		d.come = false
	}
}

// step is something that happens to the objects of a world.
type step struct {
	name string
	do   func(*world)
	// instead is what stands in for it on the side of the companions, nil for the same.
	instead func(*world)
	// day tells that a day has passed once all is settled.
	day bool
}

// compare makes the steps on both sides, and compares what they come to after each.
func compare(t *testing.T, steps []step, standIns []companions.Companion, real ...controller) {
	t.Helper()
	compareOn(t, nil, steps, standIns, real...)
}

// compareOn does so on servers with options.
func compareOn(t *testing.T, options []kube.Option, steps []step, standIns []companions.Companion, real ...controller) {
	t.Helper()
	if difference := differs(t, options, inTurn, steps, standIns, real...); difference != "" {
		t.Fatal(difference)
	}
}

// inTurn takes requests in their order.
func inTurn(int) int { return 0 }

// compareAny compares what the companions come to with what the real controllers may come to that leave something to
// chance, such as the order of a map: one of many runs of them must be the same after each step.
func compareAny(t *testing.T, steps []step, standIns []companions.Companion, real ...controller) {
	t.Helper()
	const runs = 300
	difference := ""
	for range runs { // one, most of the time
		if difference = differs(t, nil, inTurn, steps, standIns, real...); difference == "" {
			return
		}
	}
	t.Fatalf("in %d runs of the real controllers, the last of which is shown, %s", runs, difference)
}

// compareOrders compares what the companions come to if they take their requests in one of many orders, as they do in a
// search, with what the real controllers come to: one of the orders must be the same after each step.
func compareOrders(t *testing.T, steps []step, standIns []companions.Companion, real ...controller) {
	t.Helper()
	const runs = 300
	first := differs(t, nil, inTurn, steps, standIns, real...)
	for n := range uint64(runs) {
		if first == "" || differs(t, nil, rand.New(rand.NewPCG(n, 0)).IntN, steps, standIns, real...) == "" {
			return
		}
	}
	t.Fatalf("in %d orders of the companions, the first of which is shown, %s", runs, first)
}

// differs says how two sides differ after a step, "" if they do not.
func differs(t *testing.T, options []kube.Option, next func(int) int, steps []step, standIns []companions.Companion, real ...controller) string {
	t.Helper()
	difference := ""
	synctest.Test(t, func(t *testing.T) {
		theirs, stop, err := realSide(options, real...)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		ours, err := standInSide(options, next, standIns...)
		if err != nil {
			t.Fatal(err)
		}
		if err := theirs.settle(); err != nil { // they are all watching by now
			t.Fatal(err)
		}
		for n, s := range steps {
			for name, side := range map[string]*side{"the real controllers": theirs, "the companions": ours} {
				do := s.do
				if side == ours && s.instead != nil {
					do = s.instead
				}
				side.atOnce(do)
				err := side.settle()
				if err == nil && s.day {
					side.tick()
					err = side.settle()
				}
				if err != nil {
					t.Fatalf("%s: %v\n%s", name, err, told(steps[:n+1]))
				}
			}
			want, got := outcome(theirs.world), outcome(ours.world)
			if !slices.Equal(want, got) {
				difference = fmt.Sprintf("the outcomes differ after\n%s\nthe real controllers:\n%s\nthe companions:\n%s",
					told(steps[:n+1]), lines(missing(want, got)), lines(missing(got, want)))
				return
			}
		}
	})
	return difference
}

func told(steps []step) string {
	text := ""
	for _, s := range steps {
		text += "  " + s.name + "\n"
	}
	return text
}

func lines(all []string) string {
	text := ""
	for _, line := range all {
		text += "  " + line + "\n"
	}
	return text
}

// missing are the lines of one outcome that are not as often in the other.
func missing(from, in []string) []string {
	in = slices.Clone(in)
	return slices.DeleteFunc(slices.Clone(from), func(line string) bool {
		i := slices.Index(in, line)
		if i >= 0 {
			in = slices.Delete(in, i, i+1)
		}
		return i >= 0
	})
}

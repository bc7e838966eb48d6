package clientgo_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

// interval has each item wait for as long, whether it has failed or not.
type interval time.Duration

// When implements [workqueue.TypedRateLimiter].
func (i interval) When(string) time.Duration { return time.Duration(i) }

// Forget implements [workqueue.TypedRateLimiter].
func (interval) Forget(string) {}

// NumRequeues implements [workqueue.TypedRateLimiter].
func (interval) NumRequeues(string) int { return 1 }

// libraryController has its queue in a struct behind an interface, as the controllers of library-go's factory have.
type libraryController struct {
	name  string
	syncs interface {
		Queue() workqueue.TypedRateLimitingInterface[string]
	}
}

type syncContext struct {
	queue workqueue.TypedRateLimitingInterface[string]
}

func (s syncContext) Queue() workqueue.TypedRateLimitingInterface[string] { return s.queue }

// TestLimiters checks a controller that always adds its item again, in the way that its limiter is for: one with an
// interval polls, and one that holds back the more the more often an item has failed tries again at once, however long
// it may take.
func TestLimiters(t *testing.T) {
	for name, test := range map[string]struct {
		limiter workqueue.TypedRateLimiter[string]
		want    core.Verdict
	}{
		"interval":       {interval(15 * time.Second), core.Holds},
		"short interval": {interval(time.Millisecond), core.Violated},
		"back-off":       {workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Second, time.Minute), core.Violated},
		"usual":          {workqueue.DefaultTypedControllerRateLimiter[string](), core.Violated},
	} {
		for run, queueIn := range map[string]func(*clientgo.Environment, *mirror) (*clientgo.Queue[string], error){
			"replaced": func(e *clientgo.Environment, m *mirror) (*clientgo.Queue[string], error) {
				return clientgo.QueueIn[string](e, m)
			},
			"taken over": func(e *clientgo.Environment, m *mirror) (*clientgo.Queue[string], error) {
				return clientgo.TakeOver[string](e, m.queue)
			},
			"held by what a library has made": func(e *clientgo.Environment, m *mirror) (*clientgo.Queue[string], error) {
				return clientgo.QueueIn[string](e, &libraryController{name: "mirror", syncs: syncContext{m.queue}})
			},
		} {
			t.Run(name+" "+run, func(t *testing.T) {
				r := check(t, orrery.Options{}, clientgo.Setup(setUpMirror(func(e *clientgo.Environment, m *mirror) error {
					m.queue.ShutDown()
					m.queue = workqueue.NewTypedRateLimitingQueue(test.limiter)
					m.sabotage = func(m *mirror, c *corev1.ConfigMap) error {
						m.queue.AddRateLimited(c.Namespace + "/" + c.Name)
						return nil
					}
					queue, err := queueIn(e, m)
					if err != nil {
						return err
					}
					clientgo.Run(e, "mirror", m, queue, func(ctx context.Context) error { return m.Run(ctx, 2) })
					return nil
				})), clientgo.ObjectValues(configMap("a", "1")))
				if r.Verdict != test.want {
					t.Errorf("%s, want %s: %v %v", r.Verdict, test.want, r.Reasons, summaries(r))
				}
			})
		}
	}
}

// TestRequeues checks a mirror that gives up after some retries, as a Secret that another controller makes late is not
// there yet: where its queue counts, it ends without the Secret's copy, and where not, it tries on.
func TestRequeues(t *testing.T) {
	const most = 2
	for name, test := range map[string]struct {
		counts, takenOver, early bool
		want                     core.Verdict
		outcomes                 int
	}{
		"counted":                {counts: true, want: core.Violated, outcomes: 2},
		"counted and taken over": {counts: true, takenOver: true, want: core.Violated, outcomes: 2},
		"counted, never failing": {counts: true, early: true, want: core.Holds, outcomes: 1},
		"not counted":            {want: core.Violated, outcomes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			late := configMap("late", "1")
			objects := []client.Object{configMap("a", "1")}
			if test.early {
				objects = append(objects, late)
			}
			r := check(t, orrery.Options{}, clientgo.Setup(setUpMirror(func(e *clientgo.Environment, m *mirror) error {
				work := m.queue
				queue, err := clientgo.QueueIn[string](e, m)
				if test.takenOver {
					m.queue = work
				}
				if err != nil {
					return err
				}
				if test.counts {
					queue.CountRequeues(most)
				}
				clientgo.Run(e, "mirror", m, queue, func(ctx context.Context) error {
					key, _ := m.queue.Get()
					defer m.queue.Get()
					defer m.queue.Done(key)
					_, err := m.configMaps.ConfigMaps("default").Get("late")
					switch {
					case err == nil:
						m.queue.Forget(key)
						return m.sync(ctx, key)
					case m.queue.NumRequeues(key) < most:
						m.queue.AddRateLimited(key)
					default:
						m.queue.Forget(key)
					}
					return nil
				})
				return nil
			})), clientgo.ObjectValues(objects...), clientgo.Scenario(scenario.Create(late)))
			if r.Verdict != test.want || r.Outcomes < test.outcomes {
				t.Errorf("%s with %d outcomes, want %s with %d: %v %v", r.Verdict, r.Outcomes, test.want, test.outcomes, r.Reasons, summaries(r))
			}
			for _, f := range r.Findings {
				if busy := f.Property == "stable convergence"; busy == test.counts {
					t.Errorf("it has the finding %q", f.Summary)
				}
			}
			if assumed := strings.Contains(strings.Join(r.Assumptions, ""), "do not count how often"); assumed == test.counts {
				t.Errorf("it assumes %q", r.Assumptions)
			}
		})
	}
}

// TestQueuesThatAreLeft wants a queue that nobody has replaced to be a mistake of the set-up, but for one that was shut
// down.
func TestQueuesThatAreLeft(t *testing.T) {
	type pair struct {
		first, second workqueue.TypedRateLimitingInterface[string]
		later         workqueue.TypedDelayingInterface[string]
	}
	for want, change := range map[string]func(*pair){
		"pair.second is a work queue that client-go has made": func(p *pair) {
			p.second = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		},
		"pair.later is a work queue that client-go has made": func(p *pair) { p.later = workqueue.NewTypedDelayingQueue[string]() },
		"": func(p *pair) {
			p.second = p.first
			p.later = workqueue.NewTypedDelayingQueue[string]()
			p.later.ShutDown()
		},
	} {
		_, err := clientgo.New(scheme.Scheme, clientgo.Setup(func(e *clientgo.Environment) error {
			p := &pair{first: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())}
			change(p)
			queue, err := clientgo.QueueIn[string](e, p, "first")
			if err != nil {
				return err
			}
			queue.Add("a")
			clientgo.Sync(e, "pair", p, queue, func(context.Context, string) error { return nil })
			return nil
		}))
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that says %q", err, want)
		}
	}
}

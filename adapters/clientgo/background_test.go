package clientgo_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/core"
)

// labelled is a controller whose syncs leave the work to a goroutine of the set-up, which labels the ConfigMap and
// wakes the controller for it once more.
func labelled(started func(*clientgo.Environment) context.Context) func(*clientgo.Environment, *parts) error {
	return func(e *clientgo.Environment, p *parts) error {
		p.left = make(chan string, 4)
		p.sync = func(_ context.Context, key string) error {
			c, err := p.configMaps.ConfigMaps("default").Get(strings.TrimPrefix(key, "default/"))
			if err == nil && c.Labels["done"] == "" {
				p.left <- key
			}
			return err
		}
		ctx := started(e)
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case key := <-p.left:
					patch := []byte(`{"metadata":{"labels":{"done":"yes"}}}`)
					if _, err := p.client.CoreV1().ConfigMaps("default").Patch(ctx, strings.TrimPrefix(key, "default/"), "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
						p.queue.Add(key)
					}
				}
			}
		}()
		return nil
	}
}

// TestBackground wants what a goroutine of the set-up does to be steps of the process: also where the process crashes
// before, or where a call fails.
func TestBackground(t *testing.T) {
	for name, options := range map[string]orrery.Options{"": {}, "crash": {Crashes: 1}, "failure": {Failures: 1}, "lag": {Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}}} {
		t.Run(name, func(t *testing.T) {
			r := checkAny(t, options, clientgo.Setup(setupOf(labelled((*clientgo.Environment).Background))), clientgo.ObjectValues(in("default", "a", nil)))
			if r.Verdict != core.Holds || r.Outcomes != 1 {
				t.Fatalf("%s with %d outcomes: %v %v", r.Verdict, r.Outcomes, r.Reasons, summaries(r))
			}
			for _, o := range r.OutcomeList[0].Objects {
				if labels, _ := o.Fields.(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]any); labels["done"] != "yes" {
					t.Errorf("it ends with labels %v", labels)
				}
			}
		})
	}
}

// TestSetupReads wants what a set-up reads from informers to be a reason where a real one would have something to show,
// and nowhere else.
func TestSetupReads(t *testing.T) {
	for name, test := range map[string]struct {
		before func(context.Context, *parts)
		doubt  bool
	}{
		"before the start": {func(context.Context, *parts) {}, false},
		"after the start":  {func(ctx context.Context, p *parts) { p.factory.Start(ctx.Done()) }, true},
		"synced": {func(_ context.Context, p *parts) {
			p.factory.Core().V1().ConfigMaps().Informer().HasSynced()
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkAny(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
				test.before(e.Context(), p)
				_, err := p.configMaps.List(labels.Everything())
				return err
			})), clientgo.ObjectValues(in("default", "a", nil)))
			doubt := slices.ContainsFunc(r.Reasons, func(reason string) bool {
				return strings.Contains(reason, "the set-up reads ConfigMap from an informer")
			})
			if doubt != test.doubt || (r.Verdict == core.Holds) == test.doubt {
				t.Errorf("%s: %v", r.Verdict, r.Reasons)
			}
		})
	}
}

// TestDuck wants an informer to show a kind as another Go type.
func TestDuck(t *testing.T) {
	var seen []string
	r := check(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
		kind, err := e.RESTMapper().KindFor(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
		if err != nil {
			return err
		}
		ducks, err := e.Duck(kind, &metav1.PartialObjectMetadata{})
		if err != nil {
			return err
		}
		p.sync = func(context.Context, string) error {
			for _, object := range ducks.GetStore().List() {
				seen = append(seen, object.(*metav1.PartialObjectMetadata).Name)
			}
			return nil
		}
		_, err = e.Duck(schema.GroupVersionKind{Version: "v1", Kind: "Nothing"}, &corev1.Pod{})
		if err == nil {
			t.Error("a kind that is not served has an informer")
		}
		return nil
	})), clientgo.ObjectValues(in("default", "a", nil)))
	if r.Verdict != core.Holds || !slices.Contains(seen, "a") {
		t.Errorf("%s: %v, and it saw %v", r.Verdict, r.Reasons, seen)
	}
}

// TestHiddenBackground wants a sync whose result depends on what a goroutine has told it, where nothing of that can be
// seen, not to be said to go on for ever. Whether the goroutine fills the queue while the sync is at work or behind it
// is chance, so that either of them may be the one that is found not to be deterministic.
func TestHiddenBackground(t *testing.T) {
	r := checkAny(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
		asked, finished, known := make(chan string, 4), make(chan string, 4), map[string]bool{}
		p.sync = func(_ context.Context, key string) error {
			select {
			case done := <-finished:
				known[done] = true
			default:
			}
			if !known[key] {
				asked <- key
			}
			return nil
		}
		go func(ctx context.Context) {
			for {
				select {
				case <-ctx.Done():
					return
				case key := <-asked:
					finished <- key
					p.queue.Add(key)
				}
			}
		}(e.Background())
		return nil
	})), clientgo.ObjectValues(in("default", "a", nil)))
	chance := func(reason string) bool {
		return strings.Contains(reason, "parts (background) is not deterministic") || strings.Contains(reason, "parts is not deterministic")
	}
	if r.Verdict != core.Inconclusive || !slices.ContainsFunc(r.Reasons, chance) {
		t.Errorf("%s: %v %v", r.Verdict, r.Reasons, summaries(r))
	}
}

// TestLoopsAtOnce has a goroutine of the set-up read and write at once, and then each hour: it waits until controllers
// run, however far the set-up has come. It takes off a label that a sync puts on, or does nothing.
func TestLoopsAtOnce(t *testing.T) {
	for name, want := range map[string]core.Verdict{"on": core.Violated, "off": core.Holds} {
		for range 3 {
			r := checkAny(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
				label := func(ctx context.Context, to string) error {
					known, err := p.configMaps.ConfigMaps("default").Get("a")
					if err != nil || known.Labels["is"] == to {
						return err
					}
					patch := fmt.Appendf(nil, `{"metadata":{"labels":{"is":%q}}}`, to)
					_, err = p.client.CoreV1().ConfigMaps("default").Patch(ctx, "a", types.MergePatchType, patch, metav1.PatchOptions{})
					return err
				}
				p.sync = func(ctx context.Context, _ string) error { return label(ctx, name) }
				go wait.UntilWithContext(e.Background(), func(ctx context.Context) { _ = label(ctx, "off") }, time.Hour)
				return nil
			})), clientgo.ObjectValues(in("default", "a", nil)))
			if r.Verdict != want {
				t.Fatalf("%s with a sync that labels it %s, want %s: %v %v", r.Verdict, name, want, r.Reasons, summaries(r))
			}
		}
	}
}

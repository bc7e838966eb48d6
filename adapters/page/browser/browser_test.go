package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	pages "github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/core"
)

// attack is an annotation that would like to be run.
const attack = `</script><script>window.attacked = true</script><img src=x onerror="window.attacked = true">`

// budget is a report of two runs that part: a controller of Pods and one of a quota both act. An object has a note.
func budget(note string) core.Report {
	pod := func(name, phase string) map[string]any {
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web:1"}}}, "status": map[string]any{"phase": phase, "conditions": []any{
			map[string]any{"type": "Ready", "status": "False", "message": "it has just been made"},
		}}, "metadata": map[string]any{"generation": 1, "labels": map[string]any{"app": name}}}
	}
	create := func(who, name string, stale bool) core.TraceStep {
		step := core.TraceStep{
			Kind: "reconcile", Controller: who, Request: "default/web", Late: stale,
			Calls: []core.TraceCall{
				{Call: "get ReplicaSet default/web", Response: "ok"}, {Call: "list Pod in default with app=web", Response: "0 items"},
				{Call: "create Pod default/" + name, Response: "ok", Wrote: true},
			},
			Changes:  []core.TraceChange{{Kind: "Pod", Namespace: "default", Name: name, Verb: "created", Fields: []core.FieldChange{{To: pod(name, "Pending")}}}},
			Enqueued: []string{"quota(default/" + name + ")"},
		}
		if stale {
			step.Unseen = []string{"Pod default/web-1 was created"}
			step.Calls[1].Behind = []core.TraceLag{{Kind: "Pod", Changes: 1}}
		}
		return step
	}
	count := core.TraceStep{
		Kind: "reconcile", Controller: "quota", Request: "default/web-1",
		Calls: []core.TraceCall{{Call: "list Pod in default", Response: "1 item"}, {Call: "update Quota default/pods (status)", Response: "ok", Wrote: true}},
		Changes: []core.TraceChange{{Kind: "Quota", Namespace: "default", Name: "pods", Verb: "changed", Fields: []core.FieldChange{
			{Path: "status.conditions[type=Full].lastTransitionTime", From: "2000-01-01T00:00:00Z", To: "2000-01-01T00:00:01Z"},
			{Path: "status.conditions[type=Full].status", From: "False", To: "True"}, {Path: "status.used", From: 0, To: 1},
		}}},
		Memory: []core.MemoryChange{{Controller: "quota", Field: "Reconciler.seen[default/web-1]", To: new(string)}},
	}
	look := core.TraceStep{Kind: "reconcile", Controller: "quota", Request: "default/web-1", Calls: []core.TraceCall{{Call: "list Pod in default", Response: "1 item"}}}
	remove := core.TraceStep{Kind: "reconcile", Controller: "collector", Request: "Pod/default/web-1", Changes: []core.TraceChange{{Kind: "Pod", Namespace: "default", Name: "web-1", Verb: "deleted"}}}
	initial := []core.TraceObject{
		{Kind: "Quota", Namespace: "default", Name: "pods", Fields: map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"note": note}},
			"spec":     map[string]any{"most": 1}, "status": map[string]any{"used": 0, "conditions": []any{map[string]any{"type": "Full", "status": "False"}}},
		}},
		{Kind: "ReplicaSet", Namespace: "default", Name: "web", Fields: map[string]any{"spec": map[string]any{"replicas": 1}}},
		{Kind: "Secret", Namespace: "default", Name: "token", Fields: map[string]any{"type": "Opaque"}},
	}
	other := core.Trace{Initial: initial, CycleStart: -1, Steps: []core.TraceStep{create("pods", "web-1", false), look, look, count}}
	return core.Report{
		System: "replicas", Params: map[string]string{"size": "1"}, Verdict: core.Violated, States: 1234, Transitions: 5678, Depth: 9, TerminalStates: 2, Outcomes: 2, Behaviours: 12,
		Reduction: "por", Granularity: "reconcile", Workers: 2, Elapsed: 1500 * time.Millisecond, StatesPerSecond: 822,
		Properties: []core.PropertyReport{{Name: "stable convergence", Verdict: core.Holds}, {Name: "same outcome", Verdict: core.Violated}, {Name: "at most one Pod", Verdict: core.Inconclusive}},
		Rungs:      []core.RungReport{{Name: "nothing goes wrong", Verdict: core.Holds, States: 40}, {Name: "each cache one change behind", Verdict: core.Violated, States: 1234}},
		Findings: []core.Finding{{
			ID: 1, Property: "same outcome", Summary: "the system can reach 2 different outcomes: Pod default/web-2 exists only in the first one", Steps: 6,
			Details: []string{"Requires at least one reconcile of pods on a stale cache."}, Controllers: []string{"pods", "quota"}, Fields: []string{"Pod default/web-2"},
			Replay: "orrery replay run.orr --finding 1",
			Trace:  core.Trace{Initial: initial, CycleStart: -1, Steps: []core.TraceStep{create("pods", "web-1", false), look, look, create("pods", "web-2", true), count, remove}}, Other: &other,
		}},
		OutcomeList: []core.OutcomeReport{
			{States: 1, Objects: []core.TraceObject{{Kind: "Pod", Namespace: "default", Name: "web-2", Fields: pod("web-2", "Pending")}}}, {States: 3, Objects: []core.TraceObject{{Kind: "Quota", Namespace: "default", Name: "pods", Fields: map[string]any{"spec": map[string]any{"most": 1}}}}},
		},
		Assumptions: []string{"Each reconcile is one step: nothing it reads changes while it runs."},
	}
}

// open opens the page of a report in a browser, and returns its context and what goes wrong in it.
func open(t *testing.T, report core.Report) (context.Context, *complaints) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := pages.Report(file, &report); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	at := url.URL{Scheme: "file", Path: file.Name()}
	return browse(t, at.String())
}

// browse opens an address in a browser.
func browse(t *testing.T, address string) (context.Context, *complaints) {
	t.Helper()
	binary := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && binary == "" {
			binary = path
		}
	}
	if binary == "" {
		t.Skip("there is no Chromium: install it to test pages")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(binary), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true))
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	wrong := &complaints{}
	ctx, stop = chromedp.NewContext(ctx, chromedp.WithListener(wrong.listen))
	t.Cleanup(stop)
	do(t, ctx, chromedp.Navigate(address))
	return ctx, wrong
}

// complaints are what goes wrong in the page, and what its policy refuses.
type complaints struct {
	mu   sync.Mutex
	said []string
}

func (c *complaints) listen(event any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch event := event.(type) {
	case *runtime.EventExceptionThrown:
		c.said = append(c.said, event.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		c.said = append(c.said, event.Entry.Text)
	}
}

// none fails the test if there are any.
func (c *complaints) none(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.said) > 0 {
		t.Errorf("the browser says %q", c.said)
	}
}

// do takes actions in the browser.
func do(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// get returns what an action in the browser does.
func get[T any](t *testing.T, ctx context.Context, action chromedp.Action[T]) T {
	t.Helper()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	return get(t, ctx, chromedp.Evaluate[T](expression))
}

// scheme prefers light or dark.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return err
	})
}

// fits shows the page on a screen of a width that prefers light or dark, and checks that it is no wider and that
// everything can be told from its ground.
func fits(t *testing.T, ctx context.Context, width int64, preferred string) {
	t.Helper()
	do(t, ctx, chromedp.EmulateViewport(width, 900), scheme(preferred))
	if wide := evaluate[int64](t, ctx, "document.documentElement.scrollWidth"); wide > width {
		t.Errorf("on a screen of %d, the page is %d wide", width, wide)
	}
	if poor := evaluate[[]string](t, ctx, contrast); len(poor) > 0 {
		t.Errorf("%s, %d wide: hard to read: %s", preferred, width, strings.Join(poor, ", "))
	}
}

// TestWidths opens the page on screens of many sizes, light and dark: nothing is wider than the screen, everything can
// be told from its ground, and nothing that is told is run.
func TestWidths(t *testing.T) {
	ctx, wrong := open(t, budget(attack))
	for _, width := range []int64{360, 768, 1280, 1920, 3840} {
		for _, preferred := range []string{"light", "dark"} {
			fits(t, ctx, width, preferred)
		}
	}
	if evaluate[bool](t, ctx, "window.attacked === true") {
		t.Error("what is in an annotation has run")
	}
	wrong.none(t)
}

// contrast lists the texts whose color has a contrast of less than 4.5 with the ground behind them, as the Web Content
// Accessibility Guidelines (WCAG 2.1, 1.4.3) define it.
const contrast = `(() => {
  const parse = (c) => c.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const poor = new Set();
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || e.tagName === "SCRIPT" || !e.checkVisibility()) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.add(e.tagName + "." + e.className + " " + ratio.toFixed(2));
  }
  return [...poor];
})()`

// TestServed opens the pages of states, from one to the next by clicks.
func TestServed(t *testing.T) {
	address := serve(t, attack)
	ctx, wrong := browse(t, address)
	for _, test := range []struct {
		do  chromedp.Action[chromedp.Void]
		has []string
	}{
		{chromedp.Click(chromedp.CSS(`nav a[href="/states"]`)), []string{"Where it can still end", "Group 1", "outcomes 1 and 2"}},
		{chromedp.Click(chromedp.CSS(`#group-3 a[href^="/states?class"]`)), []string{"1 of 3 states of group 3"}},
		{chromedp.Click(chromedp.CSS(`#found a`)), []string{"State 2", "It can still end in outcome 2", `color"green"`}},
		{chromedp.Click(chromedp.CSS(`.run-of-states a`)), []string{"State 0", "from then on, it can only end in outcome 1"}},
		{chromedp.Click(chromedp.CSS(`a[href^="/walk"]`)), []string{"Choose the next step", "left reconciles desk"}},
		{chromedp.Click(chromedp.CSS(`.steps .step a`)), []string{"and 1 that you chose", "Nothing can happen any more"}},
		{chromedp.Click(chromedp.CSS(`a[href="/walk?state=0"]`)), []string{"left reconciles desk"}},
	} {
		do(t, ctx, test.do, chromedp.WaitVisible(chromedp.CSS("main")))
		text := strings.Join(strings.Fields(evaluate[string](t, ctx, "document.body.innerText")), " ")
		for _, has := range test.has {
			if !strings.Contains(text, has) {
				t.Fatalf("want %q in:\n%s", has, text)
			}
		}
		for _, width := range []int64{360, 1280, 3840} {
			for _, preferred := range []string{"light", "dark"} {
				do(t, ctx, chromedp.EmulateViewport(width, 900), scheme(preferred))
				if wide := evaluate[int64](t, ctx, "document.documentElement.scrollWidth"); wide > width {
					t.Errorf("on a screen of %d, the page is %d wide", width, wide)
				}
				if poor := evaluate[[]string](t, ctx, contrast); len(poor) > 0 {
					t.Errorf("%s, %d wide: hard to read: %s", preferred, width, strings.Join(poor, ", "))
				}
			}
		}
		if evaluate[bool](t, ctx, "window.attacked === true") {
			t.Error("what is in an object has run")
		}
	}
	wrong.none(t)
}

// TestSteps goes from step to step by clicks and keys, and looks at the objects that are shown.
func TestSteps(t *testing.T) {
	ctx, wrong := open(t, budget(attack))
	do(t, ctx, chromedp.EmulateViewport(1280, 900))
	shown := func(part int) string {
		return evaluate[string](t, ctx, fmt.Sprintf(`document.querySelectorAll(".objects")[%d].innerText`, part))
	}
	if hidden := evaluate[bool](t, ctx, `[...document.querySelectorAll(".objects")].every((o) => o.hidden)`); !hidden {
		t.Error("objects are shown before a step is chosen")
	}
	// What both runs share, then the first one, and the second one.
	first := `document.querySelectorAll(".stage")[1].querySelectorAll(".step")`
	for _, test := range []struct {
		do        chromedp.Action[chromedp.Void]
		part      int
		has, lost string
	}{
		{chromedp.Click(chromedp.CSS(".single .step")), 0, "Objects after step 1\nPod default/web-1", "web-2"},
		{chromedp.KeyEvent(kb.ArrowDown), 0, "Objects after step 3", "web-2"},
		{chromedp.Evaluate[chromedp.Void](first + `[0].focus()`), 1, "Pod default/web-2\nmetadata.generation1", "Objects after step 3"},
		{chromedp.KeyEvent("j"), 1, "status.used1", "status.used0"},
		{chromedp.KeyEvent(kb.ArrowDown), 1, "Objects after step 6\nPod default/web-2", "web-1"},
		{chromedp.KeyEvent(kb.ArrowDown), 1, "Objects after step 6", "web-1"},
		{chromedp.KeyEvent("k"), 1, "Objects after step 5\nPod default/web-1", "status.used0"},
		{chromedp.KeyEvent(kb.Home), 1, "Objects after step 4", "status.used1"},
		{chromedp.KeyEvent(kb.End), 1, "Objects after step 6", "web-1"},
	} {
		do(t, ctx, test.do)
		text := shown(test.part)
		if !strings.Contains(text, test.has) || strings.Contains(text, test.lost) {
			t.Fatalf("want %q and no %q in:\n%s", test.has, test.lost, text)
		}
	}
	if chosen := evaluate[int](t, ctx, `document.querySelectorAll(".chosen").length`); chosen != 2 {
		t.Errorf("%d steps are chosen, want one of each part that was looked at", chosen)
	}
	wrong.none(t)
}

// TestPrint checks that what is folded is printed, and folded again after that.
func TestPrint(t *testing.T) {
	ctx, _ := open(t, budget(attack))
	folded := func() int { return evaluate[int](t, ctx, `document.querySelectorAll("details:not([open])").length`) }
	before := folded()
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("beforeprint"))`))
	during := folded()
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("afterprint"))`))
	if before == 0 || during != 0 || folded() != before {
		t.Errorf("%d folded parts, %d when it is printed, and %d after that", before, during, folded())
	}
	if paper := get(t, ctx, chromedp.PrintToPDF()); !strings.HasPrefix(string(paper), "%PDF") {
		t.Errorf("what is printed begins with %.8q", paper)
	}
}

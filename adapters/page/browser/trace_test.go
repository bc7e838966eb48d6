package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	pages "github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// recordedAnswers are answers to each question, about objects with a name.
func recordedAnswers(name string) map[string][]any {
	key := core.Key{Kind: "Widget.example.com", Namespace: "default", Name: name}
	version := func(rv int) analysis.Version { return analysis.Version{Key: key, ResourceVersion: fmt.Sprint(rv)} }
	answers := map[string][]any{}
	chain := &analysis.Link{Version: version(1), Event: live.Added, Before: true}
	for i := 1; i <= 12; i++ {
		who := fmt.Sprintf("controller-%d", i%8)
		now, before := version(i+1), version(i)
		var calls []analysis.ShownCall
		for range 2 * i {
			calls = append(calls, analysis.ShownCall{At: time.Duration(i) * time.Second, Verb: live.Update, Object: key, Answer: []analysis.Version{now}, Changed: i%2 == 0})
		}
		shown := analysis.Shown{At: time.Duration(i) * time.Second, Took: time.Millisecond, Waited: time.Millisecond, Controller: who, Request: "default/" + name,
			Woken: []analysis.Woken{{By: live.ByEvent, Event: live.Updated, Object: &before}}, Calls: calls}
		if i%5 == 0 {
			shown.Error = "the object has been modified: " + name
		}
		answers["show"] = append(answers["show"], shown)
		answers["stale"] = append(answers["stale"], analysis.StaleRead{At: shown.At, Controller: who, Request: shown.Request, Verb: live.Get, Read: before, Held: "9", Behind: 2, For: time.Second, Writes: calls[:1]})
		answers["fights"] = append(answers["fights"], analysis.Fight{Object: key, Field: "metadata.annotations[" + name + "]", Returns: i, Changes: []analysis.FieldChange{{ResourceVersion: "7", Value: name, Writer: who}}})
		answers["idle"] = append(answers["idle"], analysis.IdleController{Controller: who, Reconciles: 100, Idle: 8 * i, For: time.Second, Calls: 7, Woken: []analysis.IdleCause{{Cause: "updated " + name, Times: 8 * i}}})
		answers["slow"] = append(answers["slow"], analysis.Episode{Controller: who, Request: shown.Request, At: shown.At, Took: 3 * time.Second, Reconciles: i, Working: time.Duration(i) * 100 * time.Millisecond, Calling: 50 * time.Millisecond, Waiting: time.Second})
		writer := &analysis.Writer{Controller: who, Request: shown.Request, Reconcile: uint64(i), At: shown.At, Verb: live.Update, Causes: []analysis.Step{{By: live.ByEvent, Link: chain}}}
		if i%3 == 0 {
			writer.Causes = append(writer.Causes, analysis.Step{By: live.ByFailure, Before: &analysis.Writer{Controller: who, Request: shown.Request}})
		}
		chain = &analysis.Link{Version: now, Event: live.Updated, Writer: writer}
	}
	answers["why"] = []any{analysis.Answer{Object: key, Last: chain}}
	return answers
}

// openTrace opens the page of the answers to a question.
func openTrace(t *testing.T, question, name string) (context.Context, *complaints) {
	t.Helper()
	p := pages.NewTrace(question, "")
	for _, answer := range recordedAnswers(name)[question] {
		if err := p.Add(answer); err != nil {
			t.Fatal(err)
		}
	}
	p.LeaveOut("These are the first answers.")
	file, err := os.Create(filepath.Join(t.TempDir(), question+".html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(file, "nothing", analysis.Notes{Said: []string{"a file was cut off " + name}}); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	at := url.URL{Scheme: "file", Path: file.Name()}
	return browse(t, at.String())
}

// TestTraces opens the answers to each question on screens of many sizes, light and dark.
func TestTraces(t *testing.T) {
	for question := range recordedAnswers("") {
		t.Run(question, func(t *testing.T) {
			ctx, wrong := openTrace(t, question, attack)
			for _, width := range []int64{360, 768, 1600, 3840} {
				for _, preferred := range []string{"light", "dark"} {
					fits(t, ctx, width, preferred)
					if *pictures != "" {
						picture := filepath.Join(*pictures, fmt.Sprintf("trace-%s-%s-%d.png", question, preferred, width))
						if err := os.WriteFile(picture, get(t, ctx, chromedp.CaptureScreenshot()), 0o644); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if evaluate[bool](t, ctx, "window.attacked === true") {
				t.Error("what a recording says has run")
			}
			if folded := evaluate[int](t, ctx, `dispatchEvent(new Event("beforeprint")), document.querySelectorAll("details:not([open])").length`); folded != 0 {
				t.Errorf("%d parts are folded on paper", folded)
			}
			wrong.none(t)
		})
	}
}

// TestTraceKeys goes from one answer to the next by keys.
func TestTraceKeys(t *testing.T) {
	ctx, wrong := openTrace(t, "show", "web")
	do(t, ctx, chromedp.Click(chromedp.CSS(".step")))
	for _, test := range []struct {
		key  string
		want int
	}{{kb.ArrowDown, 1}, {"j", 2}, {"k", 1}, {kb.End, 11}, {kb.ArrowDown, 11}, {kb.ArrowUp, 10}, {kb.Home, 0}} {
		do(t, ctx, chromedp.KeyEvent(test.key))
		if at := evaluate[int](t, ctx, `[...document.querySelectorAll(".step")].indexOf(document.querySelector(".chosen"))`); at != test.want {
			t.Errorf("behind %q, answer %d is chosen, want %d", test.key, at, test.want)
		}
	}
	wrong.none(t)
}

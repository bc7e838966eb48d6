package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// answersOf returns an answer to each question in which a name comes wherever one can.
func answersOf(name string) map[string]any {
	key := core.Key{Kind: core.Kind("Widget"), Namespace: "default", Name: name}
	version := analysis.Version{Key: key, ResourceVersion: "7"}
	call := analysis.ShownCall{At: time.Second, Verb: live.Update, Object: key, Answer: []analysis.Version{version}, Changed: true}
	failed := analysis.ShownCall{At: time.Second, Verb: live.Patch, Object: key, Failed: &live.Failure{Message: name}}
	grow := &analysis.Writer{Controller: name, Request: "default/" + name, Reconcile: 3, At: time.Second, Verb: live.Update, Causes: []analysis.Step{
		{By: live.ByEvent, Link: &analysis.Link{Version: version, Event: live.Added, Manager: name}},
		{By: live.ByFailure, Before: &analysis.Writer{Controller: name, Request: name, Reconcile: 2}}, {By: live.ByCode},
	}, Cut: true}
	return map[string]any{
		"show": analysis.Shown{At: time.Second, Took: time.Millisecond, Waited: time.Millisecond, Controller: name, Request: name, Process: name, Error: name,
			Woken: []analysis.Woken{{By: live.ByEvent, Event: live.Updated, Object: &version}}, Calls: []analysis.ShownCall{call, failed}},
		"stale":  analysis.StaleRead{At: time.Second, Controller: name, Request: name, Verb: live.Get, Read: version, Held: "9", Behind: 2, Writes: []analysis.ShownCall{call}},
		"fights": analysis.Fight{Object: key, Field: name, Returns: 3, Changes: []analysis.FieldChange{{ResourceVersion: "7", Value: name, Writer: name}, {ResourceVersion: "8", Writer: "other"}}},
		"idle":   analysis.IdleController{Controller: name, Reconciles: 10, Idle: 4, Failed: 1, For: time.Second, Calls: 8, NoOps: 2, Woken: []analysis.IdleCause{{Cause: name, Times: 4}}},
		"slow":   analysis.Episode{Controller: name, Request: name, At: time.Second, Took: 4 * time.Second, Reconciles: 2, Failed: 1, Working: 2 * time.Second, Calling: time.Second, Waiting: 2 * time.Second},
		"why":    analysis.Answer{Object: key, Field: "spec." + name, Value: name, Former: "1", Last: &analysis.Link{Version: version, Writer: grow}},
	}
}

// tracePage writes the page of one answer.
func tracePage(t interface {
	Fatal(...any)
}, question string, answer any) string {
	p := page.NewTrace(question, "")
	if err := p.Add(answer); err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := p.Write(&written, "nothing", analysis.Notes{Said: []string{"a file was cut off"}}); err != nil {
		t.Fatal(err)
	}
	return written.String()
}

// TestTrace checks that the page of each question tells what the answer does.
func TestTrace(t *testing.T) {
	answers := answersOf("web")
	for question, wanted := range map[string][]string{
		"show":   {"1 reconcile</h2>", "because: updated Widget default/web@7", "update Widget default/web: @7", "failed after 1ms: web", "after 1ms in the queue", `class="step in-1 fault"`},
		"stale":  {"1 read</h2>", "read Widget default/web@7, when the server held @9: 2 versions behind", "update Widget default/web: @7"},
		"fights": {"1 field</h2>", "went back 3 times", "<code>nothing</code>", "by other"},
		"idle":   {"4 of 10 reconciles changed nothing; they took 1s and 8 live calls. 1 others failed.", `width="40"`, "2 writes changed nothing", "<td>4</td>"},
		"slow":   {"<strong>4s</strong> web web", `viewBox="0 0 4 1"`, `<rect class="rest" width="2"`, `<rect class="part" width="1"`, "2s at work (1s in calls), 2s waiting"},
		"why": {"spec.web is web, and was 1", "Widget default/web@7", "written by update in the reconcile of web default/web, at 1.000s", "which began because of added Widget default/web@7",
			"which began because the last reconcile failed", "which began because other code queued it", "which began because of more, which is not shown", "written by web, which is not recorded", `deep-1`},
	} {
		text := tracePage(t, question, answers[question])
		for _, want := range append(wanted, "a file was cut off.") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page has no %q", question, want)
			}
		}
		if tracePage(t, question, answers[question]) != text {
			t.Errorf("%s: the page is another one each time", question)
		}
	}
}

// TestTraceRunsNothing checks that the pages have one script and one style, those that their policy lets in, whatever
// recordings say.
func TestTraceRunsNothing(t *testing.T) {
	script, style, markup := regexp.MustCompile(`(?s)<script>(.*?)</script>`), regexp.MustCompile(`(?s)<style>(.*?)</style>`), regexp.MustCompile(`<[a-z]+`)
	known := map[string]bool{}
	for question, answer := range answersOf("web") {
		for _, tag := range markup.FindAllString(tracePage(t, question, answer), -1) {
			known[tag] = true
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.OneOf(rapid.SampledFrom([]string{"</script><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "<!--", "</style>", "\u2028", "{{.}}"}), rapid.String()).Draw(t, "name")
		for question, answer := range answersOf(evil) {
			text := tracePage(t, question, answer)
			for what, found := range map[string][][]string{"script": script.FindAllStringSubmatch(text, -1), "style": style.FindAllStringSubmatch(text, -1)} {
				if len(found) != 1 {
					t.Fatalf("%s: there are %d of %s", question, len(found), what)
				}
				sum := sha256.Sum256([]byte(found[0][1]))
				if !strings.Contains(text, what+"-src &#39;sha256-"+strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;")) {
					t.Fatalf("%s: the policy does not let in the %s", question, what)
				}
			}
			for _, tag := range markup.FindAllString(style.ReplaceAllString(script.ReplaceAllString(text, ""), ""), -1) {
				if !known[tag] {
					t.Fatalf("%s: there is a %s", question, tag)
				}
			}
		}
	})
}

// TestTraceIsBounded adds answers without end, with many calls and long texts.
func TestTraceIsBounded(t *testing.T) {
	for name, calls := range map[string]int{"": 0, strings.Repeat("x", 100_000): 1000} {
		shown, ok := answersOf(name)["show"].(analysis.Shown)
		if !ok {
			t.Fatal("the answer to show is another one")
		}
		for range calls {
			shown.Calls = append(shown.Calls, shown.Calls[0])
		}
		p := page.NewTrace("show", "")
		added := 0
		for ; added < 10_000; added++ {
			shown.Controller = fmt.Sprintf("controller-%d", added)
			if err := p.Add(shown); errors.Is(err, page.ErrFull) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		p.LeaveOut("The rest is left out.")
		var written bytes.Buffer
		if err := p.Write(&written, "", analysis.Notes{}); err != nil {
			t.Fatal(err)
		}
		if added == 0 || added > 250 || written.Len() > 8<<20 || !strings.Contains(written.String(), "The rest is left out.") {
			t.Errorf("%d answers with %d calls: %d bytes", added, calls, written.Len())
		}
		if calls > 100 && !strings.Contains(written.String(), "which are not in this page") {
			t.Error("it is not said that calls are missing")
		}
	}
	if err := page.NewTrace("show", "").Add("a text"); err == nil {
		t.Error("a text is an answer")
	}
	if err := page.NewTrace("show", "").Write(failing{errors.ErrUnsupported}, "", analysis.Notes{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
}

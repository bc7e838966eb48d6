package export_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/export"
	"github.com/orrery-dev/orrery/core"
)

// drawn is what is in a picture.
type drawn struct {
	width, height int
	texts         []string
}

// pictureOf draws a finding, and checks that the picture is whole: it is XML of shapes and texts only, none of which is
// outside of it.
func pictureOf(t interface {
	Fatalf(string, ...any)
	Fatal(...any)
}, finding core.Finding) drawn {
	var got bytes.Buffer
	if err := export.SVG(&got, finding); err != nil {
		t.Fatal(err)
	}
	var d drawn
	decoder := xml.NewDecoder(&got)
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		measures := map[string]int{}
		for _, a := range start.Attr {
			if !slices.Contains([]string{"xmlns", "width", "height", "viewBox", "role", "aria-labelledby", "id", "class", "x", "y", "rx", "x1", "x2", "y1", "y2"}, a.Name.Local) {
				t.Fatalf("%s has a %s", start.Name.Local, a.Name.Local)
			}
			if n, err := strconv.Atoi(a.Value); err == nil {
				measures[a.Name.Local] = n
			}
		}
		switch start.Name.Local {
		case "svg":
			d.width, d.height = measures["width"], measures["height"]
		case "style", "title", "line":
		case "rect":
			if measures["x"] < 0 || measures["x"]+measures["width"] > d.width || measures["y"]+measures["height"] > d.height {
				t.Fatalf("%v is outside of %d×%d", measures, d.width, d.height)
			}
		case "text":
			var text string
			if err := decoder.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			if measures["x"] < 0 || measures["x"]+7*utf8.RuneCountInString(text) > d.width || measures["y"] > d.height {
				t.Fatalf("%q at %v is outside of %d×%d", text, measures, d.width, d.height)
			}
			d.texts = append(d.texts, strings.ReplaceAll(text, "\u00a0", " "))
		default:
			t.Fatalf("there is an element %s", start.Name.Local)
		}
	}
}

// TestSVG checks that all that matters is told, in the order of the steps.
func TestSVG(t *testing.T) {
	finding := fight()
	finding.Trace.Steps[2].Calls[0].Behind = []core.TraceLag{{Kind: "Deployment", Changes: 1}}
	finding.Trace.Steps[2].Calls[1].At = &core.Site{File: "scale.go", Line: 7, Function: "scaler.Reconcile"}
	finding.Trace.Steps[3].Detail, finding.Trace.Steps[3].Result = "the first call fails", "failed: broken"
	told := strings.Join(pictureOf(t, finding).texts, "\n")
	at := 0
	for _, want := range []string{
		"Finding 1: stable convergence", "scaler and saver write spec.replicas; for ever", "reader", "scaler", "saver", "user", "Steps 1 and 2 change nothing", "1. reader reconciles the end", "Steps 3 to 5 repeat forever:", "3. scaler reconciles shop/web",
		"get Deployment shop/web → ok", "from a cache that is 1 change behind", "update Deployment shop/web → 409", "at scale.go:7, scaler.Reconcile", "changed Deployment shop/web", "spec.replicas:", "− 1", "+ 3", "4. saver reconciles shop/web", "the first call fails", "failed: broken",
		"5. user action: end", "created Note n", "deleted Deployment shop/web",
	} {
		next := strings.Index(told[at:], want)
		if next < 0 {
			t.Fatalf("there is no %q in\n%s", want, told[at:])
		}
		at += next
	}
}

// TestSVGOfTwoRuns checks that two runs stand beside each other where there is room, and what they have in common is
// told once.
func TestSVGOfTwoRuns(t *testing.T) {
	few, many := fight(), fight()
	few.Trace.Steps, few.Trace.CycleStart = few.Trace.Steps[:4], -1
	other := few.Trace
	other.Steps = other.Steps[:3]
	few.Other = &other
	d := pictureOf(t, few)
	told := strings.Join(d.texts, "\n")
	if strings.Count(told, "3. scaler") != 1 || !strings.Contains(told, "Both runs") || !strings.Contains(told, "No steps.") || d.width < 2*3*340 {
		t.Errorf("%d wide:\n%s", d.width, told)
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		step := many.Trace.Steps[0]
		step.Controller = name
		many.Trace.Steps = append(many.Trace.Steps, step)
	}
	many.Other = &other
	if d := pictureOf(t, many); d.width > 6*360+48 || !slices.Contains(d.texts, "others") || slices.Contains(d.texts, "f") {
		t.Errorf("%d wide: %q", d.width, d.texts)
	}
}

// TestSVGOfAnything checks that no text of a user is more than a text, or goes beyond the picture.
func TestSVGOfAnything(t *testing.T) {
	word := regexp.MustCompile(`^\S+$`)
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.OneOf(rapid.SampledFrom([]string{"<script>alert(1)</script>", `"/><image href="x"/>`, "]]>", "&amp;", "\x1b[31m", "\x00", "\ufffe", strings.Repeat("世界", 100), strings.Repeat("x", 1000)}), rapid.String(), rapid.StringMatching(word.String()))
		finding := fight()
		step := &finding.Trace.Steps[2]
		step.Controller, step.Request, step.Detail, step.Result = evil.Draw(t, "controller"), core.Request(evil.Draw(t, "request")), evil.Draw(t, "fault"), evil.Draw(t, "result")
		step.Calls[0].Call, step.Calls[1].Response, step.Changes[0].Name, step.Changes[0].Fields[1].To = evil.Draw(t, "call"), evil.Draw(t, "response"), evil.Draw(t, "name"), evil.Draw(t, "value")
		finding.Summary, finding.Property = evil.Draw(t, "summary"), evil.Draw(t, "property")
		if rapid.Bool().Draw(t, "two runs") {
			other := fight().Trace
			finding.Other = &other
		}
		pictureOf(t, finding)
	})
}

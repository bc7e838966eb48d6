package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

//go:embed assets
var assets embed.FS

// Report writes a report. Its findings may have traces or none.
func Report(w io.Writer, report *core.Report) error { return write(w, report, false) }

// write writes a report. One that is served leads to the pages of states.
func write(w io.Writer, report *core.Report, served bool) error {
	frame, err := newFrame()
	if err != nil {
		return err
	}
	page, err := template.New("page.html").ParseFS(assets, "assets/head.html", "assets/page.html")
	if err != nil {
		return err
	}
	lead, reasons, others := story.Doubts(report)
	return page.Execute(w, view{
		frame:    frame,
		Served:   served,
		System:   story.SystemName(report),
		Verdict:  string(report.Verdict),
		Headline: story.Headline(report),
		Lead:     lead, Reasons: reasons, Others: others,
		Findings:    findings(report.Findings, served),
		Properties:  report.Properties,
		Rungs:       rungs(report.Rungs),
		Searched:    story.Searched(report),
		Outcomes:    outcomes(report),
		Outcome:     settled(report),
		Assumptions: report.Assumptions,
		Cost:        story.Cost(report),
	})
}

// frame is what every page in one file has.
type frame struct {
	Style  template.CSS
	Script template.JS
	// Policy lets in the style and the script of the page, and nothing else.
	Policy string
}

func newFrame() (frame, error) {
	style, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return frame{}, err
	}
	script, err := assets.ReadFile("assets/page.js")
	if err != nil {
		return frame{}, err
	}
	return frame{
		template.CSS(style), template.JS(script),
		"default-src 'none'; style-src '" + digest(style) + "'; script-src '" + digest(script) + "'; base-uri 'none'; form-action 'none'",
	}, nil
}

// view is what the page shows.
type view struct {
	frame
	// Served tells that there are pages of states.
	Served bool

	System, Verdict, Headline, Lead, Cost string
	Reasons, Others, Searched             []string
	Rungs                                 []rung
	Findings                              []finding
	Properties                            []core.PropertyReport
	Outcomes                              []outcome
	Outcome                               *ending
	Assumptions                           []string
}

// digest returns what a content security policy calls a text.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// rung is what came of one of the conditions under which the system was checked, and why it is not more.
type rung struct {
	Line    string
	Reasons []string
}

func rungs(all []core.RungReport) []rung {
	var told []rung
	for line, reasons := range story.Rungs(all) {
		told = append(told, rung{line, reasons})
	}
	return told
}

package export

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
)

// The elements of JUnit's reports that are used here, as the schema of Apache Ant's task has them.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suite   suite    `xml:"testsuite"`
	}
	suite struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Time     string `xml:"time,attr"`
		Cases    []test `xml:"testcase"`
		Out      string `xml:"system-out,omitempty"`
	}
	test struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *problem `xml:"failure"`
		Error   *problem `xml:"error"`
		Out     string   `xml:"system-out,omitempty"`
	}
	problem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a report as one of JUnit, with a test for each property. One that is violated fails, with the stories of
// its findings. One that is inconclusive is an error: it was not decided. What is only warned of passes, with its story
// as output.
func JUnit(w io.Writer, report *core.Report) error {
	s := suite{Name: "orrery " + story.SystemName(report), Time: fmt.Sprintf("%.3f", report.Elapsed.Round(time.Millisecond).Seconds()), Out: strings.Join(story.Searched(report), "\n")}
	for _, p := range report.Properties {
		t := test{Class: "orrery." + story.Clean(report.System), Name: story.Clean(p.Name)}
		summary, stories, err := storiesOf(report, p.Name)
		if err != nil {
			return err
		}
		switch {
		case p.Warning:
			t.Out = stories
		case p.Verdict == core.Violated:
			t.Failure = &problem{summary, "violated", stories}
			s.Failures++
		case p.Verdict == core.Inconclusive:
			_, reasons, _ := story.Doubts(report)
			t.Error = &problem{"not everything was searched", "inconclusive", strings.Join(reasons, "\n")}
			s.Errors++
		}
		s.Cases = append(s.Cases, t)
	}
	s.Tests = len(s.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suites{Suite: s}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// storiesOf returns the stories of the findings against a property, with the summary of the first.
func storiesOf(report *core.Report, property string) (summary, stories string, err error) {
	var all strings.Builder
	for _, f := range report.Findings {
		if f.Property != property {
			continue
		}
		if summary == "" {
			summary = story.Clean(f.Summary)
		}
		if err := text.Story(&all, f, text.Options{}); err != nil {
			return "", "", err
		}
	}
	return summary, all.String(), nil
}

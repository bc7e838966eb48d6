package recorded

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// Report says how recordings fit the model.
type Report struct {
	// Calls is how many calls were recorded, and Explained how many of them the model explains.
	Calls     int `json:"calls"`
	Explained int `json:"explained"`
	// Lagging is how many of the explained ones are reads of a cache that was behind, and Behind by how many versions
	// of an object at most.
	Lagging int `json:"lagging"`
	Behind  int `json:"behind"`
	// Unexplained is how many are not, and Findings are the first of them.
	Unexplained int       `json:"unexplained"`
	Findings    []Finding `json:"findings,omitempty"`
	// Unjudged are calls that cannot be held against the model, by reason.
	Unjudged []Unjudged `json:"unjudged,omitempty"`
	// Actors are those who wrote and were not recorded.
	Actors []Actor `json:"actors,omitempty"`
	// Notes say what the recordings do not hold.
	Notes analysis.Notes `json:"-"`
}

// Unjudged is how many calls cannot be held against the model for a reason.
type Unjudged struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	First  string `json:"first"`
}

// Actor is somebody who wrote and was not recorded.
type Actor struct {
	// Manager is the name of the field manager, empty if the objects do not say.
	Manager string `json:"manager,omitempty"`
	Writes  int    `json:"writes"`
	// First is the first version that it wrote, and Fields what it wrote there, as far as the version before is known.
	First  string   `json:"first"`
	Kinds  []string `json:"kinds"`
	Fields []string `json:"fields,omitempty"`
}

// The reasons why a call is not explained.
const (
	BySimulator = "simulator" // the simulated server does something else
	ByActor     = "actor"     // somebody acted who was not recorded
	ByView      = "view"      // a cache has shown what no lagging cache shows
)

// Finding is a call that the model does not explain.
type Finding struct {
	// By is BySimulator, ByActor or ByView.
	By         string        `json:"by"`
	Process    string        `json:"process"`
	Controller string        `json:"controller,omitempty"`
	Request    string        `json:"request,omitempty"`
	At         time.Duration `json:"at_ns"`
	Number     uint64        `json:"number"`
	Call       string        `json:"call"`
	// Says says what is not explained.
	Says string `json:"says"`
	// Fields are what is another one: from what was recorded to what the simulated server makes of it.
	Fields []core.FieldChange `json:"fields,omitempty"`
	// Case is the case as a file, for a difference of the simulated server.
	Case *Case `json:"case,omitempty"`
}

// Case is a difference of the simulated server in the form of a golden case of package kube.
type Case struct {
	About  string         `json:"about"`
	Kinds  []string       `json:"kinds"`
	Steps  []CaseStep     `json:"steps"`
	Stored map[string]any `json:"stored"`
}

// CaseStep is a request with what a real server answered.
type CaseStep struct {
	Request map[string]any `json:"request"`
	Answer  map[string]any `json:"answer"`
}

// toldFindings is how many findings are told.
const toldFindings = 50

func (r *Report) find(f Finding) {
	if r.Unexplained++; len(r.Findings) < toldFindings {
		r.Findings = append(r.Findings, f)
	}
}

func (r *Report) unjudged(call, reason string) {
	i := slices.IndexFunc(r.Unjudged, func(u Unjudged) bool { return u.Reason == reason })
	if i < 0 {
		i = len(r.Unjudged)
		r.Unjudged = append(r.Unjudged, Unjudged{Reason: reason, First: call})
	}
	r.Unjudged[i].Count++
}

// UnjudgedCalls is how many calls cannot be held against the model.
func (r *Report) UnjudgedCalls() int {
	n := 0
	for _, u := range r.Unjudged {
		n += u.Count
	}
	return n
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer) {
	for _, f := range r.Findings {
		f.Text(w)
		fmt.Fprintln(w)
	}
	if more := r.Unexplained - len(r.Findings); more > 0 {
		fmt.Fprintf(w, "%s more are not explained.\n\n", count(more, "call", "calls"))
	}
	fmt.Fprintf(w, "The model explains %d of %s.\n", r.Explained, count(r.Calls, "recorded call", "recorded calls"))
	if r.Lagging > 0 {
		fmt.Fprintf(w, "%s explained by a cache that was behind, by %s of an object at most.\n", count(r.Lagging, "of them is", "of them are"), count(r.Behind, "version", "versions"))
	}
	if n := r.UnjudgedCalls(); n > 0 {
		fmt.Fprintf(w, "%s not be held against the model:\n", count(n, "call can", "calls can"))
		for _, u := range r.Unjudged {
			fmt.Fprintf(w, "    %d: %s (the first: %s)\n", u.Count, clean(u.Reason), clean(u.First))
		}
	}
	for _, a := range r.Actors {
		who := "Somebody who is not recorded and leaves no name"
		if a.Manager != "" {
			who = fmt.Sprintf("%q, which is not recorded,", clean(a.Manager))
		}
		fmt.Fprintf(w, "%s made %s of %s, first %s", who, count(a.Writes, "version", "versions"), clean(strings.Join(a.Kinds, ", ")), clean(a.First))
		if len(a.Fields) > 0 {
			fmt.Fprintf(w, " (%s)", clean(strings.Join(a.Fields, ", ")))
		}
		fmt.Fprintln(w, ".")
	}
	r.Notes.Text(w)
}

// Text writes the finding for people.
func (f Finding) Text(w io.Writer) {
	who := "Code outside of a reconcile"
	if f.Controller != "" {
		who = fmt.Sprintf("%s %s", clean(f.Controller), clean(f.Request))
	}
	fmt.Fprintf(w, "%s, %.3fs after the recording of %s began: %s\n", who, f.At.Seconds(), clean(f.Process), clean(f.Call))
	fmt.Fprintf(w, "    %s\n", clean(f.Says))
	for _, c := range f.Fields {
		fmt.Fprintf(w, "        %s: %s recorded, %s simulated\n", clean(c.Path), jsonOf(c.From), jsonOf(c.To))
	}
}

func jsonOf(value any) string {
	if value == nil {
		return "nothing"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return clean(fmt.Sprint(value))
	}
	return clean(string(text))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// clean returns a text from a recording as it can be shown on a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !strconv.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

package analysis

import (
	"fmt"
	"io"
	"strings"

	"github.com/orrery-dev/orrery/record/live"
)

// Text writes the chain, each cause below what it caused.
func (a Answer) Text(w io.Writer) {
	if a.Field != "" {
		fmt.Fprintln(w, clean(a.Words()))
	}
	a.Last.text(w, "")
}

// Words says what is explained: an object, or the value of a field.
func (a Answer) Words() string {
	if a.Field == "" {
		return a.Object.String()
	}
	value := func(v string) string {
		if v == "" {
			return "nothing"
		}
		return shortened(v)
	}
	words := fmt.Sprintf("%s: %s is %s", a.Object, a.Field, value(a.Value))
	if a.Former != "" {
		words += ", and was " + value(a.Former)
	}
	return words
}

// Words names the version, behind the event that reported it.
func (l Link) Words() string { return strings.TrimSpace(l.Event + " " + l.Version.String()) }

// Origin says where the version comes from, if no recorded writer made it.
func (l Link) Origin() string {
	switch {
	case l.Before && l.Manager == "":
		return "was there before the recording began"
	case l.Before:
		return "was there before the recording began, last written by " + l.Manager
	case l.Manager != "":
		return "written by " + l.Manager + ", which is not recorded"
	}
	return "written by somebody who is not recorded"
}

func (l Link) text(w io.Writer, indent string) {
	fmt.Fprintf(w, "%s%s\n", indent, clean(l.Words()))
	if indent += "  "; l.Writer != nil {
		l.Writer.text(w, indent)
		return
	}
	fmt.Fprintf(w, "%s%s\n", indent, clean(l.Origin()))
}

// Operation says how the object was written, such as "update of its status", empty where no write is meant.
func (r Writer) Operation() string {
	if r.Subresource == "" {
		return r.Verb
	}
	return r.Verb + " of its " + r.Subresource
}

// Words says who wrote, how, and when, or which reconcile it is where no write is meant.
func (r Writer) Words() string {
	what := "by " + r.Controller
	if r.Request != "" {
		what = "in the reconcile of " + r.Controller + " " + r.Request
	}
	switch {
	case r.Controller == "" && r.Client != "":
		what = "by " + r.Client
	case r.Controller == "":
		what = "by code that is no reconcile"
	}
	if r.Process != "" {
		what += " in " + r.Process
	}
	operation := r.Operation()
	if operation == "" {
		return what
	}
	return fmt.Sprintf("written by %s %s, at %s", operation, what, Moment(r.At))
}

func (r Writer) text(w io.Writer, indent string) {
	fmt.Fprintf(w, "%s%s\n", indent, clean(r.Words()))
	if r.Told {
		fmt.Fprintf(w, "%s  %s\n", indent, CausesTold)
	}
	for _, cause := range r.Causes {
		if cause.Link != nil {
			fmt.Fprintf(w, "%s  %s\n", indent, becauseOf)
			cause.Link.text(w, indent+"    ")
			continue
		}
		fmt.Fprintf(w, "%s  %s\n", indent, clean(cause.Words()))
		if cause.Before != nil {
			cause.Before.text(w, indent+"    ")
		}
	}
	if r.Cut {
		fmt.Fprintf(w, "%s  %s\n", indent, CausesCut)
	}
}

// What is said of a reconcile whose causes stand before it in the answer, and behind those of one that has more.
const (
	CausesTold = "whose causes are told above"
	CausesCut  = "which began because of more, which is not shown"
)

const becauseOf = "which began because of"

// Words says of a reconcile that it began because of this.
func (s Step) Words() string {
	switch {
	case s.Link != nil:
		return becauseOf + " " + s.Link.Words()
	case s.By == live.ByEvent:
		return becauseOf + " " + Woken{By: s.By}.String()
	}
	return "which began because " + Woken{By: s.By}.String()
}

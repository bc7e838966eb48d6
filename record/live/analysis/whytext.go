package analysis

import (
	"fmt"
	"io"
	"strings"
)

// Text writes the chain, each cause below what it caused.
func (a Answer) Text(w io.Writer) {
	if a.Field != "" {
		value := func(v string) string {
			if v == "" {
				return "nothing"
			}
			return clean(shortened(v))
		}
		fmt.Fprintf(w, "%s: %s is %s", clean(a.Object.String()), clean(a.Field), value(a.Value))
		if a.Former != "" {
			fmt.Fprintf(w, ", and was %s", value(a.Former))
		}
		fmt.Fprintln(w)
	}
	a.Last.text(w, "")
}

func (l Link) text(w io.Writer, indent string) {
	event := ""
	if l.Event != "" {
		event = l.Event + " "
	}
	fmt.Fprintf(w, "%s%s%s\n", indent, event, clean(l.Version.String()))
	indent += "  "
	switch {
	case l.Writer != nil:
		l.Writer.text(w, indent)
	case l.Before && l.Manager == "":
		fmt.Fprintf(w, "%swas there before the recording began\n", indent)
	case l.Before:
		fmt.Fprintf(w, "%swas there before the recording began, last written by %s\n", indent, clean(l.Manager))
	case l.Manager != "":
		fmt.Fprintf(w, "%swritten by %s, which is not recorded\n", indent, clean(l.Manager))
	default:
		fmt.Fprintf(w, "%swritten by somebody who is not recorded\n", indent)
	}
}

func (r Writer) text(w io.Writer, indent string) {
	verb := r.Verb
	if r.Subresource != "" {
		verb += " of its " + r.Subresource
	}
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
	if verb == "" {
		fmt.Fprintf(w, "%s%s\n", indent, clean(what))
	} else {
		fmt.Fprintf(w, "%swritten by %s %s, at %s\n", indent, clean(verb), clean(what), strings.TrimSpace(at(r.At)))
	}
	if r.Told {
		fmt.Fprintf(w, "%s  whose causes are told above\n", indent)
	}
	if r.Cut {
		defer fmt.Fprintf(w, "%s  which began because of more, which is not shown\n", indent)
	}
	for _, cause := range r.Causes {
		switch {
		case cause.Link != nil:
			fmt.Fprintf(w, "%s  which began because of\n", indent)
			cause.Link.text(w, indent+"    ")
		case cause.Before != nil:
			fmt.Fprintf(w, "%s  which began because %s\n", indent, Woken{By: cause.By})
			cause.Before.text(w, indent+"    ")
		default:
			fmt.Fprintf(w, "%s  which began because: %s\n", indent, clean(Woken{By: cause.By}.String()))
		}
	}
}

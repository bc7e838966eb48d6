package record

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// JSONSchema names the form that [Record.WriteJSON] writes.
const JSONSchema = "orrery.record/v1"

// WriteJSON writes the record as one JSON object. Its members are "schema",
// "header", "report", "findings" (the stories), "outcomes", "extent", "objects"
// and "states".
func (r *Record) WriteJSON(w io.Writer) error {
	object := &jsonObject{out: bufio.NewWriter(w), separator: "{"}
	object.member("schema", JSONSchema)
	object.member("header", r.Header)
	object.member("report", r.Report)
	writeList(object, "findings", slices.Values(r.Report.Findings), func(f core.Finding) any {
		return Finding{ID: f.ID, Trace: f.Trace, Other: f.Other}
	})
	writeList(object, "outcomes", slices.Values(r.Report.OutcomeList), func(o core.OutcomeReport) any { return o })
	object.member("extent", r.Extent)
	writeList(object, "objects", slices.Values(r.Objects), func(o core.TraceObject) any { return o })
	writeList(object, "states", r.States.All(), func(s State) any { return s })
	return object.end()
}

// jsonObject writes an object value by value, until the first error, so that
// the text of a large record is never in memory as a whole.
type jsonObject struct {
	out       *bufio.Writer
	separator string
	err       error
}

func (o *jsonObject) name(name string) {
	fmt.Fprintf(o.out, "%s%q: ", o.separator, name)
	o.separator = ",\n "
}

func (o *jsonObject) value(v any) {
	if o.err != nil {
		return
	}
	text, err := encode(v)
	o.err = err
	o.out.Write(text)
}

func (o *jsonObject) member(name string, v any) {
	o.name(name)
	o.value(v)
}

func writeList[E any](o *jsonObject, name string, list iter.Seq[E], value func(E) any) {
	o.name(name)
	o.out.WriteString("[")
	separator := ""
	for element := range list {
		o.out.WriteString(separator)
		separator = ",\n  "
		o.value(value(element))
	}
	o.out.WriteString("]")
}

func (o *jsonObject) end() error {
	o.out.WriteString("}\n")
	if err := o.out.Flush(); o.err == nil {
		return err
	}
	return o.err
}

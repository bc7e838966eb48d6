package inspect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/record/graph"
)

// queryHelp says how to look for states.
const queryHelp = "type a part of an object's name (Pod default/web), FIELD=VALUE, a controller, quiescent, or several of these; with object:, field: or controller: before it, a text is that in any case"

// parseQuery reads what somebody looks for, given the names of the controllers.
func parseQuery(text string, controllers []string) (graph.Query, error) {
	var q graph.Query
	set := func(to *string, what, value string) error {
		if value == "" {
			return fmt.Errorf("%s: needs a text behind it: %s", what, queryHelp)
		}
		if *to != "" {
			return fmt.Errorf("look for one %s at a time: %q and %q are two", what, *to, value)
		}
		*to = value
		return nil
	}
	var objects []string
	for _, term := range terms(text) {
		prefix, value, prefixed := strings.Cut(term, ":")
		var err error
		switch {
		case prefixed && prefix == "object":
			err = set(&q.Object, "object", value)
		case prefixed && prefix == "field":
			err = set(&q.Field, "field", value)
		case prefixed && prefix == "controller":
			err = set(&q.Controller, "controller", value)
		case strings.Contains(term, "="):
			err = set(&q.Field, "field", term)
		case term == "quiescent":
			q.Quiescent = true
		case slices.ContainsFunc(controllers, func(name string) bool { return strings.EqualFold(name, term) }):
			err = set(&q.Controller, "controller", term)
		default:
			objects = append(objects, term)
		}
		if err != nil {
			return q, err
		}
	}
	if len(objects) > 0 {
		if err := set(&q.Object, "object", strings.Join(objects, " ")); err != nil {
			return q, err
		}
	}
	if q == (graph.Query{}) {
		return q, errors.New(queryHelp)
	}
	return q, nil
}

// terms splits a text at its spaces, except between quotes.
func terms(text string) []string {
	var all []string
	var term strings.Builder
	quoted, begun := false, false
	for _, r := range text + " " {
		switch {
		case r == '"':
			quoted, begun = !quoted, true
		case r != ' ' || quoted:
			term.WriteRune(r)
			begun = true
		case begun:
			all = append(all, term.String())
			term.Reset()
			begun = false
		}
	}
	if begun { // a quote that nobody closed
		all = append(all, strings.TrimSuffix(term.String(), " "))
	}
	return all
}

// sayQuery says what is looked for.
func sayQuery(q graph.Query) string {
	var parts []string
	if q.Object != "" {
		parts = append(parts, fmt.Sprintf("with an object like %q", q.Object))
	}
	if q.Field != "" {
		of := "with a field like"
		if q.Object != "" {
			of = "that has a field like"
		}
		parts = append(parts, fmt.Sprintf("%s %q", of, q.Field))
	}
	if q.Controller != "" {
		parts = append(parts, fmt.Sprintf("in which a controller like %q can take a step", q.Controller))
	}
	if q.Quiescent {
		parts = append(parts, "that are quiescent")
	}
	return strings.Join(parts, ", ")
}

// Package catalog describes systems that are compiled into a command: by name,
// with parameters, built on demand.
package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Entry is a system that a command offers.
type Entry struct {
	// Name is what the user types, for example "model/counters".
	Name string
	// Doc says in one sentence what the system is, and what checking it shows.
	Doc string
	// Params are the parameters it takes, in the order in which they are listed.
	Params []Param
	// Build makes the system. An error is a mistake of the user's and says what to change.
	Build func(Values) (*core.System, error)
}

// Param is a parameter of an entry. All parameters are whole numbers.
type Param struct {
	Name string
	Doc  string
	// Default is used where the user gives none.
	Default int
	// Min and Max bound the values that make sense.
	Min, Max int
}

// Values are parameters with their values.
type Values map[string]int

// Strings returns the values as text.
func (v Values) Strings() map[string]string {
	out := make(map[string]string, len(v))
	for name, value := range v {
		out[name] = strconv.Itoa(value)
	}
	return out
}

// Parse fills in defaults and checks what the user gave, as "name=value" words.
func (e Entry) Parse(words []string) (Values, error) {
	values := Values{}
	for _, p := range e.Params {
		values[p.Name] = p.Default
	}
	given := map[string]bool{}
	for _, word := range words {
		name, text, found := strings.Cut(word, "=")
		if !found {
			return nil, fmt.Errorf("parameter %q is not of the form name=value", word)
		}
		i := slices.IndexFunc(e.Params, func(p Param) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s has no parameter %q: %s", e.Name, name, e.usage())
		}
		if given[name] {
			return nil, fmt.Errorf("parameter %q is given twice", name)
		}
		given[name] = true
		p := e.Params[i]
		value, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("parameter %s=%s: the value must be a whole number from %d to %d", name, text, p.Min, p.Max)
		}
		if value < p.Min || value > p.Max {
			return nil, fmt.Errorf("parameter %s=%d is out of range: give a number from %d to %d", name, value, p.Min, p.Max)
		}
		values[name] = value
	}
	return values, nil
}

func (e Entry) usage() string {
	if len(e.Params) == 0 {
		return "it takes none"
	}
	names := make([]string, len(e.Params))
	for i, p := range e.Params {
		names[i] = p.Name
	}
	return "it takes " + strings.Join(names, ", ")
}

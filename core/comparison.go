package core

import (
	"fmt"
	"strings"
)

// Comparison is a rule for comparing objects: a place whose value does not count, or a list whose order does not. It is
// a plain value; package properties makes them.
type Comparison struct {
	// Objects are the objects it is about: a kind, a single object as findings name it, or "*" for all objects.
	Objects Kind `json:"objects"`
	// Path is the place in each of them, as findings name it. The empty path is the whole object.
	Path string `json:"path,omitempty"`
	// As says what the value at the place is compared as.
	As ComparedAs `json:"as"`
	// Keys are the fields of the items of a list that tell its items apart, if it is compared as a map.
	Keys []string `json:"keys,omitempty"`
	// Except are the fields of the items of a list that do not count.
	Except []string `json:"except,omitempty"`
}

// ComparedAs is what a value is compared as.
type ComparedAs string

const (
	// AsAbsent values do not count.
	AsAbsent ComparedAs = "absent"
	// AsSet lists have no order.
	AsSet ComparedAs = "set"
	// AsMap lists have no order, and their items are compared with those of the same key.
	AsMap ComparedAs = "map"
)

// Place returns the objects and the path, as findings name a field.
func (c Comparison) Place() string {
	if c.Path == "" {
		return string(c.Objects)
	}
	return string(c.Objects) + ": " + c.Path
}

// String says the rule in a few words.
func (c Comparison) String() string {
	var text string
	switch c.As {
	case AsSet:
		text = c.Place() + " is compared as a set"
	case AsMap:
		text = fmt.Sprintf("%s is compared as a map by %s", c.Place(), strings.Join(c.Keys, " and "))
	default:
		return c.Place() + " is ignored"
	}
	if len(c.Except) > 0 {
		text += ", without " + strings.Join(c.Except, ", ")
	}
	return text
}

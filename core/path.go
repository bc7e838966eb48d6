package core

import (
	"strconv"
	"strings"
)

// FieldOf returns the path of a named field below a path: "spec.replicas", or
// metadata.labels["example.com/team"] for a name that would not read well with a dot.
func FieldOf(path, name string) string {
	switch {
	case name == "" || strings.ContainsAny(name, ".[]\" "):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// ItemOf returns the path of an item of a list below a path: "spec.containers[0]".
func ItemOf(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

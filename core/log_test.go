package core_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// object is named as objects of Kubernetes are, and says more than its name if it is asked for its text.
type object struct{ namespace, name string }

func (o object) GetNamespace() string { return o.namespace }
func (o object) GetName() string      { return o.name }
func (object) String() string         { return "a secret" }

// marshaled says something else to loggers.
type marshaled struct{ says any }

func (m marshaled) MarshalLog() any { return m.says }

// both has a text, and so is not asked what it says to loggers.
type both struct{ marshaled }

func (both) String() string { return "its text" }

type broken struct{}

func (broken) String() string { panic("no text") }

type unencodable struct{ F func() }

// TestLogValues holds values that code logs against the texts of a line.
func TestLogValues(t *testing.T) {
	seven := 7
	var nowhere *int
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, "<nil>"},
		{nowhere, "<nil>"},
		{"a text", "a text"},
		{[]byte("some bytes"), "some bytes"},
		{errors.New("it failed"), "it failed"},
		{time.Date(2001, 2, 3, 4, 5, 6, 700, time.UTC), "2001-02-03T04:05:06.0000007Z"},
		{time.Minute, "1m0s"},
		{object{"ns", "web"}, "ns/web"},
		{object{"", "node"}, "node"},
		{marshaled{"for loggers"}, "for loggers"},
		{marshaled{nil}, "<nil>"},
		{both{marshaled{"for loggers"}}, "its text"},
		{broken{}, "(the text of a core_test.broken panics)"},
		{struct{ A int }{3}, `{"A":3}`},
		{map[string]int{"b": 2, "a": 1}, `{"a":1,"b":2}`},
		{[]int{1, 2}, "[1,2]"},
		{[2]bool{true, false}, "[true,false]"},
		{&struct{ A int }{3}, `{"A":3}`},
		{unencodable{}, "(a core_test.unencodable)"},
		{make(chan int), "(a chan int)"},
		{func() {}, "(a func())"},
		{&seven, "7"},
		{true, "true"},
		{2.5, "2.5"},
		{"at 0xc000012345 and 0x12", "at 0x… and 0x12"},
		{"a \xff byte", "a  byte"},
		{strings.Repeat("v", 200), strings.Repeat("v", 200)},
		{strings.Repeat("v", 201), strings.Repeat("v", 200) + "…"},
	} {
		line := core.LogLineOf("info", "", "", "key", test.value)
		if want := []core.LogValue{{Key: "key", Value: test.want}}; !slices.Equal(line.Values, want) {
			t.Errorf("of %#v the line has %v, want %v", test.value, line.Values, want)
		}
	}
}

// TestLogLineOf checks what a line has of what is logged besides.
func TestLogLineOf(t *testing.T) {
	line := core.LogLineOf("V(2)", strings.Repeat("l", 201), strings.Repeat("m", 501)+"\n", strings.Repeat("k", 201), 1, 2)
	want := core.LogLine{Level: "V(2)", Logger: strings.Repeat("l", 200) + "…", Message: strings.Repeat("m", 500) + "…", Values: []core.LogValue{
		{Key: strings.Repeat("k", 200) + "…", Value: "1"}, {Key: "2", Value: "(missing)"},
	}}
	if got := fmt.Sprintf("%q", line); got != fmt.Sprintf("%q", want) {
		t.Errorf("it is %s", got)
	}
	if line := core.LogLineOf("info", "a", "m\n\n"); line.Logger != "a" || line.Message != "m" || line.Values != nil {
		t.Errorf("it is %+v", line)
	}
	for pairs, more := range map[int]string{60: "", 61: "1 more", 62: "1 more", 63: "2 more", 64: "2 more"} {
		line := core.LogLineOf("info", "", "many", make([]any, pairs)...)
		switch last := line.Values[len(line.Values)-1]; {
		case more == "" && (len(line.Values) != 30 || last.Key != "<nil>"):
			t.Errorf("of %d keys and values, %d values are kept, the last of them is %v", pairs, len(line.Values), last)
		case more != "" && (len(line.Values) != 31 || last != core.LogValue{Key: "…", Value: more}):
			t.Errorf("of %d keys and values, %d values are kept, the last of them is %v, want %q", pairs, len(line.Values), last, more)
		}
	}
}

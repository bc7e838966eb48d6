package cel

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// subject is what an expression about changes is about: the objects of a kind, or one variable.
type subject struct {
	kind core.Kind
	// variable is the name of a variable of a plain model, empty for all objects of the kind.
	variable string
	// known is what is known of the kind, nil if it is a family of variables.
	known *kind
}

// subject reads what is written for the objects of a change.
func (known *kinds) subject(text string) (subject, error) {
	name := text
	for _, function := range []string{"objects", "family", "variable"} {
		argument, found := strings.CutPrefix(text, function+"(")
		if !found {
			continue
		}
		argument, closed := strings.CutSuffix(argument, ")")
		var err error
		switch name, err = strconv.Unquote(argument); {
		case err != nil || !closed || name == "":
			return subject{}, fmt.Errorf("%s takes one text, a name: %s(\"name\")", function, function)
		case function == "family":
			return subject{kind: core.Kind(name)}, nil
		case function == "variable":
			return subject{variable: name}, nil
		}
	}
	k, err := known.find(name)
	if err != nil {
		return subject{}, err
	}
	return subject{kind: k.name(), known: k}, nil
}

// String names the subject as the end of a phrase.
func (s subject) String() string {
	if s.variable != "" {
		return s.variable
	}
	return "an object of " + string(s.kind)
}

// in returns the objects of the subject in a state.
func (s subject) in(state core.State) []core.Object {
	if s.variable == "" {
		return state.List(s.kind, "")
	}
	key := core.Key{Name: s.variable}
	if content := state.Get(key); content != nil {
		return []core.Object{{Key: key, Content: content}}
	}
	return nil
}

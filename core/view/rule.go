package view

import (
	"fmt"
	"strconv"
	"strings"
)

// Rule says how far a view may lag behind the store. Rules are plain values; the
// zero rule is [Fresh].
type Rule struct {
	kind  ruleKind
	bound int
}

type ruleKind uint8

const (
	fresh ruleKind = iota
	lag
	ownWrites
	restart
	relist
	catchUp
)

// Fresh delivers every change as part of its commit.
func Fresh() Rule { return Rule{} }

// Lag lets at most n changes be undelivered. Lag(0) is [Fresh].
func Lag(n int) Rule { return bounded(lag, n) }

// OwnWrites is like [Lag], but a controller sees what it wrote itself at once, as
// clients do that wait until their cache has received it. What was committed before
// is received with it.
func OwnWrites(n int) Rule { return bounded(ownWrites, n) }

// Restart delivers every change as part of its commit, until the controller restarts:
// then its view is the newest position of the stream or one of the m before it, as from an API
// server that lags behind, and catches up from there, change by change.
func Restart(m int) Rule { return bounded(restart, m) }

// Relist lets any number of changes be undelivered, and delivers them all at once, as
// after a broken watch: versions in between are never seen. An object is delivered only
// if it has changed.
func Relist() Rule { return Rule{kind: relist} }

// CatchUp is the rule of a view that is up to n changes behind at the start and fresh otherwise: it catches up change
// by change, and is never further behind. Once it has caught up, every change is delivered as part of its commit.
func CatchUp(n int) Rule { return bounded(catchUp, n) }

// Allows reports whether a view may be so many changes behind under the rule.
func (r Rule) Allows(behind int) bool {
	switch r.kind {
	case fresh:
		return behind == 0
	case relist:
		return true
	}
	return behind <= r.bound
}

// bounded returns a rule with a bound. With the bound 0 all of them are the same.
func bounded(kind ruleKind, bound int) Rule {
	switch {
	case bound < 0:
		panic("view: the bound of a rule must not be negative")
	case bound == 0:
		return Fresh()
	}
	return Rule{kind: kind, bound: bound}
}

// maxBound is the largest bound that a rule may be given as text. Far smaller ones are
// beyond what can be searched.
const maxBound = 1000

// boundedRules are the rules that are written with a bound.
func boundedRules() map[string]ruleKind {
	return map[string]ruleKind{"lag": lag, "own-writes": ownWrites, "restart": restart}
}

// Parse reads a rule as [Rule.String] writes it. The error names the rules there are.
func Parse(text string) (Rule, error) {
	switch text {
	case "fresh":
		return Fresh(), nil
	case "relist":
		return Relist(), nil
	}
	name, rest, _ := strings.Cut(text, "(")
	kind, known := boundedRules()[name]
	if !known {
		return Rule{}, fmt.Errorf("there is no rule %q: use fresh, lag(N), own-writes(N), restart(N) or relist", text)
	}
	number, closed := strings.CutSuffix(rest, ")")
	bound, err := strconv.Atoi(number)
	if !closed || err != nil || bound < 0 || bound > maxBound {
		return Rule{}, fmt.Errorf("rule %q: write %s(N) with a whole number from 0 to %d, for example %s(2)", text, name, maxBound, name)
	}
	return bounded(kind, bound), nil
}

// String returns the rule as [Parse] reads it.
func (r Rule) String() string {
	switch r.kind {
	case fresh:
		return "fresh"
	case lag:
		return fmt.Sprintf("lag(%d)", r.bound)
	case ownWrites:
		return fmt.Sprintf("own-writes(%d)", r.bound)
	case restart:
		return fmt.Sprintf("restart(%d)", r.bound)
	case relist:
		return "relist"
	case catchUp:
		return fmt.Sprintf("catch-up(%d)", r.bound)
	}
	panic("view: unknown rule")
}

// forced returns how many of the waiting changes must be delivered now that the last
// of them was committed, by the owner of the view itself or by somebody else.
func (r Rule) forced(waiting int, own bool) int {
	switch r.kind {
	case fresh:
		return waiting
	case relist:
		return 0
	case ownWrites:
		if own {
			return waiting
		}
	case restart, catchUp:
		if waiting == 1 {
			return 1 // it had caught up
		}
	}
	return max(0, waiting-r.bound)
}

// remembered returns how many of the newest changes a view must remember, whether or
// not they were delivered.
func (r Rule) remembered() int {
	if r.kind == restart {
		return r.bound
	}
	return 0
}

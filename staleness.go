package orrery

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
)

// Staleness says how stale caches may be. Of several that concern a cache the last counts.
type Staleness struct {
	// Controller is whose caches these are; empty means those of all controllers. Those that share a process share its
	// caches: its name, or that of one of them, stands for all.
	Controller string
	// Kind is what they hold; empty means all kinds that the controller watches or reads through its cache. The group
	// may be left out where only one of those kinds is called so.
	Kind core.Kind
	// Rule is how stale they may be.
	Rule StaleRule
}

// StaleRule is how stale a cache may be; empty means [Fresh].
type StaleRule string

const (
	// Fresh is for caches that receive each change as it is committed.
	Fresh StaleRule = "fresh"
	// Relist is for caches that may miss any number of changes and then receive them all at once, as after a broken
	// watch: the versions in between are never seen.
	Relist StaleRule = "relist"
)

// Lag is for caches that may miss the last n changes of their kind.
func Lag(n int) StaleRule { return StaleRule(fmt.Sprintf("lag(%d)", n)) }

// OwnWrites is as [Lag], but a controller sees at once what it wrote itself, and with it what was committed before. It
// is for controllers that wait until their cache has received their own writes.
func OwnWrites(n int) StaleRule { return StaleRule(fmt.Sprintf("own-writes(%d)", n)) }

// Restart is for caches that are fresh until their controller restarts. Then they may miss the last n changes, as when
// they are filled by an API server that lags behind, and receive them one by one.
func Restart(n int) StaleRule { return StaleRule(fmt.Sprintf("restart(%d)", n)) }

// anything stands for all controllers or all kinds in the text of a [Staleness].
const anything = "*"

// ParseStaleness reads texts of the form CONTROLLER/KIND=RULE, where * stands for all controllers or all kinds, or
// all=RULE. The error says how to write them.
func ParseStaleness(texts ...string) ([]Staleness, error) {
	var parsed []Staleness
	for _, text := range texts {
		s, err := parseStaleness(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, s)
	}
	return parsed, nil
}

func parseStaleness(text string) (Staleness, error) {
	var s Staleness
	caches, rule, found := strings.Cut(text, "=")
	slash := strings.LastIndexByte(caches, '/')
	switch {
	case found && caches == "all":
	case found && slash > 0 && slash < len(caches)-1:
		s.Controller, s.Kind = caches[:slash], core.Kind(caches[slash+1:])
		if s.Controller == anything {
			s.Controller = ""
		}
		if s.Kind == anything {
			s.Kind = ""
		}
	default:
		return s, fmt.Errorf("staleness %q: use CONTROLLER/KIND=RULE, such as web/Pod=lag(1), or all=RULE; * stands for all controllers or all kinds", text)
	}
	if _, err := view.Parse(rule); err != nil {
		return s, fmt.Errorf("staleness %q: %w", text, err)
	}
	s.Rule = StaleRule(rule)
	return s, nil
}

// String returns the text that [ParseStaleness] reads.
func (s Staleness) String() string {
	rule := string(cmp.Or(s.Rule, Fresh))
	if s.Controller == "" && s.Kind == "" {
		return "all=" + rule
	}
	return cmp.Or(s.Controller, anything) + "/" + cmp.Or(string(s.Kind), anything) + "=" + rule
}

// explored returns what the search is told.
func (s Staleness) explored() (explore.Staleness, error) {
	rule, err := view.Parse(string(cmp.Or(s.Rule, Fresh)))
	if err != nil {
		err = fmt.Errorf("staleness %q: %w", s, err)
	}
	return explore.Staleness{Controller: s.Controller, Kind: s.Kind, Rule: rule}, err
}

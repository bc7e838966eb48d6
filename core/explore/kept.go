package explore

import (
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// mostKept is how much of what a controller keeps is named.
const mostKept = 4

// kept names what an actor keeps of runs: what is different in an instance that went through them, but not between two fresh ones. The
// last run is gone through as often as it is audited. It is nil if instances of the actor cannot be looked at.
func (l *learner) kept(a *actor, runs []behavior.Run) ([]string, error) {
	one, err := l.remembers(a, nil)
	if one == nil || err != nil {
		return nil, err
	}
	other, err := l.remembers(a, nil)
	if err != nil {
		return nil, err
	}
	used, err := l.remembers(a, append(slices.Clone(runs), slices.Repeat(runs[len(runs)-1:], fair)...))
	if err != nil {
		return nil, err
	}
	var names []string
	for path, value := range used {
		if was, there := one[path]; there && was == value || one[path] != other[path] {
			continue
		}
		name, _, _ := strings.Cut(path, "[")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > mostKept {
		names = append(names[:mostKept], "and more")
	}
	return names, nil
}

// remembers returns the memory of a fresh instance that went through runs, as far as it goes the same way.
func (l *learner) remembers(a *actor, runs []behavior.Run) (map[string]string, error) {
	instance, err := behavior.NewInstance(a.strategy, l.limits.Deadline)
	if err != nil {
		return nil, err
	}
	introspective, ok := instance.(core.Introspective)
	if !ok {
		return nil, nil
	}
	if len(runs) == 0 {
		return introspective.Memory(), nil
	}
	session := behavior.Open(instance, a.Sequential, l.limits)
	var divergence *behavior.Divergence
	for i := 0; i < len(runs) && divergence == nil && err == nil; i++ {
		divergence, err = l.again(session, runs[i], 1)
	}
	session.Abort() // nothing of it is at work when it is looked at
	return introspective.Memory(), err
}

package controllerruntime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// part is something that a set-up registers and that is not run.
type part struct {
	role role
	// name is what the option that leaves it out calls it.
	name string
	// text says what it is and what of it is not modelled.
	text string
}

// role is what a part is for.
type role int

const (
	runnable role = iota
	eventSource
	eventHandler
)

// option is the name of the option that leaves parts of a role out.
func (r role) option() string {
	return [...]string{"WithoutRunnables", "WithoutSources", "WithoutHandlers"}[r]
}

// WithoutRunnables says that runnables which the set-ups add to the manager do not matter to what is checked. They are named by their Go
// types, as the report names them: "*main.reporter", "manager.RunnableFunc". A runnable is never run; unless it is named
// here, that is a reason why no check of the system is conclusive.
func WithoutRunnables(types ...string) Option { return without(runnable, types) }

// WithoutSources says that what the controllers of these names get from channels, function sources after their start, and sources of
// one's own does not matter to what is checked. Nothing is ever delivered from there; unless the controller is named here, that is a
// reason why no check of the system is conclusive.
func WithoutSources(controllers ...string) Option { return without(eventSource, controllers) }

// WithoutHandlers says that event handlers which the set-ups add by hand to the informers of these kinds, such as "Secret" or
// "Deployment.apps", do not matter to what is checked. They are never run; unless the kind is named here, that is a reason why no check of
// the system is conclusive.
func WithoutHandlers(kinds ...string) Option { return without(eventHandler, kinds) }

func without(r role, names []string) Option {
	return func(d *definition) {
		if len(names) == 0 {
			d.fail(r.option() + " leaves nothing out: name what does not matter")
		}
		for _, name := range names {
			d.leftOut = append(d.leftOut, part{role: r, name: name})
		}
	}
}

// unrun adds what is not run to the system: as an assumption if the options leave it out, as a reason otherwise. What the options
// leave out must be there.
func (d *definition) unrun(system *core.System, found *assembly) error {
	for _, p := range found.parts {
		if slices.ContainsFunc(d.leftOut, func(l part) bool { return l.role == p.role && l.name == p.name }) {
			system.Assumptions = append(system.Assumptions, fmt.Sprintf("The system does not depend on what is left out of it: %s.", p.text))
			continue
		}
		system.Unmodelled = append(system.Unmodelled, fmt.Sprintf(
			"%s: if it does not matter to what is checked, say so with controllerruntime.%s(%q); otherwise let a controller stand in for it", p.text, p.role.option(), p.name))
	}
	for _, l := range d.leftOut {
		var there []string
		for _, p := range found.parts {
			if p.role == l.role && !slices.Contains(there, p.name) {
				there = append(there, p.name)
			}
		}
		switch {
		case slices.Contains(there, l.name):
		case len(there) == 0:
			return fmt.Errorf("%s names %q, but the set-up registers nothing that could be left out so", l.role.option(), l.name)
		default:
			return fmt.Errorf("%s names %q, which the set-up does not register: there is %s", l.role.option(), l.name, strings.Join(there, ", "))
		}
	}
	return nil
}

// leaveOut notes a part that is not run. While a controller runs, it is a call that is not modelled instead.
func (a *assembly) leaveOut(p part) {
	if a.current.Unmodelled(p.text, "only what the set-up registers is known: register it there") {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.parts, p) {
		a.parts = append(a.parts, p)
	}
}

// sources counts what all controllers were told to watch.
func (a *assembly) sources() int {
	n := 0
	for _, c := range a.controllers {
		n += len(*c.sources)
	}
	return n
}

package controllerruntime

import (
	"github.com/orrery-dev/orrery/adapters/internal/system"
)

// The options that leave out what is not run.
const (
	withoutRunnables = "WithoutRunnables"
	withoutSources   = "WithoutSources"
	withoutHandlers  = "WithoutHandlers"
)

// WithoutRunnables says that runnables which the set-ups add to the manager do not matter to what is checked. They are
// named by their Go types, as the report names them: "*main.reporter", "manager.RunnableFunc". They are not run then,
// and reports name that as an assumption.
func WithoutRunnables(types ...string) Option {
	return common(system.Without(withoutRunnables, types...))
}

// WithoutSources says that what the controllers of these names get from channels, function sources after their start,
// and sources of one's own does not matter to what is checked. Nothing is delivered from there then, and reports name
// that as an assumption.
func WithoutSources(controllers ...string) Option {
	return common(system.Without(withoutSources, controllers...))
}

// WithoutHandlers says that event handlers which the set-ups add by hand to the informers of these kinds, such as
// "Secret" or "Deployment.apps", do not matter to what is checked. They are never run; unless the kind is named here,
// that is a reason why no check of the system is conclusive.
func WithoutHandlers(kinds ...string) Option {
	return common(system.Without(withoutHandlers, kinds...))
}

// leaveOut notes a part that is not run. While a controller runs, it is a call that is not modelled instead.
func (a *assembly) leaveOut(p system.Part) {
	if !a.current.Unmodelled(p.Text, "only what the set-up registers is known: register it there") {
		a.LeaveOut(p)
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

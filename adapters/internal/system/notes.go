package system

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/orrery-dev/orrery/adapters/internal/pins"
	"github.com/orrery-dev/orrery/core"
)

// Notes are what is not modelled of what a set-up registers. The zero value has none.
type Notes struct {
	mu sync.Mutex
	// assumptions are sentences about how what was registered is modelled, and doubts about what of it is not and may
	// matter.
	assumptions, doubts []string
	// parts are what is not run.
	parts []Part
}

// Part is something that a set-up registers and that is not run, or not if it is left out.
type Part struct {
	// Option is the name of the option that leaves such parts out.
	Option string
	// Name is what that option calls it.
	Name string
	// Text says what it is and what of it is not modelled, or that it is not run if it is left out.
	Text string
	// Runs tells that it is run unless it is left out.
	Runs bool
}

// Assume notes what is assumed about what is not modelled.
func (n *Notes) Assume(format string, args ...any) { n.note(&n.assumptions, format, args...) }

// Doubt notes what is not modelled and may decide what is found.
func (n *Notes) Doubt(format string, args ...any) { n.note(&n.doubts, format, args...) }

// Origin notes where the modules that values come from are checked with other versions of Kubernetes' libraries than
// they require.
func (n *Notes) Origin(values ...any) {
	for _, text := range pins.Raised(values...) {
		n.Assume("%s", text)
	}
}

// note adds a text to those that are told, once.
func (n *Notes) note(texts *[]string, format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(*texts, text) {
		*texts = append(*texts, text)
	}
}

// LeaveOut notes a part that is not run, once.
func (n *Notes) LeaveOut(p Part) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.parts, p) {
		n.parts = append(n.parts, p)
	}
}

// noted returns what is noted so far. Goroutines of a set-up may still note more.
func (n *Notes) noted() (assumptions, doubts []string, parts []Part) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.assumptions), slices.Clone(n.doubts), slices.Clone(n.parts)
}

// Without leaves out parts that do not matter to what is checked. option is what users know it by.
func Without(option string, names ...string) Option {
	return func(d *Definition) {
		if len(names) == 0 {
			d.Fail(option + " leaves nothing out: name what does not matter")
		}
		for _, name := range names {
			d.leftOut = append(d.leftOut, Part{Option: option, Name: name})
		}
	}
}

// LeavesOut reports whether a part is left out.
func (d *Definition) LeavesOut(option, name string) bool {
	return slices.ContainsFunc(d.leftOut, func(l Part) bool { return l.Option == option && l.Name == name })
}

// unrun adds what is not run to the system: as an assumption if the options leave it out, as a reason otherwise. What
// the options leave out must be there.
func (d *Definition) unrun(system *core.System, parts []ownPart) error {
	for _, p := range parts {
		if d.LeavesOut(p.Option, p.Name) {
			system.Assumptions = append(system.Assumptions, fmt.Sprintf("The system does not depend on what is left out of it: %s.", p.Text))
			continue
		}
		if p.Runs {
			continue
		}
		system.Unmodelled = append(system.Unmodelled, fmt.Sprintf(
			"%s: if it does not matter to what is checked, say so with %s.%s(%q); otherwise let a controller stand in for it", p.Text, p.adapter, p.Option, p.Name))
	}
	for _, l := range d.leftOut {
		var there []string
		for _, p := range parts {
			if p.Option == l.Option && !slices.Contains(there, p.Name) {
				there = append(there, p.Name)
			}
		}
		switch {
		case slices.Contains(there, l.Name):
		case len(there) == 0:
			return fmt.Errorf("%s names %q, but the set-up registers nothing that could be left out so", l.Option, l.Name)
		default:
			return fmt.Errorf("%s names %q, which the set-up does not register: there is %s", l.Option, l.Name, strings.Join(there, ", "))
		}
	}
	return nil
}

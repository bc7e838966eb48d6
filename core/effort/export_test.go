package effort

import "github.com/orrery-dev/orrery/core"

// Reached reports whether a state was reached.
func (r *Reach) Reached(id core.StateID) bool { return r.reached[id] }

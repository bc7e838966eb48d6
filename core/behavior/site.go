package behavior

import "runtime"

// site is where a call was made, as the program counters of its stack, innermost first. It is nil if nobody wants to know.
type site []uintptr

// deepest is how many frames of a stack are kept: those of clients, and of the controller that called them.
const deepest = 128

// Locate has the session find out where code makes the calls of the runs that it repeats from now on, which takes longer, and tells for each node of a path.
func (s *Session) Locate(located func(node *Node, stack []uintptr)) {
	s.located = located
	s.locates.Store(true)
}

// site returns where the code is that makes a call.
func (s *Session) site() site {
	if !s.locates.Load() {
		return nil
	}
	var stack [deepest]uintptr
	const skipped = 3 // of this method, of the recorder, and of the runtime
	return append(site{}, stack[:runtime.Callers(skipped, stack[:])]...)
}

// locate tells where the call was made that is answered next.
func (s *Session) locate(node *Node) {
	if s.located != nil && len(s.sites[s.turn]) > 0 {
		s.located(node, s.sites[s.turn])
	}
}

package transition

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// Most of what controllers keep is about one request each: what was expected of its objects, when it was tried, what it
// refers to. As one value of the state, all of that together would be another memory for each combination, and each run
// would depend on each other. So it is kept by request: each has a part of its own, and an instance for one of its runs
// has done nothing but what was done for that request. Event handlers are run on the instance of each request, which
// says whether they enqueue that one.
//
// That is right as long as requests have nothing to do with each other in memory. It is what is assumed at first, and
// given up for the controller at the first sign of the opposite: two requests change the same place, event handlers
// keep something that is of no request, or make calls; or what is done for one of them is something else, or leaves
// something else, on an instance that has also done what is known of another one.

// part is what a memory holds for one request, or all that it holds if it is not kept by request.
type part struct {
	*domain
	// request is what it is held for, empty for all.
	request core.Request
	cell    state.Cell
	// index tells in which order those of its memory came to be known, and number in which all did.
	index, number int
	// turns is how many items stand for calls that may wait in it, and timed whether one stands for the time.
	turns int
	timed bool
}

// keptByRequest reports whether a memory that some strategies share is taken to be kept by request. A deadline of one
// would be over with that of the others, as an instance has one clock; what works between activations must not wait for
// times, either, and not before it was asked to.
func (m *Machine) keptByRequest(d *domain, strategies []core.Strategy) bool {
	return d.fresh != nil && !behavior.RestIn(d.fresh).Waits() && m.Clock == nowhere && !slices.Contains(m.Conditions.Whole, d.Name) &&
		!slices.ContainsFunc(strategies, func(s core.Strategy) bool { return indivisible(s.Describe()) })
}

// addPart adds a part of a memory, which may hold all that is known to be held by the others.
func (m *Machine) addPart(d *domain, request core.Request) {
	name := "memory of " + d.Name
	if d.byRequest {
		name += " for " + string(request)
	}
	p := &part{domain: d, request: request, cell: m.Vocabulary.Note(name), index: len(d.parts), number: len(m.parts)}
	for _, known := range d.memories[1:] {
		m.Vocabulary.Extend(p.cell, known.Identity)
	}
	at, _ := slices.BinarySearchFunc(d.parts, request, func(p *part, request core.Request) int { return cmp.Compare(p.request, request) })
	d.parts = slices.Insert(slices.Clip(d.parts), at, p) // whoever goes through them meanwhile goes on with the list as it was
	d.requests[request], m.parts = p, append(m.parts, p)
}

// part returns what the memory holds for a request, nil if it is not known to be put to use.
func (d *domain) part(request core.Request) *part {
	if !d.byRequest {
		request = ""
	}
	return d.requests[request]
}

// part returns the part of the memory that its runs have to do with, nil if it is not known to be put to use.
func (it *Item) part() *part {
	if it.its != nil {
		return it.its
	}
	return it.Actor.domain.part(it.Request)
}

// unexpectedWhole are memories in which what is kept for one request has to do with another one.
type unexpectedWhole struct{ Memories []string }

// Error implements error.
func (u *unexpectedWhole) Error() string {
	return "what is kept for one request has to do with others: " + strings.Join(u.Memories, ", ")
}

func (u *unexpectedWhole) expect(c *Conditions) bool { return added(&c.Whole, u.Memories...) }

// divided reports whether the process has several memories, or one that is kept by request.
func (p *Process) divided() bool { return len(p.domains) > 1 || p.domains[0].byRequest }

// entwined ends a search in which instances of a process did something else after all that was done for others. Either
// what is kept for one request has to do with another one, or controllers share more than was known.
func (p *Process) entwined() error {
	var whole unexpectedWhole
	for _, d := range p.domains {
		if d.byRequest {
			whole.Memories = append(whole.Memories, d.Name)
		}
	}
	if whole.Memories != nil {
		return &whole
	}
	return &unexpectedSharing{p.Name}
}

// whole ends a search in which a memory was taken to be kept by request, and is not.
func (d *domain) whole() error { return &unexpectedWhole{[]string{d.Name}} }

// requestOf returns the request that an activation has to do with, and false if its event handlers have done nothing
// for any before.
func (d *domain) requestOf(activation behavior.Activation) (core.Request, bool) {
	if activation.Event == nil {
		return activation.Request, true
	}
	since := d.valueOf(activation.Since)
	return d.owners[since], since != 0
}

// owner returns the request for which a memory is held, empty if it is held for all.
func (d *domain) owner(memory state.Value) core.Request {
	if !d.byRequest {
		return ""
	}
	return d.owners[memory]
}

// claim notes for which request a memory is held that a run has left, and all that is in it. It ends a search in which
// that is held for another one, too.
func (d *domain) claim(run behavior.Run, value state.Value, contents map[string]string) error {
	if value == 0 {
		return nil
	}
	request, ok := d.requestOf(run.Activation)
	if !ok || int(value) < len(d.owners) && d.owners[value] != request {
		return d.whole()
	}
	if int(value) < len(d.owners) {
		return nil
	}
	for path := range entries(contents) {
		if by, claimed := d.claimed[path]; claimed && by != request {
			return d.whole()
		}
		d.claimed[path] = request
	}
	d.owners = append(d.owners, request)
	d.owned[request] = append(d.owned[request], value)
	return nil
}

// entries returns what an instance shows of contents, without how many there are of what else is in them.
func entries(contents map[string]string) map[string]string {
	kept := maps.Clone(contents)
	for path := range contents {
		if !behavior.Shown(path) {
			delete(kept, path)
		}
		for i, c := range path {
			if c == '[' {
				delete(kept, path[:i])
			}
		}
	}
	return kept
}

// besides audits a new run on instances that have also done what is known of other requests.
func (l *Learner) besides(a *Actor, run behavior.Run) error {
	d := a.domain
	if !d.byRequest || !l.Searching || run.Leaf.Failure.Stuck() {
		return nil
	}
	request, ok := d.requestOf(run.Activation)
	tried, most := 0, l.mostBeside()
	for value := state.Value(len(d.owners) - 1); value > 0 && tried < most; value-- {
		if ok && d.owners[value] == request {
			continue
		}
		tried++
		if err := l.beside(a, run, value); err != nil {
			return err
		}
	}
	return nil
}

// surround audits what is known to be done for other requests on instances that have come to a new memory.
func (l *Learner) surround(d *domain, value state.Value) error {
	if !d.byRequest || !l.Searching {
		return nil
	}
	for _, from := range slices.Sorted(maps.Keys(d.begun)) {
		tried, most := 0, l.mostBeside()
		for _, known := range slices.Clone(d.begun[from]) {
			request, ok := d.requestOf(known.Activation)
			if ok && request == d.owners[value] || tried == most {
				continue
			}
			tried++
			if err := l.beside(known.actor, known.Run, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostBeside returns on how many instances a run is audited that have done something for another request, and how many
// runs from a memory on each such instance: fewer once there were [thorough] of them.
func (l *Learner) mostBeside() int {
	if l.audits.beside > thorough {
		return 1
	}
	return 8
}

// beside audits a run on an instance that was brought to a memory for another request before: it has to do the same,
// and to leave what it leaves besides that.
func (l *Learner) beside(a *Actor, run behavior.Run, other state.Value) error {
	d := a.domain
	if slices.ContainsFunc(a.Process.Members, l.Fickle) {
		return nil
	}
	of := d.owners[other]
	runs := slices.Clone(d.memories[other].Histories[0])
	if since := run.Activation.Since; since != nil {
		for _, before := range since.Histories[0] {
			runs = append(runs, before.Beside(of))
		}
	}
	runs = append(runs, run.Beside(of))
	key := l.Memo.Digest(a.Strategy, nil, runs...)
	if _, known := l.Memo.Histories.Get(key); known {
		return nil
	}
	l.audits.beside++
	left, err := l.leftBy(a, runs)
	if left == nil || err != nil {
		return err
	}
	if !d.holdsBoth(left, d.contents[run.Leaf.Memory], d.contents[other]) {
		if run.Activation.Event == nil {
			return d.whole()
		}
		// An event may change what is kept for the other one as well.
		alone := run.Beside(of)
		if request, ok := d.requestOf(run.Activation); ok {
			alone = run.Beside(of, request)
		}
		others, err := l.leftBy(a, append(slices.Clone(d.memories[other].Histories[0]), alone))
		if others == nil || err != nil {
			return err
		}
		if !d.holdsBoth(left, d.contents[run.Leaf.Memory], others) {
			return d.whole()
		}
	}
	l.Memo.Histories.Set(key, struct{}{})
	return nil
}

// leftBy returns what is different in an instance that has gone through some runs from a fresh one, nil if it has done
// something else that is looked at elsewhere.
func (l *Learner) leftBy(a *Actor, runs []behavior.Run) (map[string]string, error) {
	session, err := l.fresh(a, 0)
	if err != nil {
		return nil, err
	}
	defer session.Abort()
	strayed, err := l.through(session, runs)
	switch {
	case err != nil:
		return nil, err
	case strayed == nil:
		return l.contents(a.domain, session.Memory()), nil
	case strayed.isAhead(a.Process):
		return nil, nil
	}
	return nil, a.domain.whole()
}

// holdsBoth reports whether nothing but two contents is held, whatever the times, and as much waits as in both.
func (d *domain) holdsBoth(held, one, other map[string]string) bool {
	both := map[string]string{}
	maps.Copy(both, one)
	maps.Copy(both, other)
	return maps.EqualFunc(entries(both), entries(held), behavior.SameButForTimes) && behavior.WaitsAsIn(d.fresh, held, one, other)
}

// heeding is whether event handlers do something else by what a part of their memory holds, as far as so many memories
// were tried.
type heeding struct {
	tried int
	// since is the first search that knows that they do, 0 if they are not known to.
	since int
}

// heedingOf returns whether the handlers of an event heed a part.
func (h *handling) heedingOf(p *part) *heeding {
	for p.index >= len(h.heeding) {
		h.heeding = append(h.heeding, heeding{})
	}
	return &h.heeding[p.index]
}

// heeds reports whether the handlers of an event were known to heed a part when the search began: what is left out must
// not depend on what it learns.
func (m *Machine) heeds(h *handling, p *part) bool {
	return p.index < len(h.heeding) && h.heeding[p.index].since > 0 && h.heeding[p.index].since <= m.Searches
}

// heed notes that the handlers of an event heed a part.
func (m *Machine) heed(known *heeding) {
	if known.since == 0 {
		known.since = m.Searches + 1
		m.Heeded++
	}
}

// neutral reports whether what the handlers of an event do on the instance of a request is what those of a fresh one
// do, as far as it has to do with the request.
func (p *part) neutral(memory state.Value, leaf, fresh *behavior.Leaf) bool {
	return leaf.Memory == memory && leaf.Asks(p.request) == fresh.Asks(p.request)
}

// Heed finds out which event handlers heed what they remember of which requests, also where a search does not come to
// it: it may have left out orders because they do not. If there is only one request, all of them are taken to. See
// [Machine.Heeded].
func (w *Walker) Heed() error {
	w.Learn.Where = Provenance{}
	var all []*handling
	for _, changes := range w.Machine.deliveries {
		for _, d := range changes {
			for i := range *d {
				if h := &(*d)[i]; len(h.roots) > 0 && h.actor.domain.byRequest {
					all = append(all, h)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *handling) int {
		return cmp.Or(cmp.Compare(a.change, b.change), cmp.Compare(a.actor.Index, b.actor.Index))
	})
	for _, h := range all {
		for _, p := range h.actor.domain.parts {
			if err := w.tryParts(h, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostTried is how many memories are tried to see whether the handlers of an event heed them. Where there are more,
// they are taken to.
const mostTried = 1 << 8

// tryParts finds out whether the handlers of an event heed a part, by all that it may hold.
func (w *Walker) tryParts(h *handling, p *part) error {
	known, memories := h.heedingOf(p), p.owned[p.request]
	if len(p.parts) == 1 && len(memories) > 0 || len(memories) > mostTried {
		w.Machine.heed(known)
	}
	for ; known.since == 0 && known.tried < len(memories); known.tried++ {
		neutral, err := w.neutral(h, p, memories[known.tried])
		switch {
		case Ends(err):
		case err != nil:
			return err
		case neutral:
			continue
		}
		w.Machine.heed(known)
	}
	return nil
}

// neutral reports whether the handlers of an event do as little with a memory of a part as without.
func (w *Walker) neutral(h *handling, p *part, memory state.Value) (bool, error) {
	fresh, err := w.outcome(h, 0, moment{})
	if err != nil {
		return false, err
	}
	leaf, err := w.outcome(h, memory, moment{})
	return err == nil && p.neutral(memory, leaf, fresh), err
}

// outcome returns what the handlers of an event do on an instance with a memory. They have to make no calls.
func (w *Walker) outcome(h *handling, memory state.Value, at moment) (*behavior.Leaf, error) {
	root, err := w.rootFrom(&h.roots, memory, at)
	switch {
	case err != nil:
		return nil, err
	case root.Leaf != nil:
		return root.Leaf, nil
	case w.Learn == nil:
		return nil, ErrUnknown
	}
	d := h.actor.domain
	run, err := w.Learn.explore(nil, h.actor, h.actor.handling(&h.event, d.memories[memory], at), nil, root, 0)
	if err != nil {
		return nil, err
	}
	if root.Leaf == nil {
		run.stop()
		return nil, d.whole()
	}
	if memory == 0 {
		return root.Leaf, nil
	}
	fresh, err := w.outcome(h, 0, at)
	if err == nil && !fresh.AsksAlike(root.Leaf, d.owners[memory]) {
		err = d.whole()
	}
	return root.Leaf, err
}

// handleByRequest runs event handlers on the instances of all requests, of which each says whether its request is
// enqueued, and reports whether they have changed what is remembered of any.
func (w *Walker) handleByRequest(h *handling, at moment) (leaf *behavior.Leaf, changed bool, err error) {
	a := h.actor
	fresh, err := w.outcome(h, 0, at)
	if err != nil {
		return nil, false, err
	}
	var runs []behavior.Run
	all := &behavior.Leaf{Requests: fresh.Requests, Cells: fresh.Cells, Unordered: true}
	for _, p := range a.domain.parts {
		if w.Machine.heeds(h, p) {
			w.recall(p)
		}
		memory := w.Value(p.cell)
		if memory == 0 {
			continue
		}
		leaf, err := w.outcome(h, memory, at)
		if err != nil {
			return nil, false, err
		}
		if p.neutral(memory, leaf, fresh) {
			continue
		}
		if w.Learn != nil {
			w.Machine.heed(h.heedingOf(p))
		}
		runs = append(runs, behavior.Run{Activation: a.handling(&h.event, p.memories[memory], at), Leaf: leaf})
		if leaf.Memory != memory {
			w.Set(p.cell, leaf.Memory)
			changed = true
		}
		switch asks := leaf.Asks(p.request); {
		case asks == fresh.Asks(p.request):
		case asks:
			all.Requests, all.Cells = append(slices.Clip(all.Requests), p.request), append(slices.Clip(all.Cells), a.items[p.request].Cell)
		default:
			all.Requests = slices.DeleteFunc(slices.Clone(all.Requests), func(r core.Request) bool { return r == p.request })
			all.Cells = slices.DeleteFunc(slices.Clone(all.Cells), func(c state.Cell) bool { return c == a.items[p.request].Cell })
		}
	}
	activation := a.handling(&h.event, nil, at)
	if runs == nil {
		all = fresh
	} else {
		activation.Parts = append([]behavior.Run{{Activation: activation, Leaf: fresh}}, runs...)
	}
	if w.Listener != nil {
		w.Listener.Ended(a, activation, nil, all)
	}
	return all, changed, nil
}

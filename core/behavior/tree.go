package behavior

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// Node is a point in the run of a strategy. It is unexplored until the code was run
// that far; then it is either a call or a leaf.
type Node struct {
	// Call is what the strategy asks next.
	Call core.Call
	// Parked are the calls that wait for their answers when the call is answered, itself not included: other goroutines
	// of the run make them at the same time.
	Parked []core.Call
	// Turns are the nodes for each of the concurrent calls that may be answered next, in the order of their identities:
	// the first is the one that an edge leads to, and all of them have the same turns. They are nil if there is only
	// one such call.
	Turns []*Node
	// Leaf is how the run ended.
	Leaf *Leaf
	// Chance is what the code may do here with the same responses, if it was seen to do several things. All that it may
	// do is another node each, and all of them have the same chance.
	Chance *Chance
	// Passed tells that a run has come to its end by here. It is filled in by the owner of the tree.
	Passed bool
	// Faults are the ways in which the call may fail. They are filled in by the owner of the tree.
	Faults []Fault
	// Earlier is the call as it would be made a tick earlier, where that is known to be another one. It is filled in by
	// the owner of the tree, who sets Timed once it has been found out.
	Earlier core.Call
	Timed   bool
	// Drawn tells that the run has drawn random values before it comes here, and Draw is the number of the draw that
	// they are of.
	Drawn bool
	Draw  state.Value
	// Spends tells that something of what the run has drawn stands in the call. It is filled in by the owner of the
	// tree, who sets Weighed once it has been found out.
	Spends, Weighed bool

	// variants are the nodes for each draw, by its number, where the run comes to draw here; otherwise there are none.
	variants map[state.Value]*Node
	// backwards is the node of the same call that is answered by a list in the opposite order, nil if there is none,
	// and forwards the one that it is of.
	backwards, forwards *Node
	answers             branch
	edges               []*Edge
	byName              map[string]*Edge
}

// Fault is a way in which a call fails.
type Fault struct {
	Name string
	// Edge is where the run goes on, with the answer that the caller gets.
	Edge *Edge
	// Commits tells that the effects of the call take place all the same.
	Commits bool
	// Overtaken are objects that somebody else has written before.
	Overtaken []core.Key
}

// Explored reports whether the code was run as far as the node.
func (n *Node) Explored() bool { return n.Call != nil || n.Leaf != nil }

// Varies reports whether the run comes to draw random values right before the node, so that it goes on otherwise with
// each draw.
func (n *Node) Varies() bool { return n.variants != nil }

// Variant returns where the run goes on with a draw at a node that varies, nil if that is not known.
func (n *Node) Variant(draw state.Value) *Node { return n.variants[draw] }

// Vary returns where the run goes on with a draw. The node varies from then on.
func (n *Node) Vary(draw state.Value) *Node {
	if n.variants[draw] == nil {
		if n.variants == nil {
			n.variants = map[state.Value]*Node{}
		}
		n.variants[draw] = &Node{Drawn: true, Draw: draw}
	}
	return n.variants[draw]
}

// Ask makes the node the one of the first of the calls that wait, which are in the order of their identities, with a
// turn for each of the others.
func (n *Node) Ask(pending []core.Call) {
	var turns []*Node
	for i, call := range pending {
		if i > 0 && call.Identity() == pending[i-1].Identity() {
			continue // it does not matter which of equal calls is answered
		}
		at := n
		if i > 0 {
			at = &Node{Drawn: n.Drawn, Draw: n.Draw}
		}
		at.Call = call
		if len(pending) > 1 {
			at.Parked = slices.Concat(pending[:i], pending[i+1:])
		}
		turns = append(turns, at)
	}
	if len(turns) < 2 {
		return
	}
	for _, at := range turns {
		at.Turns = turns
	}
}

// Turn returns which of the turns the node is, 0 if there is only one.
func (n *Node) Turn() int { return max(0, slices.Index(n.Turns, n)) }

// Namesakes returns how many of the turns before the node have calls that read the same.
func (n *Node) Namesakes() int {
	count := 0
	for _, earlier := range n.Turns[:n.Turn()] {
		if earlier.Call.String() == n.Call.String() {
			count++
		}
	}
	return count
}

// Point returns the node that an edge leads to: the first of the turns, or the one whose call is answered as it is.
func (n *Node) Point() *Node {
	switch {
	case n.forwards != nil:
		return n.forwards
	case n.Turns == nil:
		return n
	}
	return n.Turns[0]
}

// Backwards returns the node of the same call that is answered by a list in the opposite order, nil if there is none.
func (n *Node) Backwards() *Node { return n.backwards }

// IsBackwards reports whether the call is answered by a list in the opposite order.
func (n *Node) IsBackwards() bool { return n.forwards != nil }

// TurnRound adds the node of the same call that is answered by a list in the opposite order.
func (n *Node) TurnRound() *Node {
	n.backwards = &Node{Call: n.Call, Drawn: n.Drawn, Draw: n.Draw, forwards: n}
	return n.backwards
}

// Chance is what code may do at a point of its run, as it was seen to do one thing or another with the same responses.
type Chance struct {
	// Ways are in the order of their names. An edge leads to the node of one of them.
	Ways []Way
	seen int
}

// Way is a thing that code does by chance: it makes a call, or it ends.
type Way struct {
	Call core.Call
	Leaf *Leaf
	Node *Node
	// Seen is how often it was, and Others how often others were that it stands for, too.
	Seen, Others int
}

// Name tells a way apart from others.
func (w Way) Name() string {
	if w.Call != nil {
		return "it asks " + w.Call.Identity()
	}
	r := w.Leaf.Result
	return fmt.Sprintf("it ends %q, %t, %t, %t, %t, %q", w.Leaf.Failure, r.Err != nil, r.Requeue, r.RequeueAfter > 0, r.Blocked, w.Leaf.Requests)
}

// String says the way in the user's words.
func (w Way) String() string { return saying(w.Call, w.Leaf) }

// Parting returns that a run goes another way than this one, behind so many calls.
func (w Way) Parting(other Way, after int) *Divergence {
	if w.Call != nil {
		return parting(w.Call, other.Call, other.Leaf, after)
	}
	return &Divergence{Recorded: w.String(), Observed: other.String(), After: after, Call: other.Call, Ended: other.Leaf}
}

// Divide makes a node one of several ways: the one of a name. None of them is explored then: what was known of the node
// may be of another way.
func (n *Node) Divide(ways []Way, name string) {
	*n = Node{Drawn: n.Drawn, Draw: n.Draw}
	n.Chance = &Chance{Ways: slices.SortedFunc(slices.Values(ways), func(a, b Way) int { return strings.Compare(a.Name(), b.Name()) })}
	for i := range n.Chance.Ways {
		way := &n.Chance.Ways[i]
		n.Chance.seen += way.Seen + way.Others
		if way.Node = n; way.Name() != name {
			way.Node = &Node{Drawn: n.Drawn, Draw: n.Draw, Chance: n.Chance}
		}
	}
}

// Odds returns how likely it is, by what was seen, that code which comes to a node goes on like that.
func (n *Node) Odds() float64 {
	at := n.Point()
	if at.Chance == nil {
		return 1
	}
	return at.Chance.odds(at.Chance.Of(at))
}

// odds returns how likely it is that code which may end like that does.
func (l *Leaf) odds() float64 {
	if l.Chance == nil {
		return 1
	}
	return l.Chance.odds(slices.IndexFunc(l.Chance.Ways, func(w Way) bool { return w.Leaf != nil && w.Leaf.agrees(l) }))
}

// odds returns how likely a way is at least: it may have come up somewhat more often than it does.
func (c *Chance) odds(way int) float64 {
	seen := float64(c.Ways[way].Seen)
	return (seen - math.Sqrt(seen)) / float64(c.seen)
}

// Merged reports whether one of the ways stands for others, too.
func (c *Chance) Merged() bool {
	return c != nil && slices.ContainsFunc(c.Ways, func(w Way) bool { return w.Others > 0 })
}

// Of returns the place of a node among the ways.
func (c *Chance) Of(n *Node) int {
	return slices.IndexFunc(c.Ways, func(w Way) bool { return w.Node == n })
}

// Has reports whether one of the ways is like what a run does: it makes a call, or it ends. Without a chance there is
// none.
func (c *Chance) Has(call core.Call, leaf *Leaf, like func(call, recorded core.Call) bool) bool {
	return c != nil && slices.ContainsFunc(c.Ways, func(w Way) bool {
		if call == nil || w.Call == nil {
			return call == nil && w.Call == nil && leaf.agrees(w.Leaf)
		}
		return like(call, w.Call)
	})
}

// Edge leads from a call to what the strategy does when it gets a response.
type Edge struct {
	From     *Node
	Response core.Response
	To       *Node
}

// Respond returns the edge of a response at a call, which it adds if the response is
// new there.
func (n *Node) Respond(response core.Response) *Edge {
	identity := response.Identity()
	// Most calls see one or two responses; a map for each would cost more than it saves.
	if n.byName == nil {
		for _, edge := range n.edges {
			if edge.Response.Identity() == identity {
				return edge
			}
		}
	} else if edge := n.byName[identity]; edge != nil {
		return edge
	}
	edge := &Edge{From: n, Response: response, To: &Node{Drawn: n.Drawn, Draw: n.Draw}}
	n.edges = append(n.edges, edge)
	switch {
	case n.byName != nil:
		n.byName[identity] = edge
	case len(n.edges) > 8:
		n.byName = make(map[string]*Edge, len(n.edges))
		for _, edge := range n.edges {
			n.byName[edge.Response.Identity()] = edge
		}
	}
	return edge
}

// Leaf is the end of a run.
type Leaf struct {
	// Result is what a reconcile returned.
	Result core.Result
	// Requests is what event handlers enqueued.
	Requests []core.Request
	// Failure says how the run failed to end by itself.
	Failure Failure
	// Message is about the failure, empty without one.
	Message string
	// Mutated is what the run changed of an object that a cache had handed out, empty if nothing.
	Mutated string
	// Late is the first call that the run made after it had ended, from a timer or a goroutine that it left behind; nil
	// if there is none.
	Late core.Call
	// Overtaking says, for the calls of the run by number, which later ones can be answered before. It is nil if that
	// was not found out. It is filled in by the owner of the tree.
	Overtaking map[int]Overtaking
	// Awaits tells that the run would be another one at a later time, to which no run comes. It is filled in by the
	// owner of the tree.
	Awaits bool
	// Early tells that the run would be another one if a timer had fired before it that was set for so long, as a number
	// from 1 on, or longer, and that it does more than to set one again; 0 if it would not. It is filled in by the owner
	// of the tree.
	Early int
	// Drawn tells that the run has drawn random values that follow from its seed. It is filled in by the owner of the
	// tree.
	Drawn bool
	// Chance is that of its node.
	Chance *Chance
	// Memory is the value of the cell for the memory that the run leaves, see [Memory]. It is filled in by the owner of
	// the tree.
	Memory state.Value
	// Cells are the cells of the items named by Requests. They are filled in by the
	// owner of the tree.
	Cells []state.Cell
	// Unordered tells that it stands for leaves of several instances, or for one on an instance that has done more: in
	// which order Requests come does not count, and whether those are among them that are named by Beside.
	Unordered bool
	Beside    []core.Request
}

// Asks reports whether event handlers enqueue a request.
func (l *Leaf) Asks(request core.Request) bool { return slices.Contains(l.Requests, request) }

// AsksAlike reports whether event handlers enqueue the same requests as others, in whatever order, but for some.
func (l *Leaf) AsksAlike(other *Leaf, but ...core.Request) bool {
	within := func(all []core.Request) []core.Request {
		kept := slices.DeleteFunc(slices.Clone(all), func(r core.Request) bool { return slices.Contains(but, r) })
		slices.Sort(kept)
		return slices.Compact(kept)
	}
	return slices.Equal(within(l.Requests), within(other.Requests))
}

// Failure is a way in which a run ends other than by returning.
type Failure string

// The failures of a run. After a panic a controller goes on, as its host recovers
// it; the others leave a worker that never comes back.
const (
	None     Failure = ""
	Panicked Failure = "panic"
	Deadlock Failure = "deadlock"
	Exited   Failure = "exit"
	Overdue  Failure = "overdue"
	// Connected runs are overdue while they wait for the network.
	Connected Failure = "connected"
	// Withheld runs wait for a lock that somebody may hold who waits for the time, which stands still meanwhile.
	Withheld Failure = "withheld"
	Runaway  Failure = "runaway"
	// Polling runs make calls without end, and sleep in between: they wait for what others do, who do nothing until
	// they return.
	Polling Failure = "polling"
	Leaked  Failure = "leak"
	// Fatal runs end the process, see [core.Guard].
	Fatal Failure = "fatal"
	// CutOff runs end because their controller crashes, which is no fault of theirs.
	CutOff Failure = "cut off"
)

// Stuck tells that the run never came back.
func (f Failure) Stuck() bool { return f != None && f != Panicked && f != CutOff }

// Retried tells that the request goes back to the work queue: the run failed, or
// asked for it. Rate limiting is time, and time is abstract.
func (l *Leaf) Retried() bool {
	return l.Result.Err != nil || l.Result.Requeue || l.Failure == Panicked
}

// Later tells that the request is to be run again later.
func (l *Leaf) Later() bool {
	return l.Result.Err == nil && !l.Result.Requeue && l.Result.RequeueAfter > 0 && l.Failure == None
}

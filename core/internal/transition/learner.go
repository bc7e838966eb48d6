package transition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/state"
)

// Learner runs controller code where the behaviour trees end, and lets the store
// answer calls that were not made in such a state before. There is one in a search.
type Learner struct {
	Context context.Context
	Machine *Machine
	limits  behavior.Limits
	// Logger gets what is learned.
	Logger hclog.Logger

	// Executed counts runs of reconcilers, audits included; behaviours counts leaves of their trees.
	Executed   int
	Behaviours int
	// Searching tells that the search is not over: it can be begun again with what was found out.
	Searching bool
	// Following tells that a run is followed that was told. It can be begun again with what was found out, too.
	Following bool
	// Fresh reports whether something was run since it was last set to false.
	Fresh bool
	// Ran, if set, is called for each run while the search goes on.
	Ran func()

	audits audits
	// began is what the process had done outside when the run began that was learned last.
	began count
	// Memo is what is known from other searches, and gets what this one finds out.
	Memo *memo.Memo
	// Hasty tells that paths are audited once, as what is learned is looked at again before anything is concluded, and trying that nothing
	// is learned, see [Learner.Try].
	Hasty, trying bool
	// relived are the histories that were audited. Those of different actors end in different leaves.
	relived relived

	Incidents []core.Incident
	// Suspects are the places at which code may just have been led elsewhere by chance, by what it did wrong there.
	Suspects map[Wrong]memo.Digest
	// Where is what incidents are put down to.
	Where Provenance
	Seen  map[Wrong]bool
}

// NewLearner returns what learns about a system, with the machine that it makes grow. It knows nothing from other searches.
func NewLearner(ctx context.Context, system *core.System, conditions Conditions, limits behavior.Limits, seed int64) (*Learner, error) {
	m, err := newMachine(ctx, system, conditions, limits)
	if err != nil {
		return nil, err
	}
	limits.Randomness = system.Randomness
	return &Learner{Context: ctx, Machine: m, limits: limits, Logger: hclog.NewNullLogger(), audits: audits{seed: uint64(seed)}, relived: relived{}, Suspects: map[Wrong]memo.Digest{}, Memo: memo.New()}, nil
}

// Provenance is a step in a state, or the delivery of the objects of a state if
// there is no step.
type Provenance struct {
	State core.StateID
	step  *Taken
}

// codeRun is a run of real code in step with a walk through its tree. A nil codeRun is one that has not begun.
type codeRun struct{ session *behavior.Session }

func (l *codeRun) answer(node *behavior.Node, response core.Response) {
	if l != nil {
		l.session.TurnTo(node.Call)
		l.session.Answer(response)
	}
}

func (l *codeRun) stop() {
	if l != nil {
		l.session.Abort()
	}
}

// explore finds out what comes at a node that is not explored: the next call, or the
// end of the run. It begins the run if there is none yet.
func (l *Learner) explore(current *codeRun, a *Actor, activation behavior.Activation, path behavior.Path, node *behavior.Node, draw state.Value) (*codeRun, error) {
	current, call, leaf, err := l.goOn(current, a, activation, path, node)
	if err != nil {
		return nil, err
	}
	if !node.Drawn && (node.Varies() || current.session.Drew()) {
		node = node.Vary(draw)
	}
	if node.Chance == nil && l.forks(a, activation) && l.divide(a, behavior.Run{Activation: activation, Path: path}, node, behavior.Way{Call: call, Leaf: leaf}) {
		current.stop()
		return l.explore(nil, a, activation, path, node, draw)
	}
	if leaf != nil {
		leaf.Drawn, leaf.Chance = node.Drawn, node.Chance
		if err := l.attend(a, behavior.Run{Activation: activation, Path: path, Leaf: leaf}, node); err != nil {
			current.session.Abort()
			return nil, err
		}
	}
	node.Leaf = leaf
	if call != nil {
		node.Ask(current.session.Pending())
	}
	switch {
	case !a.fallible:
	case activation.Event != nil:
		l.spare(a, activation, node)
	default:
		l.fail(node)
		for _, turn := range node.Turns[min(1, len(node.Turns)):] {
			l.fail(turn)
		}
	}
	if leaf != nil {
		run := behavior.Run{Activation: activation, Path: slices.Clone(path), Leaf: leaf} // which may be kept
		if l.trying {
			return current, l.leaves(a, current.session, run)
		}
		if err = l.remember(a, current.session, run); err == nil {
			if err = l.learnEnd(current.session, a, run); err == nil {
				err = l.along(a, run)
			}
			run.Path.Pass()
			node.Passed = true
		} else {
			current.session.Abort()
		}
		l.learned(a, activation, leaf)
	}
	return current, err
}

// Open puts an instance of an actor to work that remembers what it did before: a fresh one, taken through that. The session has to be
// closed or aborted.
func (l *Learner) Open(a *Actor, since *behavior.Memory) (*behavior.Session, error) {
	session, strayed, err := l.bring(a, since, 0, shift{})
	if strayed != nil {
		if err := l.diagnose(strayed.by(a.Process), strayed.runs, strayed.clock, strayed.divergence); err != nil {
			return nil, err
		}
		return nil, ErrStopped
	}
	return session, err
}

// bring takes a fresh instance to a memory, or as far as it goes the same way. If its clock has moved, it may write other contents.
func (l *Learner) bring(a *Actor, since *behavior.Memory, way int, by shift) (*behavior.Session, *strayed, error) {
	session, err := l.fresh(a, by.start)
	if err != nil {
		return nil, nil, err
	}
	if since == nil {
		return session, nil, nil
	}
	history := since.Histories[way%len(since.Histories)]
	for i, run := range history {
		clock := session.Elapsed()
		var divergence *behavior.Divergence
		if by.start == 0 && by.with == 0 {
			divergence, err = l.again(session, run, 1)
		} else {
			if !a.domain.manner.Active { // whose clock is set for each run
				run.Activation.Clock += by.start
			}
			if by.with > 0 && run.Activation.Passed == by.with {
				run.Activation.Clock += by.run
			}
			_, divergence, err = session.Follow(l.Context, run)
		}
		if divergence != nil || err != nil {
			session.Abort()
		}
		if err != nil {
			return nil, nil, err
		}
		if divergence != nil {
			return session, &strayed{history[:i+1], clock, divergence}, nil
		}
	}
	return session, nil, nil
}

// brought brings a fresh instance to a memory by one of its histories, or returns where it goes another way.
func (l *Learner) brought(a *Actor, since *behavior.Memory, way int) (*behavior.Session, *behavior.Divergence, error) {
	session, strayed, err := l.bring(a, since, way, shift{})
	if strayed != nil {
		return nil, strayed.divergence, nil
	}
	return session, nil, err
}

// fresh puts a fresh instance of an actor to work, that of an active process so much later.
func (l *Learner) fresh(a *Actor, later time.Duration) (*behavior.Session, error) {
	manner := a.domain.manner
	manner.Later = later
	session, _, err := behavior.OpenFresh(l.Context, a.Strategy, manner, l.limits)
	return session, err
}

// openProcess puts a fresh instance to work that does all that a process does.
func (l *Learner) openProcess(p *Process) (*behavior.Session, error) {
	session, _, err := behavior.OpenFresh(l.Context, p.shared().Strategy, p.manner(), l.limits)
	return session, err
}

// Fickle reports whether an actor was found not to be deterministic.
func (l *Learner) Fickle(a *Actor) bool {
	return slices.ContainsFunc(l.Incidents, func(i core.Incident) bool {
		return i.Kind == core.Nondeterministic && i.Strategy == a.Name
	})
}

// learned notes a new leaf.
func (l *Learner) learned(a *Actor, activation behavior.Activation, leaf *behavior.Leaf) {
	if l.Machine.Recorder != nil {
		l.Machine.Recorder.Ended(leaf)
	}
	if activation.Event == nil {
		l.Behaviours++
		if l.Logger.IsTrace() {
			l.Logger.Trace("a reconcile was learned", "controller", a.Name, "request", activation.Request, "end", leaf.String())
		}
		if leaf.Result.Blocked && l.Machine.Recorder != nil {
			l.block(a, activation)
		}
	}
	for _, request := range leaf.Requests {
		if it := l.Machine.Item(a, request); !it.Standing {
			leaf.Cells = append(leaf.Cells, it.Cell)
		}
	}
}

// failed reports a run that did not come to its end by itself, or that changed what a cache had handed out.
func (l *Learner) failed(a *Actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf) {
	if leaf.Mutated != "" {
		l.report(core.Incident{Kind: core.Mutated, Message: "changed an object in its cache: " + leaf.Mutated, Details: path.Calls()}, a, activation)
	}
	if leaf.Failure == behavior.None {
		return
	}
	if leaf.Failure == behavior.Connected {
		l.Machine.doubt("%s, %s, %s and waits for the network, %s", a.Name, activation, leaf.Message, unconnected)
		return
	}
	if leaf.Failure == behavior.Polling {
		l.Machine.doubt("%s, %s, %s, and sleeps in between: it waits for what others do, and they do nothing before it returns. Let them act between its calls, with --granularity call (Granularity: orrery.PerCall), or return RequeueAfter in place of sleeping", a.Name, activation, leaf.Message)
		return
	}
	if leaf.Failure == behavior.Overdue && a.domain.waits(activation.Since) {
		l.Machine.doubt("%s, %s, did not return within %s while a goroutine of it waits for the answer to a call, which may hold a lock meanwhile. Waiting for a lock that is held over a call is not modelled: use a channel, or leave the one of them out", a.Name, activation, l.limits.Deadline)
		return
	}
	if leaf.Failure == behavior.Withheld {
		l.Machine.doubt("%s, %s, %s, of whom one may hold it until a call is answered or a time comes. Waiting for a lock that is held meanwhile is not modelled: use a channel, or neither make calls nor sleep while the lock is held", a.Name, activation, leaf.Message)
		return
	}
	if leaf.Failure == behavior.Fatal && strings.Contains(leaf.Message, "synctest") {
		how, _, _ := strings.Cut(leaf.Message, "\n")
		l.Machine.doubt("%s, %s, %s. It shares a channel, a timer or a goroutine with what was made outside of the run: in a package variable, by the set-up, or by a package such as net. Make what is shared in each set-up anew, start goroutines as runnables of the manager, and leave the network out", a.Name, activation, how)
		return
	}
	kind := core.Stuck
	message, details := leaf.String(), path.Calls()
	switch leaf.Failure {
	case behavior.Fatal:
		first, stack, _ := strings.Cut(message, "\n")
		message = first
		details = append(details, strings.Split(stack, "\n")...)
	case behavior.Panicked:
		kind = core.Panicked
	case behavior.Runaway:
		kind = core.Runaway
		details = details[max(0, len(details)-12):]
	}
	l.report(core.Incident{Kind: kind, Message: message, Details: details}, a, activation)
}

// endless reports event handlers that set each other off for ever.
func (l *Learner) endless(d delivery) error {
	for _, h := range d {
		if len(h.roots) == 0 {
			continue
		}
		l.report(core.Incident{
			Kind:    core.Runaway,
			Message: "its event handlers write, and those writes trigger them again without end",
		}, h.actor, h.actor.handling(&h.event, nil, moment{}))
	}
	return ErrStopped
}

// report adds an incident, once for each controller and what it does wrong.
func (l *Learner) report(incident core.Incident, a *Actor, activation behavior.Activation) {
	incident.Strategy, incident.Request = a.Name, activation.Reconciled()
	if activation.Event != nil {
		key := activation.Event.Key
		incident.Handling = &key
	}
	incident.State, incident.AtStart = l.Where.State, l.Where.step == nil
	if l.Where.step != nil {
		incident.Step = l.Where.step.Step()
	}
	if l.Seen[WrongOf(incident)] {
		return
	}
	l.Seen[WrongOf(incident)] = true
	l.Incidents = append(l.Incidents, incident)
	l.Logger.Debug("something is wrong with the code", "controller", a.Name, "activation", activation, "kind", incident.Kind, "message", incident.Message)
}

// answer lets the store answer the call of an actor's run in what a client shows, and remembers it. A call that names the time of
// the run is never made twice at the same time: where it changes nothing as it is, it is made as of a tick earlier.
func (l *Learner) answer(s *ClientView, a *Actor, activation behavior.Activation, node *behavior.Node) (*behavior.Answered, error) {
	look := &tracker{client: s}
	answered, response, err := l.carryOut(look, a, node.Call, activation.Now)
	if err != nil {
		return nil, err
	}
	if node.Call.Source() == core.Cached {
		if err := l.cached(a, node.Call, look.reads); err != nil {
			return nil, err
		}
	}
	if !answered.Effects() && node.Call.Source() == core.Live {
		w := s.Walker
		earlier, err := l.earlier(a, activation, w.path[w.base:], node)
		if err != nil {
			return nil, err
		}
		if earlier != nil {
			other, otherwise, err := l.carryOut(look, a, earlier, activation.Now)
			if err != nil {
				return nil, err
			}
			if len(other.Writes) > 0 {
				answered, response = other, otherwise
			}
		}
	}
	if err := l.noting(s.Walker, a, activation, node.Call, answered.Writes); err != nil {
		return nil, err
	}
	response, answered.Turns = l.turns(a, activation, node, response)
	answered.Lists = slices.ContainsFunc(look.reads, func(r behavior.Read) bool { return r.Listed })
	if s.Walker.made != nil || s.Walker.nested > 0 || l.Machine.Conditions.Granularity == PerCall || l.Machine.lags && node.Call.Source() == core.Cached {
		answered.Reads = look.reads
	}
	if answered.Edge = node.Respond(response); l.trying {
		return answered, nil
	}
	if l.Machine.Recorder != nil {
		l.Machine.Recorder.Read(s, node, answered, look.reads)
	}
	return answered, node.Remember(look.reads, answered)
}

// carryOut lets the store answer a call of an actor, after so much time has passed, and returns what it changes.
func (l *Learner) carryOut(look *tracker, a *Actor, call core.Call, now time.Duration) (*behavior.Answered, core.Response, error) {
	w := look.client.Walker
	answer, err := ask(l.Machine.stores[now], look, call)
	if afresh := (*core.Afresh)(nil); errors.As(err, &afresh) {
		if l.Searching || l.Following {
			return nil, nil, &unexpectedKinds{afresh}
		}
		err = nil // what would come of it is only looked at
	}
	if err != nil {
		var unsupported *core.Unsupported
		if !errors.As(err, &unsupported) {
			return nil, nil, fmt.Errorf("answering %q: %w", call, err)
		}
		return nil, nil, unsupported
	}
	answered := &behavior.Answered{}
	if err := l.presume(a, answer); err != nil {
		return nil, nil, err
	}
	for _, write := range answer.Writes {
		// Whether it is a change at all depends on what was there.
		look.Get(write.Key)
		c := l.Machine.Vocabulary.Object(write.Key)
		to := l.Machine.Vocabulary.Intern(c, write.Content)
		watched := len(l.Machine.watchers[write.Key.Kind]) > 0
		answered.Writes = append(answered.Writes, behavior.Write{Cell: c, Key: write.Key, To: to, Unwatched: !watched})
	}
	answered.Writes = effective(w, answered.Writes)
	enqueued, err := l.Machine.handed(a, answer.Enqueue)
	later, err2 := l.Machine.handed(a, answer.EnqueueAfter)
	if err := cmp.Or(err, err2); err != nil {
		return nil, nil, fmt.Errorf("answering %q: %w", call, err)
	}
	for _, it := range enqueued {
		answered.Enqueue = append(answered.Enqueue, it.Cell)
	}
	for _, it := range later {
		answered.EnqueueAfter = append(answered.EnqueueAfter, it.Cell)
		it.setBy(a)
	}
	return answered, answer.Response, nil
}

// effective leaves out writes of what is there already.
func effective(w *Walker, writes []behavior.Write) []behavior.Write {
	kept := writes[:0]
	now := map[state.Cell]state.Value{}
	for _, write := range writes {
		was, written := now[write.Cell]
		if !written {
			was = w.Value(write.Cell)
		}
		if was != write.To {
			kept = append(kept, write)
			now[write.Cell] = write.To
		}
	}
	return kept
}

// Wrong is what an incident comes to: incidents of one are one controller's doing the same wrong.
type Wrong struct {
	kind              core.IncidentKind
	strategy, message string
}

// WrongOf returns what an incident comes to.
func WrongOf(i core.Incident) Wrong { return Wrong{i.Kind, i.Strategy, i.Message} }

// A step can be tried in a state that the search may never come to, to find out on what it depends. Code that goes a way there which is not
// known is run twice and no more: nothing of it is kept. If the search comes that way, it learns it as any other.

// ErrUnmet ends the trial of a step in which a run leaves something that none is known to leave.
var ErrUnmet = errors.New("no run is known to leave that")

// Try lets code be tried while something is done: what is not known of it is not learned.
func (l *Learner) Try(do func() error) error {
	l.trying = true
	defer func() { l.trying = false }()
	return do()
}

// aside returns the node at which code goes on that is not known to go on there: in a trial, it is none of the tree.
func (l *Learner) aside(node *behavior.Node) *behavior.Node {
	if !l.trying {
		return node
	}
	return &behavior.Node{Drawn: node.Drawn, Draw: node.Draw}
}

// leaves finds out what a run in a trial leaves, goes through it once more, and ends its session.
func (l *Learner) leaves(a *Actor, session *behavior.Session, run behavior.Run) error {
	if err := l.met(a, session, run); err != nil || run.Leaf.Failure.Stuck() {
		session.Abort()
		return err
	}
	_, _, err := l.audit(session, a, run, 1)
	return err
}

// met has a leaf name the memory and the items that are known to be what it leaves and enqueues.
func (l *Learner) met(a *Actor, session *behavior.Session, run behavior.Run) error {
	d, leaf := a.domain, run.Leaf
	for _, request := range leaf.Requests {
		it, known := a.items[request]
		if !known {
			return ErrUnmet
		}
		if !it.Standing {
			leaf.Cells = append(leaf.Cells, it.Cell)
		}
	}
	if d.fresh == nil || leaf.Failure.Stuck() {
		return nil
	}
	left, err := l.recognize(a, session, run)
	if err != nil {
		return err
	}
	if left != nil {
		if value, known := d.values[left.identity]; known {
			leaf.Memory = value
			return nil
		}
	}
	return ErrUnmet
}

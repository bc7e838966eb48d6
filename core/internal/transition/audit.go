package transition

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/internal/iotrace"
)

// A path is learned from one run of a fresh instance, and holds for every run that gets the same responses. That
// is true of code that looks at nothing else. So a path is audited: the code goes through it again under conditions
// in which something else is different. Chance (the order of a map, a select, random numbers) is different in every
// run; the memory of an instance is different once it has been used.

// How often a new path is run again: at first on the instance that it was learned from.
const (
	// rare is enough for what happens once in eight times to be missed less than once in a thousand paths: a map of two keys
	// gives the second one first no more often than that.
	rare = 55
	// fair is enough for a fair coin. No instance goes through a path more often than that in a row.
	fair = 11
	// few is how many paths are audited for what is rare, thorough how many for what is fair. Of the paths that come later it is the
	// first ones of each site, and one in so many of the others.
	few      = 64
	thorough = 1_000
	sited    = 16
)

// audits is what was audited so far.
type audits struct {
	seed  uint64
	paths int
	// sites counts the paths by controller and by the kinds of calls they make, so that what is audited is spread over the code.
	sites map[string]uint64
	// beside counts the runs that were audited on instances which had done something for another request.
	beside int
}

// times returns how often a new path is run again. It depends on what was audited before and on nothing else, so that the
// same search finds the same again.
func (s *audits) times(a *Actor, run behavior.Run) int {
	site := []byte(a.Name)
	for _, edge := range run.Path {
		words := strings.SplitN(edge.From.Call.String(), " ", 3)
		site = append(append(site, 0), strings.Join(words[:min(2, len(words))], " ")...)
	}
	if s.sites == nil {
		s.sites = map[string]uint64{}
	}
	s.sites[string(site)]++
	s.paths++
	n := s.sites[string(site)]
	switch {
	case s.paths <= few, s.paths <= thorough && n == 1:
		return rare
	case s.paths <= thorough, n <= sited, rand.New(rand.NewPCG(s.seed, n)).IntN(sited) == 0:
		return fair
	}
	return 1
}

// learnEnd audits the end of a new path in the session that it was learned in, which it closes, unless the same was found before.
func (l *Learner) learnEnd(session *behavior.Session, a *Actor, run behavior.Run) error {
	if run.Leaf.Failure.Stuck() {
		session.Abort()
		if l.Searching && l.deserted(a, run.Leaf) {
			return &unexpectedBackground{Memory: a.domain.Name}
		}
		return nil
	}
	times := l.audits.times(a, run)
	if l.Hasty || l.Fickle(a) {
		times = 1
	}
	reaches, err := false, l.findWords(session, a, run)
	if err == nil {
		err = l.setsTimer(a, run)
	}
	if err == nil && l.began.moved() {
		reaches, err = l.reachesOut(a, run)
	}
	if err != nil {
		session.Abort()
		return err
	}
	if a.connected { // Nothing that it does is a function of what it is given, so that there is nothing to audit.
		return l.close(session, a, run)
	}
	key := l.Memo.Digest(a.Strategy, nil, run)
	if known, found := l.Memo.Runs.Get(key); found && known.Times >= times {
		run.Leaf.Overtaking = known.Overtaking
		if err := l.close(session, a, run); err != nil {
			return err
		}
		if err := l.besides(a, run); err != nil {
			return err
		}
		return l.misses(a, run)
	}
	drawn := l.drawn(session, a, run)
	before := count{iotrace.Now()}
	sure, indifferent, err := l.audit(session, a, run, times)
	if err != nil || run.Leaf.Failure.Stuck() {
		return err
	}
	if !reaches && before.moved() {
		if reaches, err = l.reachesOut(a, run); err != nil {
			return err
		}
	}
	decides, err := l.redraw(a, run, drawn, times)
	if err != nil {
		return err
	}
	if times > 1 {
		if err := l.among(a, run); err != nil {
			return err
		}
	}
	if err := l.besides(a, run); err != nil {
		return err
	}
	if err := l.misses(a, run); err != nil {
		return err
	}
	compares := false
	if !indifferent {
		if compares, err = l.compares(a, run); err != nil {
			return err
		}
	}
	waits, err := l.look(a, run)
	if err != nil {
		return err
	}
	if err := l.overtake(a, run); err != nil {
		return err
	}
	if err := l.heedsOrder(a, run); err != nil {
		return err
	}
	if sure && !reaches && !decides && !compares && !waits && run.Leaf.Late == nil && !l.Fickle(a) { // or it is to be said again by who remembers this
		l.Memo.Runs.Set(key, memo.Audited{Times: times, Overtaking: run.Leaf.Overtaking})
	}
	return nil
}

// count is what the process had read, written and sent at some time.
type count struct{ iotrace.Count }

// moved reports whether that is more by now, as far as it is known.
func (c count) moved() bool {
	now := iotrace.Now()
	return !now.Known() || now.Since(c.Count) > 0
}

// unconnected says what to do about controllers that talk to others.
const unconnected = "which is no part of the system: what comes of it was not searched. Give the controller a client for a part of the world that is " +
	"(docs/external.md), or one that answers in the process"

// reachesOut finds out whether a run asks anybody but the world that it is given: it is no function of the answers to its calls then. It says so, and
// reports whether it does.
func (l *Learner) reachesOut(a *Actor, run behavior.Run) (bool, error) {
	// Whether a closer look is taken may depend on what else the machine does, so that it is not counted.
	recount := l.uncounted()
	var divergence *behavior.Divergence
	deeds, err := iotrace.Trace(func() (err error) {
		divergence, err = l.anew(a, run, 1, 0)
		return err
	}, "core/behavior.setUp")
	recount()
	if err == nil && divergence != nil && !l.Fickle(a) && (divergence.Ended == nil || !divergence.Ended.Failure.Stuck()) {
		err = l.parted(a, run, 0, divergence) // it may be this once
	}
	switch {
	case errors.Is(err, iotrace.ErrBusy):
		l.Machine.doubt("%s may read files or talk to the network, and it cannot be seen if it does while the execution is traced: leave out the trace", a.Name)
		return true, nil
	case err != nil:
		return false, err
	}
	for _, deed := range deeds {
		switch deed.Kind {
		case iotrace.Network:
			a.connected = true
			l.Machine.doubtFirst(a.Name+" talks to the network", "in %s, %s", deed.Where, unconnected)
		case iotrace.Process:
			a.connected = true
			l.Machine.doubtFirst(a.Name+" starts another program", "in %s, which is no part of the system: what comes of it was not searched", deed.Where)
		case iotrace.File:
			l.Machine.read(a.Name, deed.Where)
		}
	}
	return len(deeds) > 0, nil
}

// Connected names the controllers that are known to ask somebody who is no part of the system, in the order of the system.
func (m *Machine) Connected() []string {
	return m.strategies(func(a *Actor) bool { return a.connected })
}

// audit goes through a new path again on the instance of the session that it was learned in, and on fresh ones. It closes the session,
// and reports whether the code went the same way each time, and whether it is known not to compare versions, and ages.
func (l *Learner) audit(session *behavior.Session, a *Actor, run behavior.Run, times int) (same, indifferent bool, err error) {
	clock := session.Elapsed()
	keeps := a.domain.memories[run.Leaf.Memory] != run.Activation.Since
	var divergence *behavior.Divergence
	switch {
	case l.forks(a, run.Activation):
		if divergence, err = l.reused(a, run); err != nil {
			session.Abort()
			return false, false, err
		}
		times = 1 // it was run often enough to see what it does by chance
	case !keeps:
		// What leaves no trace in memory makes no difference to the instance.
		if divergence, err = l.again(session, run, min(times, fair)); err != nil {
			return false, false, err
		}
		times -= fair
		if divergence == nil && run.Activation.Since == nil {
			if session, indifferent, err = l.indifferent(session, a, run); err != nil {
				return false, false, err
			}
		}
	}
	if err := l.close(session, a, run); err != nil || run.Leaf.Failure.Stuck() {
		return false, false, err
	}
	// More often in a row, and code that stops where too much comes at once would show what no search comes to.
	repeats := fair
	if keeps {
		times, repeats = min(times, fair), 1
	}
	if since := run.Activation.Since; since != nil {
		times = max(times, len(since.Histories)-1) // whatever led there, it does the same
	}
	for way := 1; times > 0 && divergence == nil; way++ {
		if divergence, err = l.anew(a, run, min(times, repeats), way); err != nil {
			return false, false, err
		}
		times -= repeats
	}
	if divergence != nil {
		return false, false, l.parted(a, run, clock, divergence)
	}
	return true, indifferent, nil
}

// parted finds out why the code does not go along a new path again. It ends a search that did not know that it shares something with what the set-up has started.
func (l *Learner) parted(a *Actor, run behavior.Run, clock time.Duration, divergence *behavior.Divergence) error {
	if l.Searching && l.leftAlone(a) {
		return &unexpectedBackground{Memory: a.domain.Name}
	}
	return l.diagnose(a, []behavior.Run{run}, clock, divergence)
}

// close closes the session of a new path, where it shows what was left behind. It ends a search that did not know that the process goes on after its runs: it has to be begun again.
func (l *Learner) close(session *behavior.Session, a *Actor, run behavior.Run) error {
	d := a.domain
	if d.manner.Active {
		session.Close(run.Leaf)
		return nil
	}
	left := d.contents[run.Leaf.Memory]
	*run.Leaf = *session.Close(run.Leaf)
	if run.Leaf.Failure.Stuck() {
		return nil
	}
	goesOn := run.Leaf.Late != nil || d.fresh != nil && l.tells(a) && !maps.Equal(left, l.contents(d, session.Memory()))
	switch {
	case goesOn && l.Searching:
		return &unexpectedBackground{Memory: d.Name}
	case run.Leaf.Late != nil:
		l.Machine.doubt("%s leaves work running after it has returned, %s: it would then %q, and the states after that were not searched. Wait for the work before returning, or return RequeueAfter", a.Name, run.Activation, run.Leaf.Late)
	case goesOn:
		l.Machine.doubt("%s changes its memory after it has returned, %s, and the states after that were not searched", a.Name, run.Activation)
	}
	return nil
}

// diagnose finds out why an instance that went through the runs before, and whose clock was so far ahead, takes another way in the last one, and reports it.
func (l *Learner) diagnose(a *Actor, runs []behavior.Run, clock time.Duration, divergence *behavior.Divergence) error {
	cause, run := core.Memory, runs[len(runs)-1]
	// Fresh instances differ by nothing but chance, and by the clock if it is moved for them.
	for range rare {
		other, err := l.anew(a, run, 1, 0)
		if err != nil {
			return err
		}
		if other != nil {
			if err := l.leftToChance(a, run, other); err != nil {
				return err
			}
			cause, divergence = core.Chance, other
			break
		}
	}
	if cause != core.Chance && a.isAhead(run, clock, divergence) {
		return nil
	}
	if cause != core.Chance && clock > 0 {
		later := run
		later.Activation.Clock += clock
		other, err := l.anew(a, later, 1, 0)
		if err != nil {
			return err
		}
		if other != nil {
			return nil // that is looked at for each path, see clock.go
		}
	}
	var kept []string
	if cause == core.Memory {
		var err error
		if kept, err = l.kept(a, runs); err != nil {
			return err
		}
	}
	l.diverged(a, run.Activation, run.Path, divergence, cause, kept)
	return a.givenUp()
}

// isAhead reports whether an instance whose clock is so far ahead of that of another one does nothing else in a run than to write other times, which is looked at for each path. That of an active process is where its history has brought it.
func (a *Actor) isAhead(run behavior.Run, clock time.Duration, divergence *behavior.Divergence) bool {
	return (clock > 0 || a.domain.manner.Active) && divergence.OnlyDates(run)
}

// differsBy says what looking at something comes to, and what is kept if that is known.
func differsBy(cause core.Cause, kept []string) string {
	switch {
	case cause == core.Memory && len(kept) > 0:
		return differsBy(cause, nil) + " in " + strings.Join(kept, ", ")
	case cause == core.Memory:
		return "with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs"
	case cause == core.Clock:
		return "with the same responses, it behaves differently at another time: it reads a clock"
	}
	return "with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state"
}

// anew audits a run on a fresh instance, which is brought to where the run begins by one of the histories that lead there, in turn.
func (l *Learner) anew(a *Actor, run behavior.Run, times, way int) (*behavior.Divergence, error) {
	return l.persist(run, func() (*behavior.Divergence, error) {
		divergence, _, err := l.anewOnce(a, run, times, way)
		return divergence, err
	})
}

// anewOnce is as [Learner.anew] for code that chance may lead elsewhere. It also returns [behavior.Session.Overtook].
func (l *Learner) anewOnce(a *Actor, run behavior.Run, times, way int) (divergence *behavior.Divergence, overtook int, err error) {
	session, divergence, err := l.brought(a, run.Activation.Since, way)
	if divergence != nil || err != nil {
		return divergence, -1, err
	}
	defer session.Abort()
	if divergence, err = l.again(session, run, times); divergence == nil && err == nil {
		divergence = l.leavesOther(a, run, session, way)
	}
	return divergence, session.Overtook(), err
}

// among audits a run on an instance in which those of the process with other memories have been at work, too. It ends a search in which they share memory all the same, where that cannot be seen: it has to be begun again.
func (l *Learner) among(a *Actor, run behavior.Run) error {
	p := a.Process
	if !l.Searching || slices.ContainsFunc(p.Members, l.Fickle) {
		return nil
	}
	var before []behavior.Run
	for _, d := range p.domains {
		if newest := d.memories[len(d.memories)-1]; d != a.domain && newest != nil {
			before = append(before, newest.Histories[0]...)
		}
	}
	if len(before) == 0 {
		return nil
	}
	if since := run.Activation.Since; since != nil {
		before = append(before, since.Histories[0]...)
	}
	runs := append(before, run)
	if len(p.forward(runs)) < len(runs) {
		return nil
	}
	session, err := l.openProcess(p)
	if err != nil {
		return err
	}
	defer session.Abort()
	strayed, err := l.through(session, runs)
	if strayed != nil && !strayed.divergence.ByChance {
		return p.entwined()
	}
	return err
}

// again audits a run on the instance of a session, and counts the runs of real code.
func (l *Learner) again(session *behavior.Session, run behavior.Run, times int) (*behavior.Divergence, error) {
	for range times {
		l.count(run.Activation)
	}
	return session.Audit(l.Context, run, times)
}

// count counts a run of real code.
func (l *Learner) count(activation behavior.Activation) {
	if activation.Event == nil {
		l.Executed++
	}
	l.Fresh = true
	if l.Ran != nil && l.Searching {
		l.Ran()
	}
}

// maxDivergences is how often a strategy may be found not to be deterministic before the
// search no longer goes on behind its new runs. What it writes may be new each time, so that there
// would be no end.
const maxDivergences = 32

// diverged reports that the code of an actor took two ways with the same responses.
func (l *Learner) diverged(a *Actor, activation behavior.Activation, path behavior.Path, d *behavior.Divergence, cause core.Cause, kept []string) {
	details := append(path[:min(d.After, len(path))].Calls(), "then one run: "+d.Recorded, "and the other: "+d.Observed)
	incident := core.Incident{Kind: core.Nondeterministic, Message: differsBy(cause, kept), Details: details, Cause: cause, Slept: cause == core.Chance && d.Slept}
	if cause == core.Chance && d.Reorders(path) {
		incident.Message, incident.Reordered = "with the same responses, two fresh instances do the same in another order: it takes it out of a map, or from goroutines", true
		if incident.Slept {
			incident.Message += ", or from several timers that end at the same moment"
		}
	}
	l.report(incident, a, activation)
	if !incident.Reordered { // there is an end to orders
		a.divergences++
	}
}

// Repeat takes an instance through a run again that a function has prepared for it, and returns where it goes another way, nil if it does
// not.
func (l *Learner) Repeat(ctx context.Context, a *Actor, run behavior.Run, prepare func(*behavior.Session)) (*behavior.Divergence, error) {
	return l.persist(run, func() (*behavior.Divergence, error) {
		session, err := l.Open(a, run.Activation.Since)
		if err != nil {
			return nil, err
		}
		defer session.Abort()
		prepare(session)
		return session.Repeat(ctx, run)
	})
}

// persist tries again and again to take code along a run, as long as chance leads it somewhere else. It returns where it parts from the
// run, nil if it does not; and nil if it was to be expected that it does not get to its end.
func (l *Learner) persist(run behavior.Run, try func() (*behavior.Divergence, error)) (*behavior.Divergence, error) {
	return l.persistAt(run.Odds(), try)
}

// persistAt is as [Learner.persist] where it is known how likely it is that chance does not lead somewhere else.
func (l *Learner) persistAt(odds float64, try func() (*behavior.Divergence, error)) (*behavior.Divergence, error) {
	for attempt, executed := 1, l.Executed; ; attempt++ {
		l.Executed = executed // as in attend
		divergence, err := try()
		switch {
		case err != nil, divergence == nil, !divergence.ByChance && !divergence.Exchanged:
			return divergence, err
		case attempt >= mostTaken:
			if !divergence.Exchanged {
				return nil, nil
			}
			l.Machine.doubtFirst("what is drawn in the order of a map", "did not come in the same order again in %d runs, so that it is not known what is done at another time, or with other versions: sort what is taken out of a map", mostTaken)
			return nil, nil
		case divergence.Exchanged: // nobody knows how likely that is
		case float64(attempt)*odds > surely:
			divergence.ByChance = false
			return divergence, nil
		}
	}
}

// surely is how often something is to be expected to happen that does not once in a million times.
const surely = 14

// reused audits a run of an actor that leaves something to chance on an instance that has gone through it before.
func (l *Learner) reused(a *Actor, run behavior.Run) (*behavior.Divergence, error) {
	return l.persistAt(run.Odds()*run.Odds(), func() (*behavior.Divergence, error) {
		session, err := l.Open(a, nil)
		if err != nil {
			return nil, err
		}
		defer session.Abort()
		return l.again(session, run, 2)
	})
}

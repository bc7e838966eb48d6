package transition

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"reflect"
	"slices"
	"sync"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// Memo is what searches found out about the code of strategies and others need not find out again: the runs that it went through again
// and again without going another way. Code is run once in each search all the same, and only what it does then is looked up, to the last
// byte: so code that does something else by then is audited anew.
//
// Searches that use a memo at the same time do no harm to each other.
type Memo struct {
	mu         sync.Mutex
	strategies map[core.Strategy]int

	runs      table[audited]
	histories table[struct{}]
	earlier   table[core.Call]
	// sights are what active instances show behind runs, where it is not what fresh ones do: to look ahead takes longer than anything else.
	sights table[map[string]string]
}

// audited is what was found out about a run that is the same however often it is audited, and at other times.
type audited struct {
	times int
	// overtaking is that of its leaf.
	overtaking map[int]behavior.Overtaking
}

// NewMemo returns an empty memo.
func NewMemo() *Memo { return &Memo{strategies: map[core.Strategy]int{}} }

// number numbers strategies from 1. It is 0 for one that cannot be told apart from others, of which nothing is remembered.
func (m *Memo) number(s core.Strategy) int {
	if !reflect.ValueOf(s).Comparable() {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.strategies[s] == 0 {
		m.strategies[s] = len(m.strategies) + 1
	}
	return m.strategies[s]
}

// table is a map that several searches may use.
type table[V any] struct {
	mu sync.Mutex
	of map[digest]V
}

func (t *table[V]) get(d digest) (v V, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, known = t.of[d]
	return v, known && d != digest{}
}

func (t *table[V]) set(d digest, v V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[digest]V{}
	}
	t.of[d] = v
}

// digest identifies what code does, as far as anybody can tell. The zero value stands for nothing that is remembered.
type digest [sha256.Size]byte

// digest identifies runs of an actor that follow each other. One without a leaf ends in front of the call that is given.
func (l *Learner) digest(a *Actor, call core.Call, runs ...behavior.Run) digest {
	number := l.Memo.number(a.Strategy)
	if number == 0 {
		return digest{}
	}
	d := digester{sha256.New()}
	d.number(int64(number))
	for _, run := range runs {
		d.run(run)
	}
	if call != nil {
		d.text(call.Identity())
	}
	return digest(d.Sum(nil))
}

// sight identifies what an active instance shows behind a run.
func (l *Learner) sight(a *Actor, run behavior.Run) digest {
	of := l.digest(a, nil, run)
	if of == (digest{}) {
		return of
	}
	d := digester{sha256.New()}
	d.text(string(of[:]))
	d.text(a.domain.Name)
	d.text(a.domain.manner.Of)
	d.flag(a.domain.manner.Ticks)
	return digest(d.Sum(nil))
}

// digester writes what tells runs apart, each text behind its length.
type digester struct{ hash.Hash }

func (d digester) number(n int64) { _, _ = d.Write(binary.AppendVarint(nil, n)) }

func (d digester) text(s string) {
	d.number(int64(len(s)))
	_, _ = d.Write([]byte(s))
}

func (d digester) flag(b bool) {
	if b {
		d.number(1)
	} else {
		d.number(0)
	}
}

func (d digester) run(run behavior.Run) {
	d.text(run.Activation.Of)
	d.number(int64(run.Activation.Own))
	d.number(int64(run.Activation.Turn))
	d.text(run.Activation.Call)
	d.number(int64(run.Activation.Clock))
	d.number(int64(run.Activation.Passed))
	d.number(int64(run.Activation.Now))
	d.number(int64(run.Activation.Apart))
	d.number(int64(run.Activation.Seed))
	d.flag(run.Activation.Since != nil)
	if m := run.Activation.Since; m != nil {
		d.text(m.Identity)
	}
	d.flag(run.Activation.Event != nil)
	if e := run.Activation.Event; e != nil {
		d.text(e.Key.String())
		d.content(e.Old)
		d.content(e.New)
		d.flag(e.Missed)
		d.flag(e.Initial)
	} else {
		d.text(string(run.Activation.Request))
	}
	d.number(int64(len(run.Path)))
	for _, edge := range run.Path {
		d.number(int64(len(edge.From.Parked)))
		for _, call := range edge.From.Parked {
			d.text(call.Identity())
		}
		d.text(edge.From.Call.Identity())
		d.text(edge.Response.Identity())
	}
	d.flag(run.Leaf != nil)
	if l := run.Leaf; l != nil {
		d.text(string(l.Failure))
		d.text(l.Message)
		d.flag(l.Result.Err != nil)
		d.flag(l.Result.Requeue)
		d.number(int64(l.Result.RequeueAfter))
		d.flag(l.Result.Blocked)
		d.number(int64(len(l.Requests)))
		for _, request := range slices.Concat(l.Requests, l.Beside) {
			d.text(string(request))
		}
		d.number(int64(len(l.Beside)))
		d.flag(l.Unordered)
	}
}

func (d digester) content(c core.Content) {
	d.flag(c != nil)
	if c != nil {
		d.text(c.Canonical())
	}
}

// A step can be tried in a state that the search may never come to, to find out on what it depends. Code that goes a way there which is not known is run twice and no more:
// nothing of it is kept. If the search comes that way, it learns it as any other.

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

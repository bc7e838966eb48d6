// Package memo keeps what searches found out about the code of strategies, for others that need not find it out again.
package memo

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"reflect"
	"slices"
	"sync"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// Memo is what searches found out about the code of strategies and others need not find out again: the runs that it
// went through again and again without going another way. Code is run once in each search all the same, and only what
// it does then is looked up, to the last byte: so code that does something else by then is audited anew.
//
// Searches that use a memo at the same time do no harm to each other.
type Memo struct {
	mu         sync.Mutex
	strategies map[core.Strategy]int

	Runs      Table[Audited]
	Histories Table[struct{}]
	Earlier   Table[core.Call]
	// Ways are what code may do by chance behind a path, where that is more than one thing.
	// Merged are those of code whose calls may come in any order: one stands for all that differ in nothing else.
	Ways, Merged Table[[]behavior.Way]
	// Sights are what active instances show behind runs, where it is not what fresh ones do: to look ahead takes longer
	// than anything else.
	Sights Table[map[string]string]
}

// Audited is what was found out about a run that is the same however often it is audited, and at other times.
type Audited struct {
	Times int
	// Overtaking is that of its leaf.
	Overtaking map[int]behavior.Overtaking
}

// New returns an empty memo.
func New() *Memo { return &Memo{strategies: map[core.Strategy]int{}} }

// number numbers strategies from 1. It is 0 for one that cannot be told apart from others, of which nothing is
// remembered.
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

// Table is a map that several searches may use.
type Table[V any] struct {
	mu sync.Mutex
	of map[Digest]V
}

// Get returns what is known of a digest, and whether anything is.
func (t *Table[V]) Get(d Digest) (v V, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, known = t.of[d]
	return v, known && d != Digest{}
}

// Set notes what is known of a digest.
func (t *Table[V]) Set(d Digest, v V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[Digest]V{}
	}
	t.of[d] = v
}

// Digest identifies what code does, as far as anybody can tell. The zero value stands for nothing that is remembered.
type Digest [sha256.Size]byte

// Digest identifies runs of a strategy that follow each other. One without a leaf ends in front of the call that is
// given, if there is one.
func (m *Memo) Digest(s core.Strategy, call core.Call, runs ...behavior.Run) Digest {
	number := m.number(s)
	if number == 0 {
		return Digest{}
	}
	d := digester{sha256.New()}
	d.number(int64(number))
	for _, run := range runs {
		d.run(run)
	}
	if call != nil {
		d.text(call.Identity())
	}
	return Digest(d.Sum(nil))
}

// Run identifies a run, whoever makes it.
func Run(run behavior.Run) Digest {
	d := digester{sha256.New()}
	d.run(run)
	return Digest(d.Sum(nil))
}

// In identifies the same in some circumstances.
func (of Digest) In(circumstances ...string) Digest {
	if of == (Digest{}) {
		return of
	}
	d := digester{sha256.New()}
	d.text(string(of[:]))
	for _, c := range circumstances {
		d.text(c)
	}
	return Digest(d.Sum(nil))
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

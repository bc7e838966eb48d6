package random

import (
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// routine is a random run on the objects of one namespace: what to ask, and how to go on for each of the answers.
type routine struct {
	verb verb
	// kind and name say which object. Shared ones are in a namespace of their own, and everywhere is a list of all
	// namespaces.
	kind       core.Kind
	name       string
	shared     bool
	everywhere bool
	value      int
	// guard blocks a run that is shown this number, unless it is negative; or, if it is awaited, one that is shown any
	// other.
	guard   int
	awaited bool
	next    []*routine
	result  core.Result
	panics  bool
}

// elsewhere is the namespace of what is shared.
const elsewhere = "shared"

func (r *routine) call(namespace string, seen []core.Object, cached []core.Kind) *call {
	if r.shared {
		namespace = elsewhere
	}
	c := &call{verb: r.verb, key: core.Key{Kind: r.kind, Namespace: namespace, Name: r.name}, value: r.value}
	switch r.verb {
	case get, list, peek, pick:
		c.cached = slices.Contains(cached, r.kind)
		if r.verb == list || r.verb == pick {
			c.key.Name = ""
		}
		if r.everywhere {
			c.key.Namespace = ""
		}
	case update:
		for _, o := range seen {
			if o.Key == c.key {
				c.read = o.Content.(thing)
			}
		}
	case send:
		c.key, c.item = core.Key{}, core.Item{Strategy: receiver, Request: core.Request(namespace + "/" + r.name)}
	}
	return c
}

// run runs the routine in a namespace.
func (r *routine) run(recorder core.EffectRecorder, namespace string, cached []core.Kind) core.Result {
	var seen []core.Object
	for len(r.next) > 0 {
		answer := recorder.Do(r.call(namespace, seen, cached)).(reply)
		seen = append(seen, answer.objects...)
		if r.guard >= 0 && (answer.number() == r.guard) != r.awaited {
			return core.Result{Blocked: true}
		}
		r = r.next[answer.number()%len(r.next)]
	}
	if r.panics {
		panic(errRandom)
	}
	return r.result
}

// reaction is what an event handler makes of a change.
type reaction struct {
	// deaf handlers only listen to changes that lead to or from a value.
	deaf  bool
	value int
	// request is what to enqueue, the namespace of the object if it is empty.
	request core.Request
	// look is what to look at before, nil for nothing.
	look *routine
}

// agent is a random controller or process.
type agent struct {
	core.Description
	// routines are by request, without the namespace; the empty one is that of all others.
	routines  map[string]*routine
	reactions map[core.Kind]reaction
	// cached are the kinds that are read through its cache, whether or not they are declared.
	cached []core.Kind
}

var (
	_ core.Strategy = (*agent)(nil)
	_ core.Instance = (*agent)(nil)
)

// Describe implements [core.Strategy].
func (a *agent) Describe() core.Description { return a.Description }

// New implements [core.Strategy].
func (a *agent) New() (core.Instance, error) { return a, nil }

// Handle implements [core.Instance].
func (a *agent) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	r := a.reactions[event.Key.Kind]
	if r.deaf && valueOf(event.Old) != r.value && valueOf(event.New) != r.value {
		return nil
	}
	if r.look != nil && recorder.Do(r.look.call(event.Key.Namespace, nil, a.cached)).(reply).number() == r.value {
		return nil
	}
	if r.request != "" {
		return []core.Request{r.request}
	}
	return []core.Request{core.Request(event.Key.Namespace)}
}

// Reconcile implements [core.Instance].
func (a *agent) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	namespace, name, _ := strings.Cut(string(request), "/")
	r, known := a.routines[name]
	if !known {
		r = a.routines[""]
	}
	return r.run(recorder, namespace, a.cached)
}

// routine returns a routine with at most so many calls on each of its ways. What guards may be blocked.
func (g *loose) routine(calls int, guards bool) *routine {
	if calls == 0 || g.IntN(8) == 0 {
		return &routine{guard: -1, result: g.result(), panics: g.IntN(64) == 0}
	}
	if g.IntN(8) == 0 {
		return g.bump(g.kind())
	}
	r := &routine{kind: g.kind(), name: g.name(), shared: g.IntN(10) < g.sharing, value: g.IntN(none), guard: -1}
	answers := 1
	switch choice := g.IntN(12); {
	case choice < 3:
		r.verb, answers = get, 2+g.IntN(3)
	case choice < 5:
		r.verb, answers = list, 2
	case choice < 9:
		r.verb = set
		g.changes = append(g.changes, r)
	case choice < 10:
		r.verb, answers = update, 2
	case g.receives && g.IntN(3) > 0:
		r.verb = send
	default:
		r.verb = remove
	}
	if guards && r.verb <= list && g.IntN(2) == 0 {
		r.guard = g.IntN(none + 1)
	}
	g.narrow(r)
	for range answers {
		r.next = append(r.next, g.routine(calls-1, guards))
	}
	return r
}

// narrow makes a routine look at a part of what it looked at, or at more namespaces, in a family that does so.
func (g *loose) narrow(r *routine) {
	if !g.narrows || r.verb > list {
		return
	}
	listed := r.verb == list
	switch choice := g.IntN(4); {
	case choice == 0:
	case !listed:
		r.verb = peek
	case choice == 1:
		r.everywhere = true
	default:
		r.verb, r.everywhere = pick, choice == 2
	}
}

// bump returns a routine that counts an object of a kind up, as far as that goes: how often it is run matters.
func (g *loose) bump(kind core.Kind) *routine {
	r := &routine{kind: kind, name: g.name(), shared: g.IntN(10) < g.sharing, guard: -1}
	for value := range none {
		r.next = append(r.next, &routine{
			verb: set, kind: r.kind, name: r.name, shared: r.shared, value: min(value+1, none-1), guard: -1,
			next: []*routine{{guard: -1, result: g.result()}},
		})
	}
	r.next = append(r.next, r.next[0])
	return r
}

// watchful returns a routine that looks and mostly does nothing: it sets a timer, tells the receiver, or changes
// something only for some of what it may see, and looks at something else first now and then.
func (g *loose) watchful(looks int) *routine {
	r := &routine{verb: []verb{get, get, list}[g.IntN(3)], kind: g.kind(), name: g.name(), shared: g.IntN(10) < g.sharing, guard: -1}
	if g.narrows {
		r.value = g.IntN(none)
		g.narrow(r)
	}
	for range none + 1 {
		then := &routine{guard: -1}
		switch choice := g.IntN(8); {
		case choice == 0:
			then.result.RequeueAfter = time.Minute
		case choice == 1:
			then = g.routine(1, false)
		case choice == 2 && g.receives:
			then = &routine{verb: send, name: g.name(), guard: -1, next: []*routine{{guard: -1}}}
		case choice < 5 && looks > 1:
			then = g.watchful(looks - 1)
		}
		r.next = append(r.next, then)
	}
	return r
}

// result returns how a routine ends: mostly well.
func (g *loose) result() core.Result { return resultOf(g.Rand, 16) }

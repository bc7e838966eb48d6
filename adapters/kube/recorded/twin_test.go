package recorded_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/adapters/kube/recorded"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

const configMaps core.Kind = "ConfigMap"

// step is a controller that reads a ConfigMap from its cache and does with its data what a function says. The function
// returns what is to be written, nil for nothing, and whether the controller is to be run again later.
type step struct {
	name string
	do   func(key string, data map[string]string) (next map[string]string, remove, later bool)
}

func (s step) Describe() core.Description {
	return core.Description{Name: s.name, Watches: []core.Kind{configMaps}, Sequential: true}
}

func (s step) New() (core.Instance, error) { return s, nil }

func (s step) Handle(_ core.EffectRecorder, e core.Event) []core.Request {
	return []core.Request{core.Request(e.Key.Namespace + "/" + e.Key.Name)}
}

func (s step) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	namespace, name, _ := strings.Cut(string(request), "/")
	r := kube.Request{Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Namespace: namespace, Name: name}
	get := r
	get.Verb, get.FromCache = kube.Get, true
	response := recorder.Do(&get).(*kube.Response)
	if response.Err() != nil {
		return core.Result{} // it is gone
	}
	var tree map[string]any
	if err := json.Unmarshal(response.Object, &tree); err != nil {
		return core.Result{Err: err}
	}
	data := map[string]string{}
	if had, ok := tree["data"].(map[string]any); ok {
		for name, value := range had {
			data[name], _ = value.(string)
		}
	}
	next, remove, later := s.do(name, data)
	result := core.Result{}
	if later {
		result.RequeueAfter = time.Minute
	}
	switch {
	case remove:
		d := r
		d.Verb = kube.Delete
		result.Err = recorder.Do(&d).(*kube.Response).Err()
	case next != nil:
		tree["data"] = next
		u := r
		u.Verb, u.Body = kube.Update, jsontree.Canonical(jsontree.Copy(tree))
		result.Err = recorder.Do(&u).(*kube.Response).Err()
	}
	return result
}

// twinSystem has two controllers that write the same objects.
func twinSystem(t *testing.T) *core.System {
	t.Helper()
	server := serverOf(t)
	with := func(data map[string]string, name, value string) map[string]string {
		next := maps.Clone(data)
		next[name] = value
		return next
	}
	counts := step{"counts", func(_ string, data map[string]string) (map[string]string, bool, bool) {
		if n, _ := strconv.Atoi(data["n"]); n < 2 {
			return with(data, "n", strconv.Itoa(n+1)), false, n == 1
		}
		return nil, data["copied"] == "2" && data["gone"] == "yes", false
	}}
	copies := step{"copies", func(key string, data map[string]string) (map[string]string, bool, bool) {
		if data["copied"] == data["n"] {
			return nil, false, data["n"] == "1"
		}
		next := with(data, "copied", data["n"])
		if key == "b" && data["n"] == "2" {
			next["gone"] = "yes"
		}
		return next, false, false
	}}
	initial, err := server.Initial(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	return &core.System{Name: "twin", Store: server, Strategies: []core.Strategy{counts, copies}, Initial: []core.Initial{initial}}
}

// change is a committed change of an object, with the resource versions before and after it.
type change struct {
	core.Missing
	was, is int
}

// player plays a run of a system by chance, and records it as if it were live. It is a search engine in its simplest
// form, of one run.
type player struct {
	t       *testing.T
	system  *core.System
	chance  *rand.Rand
	lag     int
	objects map[core.Key]core.Content
	// rvs are the resource versions of what is there, and rv is the last one.
	rvs    map[core.Key]int
	rv     int
	queued map[core.Item][]live.Cause
	timed  map[core.Item]live.Cause
	behind map[string][]change

	out     *live.Writer
	n       uint64
	numbers map[string]int
	acting  string
	running uint64
}

func (p *player) next() (uint64, time.Duration) {
	p.n++
	return p.n, time.Duration(p.n) * time.Microsecond
}

func (p *player) add(e live.Entry) {
	if err := p.out.Add(e); err != nil {
		p.t.Fatal(err)
	}
}

// object records a version of an object, and returns its number.
func (p *player) object(key core.Key, content core.Content, rv int) int {
	name := fmt.Sprintf("%s %d", key, rv)
	if p.numbers[name] == 0 {
		o := storage.Of(content)
		p.numbers[name] = len(p.numbers) + 1
		p.add(live.Object{
			Key: key, UID: string(o.Meta().GetUID()), ResourceVersion: strconv.Itoa(rv), Value: jsontree.Canonical(o.Shown("v1", strconv.Itoa(rv))),
		})
	}
	return p.numbers[name]
}

// seen is the store as a controller sees it, or as it is if nobody is named.
type seen struct {
	*player
	by string
}

func (s seen) version(key core.Key) (core.Content, int) {
	for _, c := range s.behind[s.by] {
		if c.Key == key {
			return c.From, c.was
		}
	}
	return s.objects[key], s.rvs[key]
}

func (s seen) Get(key core.Key) core.Content {
	content, _ := s.version(key)
	return content
}

func (s seen) List(kind core.Kind, namespace string) []core.Object {
	var all []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(s.objects), core.Key.Compare) {
		if content := s.Get(key); content != nil && key.Kind == kind && (namespace == "" || key.Namespace == namespace) {
			all = append(all, core.Object{Key: key, Content: content})
		}
	}
	return all
}

func (s seen) Held(key core.Key) []core.Content {
	var all []core.Content
	for _, name := range s.names() {
		for _, c := range s.behind[name] {
			for _, content := range []core.Content{c.From, c.To} {
				if c.Key == key && content != nil && content != s.objects[key] {
					all = append(all, content)
				}
			}
		}
	}
	return all
}

// Do implements [core.EffectRecorder] for the reconcile that is going on.
func (p *player) Do(call core.Call) core.Response {
	r := call.(*kube.Request)
	from := seen{p, ""}
	if r.FromCache {
		from.by = p.acting
	}
	entry, _, err := p.system.Store.(*kube.Server).Recorded(call)
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := p.system.Store.Answer(from, call)
	if err != nil {
		p.t.Fatal(err)
	}
	entry.Reconcile = p.running
	response := answer.Response.(*kube.Response)
	if failed := response.Status; failed != nil {
		entry.Failed = &live.Failure{Code: int(failed.Code), Reason: string(failed.Reason), Message: failed.Message}
	}
	var changes []change
	for _, w := range answer.Writes {
		p.rv++
		c := change{core.Missing{Key: w.Key, From: p.objects[w.Key], To: w.Content}, p.rvs[w.Key], p.rv}
		p.objects[w.Key], p.rvs[w.Key] = w.Content, p.rv
		if w.Content == nil {
			delete(p.objects, w.Key)
		}
		changes = append(changes, c)
	}
	if entry.Failed == nil && r.Verb != kube.Delete {
		content, rv := from.version(entry.Object)
		entry.Answer = []int{p.object(entry.Object, content, rv)}
	}
	entry.N, entry.At = p.next()
	p.add(entry)
	for _, c := range changes {
		for _, name := range p.names() {
			p.behind[name] = append(p.behind[name], c)
			for len(p.behind[name]) > p.lag {
				p.deliver(name)
			}
		}
	}
	return answer.Response
}

func (p *player) names() []string {
	var names []string
	for _, s := range p.system.Strategies {
		names = append(names, s.Describe().Name)
	}
	return names
}

// deliver tells a controller of the next change.
func (p *player) deliver(name string) {
	c := p.behind[name][0]
	p.behind[name] = p.behind[name][1:]
	e := live.Event{Controller: name, Type: live.Updated}
	switch {
	case c.To == nil:
		e.Type, e.Object = live.Deleted, p.object(c.Key, c.From, c.is)
	case c.From == nil:
		e.Type, e.Object = live.Added, p.object(c.Key, c.To, c.is)
	default:
		e.Old, e.Object = p.object(c.Key, c.From, c.was), p.object(c.Key, c.To, c.is)
	}
	p.tell(e, c.Key)
}

// tell records an event, and what it enqueues.
func (p *player) tell(e live.Event, key core.Key) {
	e.N, e.At = p.next()
	p.add(e)
	request := key.Namespace + "/" + key.Name
	n, at := p.next()
	p.add(live.Queued{N: n, At: at, Controller: e.Controller, Event: e.N, Request: request})
	item := core.Item{Strategy: e.Controller, Request: core.Request(request)}
	p.queued[item] = append(p.queued[item], live.Cause{By: live.ByEvent, N: e.N})
}

// reconcile runs a request.
func (p *player) reconcile(item core.Item) {
	n, at := p.next()
	p.add(live.Begin{N: n, At: at, Controller: item.Strategy, Request: string(item.Request), Causes: p.queued[item]})
	delete(p.queued, item)
	p.acting, p.running = item.Strategy, n
	i := slices.Index(p.names(), item.Strategy)
	instance, _ := p.system.Strategies[i].New()
	result := instance.Reconcile(p, item.Request)
	done := live.Done{Reconcile: n, After: result.RequeueAfter}
	if result.Err != nil {
		done.Error = result.Err.Error()
		p.queued[item] = append(p.queued[item], live.Cause{By: live.ByFailure, N: n})
	} else if result.RequeueAfter > 0 {
		p.timed[item] = live.Cause{By: live.ByResult, N: n}
	}
	done.N, done.At = p.next()
	p.add(done)
}

// moves are what can happen next.
func (p *player) moves() []func() {
	var all []func()
	for _, name := range p.names() {
		if len(p.behind[name]) > 0 {
			all = append(all, func() { p.deliver(name) })
		}
	}
	for _, item := range slices.SortedFunc(maps.Keys(p.queued), core.Item.Compare) {
		all = append(all, func() { p.reconcile(item) })
	}
	return all
}

// play plays a run, and returns the recording and the number of the last entry of each step.
func play(t *testing.T, system *core.System, seed uint64, lag int) ([]byte, []uint64) {
	t.Helper()
	var file bytes.Buffer
	out, err := live.NewWriter(&file, live.Header{Process: live.Process{Name: "twin", Replica: "0"}, Started: storage.Now().Time, Part: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := &player{
		t: t, system: system, chance: rand.New(rand.NewPCG(seed, 0)), lag: lag, objects: map[core.Key]core.Content{}, rvs: map[core.Key]int{},
		queued: map[core.Item][]live.Cause{}, timed: map[core.Item]live.Cause{}, behind: map[string][]change{}, out: out, numbers: map[string]int{},
	}
	for _, o := range system.Initial[0].Objects {
		p.rv++
		p.objects[o.Key], p.rvs[o.Key] = o.Content, p.rv
	}
	for _, name := range p.names() {
		for _, key := range slices.SortedFunc(maps.Keys(p.objects), core.Key.Compare) {
			p.tell(live.Event{Controller: name, Type: live.Added, Object: p.object(key, p.objects[key], p.rvs[key]), Initial: true}, key)
		}
	}
	ends := []uint64{p.n}
	for moves := p.moves(); len(moves) > 0; moves = p.moves() {
		moves[p.chance.IntN(len(moves))]()
		ends = append(ends, p.n)
	}
	_, at := p.next()
	p.add(live.End{At: at})
	if err := p.out.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), ends
}

// reachable returns the texts of the states that can be reached from one, in order, and of those where runs end.
func reachable(g core.Graph, from core.StateID) (states, ends []string) {
	queue, met := []core.StateID{from}, map[core.StateID]bool{from: true}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		text := stateText(g.State(id))
		states = append(states, text)
		edges := slices.Clone(g.Edges(id))
		if len(edges) == 0 {
			ends = append(ends, text)
		}
		for _, e := range edges {
			if !met[e.To] {
				met[e.To] = true
				queue = append(queue, e.To)
			}
		}
	}
	slices.Sort(states)
	slices.Sort(ends)
	return states, ends
}

func stateText(s core.State) string {
	var b strings.Builder
	for _, o := range s.List(configMaps, "") {
		fmt.Fprintf(&b, "%s=%s ", o.Key, o.Content.Canonical())
	}
	fmt.Fprintf(&b, "work %v timers %v", s.Work(), s.Timers())
	return b.String()
}

// TestASearchFromARecordingIsThatFromTheState is the twin test of recordings to begin in: what is recorded as if it
// were live, and searched from one of its states on, leads to the states and outcomes of a search from the start behind
// that state.
func TestASearchFromARecordingIsThatFromTheState(t *testing.T) {
	for _, lag := range []int{0, 1} {
		system := twinSystem(t)
		options := explore.Options{
			Conditions: explore.Conditions{Staleness: []explore.Staleness{{Rule: view.Lag(lag)}}}, Run: behavior.Limits{Deadline: 10 * time.Second, Calls: 100},
		}
		whole := explored(t, system, options)
		byText := map[string][]core.StateID{}
		for id := range core.StateID(whole.States()) {
			text := stateText(whole.State(id))
			byText[text] = append(byText[text], id)
		}
		tried := 0
		for seed := range uint64(4) {
			recording, ends := play(t, system, seed, lag)
			sources := []analysis.Source{{Name: "twin", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recording)), nil }}}
			for k, n := range ends {
				moment, err := recorded.ParseMoment(fmt.Sprintf("#%d", n))
				if err != nil {
					t.Fatal(err)
				}
				begun, err := recorded.Begin(system, sources, moment, recorded.LaterUsers)
				if err != nil {
					t.Fatalf("lag %d, seed %d, step %d: %v", lag, seed, k, err)
				}
				if len(begun.Unmodelled) > 0 || len(begun.Scenario.Actions) > 0 {
					t.Fatalf("lag %d, seed %d, step %d: %q %v", lag, seed, k, begun.Unmodelled, begun.Scenario.Actions)
				}
				from := explored(t, begun, options)
				states, outcomes := reachable(from, from.Initial()[0])
				start := stateText(from.State(from.Initial()[0]))
				same := func(id core.StateID) bool {
					wantStates, wantOutcomes := reachable(whole, id)
					return slices.Equal(states, wantStates) && slices.Equal(outcomes, wantOutcomes)
				}
				if !slices.ContainsFunc(byText[start], same) {
					t.Fatalf("lag %d, seed %d, step %d: none of %d states of the full search leads where this one does, to %d states\n%s", lag, seed, k, len(byText[start]), len(states), start)
				}
				tried++
			}
		}
		t.Logf("lag %d: %d states of %d were begun in", lag, tried, whole.States())
	}
}

func explored(t *testing.T, system *core.System, options explore.Options) *explore.Space {
	t.Helper()
	space, err := explore.Search(context.Background(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	if reasons := space.Reasons(); len(reasons) > 0 {
		t.Fatal(reasons)
	}
	return space
}

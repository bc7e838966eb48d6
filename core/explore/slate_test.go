package explore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// slate is a store of words, for controllers that do what those of package plain do not: they keep memory, and their
// event handlers make calls. Calls may fail if it says so.
type slate struct{ fails bool }

type word string

func (w word) Canonical() string { return string(w) }
func (w word) Fields() any       { return string(w) }

// ask is "get NAME", "look NAME", which is answered by a cache, "put NAME WORD", "drop NAME" or "break", which is not
// modelled.
type ask string

func (a ask) Identity() string { return string(a) }
func (a ask) String() string   { return string(a) }

func (a ask) Source() core.Source {
	if strings.HasPrefix(string(a), "look ") {
		return core.Cached
	}
	return core.Live
}

type reply string

func (r reply) Identity() string { return string(r) }
func (r reply) String() string   { return string(r) }

func wordKey(name string) core.Key { return core.Key{Kind: "word", Name: name} }

func (slate) Answer(s core.Snapshot, c core.Call) (core.Answer, error) {
	parts := strings.Fields(c.Identity())
	switch parts[0] {
	case "get", "look":
		return core.Answer{Response: reply(fmt.Sprint(s.Get(wordKey(parts[1]))))}, nil
	case "put":
		done := core.Answer{Response: reply("ok")}
		if key, content := wordKey(parts[1]), word(parts[2]); s.Get(key) != core.Content(content) {
			done.Writes = []core.Write{{Key: key, Content: content}}
		}
		return done, nil
	case "drop":
		return core.Answer{Response: reply("ok"), Writes: []core.Write{{Key: wordKey(parts[1])}}}, nil
	}
	return core.Answer{}, &core.Unsupported{Call: c.String(), Reason: "nobody can"}
}

func (slate) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions }
func (slate) Outcome(_ core.Key, c core.Content) any                                 { return c.Fields() }
func (slate) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

func (s slate) Faults(c core.Call) []core.Fault {
	if !s.fails || !strings.HasPrefix(c.Identity(), "put ") {
		return nil
	}
	return []core.Fault{{Name: "refused", Response: reply("refused")}}
}

// asks makes a call and returns the answer.
type asks func(format string, args ...any) string

// hand is a strategy of two functions for each instance. It watches words if it handles events.
type hand struct {
	core.Description
	hire func() hired
}

// hired is an instance that does what its functions say. It keeps a memory if there is one.
type hired struct {
	reconcile func(asks, core.Request) core.Result
	handle    func(asks, core.Event) []core.Request
	memory    func() map[string]string
}

// minded is one with a memory.
type minded struct{ hired }

func (m minded) Memory() map[string]string { return m.memory() }

func (h hand) Describe() core.Description { return h.Description }

func (h hand) New() (core.Instance, error) {
	one := h.hire()
	if one.memory != nil {
		return minded{one}, nil
	}
	return one, nil
}

func asking(r core.EffectRecorder) asks {
	return func(format string, args ...any) string { return r.Do(ask(fmt.Sprintf(format, args...))).String() }
}

func (h hired) Handle(r core.EffectRecorder, e core.Event) []core.Request {
	return h.handle(asking(r), e)
}
func (h hired) Reconcile(r core.EffectRecorder, request core.Request) core.Result {
	return h.reconcile(asking(r), request)
}

// goes is a hand that runs the request "go" at the start, and does not handle events.
func goes(name string, hire func() hired) hand {
	return hand{core.Description{Name: name, Initial: []core.Request{"go"}, Sequential: true}, hire}
}

// always returns the instance that keeps nothing.
func always(reconcile func(asks, core.Request) core.Result) func() hired {
	return func() hired { return hired{reconcile: reconcile} }
}

// slateWith returns a system of hands, and words given as "name word".
func slateWith(words []string, hands ...hand) *core.System {
	system := &core.System{Name: "slate", Store: slate{}}
	var initial core.Initial
	for _, text := range words {
		name, text, _ := strings.Cut(text, " ")
		initial.Objects = append(initial.Objects, core.Object{Key: wordKey(name), Content: word(text)})
	}
	system.Initial = []core.Initial{initial}
	for _, h := range hands {
		system.Strategies = append(system.Strategies, h)
	}
	return system
}

// slateLimits are the limits of runs of hands.
var slateLimits = behavior.Limits{Deadline: 10 * time.Second, Calls: 100}

// searchSlate searches a system of hands.
func searchSlate(t testing.TB, system *core.System, o Options) *Space {
	t.Helper()
	o.Workers, o.Run = max(o.Workers, 1), slateLimits
	space, err := Search(t.Context(), system, o)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// stepOf returns a step from a state of the controller of that name.
func stepOf(t testing.TB, space *Space, id core.StateID, controller string) core.Edge {
	t.Helper()
	for _, e := range space.Edges(id) {
		if e.Step.Item.Strategy == controller {
			return e
		}
	}
	t.Fatalf("in state %d, %s can do nothing", id, controller)
	return core.Edge{}
}

var errFails = errors.New("it fails")

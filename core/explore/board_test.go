package explore_test

import (
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// board is a store of notes, for strategies that do what those of package plain do not:
// their event handlers make calls. What is after a "!" in a note settles away.
type board struct{}

type note string

func (n note) Canonical() string { return string(n) }
func (n note) Fields() any       { return string(n) }

// Unchecked implements [core.Doubtful]: what is behind a "?" is not checked, and there is another remedy for what is
// behind "??".
func (n note) Unchecked() (fields []string, remedy string) {
	if _, doubtful, found := strings.Cut(string(n), "??"); found {
		return []string{doubtful}, "look"
	}
	if _, doubtful, found := strings.Cut(string(n), "?"); found {
		return []string{doubtful}, "ask"
	}
	return nil, "ask"
}

// call is "get NAME", "put NAME WORD", "list" or "break", which is not modelled.
type call string

func (c call) Identity() string    { return string(c) }
func (c call) String() string      { return string(c) }
func (c call) Source() core.Source { return core.Live }

type answer string

func (a answer) Identity() string { return string(a) }
func (a answer) String() string   { return string(a) }

func noteKey(name string) core.Key { return core.Key{Kind: "note", Name: name} }

func (board) Answer(s core.Snapshot, c core.Call) (core.Answer, error) {
	words := strings.Fields(c.Identity())
	switch words[0] {
	case "get":
		return core.Answer{Response: answer(fmt.Sprint(s.Get(noteKey(words[1]))))}, nil
	case "list":
		return core.Answer{Response: answer(fmt.Sprint(s.List("note", "")))}, nil
	case "put":
		done := core.Answer{Response: answer("ok")}
		if key, content := noteKey(words[1]), note(words[2]); s.Get(key) != content {
			done.Writes = []core.Write{{Key: key, Content: content}}
		}
		return done, nil
	}
	return core.Answer{}, &core.Unsupported{Call: c.String(), Reason: "do not do that"}
}

func (board) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content {
	settled := make([]core.Content, len(versions))
	for i, c := range versions {
		before, _, _ := strings.Cut(c.Canonical(), "!")
		settled[i] = note(before)
	}
	return settled
}

func (board) Outcome(_ core.Key, c core.Content) any { return c.Fields() }

func (board) Faults(core.Call) []core.Fault { return nil }

func (board) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

// writer is a strategy of two functions. It watches notes if it has a handler.
type writer struct {
	name      string
	initial   []core.Request
	handle    func(do, core.Event) []core.Request
	reconcile func(do, core.Request) core.Result
}

// do makes a call and returns the answer.
type do func(format string, args ...any) string

func with(r core.EffectRecorder) do {
	return func(format string, args ...any) string { return r.Do(call(fmt.Sprintf(format, args...))).String() }
}

func (w writer) Describe() core.Description {
	d := core.Description{Name: w.name, Initial: w.initial, Sequential: true}
	if w.handle != nil {
		d.Watches = []core.Kind{"note"}
	}
	return d
}

func (w writer) New() (core.Instance, error) { return w, nil }

func (w writer) Handle(r core.EffectRecorder, e core.Event) []core.Request {
	return w.handle(with(r), e)
}

func (w writer) Reconcile(r core.EffectRecorder, request core.Request) core.Result {
	if w.reconcile == nil {
		return core.Result{}
	}
	return w.reconcile(with(r), request)
}

// boardWith returns a system of writers and notes given as "name word".
func boardWith(notes []string, writers ...writer) *core.System {
	system := &core.System{Name: "board", Store: board{}}
	var initial core.Initial
	for _, n := range notes {
		name, word, _ := strings.Cut(n, " ")
		initial.Objects = append(initial.Objects, core.Object{Key: noteKey(name), Content: note(word)})
	}
	system.Initial = []core.Initial{initial}
	for _, w := range writers {
		system.Strategies = append(system.Strategies, w)
	}
	return system
}

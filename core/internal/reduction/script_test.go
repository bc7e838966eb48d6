package reduction

import (
	"fmt"
	"maps"

	"github.com/orrery-dev/orrery/core"
)

// asks is a call that a function answers.
type asks struct {
	name   string
	source core.Source
	answer func(core.Snapshot) core.Answer
	faults []core.Fault
}

func (a *asks) Identity() string    { return fmt.Sprint(a.name, " ", a.source) }
func (a *asks) String() string      { return a.name }
func (a *asks) Source() core.Source { return a.source }

// told is a response that is a text.
type told string

func (t told) Identity() string { return string(t) }
func (t told) String() string   { return string(t) }

// shown is a response that shows versions of objects.
type shown struct {
	told
	objects []core.Object
}

func (s shown) Versions() []core.Object { return s.objects }

func (s shown) Retagged(*core.Retagging) core.Response { return s }

// Earlier implements [core.Versioned]: it does not show ages.
func (s shown) Earlier(map[core.Key]map[string]int) core.Response { return s }

// open is a store that has each call answered by itself.
type open struct{}

func (open) Answer(s core.Snapshot, call core.Call) (core.Answer, error) {
	return call.(*asks).answer(s), nil
}
func (open) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions }
func (open) Outcome(_ core.Key, c core.Content) any                                 { return c.Fields() }
func (open) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}
func (open) Faults(call core.Call) []core.Fault { return call.(*asks).faults }

// script is a strategy that does what functions say, of which it has memory.
type script struct {
	core.Description
	handle    func(*actor, core.Event) []core.Request
	reconcile func(*actor, core.Request) core.Result
}

func (s *script) Describe() core.Description { return s.Description }
func (s *script) New() (core.Instance, error) {
	return &actor{script: s, keeps: map[string]string{}}, nil
}

// actor is a script at work.
type actor struct {
	core.EffectRecorder
	script *script
	keeps  map[string]string
}

func (a *actor) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	a.EffectRecorder = recorder
	if a.script.handle == nil {
		return nil
	}
	return a.script.handle(a, event)
}

func (a *actor) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	a.EffectRecorder = recorder
	if a.script.reconcile == nil {
		return core.Result{}
	}
	return a.script.reconcile(a, request)
}

// Memory implements [core.Introspective].
func (a *actor) Memory() map[string]string { return maps.Clone(a.keeps) }

// get shows an object.
func get(key core.Key, source core.Source) *asks {
	return &asks{name: "get " + key.String(), source: source, answer: func(s core.Snapshot) core.Answer {
		answer := shown{told: "nothing"}
		if c := s.Get(key); c != nil {
			answer = shown{told(c.Canonical()), []core.Object{{Key: key, Content: c}}}
		}
		return core.Answer{Response: answer}
	}}
}

// put writes objects.
func put(writes ...core.Write) *asks {
	name := "put"
	for _, w := range writes {
		name += " " + w.Key.String()
		if w.Content != nil {
			name += "=" + w.Content.Canonical()
		}
	}
	return &asks{name: name, answer: func(core.Snapshot) core.Answer { return core.Answer{Response: told("done"), Writes: writes} }}
}

// list lists the objects of a kind that a selection selects, all of them if it is nil.
func list(kind core.Kind, namespace string, selection core.Selection, source core.Source) *asks {
	return &asks{name: fmt.Sprint("list ", kind, " ", namespace, " ", selection), source: source, answer: func(s core.Snapshot) core.Answer {
		var objects []core.Object
		if selection != nil {
			objects = core.Select(s, kind, namespace, selection)
		} else {
			objects = s.List(kind, namespace)
		}
		text := told("listed")
		for _, o := range objects {
			text += told(" " + o.Key.String() + "=" + o.Content.Canonical())
		}
		return core.Answer{Response: text}
	}}
}

// peek shows a part of an object.
func peek(key core.Key, of core.Projection, source core.Source) *asks {
	return &asks{name: "peek " + key.String(), source: source, answer: func(s core.Snapshot) core.Answer {
		text := told("nothing")
		if part := core.Project(s, key, of); part != nil {
			text = told(part.Canonical())
		}
		return core.Answer{Response: text}
	}}
}

// held counts the versions of an object that somebody holds.
func held(key core.Key) *asks {
	return &asks{name: "held " + key.String(), answer: func(s core.Snapshot) core.Answer {
		return core.Answer{Response: told(fmt.Sprint(len(s.Held(key))))}
	}}
}

package plain

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// World is what a running action, message or reconcile reads and writes, mostly
// through [Var], [Family] and [Inbox]. It implements [core.Snapshot]. It is valid
// only during the run it was handed to.
type World struct {
	recorder core.EffectRecorder
	// cached are the kinds that are read from the runner's own view.
	cached  []core.Kind
	blocked bool
}

var _ core.Snapshot = (*World)(nil)

// Require blocks the run unless the condition holds: then there is no step, and
// what the run did so far has not happened. Require does not return in that case.
func (w *World) Require(condition bool) {
	if !condition {
		w.blocked = true
		panic(blocked{})
	}
}

// Get returns the content of an object, nil if there is none. [Var.Get] and
// [Var.Lookup] are the typed forms.
func (w *World) Get(key core.Key) core.Content {
	return w.do(&read{key: key, source: w.source(key.Kind)}).(value).content
}

// List returns the objects of a kind in the order of their keys. [Family.All] is
// the typed form.
func (w *World) List(kind core.Kind, namespace string) []core.Object {
	return slices.Clone(w.do(&list{kind: kind, namespace: namespace, source: w.source(kind)}).(listing).objects)
}

// Held implements [core.Snapshot]: variables have no versions.
func (w *World) Held(core.Key) []core.Content { return nil }

// Log logs a line, with keys and values in turn, for the stories of checks that are to say what is logged: they show
// what came before a write. It is no step, and no call.
func (w *World) Log(message string, pairs ...any) {
	if recorder, ok := w.recorder.(core.LogRecorder); ok && recorder.Listens() {
		recorder.Log(core.LogLineOf("info", "", message, pairs...))
	}
}

func (w *World) do(c core.Call) core.Response { return w.recorder.Do(c) }

func (w *World) source(kind core.Kind) core.Source {
	if slices.Contains(w.cached, kind) {
		return core.Cached
	}
	return core.Live
}

// blocked is the panic that unwinds a run whose requirement does not hold.
type blocked struct{}

// run lets f act on the world. A blocked run stays blocked even if f recovers
// from every panic; panics of f's own pass through.
func (w *World) run(f func() core.Result) (result core.Result) {
	defer func() {
		if !w.blocked {
			return
		}
		result = core.Result{Blocked: true}
		if reason := recover(); reason != nil && reason != (blocked{}) {
			panic(reason)
		}
	}()
	return f()
}

package random

import "github.com/orrery-dev/orrery/core"

// Failing is a store whose calls may fail: they get the answer that they would get if there were no objects, and what
// they write is lost or not.
type Failing struct{ core.Store }

// Faults implements [core.Store].
func (f Failing) Faults(call core.Call) []core.Fault {
	answer, err := f.Answer(nothing{}, call)
	if err != nil {
		return nil
	}
	lost := core.Fault{Name: "lost", Response: answer.Response}
	if len(answer.Writes)+len(answer.Enqueue)+len(answer.EnqueueAfter) == 0 {
		return []core.Fault{lost}
	}
	overtaken := core.Fault{Name: "overtaken", Response: answer.Response}
	for _, write := range answer.Writes {
		overtaken.Overtaken = append(overtaken.Overtaken, write.Key)
	}
	return []core.Fault{lost, {Name: "late", Response: answer.Response, Commits: true}, overtaken}
}

// nothing is a snapshot without objects.
type nothing struct{}

var _ core.Snapshot = nothing{}

// Get implements [core.Snapshot].
func (nothing) Get(core.Key) core.Content { return nil }

// List implements [core.Snapshot].
func (nothing) List(core.Kind, string) []core.Object { return nil }

// Held implements [core.Snapshot].
func (nothing) Held(core.Key) []core.Content { return nil }

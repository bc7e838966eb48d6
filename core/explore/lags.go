package explore

import (
	"maps"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/view"
)

// lags says how far views are behind the store along a run. Most backlogs say so themselves. Those of views that are
// refreshed by lists leave out what came and went in between, so that changes are counted here.
type lags struct {
	now, before map[*view.View]lag
}

// lag counts the changes of the kind of a view, all of them and those since it was refreshed.
type lag struct{ all, since int }

func newLags() lags { return lags{now: map[*view.View]lag{}, before: map[*view.View]lag{}} }

// keep begins a step: what was counted up to now stays.
func (l *lags) keep() { l.before = maps.Clone(l.now) }

// takeBack goes back to where the step began.
func (l *lags) takeBack() { l.now = maps.Clone(l.before) }

func (l *lags) committed(v *view.View) {
	l.now[v] = lag{all: l.now[v].all + 1, since: l.now[v].since + 1}
}

func (l *lags) refreshed(v *view.View) { l.now[v] = lag{all: l.now[v].all} }

// of returns how far the views of an actor are behind, those that are, in the state that a walker is in.
func (l *lags) of(w *transition.Walker, a *transition.Actor) []core.TraceLag {
	var behind []core.TraceLag
	for _, v := range a.Process.Views {
		changes := v.Waiting(w.Value(v.Cell()))
		if v.Rule() == view.Relist() {
			changes = l.now[v].since
		}
		if changes > 0 {
			behind = append(behind, core.TraceLag{Kind: v.Kind(), Changes: changes, Of: l.now[v].all})
		}
	}
	return behind
}

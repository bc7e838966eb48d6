package models

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
)

// twoPhaseCommit is two-phase commit as in Gray and Lamport, Consensus on
// Transaction Commit: a transaction manager and n resource managers. Messages
// are never taken from the network, so each is a variable that becomes true.
//
// By hand, n = 1, as what the resource manager is, what the manager is, and
// whether it knows that the resource manager is prepared: while the manager is
// undecided: working; aborted on its own; prepared; prepared and known: 4. After
// its abort: each of these 4, and aborted after having been prepared, unknown
// and known, 2 more: 6. After its commit: prepared and committed: 2. 12 states.
func twoPhaseCommit() catalog.Entry {
	return catalog.Entry{
		Name:   "model/two-phase-commit",
		Doc:    "Two-phase commit with n resource managers: no two of them ever decide differently.",
		Params: []catalog.Param{{Name: "n", Doc: "resource managers", Default: 3, Min: 1, Max: 10}},
		Build: func(v catalog.Values) (*core.System, error) {
			return twoPhaseCommitModel(v["n"]).System()
		},
	}
}

// The states of a manager of a transaction.
const (
	working   = "working"
	prepared  = "prepared"
	committed = "committed"
	aborted   = "aborted"
)

func twoPhaseCommitModel(n int) plain.Model {
	var (
		manager = plain.NewVar[string]("transaction manager")
		known   = plain.NewFamily[bool]("known to be prepared")
		ready   = plain.NewFamily[bool]("message prepared")
		commit  = plain.NewVar[bool]("message commit")
		abort   = plain.NewVar[bool]("message abort")
		rms     = plain.NewFamily[string]("rm")
	)
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("rm%d", i+1))
	}
	start := []core.Object{manager.Is(working), commit.Is(false), abort.Is(false)}

	decide := func(decision string, message plain.Var[bool]) func(*plain.World) {
		return func(w *plain.World) {
			manager.Set(w, decision)
			message.Set(w, true)
		}
	}
	tm := plain.Process{Name: "tm", Actions: []plain.Action{
		{Name: "commit", Do: func(w *plain.World) {
			w.Require(manager.Get(w) == working)
			for _, name := range names {
				w.Require(known.Named(name).Get(w))
			}
			decide(committed, commit)(w)
		}},
		{Name: "abort", Do: func(w *plain.World) {
			w.Require(manager.Get(w) == working)
			decide(aborted, abort)(w)
		}},
	}}
	var managers []plain.Process
	for _, name := range names {
		rm, isReady, isKnown := rms.Named(name), ready.Named(name), known.Named(name)
		start = append(start, rm.Is(working), isReady.Is(false), isKnown.Is(false))

		tm.Actions = append(tm.Actions, plain.Action{Name: "hear that " + name + " is prepared", Do: func(w *plain.World) {
			w.Require(manager.Get(w) == working)
			w.Require(isReady.Get(w))
			isKnown.Set(w, true)
		}})
		obey := func(message plain.Var[bool], decision string) func(*plain.World) {
			return func(w *plain.World) {
				w.Require(message.Get(w))
				rm.Set(w, decision)
			}
		}
		managers = append(managers, plain.Process{Name: name, Actions: []plain.Action{
			{Name: "prepare", Do: func(w *plain.World) {
				w.Require(rm.Get(w) == working)
				rm.Set(w, prepared)
				isReady.Set(w, true)
			}},
			{Name: "choose to abort", Do: func(w *plain.World) {
				w.Require(rm.Get(w) == working)
				rm.Set(w, aborted)
			}},
			{Name: "hear the commit", Do: obey(commit, committed)},
			{Name: "hear the abort", Do: obey(abort, aborted)},
		}})
	}
	model := plain.Model{
		Name:       "model/two-phase-commit",
		Initial:    []core.Initial{plain.Start(start...)},
		Processes:  append([]plain.Process{tm}, managers...),
		Properties: twoPhaseCommitProperties(rms),
	}
	model.Interchangeable = interchangeable(names)
	return model
}

func twoPhaseCommitProperties(rms plain.Family[string]) []core.Property {
	return []core.Property{{
		Name: "consistent",
		Doc:  "No resource manager has aborted while another has committed.",
		Invariant: func(s core.State) error {
			var aborter, committer string
			for _, rm := range rms.All(s) {
				switch rm.Value {
				case aborted:
					aborter = rm.Name
				case committed:
					committer = rm.Name
				}
			}
			if aborter != "" && committer != "" {
				return fmt.Errorf("%s has aborted and %s has committed", aborter, committer)
			}
			return nil
		},
	}}
}

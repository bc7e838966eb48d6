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
			for i := range n {
				w.Require(known.At(i + 1).Get(w))
			}
			decide(committed, commit)(w)
		}},
		{Name: "abort", Do: func(w *plain.World) {
			w.Require(manager.Get(w) == working)
			decide(aborted, abort)(w)
		}},
	}}
	var managers []plain.Process
	for i := range n {
		rm, isReady, isKnown := rms.At(i+1), ready.At(i+1), known.At(i+1)
		name := fmt.Sprintf("rm%d", i+1)
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
	return plain.Model{
		Name:       "model/two-phase-commit",
		Initial:    []core.Initial{plain.Start(start...)},
		Processes:  append([]plain.Process{tm}, managers...),
		Properties: twoPhaseCommitProperties(rms, n),
	}
}

func twoPhaseCommitProperties(rms plain.Family[string], n int) []core.Property {
	return []core.Property{{
		Name: "consistent",
		Doc:  "No resource manager has aborted while another has committed.",
		Invariant: func(s core.State) error {
			var aborter, committer int
			for i := range n {
				switch rms.At(i + 1).Get(s) {
				case aborted:
					aborter = i + 1
				case committed:
					committer = i + 1
				}
			}
			if aborter > 0 && committer > 0 {
				return fmt.Errorf("rm%d has aborted and rm%d has committed", aborter, committer)
			}
			return nil
		},
	}}
}

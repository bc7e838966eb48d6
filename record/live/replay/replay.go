package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// Interpreter reads recordings in the terms of a system. The store of a system whose controllers can be recorded
// implements it.
type Interpreter interface {
	// Recorded returns a call as a recording would have it. If recordings have no such calls, it returns the response
	// that the call gets without them. The error says why the call cannot be held against a recording.
	Recorded(core.Call) (live.Call, core.Response, error)

	// Answered returns the response to a call that a recorded one got, from that and the objects of its answer.
	Answered(core.Call, live.Call, []live.Object) (core.Response, error)

	// Kept returns an object as the store keeps its own.
	Kept(live.Object) (core.Content, error)
}

// Run replays the reconciles of recordings with the controllers of a system. The error is for what cannot be replayed
// at all, and says what to change.
func Run(ctx context.Context, system *core.System, sources []analysis.Source, limits behavior.Limits) (*Report, error) {
	reads, ok := system.Store.(Interpreter)
	if !ok {
		return nil, fmt.Errorf("recordings are of controllers of Kubernetes, and the store of %s is a %T: name a system whose controllers were recorded", system.Name, system.Store)
	}
	if len(sources) == 0 {
		return nil, errors.New("there is no recording to replay: name one")
	}
	r := &replayer{
		ctx: ctx, reads: reads, limits: limits, strategies: map[string]core.Strategy{}, report: &Report{System: system.Name}, ignored: system.IgnoredMemory,
	}
	for _, s := range system.Strategies {
		r.strategies[s.Describe().Name] = s
	}
	defer r.close()
	notes, err := analysis.Walk(sources, func(at analysis.Place, entry live.Entry) error {
		if at.First {
			if err := r.ends(); err != nil {
				return err
			}
			r.script = newScript(at.Header)
		}
		return r.do(r.script.take(at, entry))
	})
	if err != nil {
		return nil, err
	}
	r.report.Notes = notes
	return r.report, r.ends()
}

// replayer runs the steps of processes.
type replayer struct {
	ctx        context.Context
	reads      Interpreter
	limits     behavior.Limits
	strategies map[string]core.Strategy
	ignored    []string
	report     *Report

	// script is the process at hand, and hosts are its instances, by the process of the system that they stand for.
	script *script
	hosts  map[string]*host
}

// ends runs the rest of a process.
func (r *replayer) ends() error {
	if r.script == nil {
		return nil
	}
	defer r.close()
	return r.do(r.script.rest())
}

// close gives up all instances.
func (r *replayer) close() {
	for _, h := range r.hosts {
		h.session.Abort()
	}
	r.hosts = nil
}

// do runs steps.
func (r *replayer) do(steps []step) error {
	for _, one := range steps {
		var err error
		if one.event != nil {
			err = r.handle(one.event)
		} else {
			err = r.reconcile(one.run)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reconcile replays a recorded reconcile, and counts what comes of it.
func (r *replayer) reconcile(one *run) error {
	name := fmt.Sprintf("%s %s at %.3fs", one.begin.Controller, requestOf(one.begin), one.begin.At.Seconds())
	if one.lost && !one.missing {
		r.report.Open++
		return nil
	}
	r.report.Reconciles++
	if one.lost {
		r.report.miss(name, "the recording does not have its end")
		return nil
	}
	strategy, known := r.strategies[one.begin.Controller]
	if !known {
		r.report.miss(name, fmt.Sprintf("the system %s has no controller %q", r.report.System, one.begin.Controller))
		return nil
	}
	h, err := r.host(strategy)
	if err != nil {
		return err
	}
	way, err := r.play(h, strategy, one)
	switch {
	case err != nil:
		return err
	case way.parting == nil && way.unknown == "":
		r.report.Same++
		return nil
	case way.unknown != "":
		r.drop(strategy)
		r.report.miss(name, way.unknown)
		return nil
	}
	remembers := h.remembers(r, strategy)
	r.drop(strategy)
	reason, err := r.doubt(strategy, one, way, remembers, h.since)
	switch {
	case err != nil:
		return err
	case reason != "":
		r.report.miss(name, reason)
	default:
		r.report.part(*way.parting)
	}
	return nil
}

// doubt returns why it is not known that a reconcile parts which went another way, empty if it is known.
func (r *replayer) doubt(strategy core.Strategy, one *run, way way, remembers bool, since string) (string, error) {
	switch {
	case one.missing:
		return "it goes another way, and entries are missing that may be of it", nil
	case way.redacted:
		return "it goes another way, and has read something that is redacted in the recording", nil
	}
	if unseen := r.unseen(one.begin.Controller); unseen != "" && way.more {
		return "it makes a call that is not recorded, and the recording says: " + unseen, nil
	}
	var fresh [2]string
	for i := range fresh {
		again, err := r.playFresh(strategy, one)
		if err != nil {
			return "", err
		}
		fresh[i] = again.String()
	}
	switch same := fresh[0] == way.String(); {
	case fresh[0] != fresh[1]:
		return "it goes another way, and not the same way each time: chance or an order of goroutines makes a difference to it", nil
	case remembers && since != "":
		return "it goes another way, and what it remembered is not known: " + since, nil
	case !same && one.overlaps:
		return "it goes another way, which depends on what it remembers, and other work of the process changed that meanwhile", nil
	}
	return "", nil
}

// unseen returns what the recording says is not recorded of a controller.
func (r *replayer) unseen(controller string) string {
	if reason := r.script.unseen[controller]; reason != "" {
		return reason
	}
	return r.script.unseen[""]
}

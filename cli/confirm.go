package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/cluster"
	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
	"github.com/orrery-dev/orrery/core"
)

// Confirmed is what running a recorded run on a real API server has shown.
type Confirmed struct {
	// Version is the release of Kubernetes that the real server is of.
	Version string
	// Deviation is where the real server answered differently, nil if it did not.
	Deviation *core.Deviation
	// Objects are those that the run changes, as the real server has them at the end, and Gone
	// those of them that are not there then.
	Objects []core.TraceObject
	Gone    []core.Key
}

func (s *session) confirmCommand() *cobra.Command {
	number := 1
	command := &cobra.Command{
		Use:   "confirm FILE --finding N",
		Short: "Run the trace of a finding against a real kube-apiserver",
		Long: `Confirm starts a real kube-apiserver and its etcd on loopback, creates the initial
objects of a finding's trace, and runs the steps of the trace there. Calls fail,
controllers crash, and caches are stale where they are in the trace. What controllers
keep in memory, they keep until they crash.

Confirm runs the servers in the folder that KUBEBUILDER_ASSETS names. Without that
variable, it builds them from their Go modules, once, which takes about a quarter of an hour.

Exit codes: 1 confirmed, 0 not confirmed, 2 bad usage or bad input.`,
		Args: exactly("one record that orrery check --out wrote"),
		RunE: func(command *cobra.Command, args []string) error {
			return s.confirm(command.Context(), args[0], number)
		},
	}
	command.Flags().Var(&flagValue[int]{to: &number, parse: findingNumber, text: "1", kind: "N"}, "finding", "the number of the finding")
	return command
}

// confirm runs a recorded finding on a real API server.
func (s *session) confirm(ctx context.Context, path string, number int) error {
	system, report, finding, err := s.recorded(ctx, path, number)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(system.Initial, func(initial core.Initial) bool { return initial.Underway != nil }) {
		return fmt.Errorf("finding %d cannot be confirmed: it begins in a recording, in the midst of what controllers did, and on a real API server they start anew. orrery replay runs it again", number)
	}
	for i, trace := range traces(finding) {
		if err := confirmable(trace); err != nil {
			return fmt.Errorf("finding %d: %s %w", number, runName(finding, i), err)
		}
	}
	system = system.Aged(report.Ages, report.AgesTurned)
	for i, trace := range traces(finding) {
		confirmed, err := s.Engine.Confirm(ctx, system, trace, s.logger)
		if err != nil {
			return err
		}
		if p := confirmed.Deviation; p != nil {
			fmt.Fprintf(s.streams.Out, "Finding %d is not confirmed: in %s, %s differs on kube-apiserver %s: %s\n",
				number, runName(finding, i), stepName(p.Step), confirmed.Version, p.Reason)
			s.showMemory(report, trace)
			return nil
		}
		fmt.Fprintf(s.streams.Out, "On kube-apiserver %s, %s happens as recorded.\n", confirmed.Version, runName(finding, i))
		s.showReal(finding, confirmed)
	}
	s.code = ExitViolated
	fmt.Fprintf(s.streams.Out, "Finding %d is confirmed: %s\n", number, finding.Summary)
	return nil
}

// showMemory says where memory may be why a run goes another way on a real server.
func (s *session) showMemory(report *core.Report, trace core.Trace) {
	for _, m := range report.Memory {
		why := "It is made of the objects of the real server there, and may be something else: that may be why."
		if !remembers(trace, m.Controller) {
			why = "The trace says nothing of it. If an older version of orrery recorded the trace, that may be why: check the system again."
		}
		fmt.Fprintf(s.streams.Out, "%s keeps %s in memory. %s\n", m.Controller, strings.Join(m.Fields, ", "), why)
	}
}

// remembers reports whether a controller keeps something in memory in a run.
func remembers(trace core.Trace, controller string) bool {
	its := func(c core.MemoryChange) bool { return c.Controller == controller }
	return slices.ContainsFunc(trace.Memory, its) || slices.ContainsFunc(trace.Steps, func(step core.TraceStep) bool { return slices.ContainsFunc(step.Memory, its) })
}

// stepName names a step by its number, 0 for the start.
func stepName(number int) string {
	if number == 0 {
		return "the start"
	}
	return fmt.Sprintf("step %d", number)
}

// confirmable returns an error if a run has a step that cannot be made to happen on a real API server.
func confirmable(trace core.Trace) error {
	for i, step := range trace.Steps {
		if why := unconfirmable(step); why != "" {
			return fmt.Errorf("cannot be confirmed: step %d cannot run on a real API server: %s", i+1, why)
		}
	}
	return nil
}

// unconfirmable says why a step cannot be made to happen on a real API server, empty if it can.
func unconfirmable(step core.TraceStep) string {
	const again = "; check the system again to record it"
	_, known := core.StepKindOf(step.Kind)
	own := slices.DeleteFunc(slices.Clone(step.Calls), func(call core.TraceCall) bool { return call.Handler != "" })
	fails := step.Crashes || slices.ContainsFunc(own, func(call core.TraceCall) bool { return call.Fault != "" })
	switch {
	case !known && step.Kind != "probe":
		return fmt.Sprintf("there is no step of the kind %q", step.Kind)
	case slices.ContainsFunc(step.Calls, func(call core.TraceCall) bool { return call.Handler != "" && call.Wrote }):
		return "an event handler writes in it, and only reconciles may write there"
	case step.Detail != "" && step.Kind != core.Restart.Name() && !fails:
		return "the record does not say which call fails" + again
	case step.Late && len(own) > 0 && !slices.ContainsFunc(own, func(call core.TraceCall) bool { return len(call.Behind) > 0 }):
		return "the record does not say how stale its cache is" + again
	}
	return ""
}

// showReal prints the fields that a finding is about, as a real server has them.
func (s *session) showReal(finding *core.Finding, confirmed Confirmed) {
	if len(confirmed.Objects) > 0 {
		fmt.Fprintln(s.streams.Out, "Objects that it changes, in the final state:")
	}
	for _, object := range confirmed.Objects {
		name := object.Key().String()
		fmt.Fprintf(s.streams.Out, "    %s\n", name)
		for _, field := range finding.Fields {
			path, ok := strings.CutPrefix(field, name+": ")
			if !ok {
				continue
			}
			value, _ := cluster.LookUp(object.Fields, path)
			fmt.Fprintf(s.streams.Out, "        %s = %s\n", path, core.FieldText(value))
		}
	}
	if len(confirmed.Gone) > 0 {
		fmt.Fprintln(s.streams.Out, "Objects that it deletes:")
	}
	for _, key := range confirmed.Gone {
		fmt.Fprintf(s.streams.Out, "    %s\n", key)
	}
}

// runName names one of the runs of a finding.
func runName(finding *core.Finding, i int) string {
	switch {
	case finding.Other == nil:
		return "the trace"
	case i == 0:
		return "the first trace"
	}
	return "the second trace"
}

// confirm runs a recorded run on a real API server of its own.
func confirm(ctx context.Context, system *core.System, trace core.Trace, logger hclog.Logger) (confirmed Confirmed, err error) {
	if beside, ok := system.Store.(interface{ External() []string }); ok {
		return confirmed, fmt.Errorf("%s also consists of %s, which a real API server does not have, so confirm cannot run it there; orrery replay runs the trace again with the controllers' code",
			system.Name, strings.Join(beside.External(), ", "))
	}
	server, ok := system.Store.(*kube.Server)
	if !ok {
		return confirmed, fmt.Errorf("%s does not use a Kubernetes API server, so confirm cannot run it on a real one", system.Name)
	}
	binaries, err := controlplane.Find(ctx, logger)
	if err != nil {
		return confirmed, err
	}
	plane, err := controlplane.Start(ctx, binaries, unplayed(server)...)
	if err != nil {
		return confirmed, err
	}
	defer func() {
		if stopped := plane.Stop(); err == nil {
			err = stopped
		}
	}()
	real, err := cluster.New(plane.Config(), server)
	if err != nil {
		return confirmed, err
	}
	if err := real.Install(ctx); err != nil {
		return confirmed, err
	}
	if err := real.Populate(ctx, trace.Initial); err != nil {
		return confirmed, err
	}
	if confirmed.Version, err = real.Version(ctx); err != nil {
		return confirmed, err
	}
	confirmed.Deviation, err = orrery.Confirm(ctx, system, trace, real, orrery.Options{})
	if err != nil || confirmed.Deviation != nil {
		return confirmed, err
	}
	changed := changedKeys(trace)
	confirmed.Objects, err = real.Objects(ctx, changed)
	confirmed.Gone = slices.DeleteFunc(changed, func(key core.Key) bool {
		return slices.ContainsFunc(confirmed.Objects, func(o core.TraceObject) bool { return o.Key() == key })
	})
	return confirmed, err
}

// unplayed returns the admission plugins whose work nobody would end: the finalizers of volumes stay if the simulated
// server has none, as then no controller takes them away.
func unplayed(server *kube.Server) []string {
	if server.ProtectsVolumes() {
		return nil
	}
	return []string{"StorageObjectInUseProtection"}
}

// changedKeys returns the objects that a run changes, in order.
func changedKeys(trace core.Trace) []core.Key {
	var keys []core.Key
	for _, step := range trace.Steps {
		for _, change := range step.Changes {
			keys = append(keys, change.Key())
		}
	}
	slices.SortFunc(keys, core.Key.Compare)
	return slices.Compact(keys)
}

package orrery

import (
	"context"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live/analysis"
	"github.com/orrery-dev/orrery/record/live/replay"
)

// ReplayRecording runs the reconciles of recordings of running controllers again, with the controllers of a system:
// each with the answers that it got, at the time at which it began. The result says which of them do the same today,
// where the others part, and what could not be replayed. Of the options, only the bounds of a step count. The error is
// for what cannot be replayed at all, and says what to change.
func ReplayRecording(ctx context.Context, system *core.System, sources []analysis.Source, options Options) (*replay.Report, error) {
	options, err := options.toRun(system)
	if err != nil {
		return nil, err
	}
	return replay.Run(ctx, system, sources, options.limits())
}

// ReplayTrace replays recordings of running controllers as a test: files that adapters/observe wrote, or folders with
// such files. It fails the test where a reconcile makes other calls than recorded or ends in another way, with both
// side by side. It also fails if nothing was replayed, or if a reconcile was not: then it is not known whether that
// would be the same. [ReplayRecording] returns the counts to whoever accepts that.
func ReplayTrace(t testing.TB, system *core.System, names ...string) *replay.Report {
	t.Helper()
	sources, err := analysis.Files(names...)
	if err != nil {
		t.Fatalf("the recordings cannot be read: %v", err)
	}
	report, err := ReplayRecording(context.Background(), system, sources, Options{})
	if err != nil {
		t.Fatalf("the recordings cannot be replayed: %v", err)
	}
	var text strings.Builder
	report.Text(&text)
	switch {
	case report.Parted > 0, report.MissedReconciles() > 0:
		t.Error(text.String())
	case report.Same == 0:
		t.Errorf("nothing was replayed: the recordings have no reconcile from its beginning to its end\n%s", text.String())
	default:
		t.Log(text.String())
	}
	return report
}

package controllerruntime_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
)

// TestLogger checks that what a controller logs in its reconciles goes to the logger of the option, named and with the
// values that controller-runtime adds, as do the errors that it returns; and that nothing is logged without the option.
func TestLogger(t *testing.T) {
	setup := controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("talker").For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
			log := ctrllog.FromContext(ctx)
			log.Info("looking", "at", "the widget")
			log.V(1).Info("closely")
			log.V(2).Info("very closely")
			return reconcile.Result{}, reconcile.TerminalError(errors.New("broken"))
		}))
	})
	for level, want := range map[hclog.Level][]string{
		hclog.Off:   nil,
		hclog.Info:  {"[INFO] ", "looking:", "at=\"the widget\"", "name=w", "controller=talker", "[ERROR]", "Reconciler error, not retried", "error=\"terminal error: broken\""},
		hclog.Debug: {"[DEBUG]", "closely:"},
	} {
		var log bytes.Buffer
		logger := hclog.New(&hclog.LoggerOptions{Level: level, Output: &log})
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), setup,
			controllerruntime.ObjectValues(widget("w", 1)), controllerruntime.Logger(logger))
		if _, err := orrery.Run(t.Context(), system, orrery.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(log.String(), part) {
				t.Errorf("at %s it does not log %q:\n%s", level, part, &log)
			}
		}
		if len(want) == 0 && log.Len() > 0 {
			t.Errorf("at %s it logs\n%s", level, &log)
		}
		if level == hclog.Info && strings.Contains(log.String(), "closely") || strings.Contains(log.String(), "very closely") {
			t.Errorf("at %s it logs more than asked for:\n%s", level, &log)
		}
	}
}

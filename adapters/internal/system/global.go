package system

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// globals guards what client-go keeps once for a process.
var globals sync.Once

// SettleGlobals makes the logger that of klog, which would write to the standard error otherwise, and returns the one
// that klog has. Errors that nobody handles are logged only: by itself, client-go lets whoever has such an error sleep
// until the last one is a while ago, whoever had that: on a virtual clock these may be years.
func SettleGlobals(logger logr.Logger) logr.Logger {
	globals.Do(func() {
		klog.SetLoggerWithOptions(logger, klog.ContextualLogger(true)) // so that klog.Background is the logger itself
		utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{        //nolint:reassign // it is there to be set
			func(ctx context.Context, err error, message string, pairs ...any) {
				klog.FromContext(ctx).Error(err, message, pairs...)
			},
		}
	})
	return klog.Background()
}

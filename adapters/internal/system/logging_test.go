package system

import (
	"bytes"
	"errors"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestLogsGoToHclog(t *testing.T) {
	var out bytes.Buffer
	logger := bridge(hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Debug, DisableTime: true}), &listeners{})
	logger = logger.WithName("controller").WithValues("name", "a")
	logger.Info("starting", "workers", 1)
	logger.V(1).Info("reconciling")
	logger.V(2).Info("too much detail")
	logger.Error(errors.New("gone"), "failed")
	want := `[INFO]  controller: starting: name=a workers=1
[DEBUG] controller: reconciling: name=a
[ERROR] controller: failed: name=a error=gone
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if logger.V(2).Enabled() || !logger.V(1).Enabled() {
		t.Error("levels are not those of the hclog logger")
	}
	if bridge(nil, &listeners{}).Enabled() {
		t.Error("without a logger, nothing is to be logged")
	}
}

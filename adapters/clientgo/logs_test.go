package clientgo_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
)

// TestLogsOfSteps checks that lines are shown which are logged through klog, for controllers that have a sync and for
// those that can only be run.
func TestLogsOfSteps(t *testing.T) {
	for name, run := range drivers {
		t.Run(name, func(t *testing.T) {
			r := check(t, orrery.Options{Logs: true}, sabotaged(run, func(_ *mirror, c *corev1.ConfigMap) error {
				klog.InfoS("changes the cache", "object", klog.KObj(c))
				klog.Errorf("of %s", c.Name)
				c.Data["value"] = "2"
				return nil
			}), clientgo.ObjectValues(configMap("a", "1")))
			var got []string
			for _, step := range finding(t, r, "no cache mutation").Trace.Steps {
				for _, line := range step.Logs {
					got = append(got, line.String())
				}
			}
			if len(got) != 2 || got[0] != "info changes the cache object=default/a" || got[1] != "error of a" {
				t.Errorf("it logged %q", got)
			}
		})
	}
}

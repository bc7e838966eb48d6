package cel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/toggle"
	"github.com/orrery-dev/orrery/properties/cel"
)

// TestControllers checks real controllers, which toggle the replicas of a Deployment between 1, 2 and 3.
func TestControllers(t *testing.T) {
	for _, test := range []struct {
		property core.Property
		// summary is part of that of the finding, empty if the property holds.
		summary string
	}{
		{cel.Always("in bounds", `deployments.all(d, d.spec.replicas >= 1 && d.spec.replicas <= 3)`), ""},
		{cel.Always("images have tags", `deployments.all(d, d.spec.template.spec.containers.all(c, c.image.contains(":")))`), ""},
		{cel.Always("defaults are set", `deployments.all(d, d.spec.strategy.type == "RollingUpdate" && d.metadata.uid != "")`), ""},
		{cel.Always("one", `object("Deployment.apps", "default", "web").?spec.replicas.orValue(0) == 1`), `not true: object("Deployment.apps", "default", "web")`},
		{cel.Always("two", `deployments.all(d, d.spec.replicas <= 2)`), "not of Deployment.apps default/web"},
		{cel.EventuallyAlways("settled", `deployments.all(d, d.spec.replicas == 3)`), `"deployments.all(d, d.spec.replicas == 3)" never becomes true permanently`},
		{cel.LeadsTo("up again", `deployments[0].spec.replicas == 2`, `deployments[0].spec.replicas == 3`), ""},
		{cel.Steps("selectors stay", "deployments", `new.spec.selector == old.spec.selector && new.metadata.uid == old.metadata.uid`), ""},
		{cel.Steps("only up", "deployments", `new.spec.replicas >= old.spec.replicas`), "a step changes Deployment.apps default/web, and this is not true"},
	} {
		t.Run(test.property.Name, func(t *testing.T) {
			system, err := toggle.System(false)
			if err != nil {
				t.Fatal(err)
			}
			system.Properties = []core.Property{test.property}
			result, err := orrery.Run(context.Background(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var found string
			for _, f := range result.Report.Findings {
				found = f.Summary
			}
			if (found == "") != (test.summary == "") || !strings.Contains(found, test.summary) {
				t.Errorf("the finding is %q, want %q", found, test.summary)
			}
		})
	}
}

package dot_test

import (
	"fmt"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// chain is why a Deployment is as it is: two controllers wrote by turns, one of them after so many tries. The reconcile
// that all began with caused two things.
func chain(tries int) analysis.Answer {
	version := func(kind core.Kind, name string, rv int) analysis.Version {
		return analysis.Version{Key: core.Key{Kind: kind, Namespace: "shop", Name: name}, ResourceVersion: fmt.Sprint(rv)}
	}
	root := &analysis.Link{Version: version("ConfigMap", "settings", 3), Event: live.Added, Manager: `kubectl "edit"`}
	begun := &analysis.Writer{Controller: "settings", Request: "shop/settings", Reconcile: 7, At: time.Second, Verb: live.Patch, Causes: []analysis.Step{{By: live.ByEvent, Link: root}}}
	seen := &analysis.Writer{Controller: "settings", Request: "shop/settings", Reconcile: 7, At: 2 * time.Second, Verb: live.Update, Subresource: "status", Told: true}
	replicas := &analysis.Link{Version: version("Deployment.apps", "web", 5), Event: live.Updated, Writer: begun}
	status := &analysis.Link{Version: version("Quota.example.com", "web", 6), Event: live.Updated, Writer: seen}
	first := &analysis.Writer{Controller: "scaler", Request: "shop/web", Reconcile: 20, Causes: []analysis.Step{{By: live.ByEvent, Link: replicas}, {By: live.ByEvent, Link: status}, {By: live.ByCode}}, Cut: true}
	for i := range tries {
		first = &analysis.Writer{Controller: "scaler", Request: "shop/web", Reconcile: uint64(21 + i), Causes: []analysis.Step{{By: live.ByFailure, Before: first}}}
	}
	first.At, first.Verb = 5*time.Second, live.Update
	return analysis.Answer{
		Object: version("Deployment.apps", "web", 9).Key, Field: "spec.replicas", Value: "3", Former: "1",
		Last: &analysis.Link{Version: version("Deployment.apps", "web", 9), Writer: first},
	}
}

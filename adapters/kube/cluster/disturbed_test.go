package cluster_test

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/cluster"
	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/bugs/capa"
	"github.com/orrery-dev/orrery/examples/bugs/cilium"
	"github.com/orrery-dev/orrery/examples/bugs/cryostat"
	"github.com/orrery-dev/orrery/examples/bugs/rabbitmq"
	"github.com/orrery-dev/orrery/examples/bugs/zookeeper"
)

// confirmsDisturbed confirms all findings of the published defects, each of which takes something that goes wrong, is
// late, or comes from a user. The runs of one finding may have the same objects, so that each leaves nothing behind.
func confirmsDisturbed(ctx context.Context, t *testing.T, plane *controlplane.ControlPlane) {
	entries := slices.Concat(capa.Catalog(), cilium.Catalog(), cryostat.Catalog(), rabbitmq.Catalog(), zookeeper.Catalog())
	behind := func(changes int) []orrery.Staleness {
		return []orrery.Staleness{{Controller: "zookeeper", Kind: "ZookeeperCluster", Rule: orrery.Restart(changes)}}
	}
	tests := []struct {
		entry   string
		options orrery.Options
	}{
		{"bug/capa-5794", orrery.Options{Failures: 1}},
		{"bug/capa-5794", orrery.Options{Crashes: 1}},
		{"bug/cilium-42920", orrery.Options{Doubles: []string{"cilium"}, Stale: []orrery.Staleness{{Controller: "cilium", Kind: "Node", Rule: orrery.OwnWrites(1)}}}},
		{"bug/cilium-42920", orrery.Options{Doubles: []string{"cilium"}, Granularity: orrery.PerCall}},
		{"bug/cryostat-163", orrery.Options{Stale: []orrery.Staleness{{Controller: "cryostat", Kind: "ConfigMap", Rule: orrery.Lag(1)}}}},
		{"bug/cryostat-163", orrery.Options{Stale: []orrery.Staleness{{Controller: "cryostat", Kind: "ConfigMap", Rule: orrery.Relist}}}},
		{"bug/rabbitmq-758", orrery.Options{}},
		{"bug/rabbitmq-782", orrery.Options{Crashes: 1}},
		{"bug/zookeeper-312", orrery.Options{Crashes: 1, Stale: behind(3)}},
		{"bug/zookeeper-314", orrery.Options{Crashes: 1, Stale: behind(2)}},
	}
	for _, test := range tests {
		i := slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.Name == test.entry })
		t.Run(test.entry, func(t *testing.T) {
			system, err := entries[i].Build(catalog.Values{})
			if err != nil {
				t.Fatal(err)
			}
			result, err := orrery.Run(ctx, system, test.options)
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Report.Findings) == 0 {
				t.Fatal("nothing is found")
			}
			for _, finding := range result.Report.Findings {
				confirmsRun(ctx, t, plane, system, finding.Trace, "")
				if finding.Other != nil {
					confirmsRun(ctx, t, plane, system, *finding.Other, "")
				}
			}
			if test.entry == "bug/cryostat-163" {
				told := result.Report.Findings[0].Trace
				told.Steps[1].Calls[1].Behind = nil
				confirmsRun(ctx, t, plane, system, told, `the response to "list ConfigMap in default with example.orrery.dev/link-to=cryostat" is "1 item", where it was "0 items"`)
			}
		})
	}
}

// confirmsRun confirms a run, or wants it to part for a reason, and then removes the objects that it was about.
func confirmsRun(ctx context.Context, t *testing.T, plane *controlplane.ControlPlane, system *core.System, trace core.Trace, parts string) {
	t.Helper()
	c, err := cluster.New(plane.Config(), system.Store.(*kube.Server))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Install(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Populate(ctx, trace.Initial); err != nil {
		t.Fatal(err)
	}
	deviation, err := orrery.Confirm(ctx, system, trace, c, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case parts == "" && deviation != nil:
		t.Errorf("not confirmed: step %d: %s", deviation.Step, deviation.Reason)
	case parts != "" && (deviation == nil || deviation.Reason != parts):
		t.Errorf("it parts at %+v, want for the reason that %s", deviation, parts)
	}
	var keys []core.Key
	for _, o := range trace.Initial {
		keys = append(keys, o.Key())
	}
	for _, step := range trace.Steps {
		for _, change := range step.Changes {
			keys = append(keys, change.Key())
		}
	}
	for _, key := range keys {
		mapping, err := system.Store.(*kube.Server).RESTMapper().RESTMapping(schema.ParseGroupKind(string(key.Kind)))
		if err != nil {
			t.Fatal(err)
		}
		for _, request := range []*kube.Request{
			{Verb: kube.Patch, PatchType: types.MergePatchType, Body: []byte(`{"metadata":{"finalizers":null}}`)},
			{Verb: kube.Delete, GracePeriodSeconds: ptr.To[int64](0)},
		} {
			request.Kind, request.Namespace, request.Name = mapping.GroupVersionKind, key.Namespace, key.Name
			if _, err := c.Do(ctx, request, core.RecordedCall{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

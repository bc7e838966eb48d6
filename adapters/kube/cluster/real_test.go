package cluster_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/cluster"
	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/toggle"
)

// startServer starts a real API server, if there is one that need not be built first.
func startServer(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	binaries, err := controlplane.Present()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no kube-apiserver yet: set KUBEBUILDER_ASSETS, or let orrery confirm build one")
	}
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(context.Background(), binaries, "StorageObjectInUseProtection")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return plane
}

// TestRealServer starts a real API server once for all that is tried on it.
func TestRealServer(t *testing.T) {
	plane := startServer(t)
	ctx := t.Context()

	t.Run("is empty at first", func(t *testing.T) { emptyAtFirst(ctx, t, plane) })
	t.Run("installs and populates", func(t *testing.T) { installsAndPopulates(ctx, t, plane) })
	t.Run("confirms", func(t *testing.T) { confirms(ctx, t, plane) })
	t.Run("confirms what takes a disturbance", func(t *testing.T) { confirmsDisturbed(ctx, t, plane) })
	t.Run("confirms what takes memory", func(t *testing.T) { confirmsRemembered(ctx, t, plane) })
}

// emptyAtFirst lists all kinds: what a server makes for itself must not be seen, as the
// simulated server has none of it.
func emptyAtFirst(ctx context.Context, t *testing.T, plane *controlplane.ControlPlane) {
	system, err := toggle.System(false)
	if err != nil {
		t.Fatal(err)
	}
	simulated := system.Store.(*kube.Server)
	c, err := cluster.New(plane.Config(), simulated)
	if err != nil {
		t.Fatal(err)
	}
	if version, err := c.Version(ctx); err != nil || !strings.HasPrefix(version, "v1.") {
		t.Errorf("version %q, error %v", version, err)
	}
	listed := 0
	for _, name := range simulated.Kinds() {
		mapping, err := simulated.RESTMapper().RESTMapping(schema.ParseGroupKind(string(name)))
		if err != nil {
			t.Fatal(err)
		}
		response, err := c.Do(ctx, &kube.Request{Verb: kube.List, Kind: mapping.GroupVersionKind}, core.RecordedCall{})
		if err != nil || response.(*kube.Response).Err() != nil {
			continue // it does not serve this version
		}
		listed++
		if response.String() != "0 items" {
			t.Errorf("%s: %s: %.300s", name, response, response.Identity())
		}
	}
	if listed < 20 {
		t.Errorf("only %d kinds could be listed", listed)
	}
}

// installsAndPopulates brings a server to where a run starts, with kinds of its own, an
// owner, a status without a subresource, and an object that is being deleted.
func installsAndPopulates(ctx context.Context, t *testing.T, plane *controlplane.ControlPlane) {
	system, err := toggle.System(false)
	if err != nil {
		t.Fatal(err)
	}
	simulated, err := kube.NewServer(system.Store.(*kube.Server).Scheme(), kube.DefinitionFiles("testdata/kinds.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.New(plane.Config(), simulated)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Install(ctx); err != nil {
		t.Fatal(err)
	}
	const uid = "00000000-0000-8000-8000-000000000001"
	objects := []core.TraceObject{
		{Kind: "ConfigMap", Namespace: "team", Name: "owned", Fields: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
				"namespace": "team", "name": "owned", "uid": "00000000-0000-8000-8000-000000000002",
				"finalizers": []any{"example.com/keep"}, "deletionTimestamp": "2000-01-01T00:00:00Z",
				"ownerReferences": []any{map[string]any{"apiVersion": "example.com/v1", "kind": "Gadget", "name": "g", "uid": uid}},
			},
		}},
		{Kind: "Gadget.example.com", Namespace: "team", Name: "g", Fields: map[string]any{
			"apiVersion": "example.com/v1beta1", "kind": "Gadget", "status": map[string]any{"ready": true},
			"metadata": map[string]any{"namespace": "team", "name": "g", "uid": uid},
		}},
		{Kind: "Namespace", Name: "team", Fields: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "team", "uid": "00000000-0000-8000-8000-000000000003"},
		}},
	}
	if err := c.Populate(ctx, objects); err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		change := core.TraceChange{
			Kind: object.Kind, Namespace: object.Namespace, Name: object.Name,
			Verb: "changed", Fields: []core.FieldChange{{To: object.Fields}},
		}
		if difference, err := c.Shows(ctx, change); err != nil || difference != "" {
			t.Errorf("%s: %s, error %v", object.Key(), difference, err)
		}
	}
}

// confirms runs the story that the check of toggle tells, as it is and with lies in it.
func confirms(ctx context.Context, t *testing.T, plane *controlplane.ControlPlane) {
	system, err := toggle.System(false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(ctx, system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Report.Findings) != 1 {
		t.Fatalf("%d findings, want one", len(result.Report.Findings))
	}
	told := result.Report.Findings[0].Trace
	tests := []struct {
		name string
		lie  func(*core.Trace)
		// parts is the step where the run parts, 0 if it does not, and why.
		parts  int
		reason string
	}{
		{name: "the truth"},
		{
			"another value", func(trace *core.Trace) {
				trace.Steps[1].Changes = []core.TraceChange{{
					Kind: "Deployment.apps", Namespace: "default", Name: "web", Verb: "changed",
					Fields: []core.FieldChange{{Path: "spec.replicas", To: int64(7)}},
				}}
			},
			2, "Deployment.apps default/web: spec.replicas is 2 on the real server",
		},
		{
			"another answer", func(trace *core.Trace) {
				trace.Steps[2].Calls = slices.Clone(trace.Steps[2].Calls)
				trace.Steps[2].Calls[0].Response = `404 NotFound: Deployment.apps "web" not found`
			},
			3, `the response to "get Deployment default/web" is "ok", where it was "404`,
		},
		{"another step", func(trace *core.Trace) { trace.Steps[1] = trace.Steps[2] }, 2, "availability returns, where it was to update"},
		{"another start", func(trace *core.Trace) { trace.Initial = nil }, 1, `the response to "get Deployment default/web" is "404 NotFound: Deployment.apps \"web\" not found"`},
	}
	for _, test := range slices.Backward(tests) { // the one without the object goes first
		t.Run(test.name, func(t *testing.T) {
			c, err := cluster.New(plane.Config(), system.Store.(*kube.Server))
			if err != nil {
				t.Fatal(err)
			}
			trace := told
			trace.Steps = slices.Clone(told.Steps)
			if test.lie != nil {
				test.lie(&trace)
			}
			if err := c.Populate(ctx, trace.Initial); err != nil {
				t.Fatal(err)
			}
			deviation, err := orrery.Confirm(ctx, system, trace, c, orrery.Options{})
			switch {
			case err != nil:
				t.Fatal(err)
			case test.parts == 0 && deviation != nil:
				t.Errorf("not confirmed: step %d: %s", deviation.Step, deviation.Reason)
			case test.parts > 0 && deviation == nil:
				t.Error("confirmed")
			case test.parts > 0 && (deviation.Step != test.parts || !strings.HasPrefix(deviation.Reason, test.reason)):
				t.Errorf("step %d: %s\nwant step %d: %s", deviation.Step, deviation.Reason, test.parts, test.reason)
			}
			objects, err := c.Objects(ctx, []core.Key{{Kind: "Deployment.apps", Namespace: "default", Name: "web"}})
			if there := len(trace.Initial) > 0; err != nil || len(objects) > 0 != there {
				t.Errorf("at the end there is %v, error %v", objects, err)
			}
		})
	}
}

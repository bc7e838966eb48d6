package system

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
)

// idler is a controller that watches ConfigMaps and does nothing.
type idler struct{}

func (idler) Describe() core.Description {
	return core.Description{Name: "idler", Watches: []core.Kind{"ConfigMap"}}
}
func (idler) New() (core.Instance, error)                                 { return idler{}, nil }
func (idler) Handle(core.EffectRecorder, core.Event) []core.Request       { return nil }
func (idler) Reconcile(core.EffectRecorder, core.Request) (r core.Result) { return r }

// made makes a system of the idler and the options.
func made(t *testing.T, found *Notes, options ...Option) (*core.System, error) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	d := Define("library")
	for _, option := range options {
		option(&d)
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	server, err := d.Server(scheme)
	if err != nil {
		t.Fatal(err)
	}
	return d.System(server, []core.Strategy{idler{}}, found)
}

func TestSystem(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}}
	system, err := made(t, new(Notes), Name("one"), ObjectValues(secret), GarbageCollection(&corev1.Node{}), NamespaceDeletion(), VolumeProtection())
	if err != nil {
		t.Fatal(err)
	}
	watches := map[string][]core.Kind{}
	for _, s := range system.Strategies {
		watches[s.Describe().Name] = s.Describe().Watches
	}
	for name, want := range map[string][]core.Kind{
		"idler":                {"ConfigMap"},
		"garbage-collector":    {"ConfigMap", "Node", "Secret"},
		"namespace-controller": {"Namespace", "ConfigMap", "Secret"},
		"volume-protector":     {"PersistentVolume", "PersistentVolumeClaim", "Pod"},
	} {
		if !slices.Equal(watches[name], want) {
			t.Errorf("%s watches %v, want %v", name, watches[name], want)
		}
	}
	if system.Name != "one" || len(system.Initial[0].Objects) != 1 || len(system.Unmodelled) > 0 {
		t.Errorf("got %+v", system)
	}
}

func TestNotes(t *testing.T) {
	found := new(Notes)
	part := Part{Option: "WithoutTimers", Name: "nightly", Text: "the timer nightly is not run"}
	for range 2 { // each text once
		found.Assume("All is %s.", "well")
		found.Doubt("nobody knows %d", 1)
		found.LeaveOut(part)
	}
	system, err := made(t, found)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"nobody knows 1", `the timer nightly is not run: if it does not matter to what is checked, say so with library.WithoutTimers("nightly"); otherwise let a controller stand in for it`}
	if !slices.Equal(system.Unmodelled, want) || !slices.Equal(system.Assumptions, []string{"All is well."}) {
		t.Errorf("got %q and %q", system.Unmodelled, system.Assumptions)
	}
	system, err = made(t, found, Without("WithoutTimers", "nightly"))
	if err != nil {
		t.Fatal(err)
	}
	if len(system.Unmodelled) != 1 || !slices.Contains(system.Assumptions, "The system does not depend on what is left out of it: the timer nightly is not run.") {
		t.Errorf("got %q and %q", system.Unmodelled, system.Assumptions)
	}
}

func TestMistakes(t *testing.T) {
	for want, option := range map[string]Option{
		"an initial object is nil":                    ObjectValues(nil),
		"WithoutTimers leaves nothing out":            Without("WithoutTimers"),
		"registers nothing that could be left out so": Without("WithoutTimers", "daily"),
		"garbage collection: ":                        GarbageCollection(&metav1.PartialObjectMetadata{}),
	} {
		if _, err := made(t, new(Notes), option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

package system

import (
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
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

// library has one set-up, with the idler or without.
type library struct {
	name        string
	notes       *Notes
	controllers []core.Strategy
	indexes     informer.Indexes
	err         error
}

func (l *library) Adapter() string { return l.name }
func (l *library) SetUps() int     { return 1 }
func (l *library) Survey(*runtime.Scheme, *kube.Server) (Found, error) {
	return Found{Notes: l.notes, Indexes: l.indexes, Register: func(*kube.Server) ([]core.Strategy, []kube.Webhook, error) {
		return l.controllers, nil, l.err
	}}, nil
}

// made makes a system of the idler and the options.
func made(t *testing.T, found *Notes, options ...Option) (*core.System, error) {
	t.Helper()
	return makeOf(t, []*library{{name: "library", notes: found, controllers: []core.Strategy{idler{}}}}, options...)
}

// makeOf makes a system of libraries.
func makeOf(t *testing.T, libraries []*library, options ...Option) (*core.System, error) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	d := Define()
	for _, l := range libraries {
		d.libraries = append(d.libraries, l)
	}
	for _, option := range options {
		option(d)
	}
	return d.New(scheme)
}

// namesake is an idler that is called as a companion is.
type namesake struct{ idler }

func (namesake) Describe() core.Description {
	return core.Description{Name: "replicaset", Watches: []core.Kind{"ConfigMap"}}
}

// TestCompanionStepsAside checks that a controller may be called as a companion is: a manager calls it by its kind.
func TestCompanionStepsAside(t *testing.T) {
	for _, test := range []struct {
		controllers []core.Strategy
		want        []string
	}{
		{[]core.Strategy{idler{}}, []string{"idler", "replicaset", "kubelet"}},
		{[]core.Strategy{namesake{}}, []string{"replicaset", "replicaset-controller", "kubelet"}},
	} {
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme} {
			if err := add(scheme); err != nil {
				t.Fatal(err)
			}
		}
		d := Define()
		d.libraries = append(d.libraries, &library{name: "library", notes: new(Notes), controllers: test.controllers})
		Companions(companions.ReplicaSets(), companions.Pods())(d)
		system, err := d.New(scheme)
		if err != nil {
			t.Fatal(err)
		}
		if got := namesOf(system.Strategies); !slices.Equal(got, test.want) {
			t.Errorf("the controllers are called %v, want %v", got, test.want)
		}
		if got := system.Surroundings; !slices.Equal(got, test.want[1:]) {
			t.Errorf("the surroundings are called %v, want %v", got, test.want[1:])
		}
	}
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
		"an option given to With is nil":              With(nil),
		"WithoutTimers leaves nothing out":            Without("WithoutTimers"),
		"registers nothing that could be left out so": Without("WithoutTimers", "daily"),
		"garbage collection: ":                        GarbageCollection(&metav1.PartialObjectMetadata{}),
	} {
		if _, err := made(t, new(Notes), option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestLibraries checks what is said of the parts of several libraries, each with the option of its own adapter.
func TestLibraries(t *testing.T) {
	one := &library{name: "one", notes: new(Notes), controllers: []core.Strategy{idler{}}}
	other := &library{name: "other", notes: new(Notes)}
	for _, l := range []*library{one, other} {
		l.notes.Assume("All is well.")
		l.notes.Doubt("nobody knows")
	}
	one.notes.LeaveOut(Part{Option: "WithoutTimers", Name: "nightly", Text: "the timer nightly is not run"})
	other.notes.LeaveOut(Part{Option: "WithoutBells", Name: "loud", Text: "the bell is not run"})
	system, err := makeOf(t, []*library{one, other}, Without("WithoutTimers", "nightly"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"nobody knows", `the bell is not run: if it does not matter to what is checked, say so with other.WithoutBells("loud"); otherwise let a controller stand in for it`}
	if !slices.Equal(system.Unmodelled, want) || len(system.Assumptions) != 2 {
		t.Errorf("got %q and %q", system.Unmodelled, system.Assumptions)
	}
	nodes := informer.Indexes{{Form: informer.Form{Kind: corev1.SchemeGroupVersion.WithKind("Node")}, Field: "app"}: func(client.Object) ([]string, error) { return nil, nil }}
	one.indexes, other.indexes = nodes, nodes
	if _, err := makeOf(t, []*library{one, other}); err == nil || !strings.Contains(err.Error(), "other: there are two indexes app of Node") {
		t.Errorf("got %v", err)
	}
	one.indexes, other.err = nil, errors.New("it is broken")
	if _, err := makeOf(t, []*library{one, other}); err == nil || err.Error() != "other: it is broken" {
		t.Errorf("got %v", err)
	}
	one.controllers, other.err = nil, nil
	if _, err := makeOf(t, []*library{one, other}); err == nil || !strings.Contains(err.Error(), "the set-ups register no controllers") {
		t.Errorf("got %v", err)
	}
}

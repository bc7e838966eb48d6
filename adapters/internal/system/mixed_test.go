package system_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// newSystem is what makes a system from the options of both libraries.
type newSystem func(...system.Foreign) (*core.System, error)

// hosts are the adapters whose New makes a system of both.
var hosts = map[string]newSystem{
	"controllerruntime": func(options ...system.Foreign) (*core.System, error) {
		return controllerruntime.New(scheme.Scheme, controllerruntime.With(options...))
	},
	"clientgo": func(options ...system.Foreign) (*core.System, error) {
		return clientgo.New(scheme.Scheme, clientgo.With(options...))
	},
}

// check checks a system, and wants nothing to be left of it.
func check(t *testing.T, host string, options orrery.Options, parts ...system.Foreign) (*core.System, *core.Report) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	defer func() { goleak.VerifyNone(t, before) }()
	made, err := hosts[host](append(parts, clientgo.Properties(properties.Convergent()...))...)
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), made, options)
	if err != nil {
		t.Fatal(err)
	}
	return made, &result.Report
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: data}
}

// one is a ConfigMap that is there at the start.
func one() system.Foreign {
	return controllerruntime.ObjectValues(configMap("a", map[string]string{"value": "1"}))
}

// outcome returns the objects of the only outcome, as text.
func outcome(t *testing.T, r *core.Report) string {
	t.Helper()
	if r.Verdict != core.Holds || len(r.OutcomeList) != 1 {
		t.Fatalf("%s with %d outcomes: %v %v", r.Verdict, r.Outcomes, r.Reasons, summaries(r))
	}
	text, err := json.Marshal(r.OutcomeList[0].Objects)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func summaries(r *core.Report) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.Property+": "+f.Summary)
	}
	return all
}

// pairs are the ways in which two controllers can be made with two libraries.
var pairs = map[string][2]library{
	"both on managers":  {managers, managers},
	"manager, informer": {managers, informing},
	"informer, manager": {informing, managers},
	"both on informers": {informing, informing},
}

// TestPairs checks the same two controllers, each made with either library: what is searched and found is the same.
//
// At the start the copier has a to do. It creates the Secret, which wakes both. The copier's second look changes
// nothing, and can come at any time from then on. The sealer labels the Secret, which wakes both again, and then looks
// a second time. So there is the start; four states by whether each still has work after the label; and before it the
// sealer has work, and the copier has or has not: 1 + 4 + 2 = 7. The steps are the first one; two from where both have
// work before the label, one where only the sealer has; and two, one and one after it: 1 + 3 + 4 = 8.
func TestPairs(t *testing.T) {
	lag := []orrery.Staleness{{Rule: orrery.Lag(1)}}
	searches := map[string]orrery.Options{
		"":             {},
		"lag":          {Stale: lag},
		"one lags":     {Stale: []orrery.Staleness{{Controller: "sealer", Rule: orrery.Lag(2)}}},
		"crash":        {Crashes: 1},
		"crash of one": {Crashes: 1, FaultsIn: []string{"sealer"}},
		"failure":      {Failures: 1},
		"calls":        {Granularity: orrery.PerCall, Crashes: 1},
		"all":          {Stale: lag, Crashes: 1, Failures: 1},
	}
	for _, name := range slices.Sorted(maps.Keys(searches)) {
		t.Run(name, func(t *testing.T) {
			var want, reduced string
			for _, pair := range slices.Sorted(maps.Keys(pairs)) {
				// The controllers of the adapter whose New it is come first, and what a reduced search leaves out goes
				// by their order.
				host := "controllerruntime"
				if strings.HasPrefix(pair, "informer") {
					host = "clientgo"
				}
				full := searches[name]
				full.Reduction = orrery.NoReduction
				_, r := check(t, host, full, one(), pairs[pair][0](copier()), pairs[pair][1](sealer()))
				if name == "" && (r.States != 7 || r.Transitions != 8) {
					t.Errorf("%s: %d states and %d transitions, want 7 and 8", pair, r.States, r.Transitions)
				}
				got := fmt.Sprintf("%d states, %d transitions, %d terminal, depth %d: %s", r.States, r.Transitions, r.TerminalStates, r.Depth, outcome(t, r))
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%s:\n%s, want as in the others\n%s", pair, got, want)
				}
				_, r = check(t, host, searches[name], one(), pairs[pair][0](copier()), pairs[pair][1](sealer()))
				got = fmt.Sprintf("%d states: %s", r.States, outcome(t, r))
				if reduced == "" {
					reduced = got
				}
				if got != reduced || !strings.HasSuffix(want, outcome(t, r)) {
					t.Errorf("%s, reduced:\n%s, want\n%s", pair, got, reduced)
				}
			}
		})
	}
}

// TestRace checks two controllers that claim the same ConfigMap: who comes first has it. What is found can be replayed.
func TestRace(t *testing.T) {
	for name, pair := range pairs {
		for _, reduction := range []orrery.Reduction{"", orrery.NoReduction} {
			made, r := check(t, "controllerruntime", orrery.Options{Reduction: reduction}, one(), pair[0](claimer("first")), pair[1](claimer("second")))
			if r.Verdict != core.Violated || r.Outcomes != 2 || len(r.Findings) != 1 || r.Findings[0].Property != "same outcome" {
				t.Fatalf("%s: %s with %d outcomes: %v %v", name, r.Verdict, r.Outcomes, r.Reasons, summaries(r))
			}
			// At the start both have work, then one of them has claimed it. Both are woken by that, and look again in
			// either order.
			if reduction == orrery.NoReduction && r.States != 1+2*4 {
				t.Errorf("%s: %d states, want 9", name, r.States)
			}
			options, err := orrery.Options{}.Again(r)
			if err != nil {
				t.Fatal(err)
			}
			if deviation, err := orrery.Replay(t.Context(), made, r.Findings[0].Trace, options); err != nil || deviation != nil {
				t.Errorf("%s: the replay deviates: %v, %v", name, deviation, err)
			}
		}
	}
}

// auditor is a player of no library: it annotates Secrets.
type auditor struct{}

func (auditor) Describe() core.Description {
	return core.Description{Name: "auditor", Watches: []core.Kind{"Secret"}}
}
func (auditor) New() (core.Instance, error) { return auditor{}, nil }
func (auditor) Handle(_ core.EffectRecorder, event core.Event) []core.Request {
	return []core.Request{core.Request(event.Key.Name)}
}
func (auditor) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	answer := recorder.Do(&kube.Request{
		Verb: kube.Patch, Kind: corev1.SchemeGroupVersion.WithKind("Secret"), Namespace: "default", Name: string(request),
		Body: []byte(`{"metadata":{"annotations":{"audited":"yes"}}}`), PatchType: types.MergePatchType,
	})
	return core.Result{Err: client.IgnoreNotFound(answer.(*kube.Response).Err())}
}

// TestStrategies checks a player of no library beside controllers of both, and the garbage collector, which looks after
// what each of them watches.
func TestStrategies(t *testing.T) {
	owned := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "1"},
	}}}
	var want string
	for _, reduction := range []orrery.Reduction{orrery.NoReduction, ""} {
		made, r := check(t, "clientgo", orrery.Options{Reduction: reduction}, one(),
			managers(sealer()), informing(copier()),
			controllerruntime.Strategies(auditor{}), clientgo.ObjectValues(owned), clientgo.GarbageCollection())
		got := outcome(t, r)
		if !strings.Contains(got, `"audited":"yes"`) || !strings.Contains(got, `"sealed":"yes"`) || strings.Contains(got, "gone") {
			t.Errorf("the outcome is %s", got)
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("reduced, the outcome is %s, want %s", got, want)
		}
		var names []string
		for _, s := range made.Strategies {
			d := s.Describe()
			names = append(names, d.Name)
			if d.Name == kube.GarbageCollectorName && !slices.Equal(d.Watches, []core.Kind{"ConfigMap", "Secret"}) {
				t.Errorf("the garbage collector watches %v", d.Watches)
			}
		}
		if !slices.Equal(names, []string{"copier", "sealer", "auditor", kube.GarbageCollectorName}) {
			t.Errorf("the strategies are %v", names)
		}
	}
}

// hooks label Secrets that are created, and refuse those of one name.
type hooks struct{}

func (hooks) Default(_ context.Context, secret *corev1.Secret) error {
	secret.Labels = map[string]string{"sealed": "at-once"}
	return nil
}

func (hooks) ValidateCreate(_ context.Context, secret *corev1.Secret) (admission.Warnings, error) {
	if secret.Name == "forbidden" {
		return nil, errors.New("nobody wants it")
	}
	return nil, nil
}

func (hooks) ValidateUpdate(context.Context, *corev1.Secret, *corev1.Secret) (admission.Warnings, error) {
	return nil, nil
}

func (hooks) ValidateDelete(context.Context, *corev1.Secret) (admission.Warnings, error) {
	return nil, nil
}

func setUpHooks(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &corev1.Secret{}).WithDefaulter(hooks{}).WithValidator(hooks{}).Complete()
}

// TestWebhooks checks that the webhooks of a manager, which may have nothing else, are asked about what controllers on
// informers write.
func TestWebhooks(t *testing.T) {
	_, r := check(t, "clientgo", orrery.Options{}, one(), informing(copier()), informing(sealer()), controllerruntime.Setup(setUpHooks))
	if got := outcome(t, r); !strings.Contains(got, `"sealed":"at-once"`) {
		t.Errorf("the outcome is %s", got)
	}
	_, r = check(t, "clientgo", orrery.Options{}, clientgo.ObjectValues(configMap("forbidden", nil)), informing(copier()), controllerruntime.Setup(setUpHooks))
	if r.Verdict != core.Violated {
		t.Errorf("with a create that is denied: %s", r.Verdict)
	}
	if _, err := controllerruntime.New(scheme.Scheme, controllerruntime.Setup(setUpHooks)); err == nil || !strings.Contains(err.Error(), "registers no controllers") {
		t.Errorf("nothing but webhooks: %v", err)
	}
	if _, err := clientgo.New(scheme.Scheme, clientgo.With(controllerruntime.Setup(setUpHooks))); err == nil || !strings.Contains(err.Error(), "registers no controllers") {
		t.Errorf("nothing but webhooks: %v", err)
	}
}

// TestIndexes checks two controllers whose indexes have the same name, and not the same entries: each finds by its own.
func TestIndexes(t *testing.T) {
	for name, pair := range pairs {
		if name == "both on managers" {
			continue // which share one cache, with one index of a name
		}
		_, r := check(t, "controllerruntime", orrery.Options{},
			clientgo.ObjectValues(configMap("p", map[string]string{"colour": "x", "shape": "y"}), configMap("q", map[string]string{"colour": "y", "shape": "x"}),
				configMap("painter", map[string]string{}), configMap("sculptor", map[string]string{})),
			pair[0](finder("painter", "colour")), pair[1](finder("sculptor", "shape")))
		got := outcome(t, r)
		if !strings.Contains(got, `{"found":"p"}`) || !strings.Contains(got, `{"found":"q"}`) {
			t.Errorf("%s: the outcome is %s", name, got)
		}
	}
}

// TestProcesses checks that set-ups of different libraries are different processes, also where each has several
// controllers.
func TestProcesses(t *testing.T) {
	made, r := check(t, "controllerruntime", orrery.Options{Crashes: 1, Stale: []orrery.Staleness{{Controller: "copier+reader", Rule: orrery.Lag(1)}}}, one(),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			reader := controller{name: "reader", configMaps: true, sync: func(context.Context, objects, string, string) error { return nil }}
			return errors.Join(copier().register(mgr), reader.register(mgr))
		}),
		clientgo.Setup(func(e *clientgo.Environment) error {
			idler := controller{name: "idler", secrets: true, sync: func(context.Context, objects, string, string) error { return nil }}
			return errors.Join(sealer().inform(e), idler.inform(e))
		}))
	outcome(t, r)
	processes := map[string]string{}
	for _, s := range made.Strategies {
		processes[s.Describe().Name] = s.Describe().ProcessName()
	}
	if want := map[string]string{"copier": "copier+reader", "reader": "copier+reader", "sealer": "sealer+idler", "idler": "sealer+idler"}; !maps.Equal(processes, want) {
		t.Errorf("the processes are %v, want %v", processes, want)
	}
	for _, v := range r.Views {
		if v.Controller != "copier+reader" && v.Controller != "copier" {
			t.Errorf("a cache of %s is stale", v.Controller)
		}
	}
}

// TestNotesOfBoth checks that what either library does not model is said, with the option of its own adapter.
func TestNotesOfBoth(t *testing.T) {
	setups := []system.Foreign{informing(copier()), controllerruntime.Setup(func(mgr ctrl.Manager) error {
		if err := mgr.Add(manager.RunnableFunc(func(context.Context) error { return nil })); err != nil {
			return err
		}
		informer, err := mgr.GetCache().GetInformer(context.Background(), &corev1.ConfigMap{})
		if err != nil {
			return err
		}
		if _, err := informer.AddEventHandler(enqueuing(nil)); err != nil {
			return err
		}
		return sealer().register(mgr)
	})}
	made, err := hosts["clientgo"](setups...)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Unmodelled) != 1 || !strings.Contains(made.Unmodelled[0], `say so with controllerruntime.WithoutHandlers("ConfigMap")`) {
		t.Errorf("what is not modelled: %v", made.Unmodelled)
	}
	made, err = hosts["clientgo"](append(setups, controllerruntime.WithoutHandlers("ConfigMap"), controllerruntime.WithoutRunnables("manager.RunnableFunc"))...)
	if err != nil {
		t.Fatal(err)
	}
	const queues = "The work queues of controllers do not count"
	if len(made.Unmodelled) != 0 || !slices.ContainsFunc(made.Assumptions, func(a string) bool { return strings.HasPrefix(a, queues) }) {
		t.Errorf("what is not modelled: %v; what is assumed: %v", made.Unmodelled, made.Assumptions)
	}
	made, err = hosts["clientgo"](managers(sealer()))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(made.Assumptions, func(a string) bool { return strings.HasPrefix(a, queues) }) {
		t.Errorf("without a controller on client-go, there are the assumptions %v", made.Assumptions)
	}
}

// TestMistakesInMixedSystems checks what is said of options that do not go together.
func TestMistakesInMixedSystems(t *testing.T) {
	for want, parts := range map[string][]system.Foreign{
		`two controllers are called "sealer": give each its own name`: {managers(sealer()), informing(sealer())},
		"there are no controllers: add a Setup":                       {one()},
		"pass what a function of an adapter returns":                  {nil},
		"pass what a function of package clientgo returns":            {clientgo.Option(nil)},
		"pass what a function of package controllerruntime returns":   {controllerruntime.Option(nil)},
		"clientgo: set-up number 1: it is broken":                     {managers(sealer()), clientgo.Setup(func(*clientgo.Environment) error { return errors.New("it is broken") })},
		"controllerruntime: set-up number 1: it is broken":            {informing(sealer()), controllerruntime.Setup(func(ctrl.Manager) error { return errors.New("it is broken") })},
		"controllerruntime: the set-up registers no controllers":      {informing(sealer()), controllerruntime.Setup(func(ctrl.Manager) error { return nil })},
		`MemoryFromCache names "sealer", and there is no such`:        {informing(sealer()), controllerruntime.MemoryFromCache("sealer")},
	} {
		for host, newSystem := range hosts {
			if _, err := newSystem(parts...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", host, err, want)
			}
		}
	}
	if _, err := clientgo.New((*runtime.Scheme)(nil), clientgo.With(managers(sealer()))); err == nil || !strings.Contains(err.Error(), "the scheme is nil") {
		t.Errorf("got %v", err)
	}
}

// counter counts what is done, in memory.
type counter struct{ done int }

// remembering returns a controller on a manager and one on informers that count what they do.
func remembering(ofManager, ofInformer func() *counter) []system.Foreign {
	return []system.Foreign{
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("one").For(&corev1.ConfigMap{}).Complete(&counting{ofManager()})
		}),
		clientgo.Setup(func(e *clientgo.Environment) error {
			c := ofInformer()
			configMaps, err := e.Informer(&corev1.ConfigMap{}, "", nil)
			if err != nil {
				return err
			}
			queue, err := clientgo.NewQueue[string](e)
			if err != nil {
				return err
			}
			if _, err := configMaps.AddEventHandler(enqueuing(queue)); err != nil {
				return err
			}
			clientgo.Sync(e, "other", c, queue, func(context.Context, string) error {
				c.done++
				return nil
			})
			return nil
		}),
	}
}

// counting is a reconciler that counts.
type counting struct{ *counter }

func (c *counting) Reconcile(context.Context, ctrl.Request) (ctrl.Result, error) {
	c.done++
	return ctrl.Result{}, nil
}

// TestMemoryOfBoth checks that what controllers of either library remember is theirs. What they share, as in one
// program, is a reason.
func TestMemoryOfBoth(t *testing.T) {
	own := func() *counter { return &counter{} }
	_, r := check(t, "controllerruntime", orrery.Options{}, append(remembering(own, own), one())...)
	outcome(t, r)
	var whose []string
	for _, m := range r.Memory {
		whose = append(whose, m.Controller)
	}
	if !slices.Equal(whose, []string{"one", "other"}) {
		t.Errorf("there is memory of %v", whose)
	}
	// Made by the first set-up that asks: the instances of both reach it.
	same := &counter{}
	shared := func() *counter { return same }
	_, r = check(t, "controllerruntime", orrery.Options{}, append(remembering(shared, shared), one())...)
	if r.Verdict == core.Holds || len(r.Reasons) == 0 {
		t.Errorf("with memory that both share: %s, %v", r.Verdict, r.Reasons)
	}
}

// TestInformersInManager checks that informers of client-go which a manager's program runs are no reason to hold.
func TestInformersInManager(t *testing.T) {
	made, err := controllerruntime.New(scheme.Scheme, controllerruntime.With(one()), controllerruntime.Setup(func(mgr ctrl.Manager) error {
		clients, err := kubernetes.NewForConfig(mgr.GetConfig())
		if err != nil {
			return err
		}
		factory := informers.NewSharedInformerFactory(clients, 0)
		lister := factory.Core().V1().ConfigMaps().Lister()
		factory.Core().V1().ConfigMaps().Informer()
		if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			factory.Start(ctx.Done())
			<-ctx.Done()
			factory.Shutdown()
			return nil
		})); err != nil {
			return err
		}
		c := controller{name: "reader", configMaps: true, sync: func(_ context.Context, _ objects, namespace, name string) error {
			_, err := lister.ConfigMaps(namespace).Get(name)
			return client.IgnoreNotFound(err)
		}}
		return c.register(mgr)
	}), controllerruntime.Properties(properties.Convergent()...))
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), made, orrery.Options{MaxStates: 200})
	if err != nil {
		t.Fatal(err)
	}
	r := result.Report
	if r.Verdict == core.Holds || !slices.ContainsFunc(r.Reasons, func(reason string) bool {
		return strings.Contains(reason, "make informers of client-go in a set-up of package clientgo")
	}) {
		t.Errorf("%s: %v", r.Verdict, r.Reasons)
	}
}

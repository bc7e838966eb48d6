package cloud_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/adapters/external/cloud"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// annotation has the id of the instance of a ConfigMap.
const annotation = "instance"

// keeper keeps a running instance for a ConfigMap: it replaces one that has failed, or is lost.
type keeper struct {
	client.Client
	cloud *cloud.Client
	// polls makes it look again when it has seen the instance run.
	polls bool
}

func (k *keeper) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var config corev1.ConfigMap
	if err := k.Get(ctx, request.NamespacedName, &config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	id := config.Annotations[annotation]
	if id != "" {
		instance, err := k.cloud.Get(ctx, id)
		switch {
		case err != nil:
			return ctrl.Result{}, err
		case instance.State == cloud.Running && !k.polls:
			return ctrl.Result{}, nil
		case instance.State == cloud.Running, instance.State == cloud.Pending:
			return ctrl.Result{RequeueAfter: time.Second}, nil
		case instance.State == cloud.Failed:
			if err := k.cloud.Delete(ctx, id); err != nil {
				return ctrl.Result{}, err
			}
		}
	}
	// The one that is replaced makes the token another one.
	instance, err := k.cloud.Create(ctx, cloud.Request{Name: config.Name, Token: config.Name + " after " + id})
	if err != nil {
		return ctrl.Result{}, err
	}
	config.Annotations = map[string]string{annotation: instance.ID}
	return ctrl.Result{RequeueAfter: time.Second}, k.Update(ctx, &config)
}

func (k *keeper) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("keeper").For(&corev1.ConfigMap{}).Complete(k)
}

// system returns the keeper with a cloud.
func system(t *testing.T, polls bool, c *cloud.Cloud, options ...controllerruntime.Option) *core.System {
	t.Helper()
	return controllerruntime.ForTest(t, scheme.Scheme, append(options,
		controllerruntime.External(c),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			asked, err := c.Client(mgr.GetConfig())
			if err != nil {
				return err
			}
			return (&keeper{mgr.GetClient(), asked, polls}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}),
		controllerruntime.Properties(properties.Convergent()...),
		controllerruntime.Properties(properties.NoLeaks(c.Kind(), "ConfigMap", "metadata.annotations."+annotation)),
	)...)
}

func check(t *testing.T, system *core.System, options orrery.Options) core.Report {
	t.Helper()
	result, err := orrery.Run(t.Context(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// TestReplacedInstances checks that it makes no difference to outcomes which id a cloud has chosen: an instance that is
// replaced, once or twice, has another one than one that is not, and the ConfigMap names it. The full search comes to
// the same.
func TestReplacedInstances(t *testing.T) {
	for _, reduction := range []orrery.Reduction{orrery.ByPartialOrder, orrery.NoReduction} {
		none := check(t, system(t, false, cloud.New()), orrery.Options{Reduction: reduction})
		once := check(t, system(t, false, cloud.New(cloud.ProvisioningFailures(1))), orrery.Options{Reduction: reduction, Crashes: 1})
		twice := check(t, system(t, false, cloud.New(cloud.ProvisioningFailures(2))), orrery.Options{Reduction: reduction})
		for _, report := range []core.Report{none, once, twice} {
			if report.Verdict != core.Holds || report.Outcomes != 1 {
				t.Errorf("%s with %d outcomes: %v %v", report.Verdict, report.Outcomes, report.Findings, report.Reasons)
			}
		}
		if none.States >= once.States || none.States >= twice.States {
			t.Errorf("there are %d states without failures, %d with one and a crash, and %d with two", none.States, once.States, twice.States)
		}
		if !slices.ContainsFunc(none.Assumptions, func(a string) bool { return strings.Contains(a, "comes before any timer fires") }) {
			t.Errorf("the assumptions are %q", none.Assumptions)
		}
	}
}

// TestLostInstances checks an instance that the cloud takes away: who does not look again does not notice.
func TestLostInstances(t *testing.T) {
	for _, polls := range []bool{false, true} {
		running := 0
		c := cloud.New(cloud.Loses("web"))
		report := check(t, system(t, polls, c, controllerruntime.Properties(properties.EventuallyAlways("an instance runs", func(state core.State) bool {
			return slices.ContainsFunc(c.Instances(state), func(i cloud.Instance) bool { running++; return i.State == cloud.Running })
		}))), orrery.Options{})
		lost := slices.ContainsFunc(report.Findings, func(f core.Finding) bool { return strings.Contains(f.Property, "an instance runs") })
		if lost == polls || running == 0 {
			t.Errorf("it looks again: %t, and a loss goes unnoticed: %t", polls, lost)
		}
	}
}

// TestSetup checks that a set-up which asks the cloud is told that nobody answers yet.
func TestSetup(t *testing.T) {
	c := cloud.New()
	_, err := controllerruntime.New(scheme.Scheme, controllerruntime.External(c), controllerruntime.Setup(func(mgr ctrl.Manager) error {
		asked, err := c.Client(mgr.GetConfig())
		if err != nil {
			return err
		}
		_, err = asked.List(context.Background(), nil)
		return err
	}))
	if err == nil || !strings.Contains(err.Error(), "answered only once controllers run") {
		t.Errorf("got %v", err)
	}
}

// TestForgottenOption checks that a cloud which is asked and is no part of the system makes a check inconclusive.
func TestForgottenOption(t *testing.T) {
	c, other := cloud.New(), cloud.New(cloud.Named("other"))
	made := system(t, false, c, controllerruntime.External(other))
	report := check(t, made, orrery.Options{})
	if report.Verdict != core.Holds {
		t.Fatalf("with two clouds: %s %v", report.Verdict, report.Reasons)
	}
	for _, external := range []controllerruntime.Option{controllerruntime.Name("none"), controllerruntime.External(other)} {
		made := controllerruntime.ForTest(t, scheme.Scheme, external,
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				asked, err := c.Client(mgr.GetConfig())
				if err != nil {
					return err
				}
				return (&keeper{mgr.GetClient(), asked, false}).SetupWithManager(mgr)
			}),
			controllerruntime.ObjectValues(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}),
		)
		report := check(t, made, orrery.Options{})
		if report.Verdict != core.Inconclusive || !slices.ContainsFunc(report.Reasons, func(r string) bool { return strings.Contains(r, "add it with the option External") }) {
			t.Errorf("%s: %v", report.Verdict, report.Reasons)
		}
	}
}

// alone is a cloud that is asked without anything else.
type alone struct {
	t       *testing.T
	store   core.Store
	objects map[core.Key]core.Content
}

func (a *alone) Do(call core.Call) core.Response {
	answer, err := a.store.Answer(a, call)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, write := range answer.Writes {
		a.objects[write.Key] = write.Content
	}
	return answer.Response
}

func (a *alone) Get(key core.Key) core.Content { return a.objects[key] }
func (a *alone) Held(core.Key) []core.Content  { return nil }
func (a *alone) List(kind core.Kind, _ string) (found []core.Object) {
	for key, content := range a.objects {
		if key.Kind == kind {
			found = append(found, core.Object{Key: key, Content: content})
		}
	}
	slices.SortFunc(found, func(a, b core.Object) int { return a.Key.Compare(b.Key) })
	return found
}

func TestRequests(t *testing.T) {
	c := cloud.New()
	asked := c.Recorded(&alone{t, c.Store(), map[core.Key]core.Content{}})
	ctx := t.Context()
	create := func(request cloud.Request) cloud.Instance {
		t.Helper()
		instance, err := asked.Create(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		return instance
	}
	web := map[string]string{"app": "web"}
	first, second := create(cloud.Request{Name: "a", Tags: web}), create(cloud.Request{Name: "a", Tags: web})
	if first.ID == second.ID || first.State != cloud.Pending {
		t.Errorf("two requests have the instances %s and %s", first, second)
	}
	third := create(cloud.Request{Name: "b", Token: "x"})
	if again := create(cloud.Request{Name: "b", Token: "x"}); again.ID != third.ID {
		t.Errorf("a token has the instances %s and %s", third, again)
	}
	if _, err := asked.Create(ctx, cloud.Request{Name: "c", Token: "x"}); external.CodeOf(err) != cloud.TokenReused {
		t.Errorf("got %v", err)
	}
	found, err := asked.List(ctx, web)
	if len(found) != 2 || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	for range 2 { // the second time it is terminated already
		if err := asked.Delete(ctx, first.ID); err != nil {
			t.Error(err)
		}
	}
	if gone, err := asked.Get(ctx, first.ID); gone.State != cloud.Terminated || err != nil {
		t.Errorf("got %s, %v", gone, err)
	}
	if found, _ := asked.List(ctx, nil); len(found) != 2 {
		t.Errorf("found %v", found)
	}
	for _, err := range []error{asked.Delete(ctx, "i-0"), func() error { _, err := asked.Get(ctx, "i-0"); return err }()} {
		if external.CodeOf(err) != cloud.NotFound {
			t.Errorf("got %v", err)
		}
	}
	if next := create(cloud.Request{Name: "a", Tags: web}); next.ID == first.ID {
		t.Errorf("the id %s is given out twice", next.ID)
	}
	if err := asked.Delete(ctx, third.ID); err != nil {
		t.Error(err)
	}
	if again := create(cloud.Request{Name: "b", Token: "x"}); again.ID != third.ID || again.State != cloud.Terminated {
		t.Errorf("a token of an instance that is gone has %s", again)
	}
}

func TestMistakes(t *testing.T) {
	for want, c := range map[string]*cloud.Cloud{
		"an initial record has no name":  cloud.New(cloud.Instances(cloud.Instance{Name: "a"})),
		`two instances have the id "i-1`: cloud.New(cloud.Instances(cloud.Instance{ID: "i-1"}, cloud.Instance{ID: "i-1"})),
		"-1 instances cannot fail":       cloud.New(cloud.ProvisioningFailures(-1)),
		"cannot lag behind by -1":        cloud.New(cloud.Lag(-1)),
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

package remote_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/external/remote"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/adapters/kube/players"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// annotation tells that the Job of a ConfigMap is done.
const annotation = "done"

// runner runs a Job in another cluster for each ConfigMap, and notes when it is done. It asks with a clientset.
type runner struct {
	client.Client
	other kubernetes.Interface
}

func (r *runner) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var config corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	jobs := r.other.BatchV1().Jobs(config.Namespace)
	job, err := jobs.Get(ctx, config.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = jobs.Create(ctx, &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: config.Name},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}},
			}}},
		}, metav1.CreateOptions{})
		return ctrl.Result{RequeueAfter: time.Minute}, err
	}
	if err != nil || job.Status.Succeeded == 0 {
		return ctrl.Result{RequeueAfter: time.Minute}, err
	}
	if config.Annotations[annotation] != "" {
		return ctrl.Result{}, nil
	}
	config.Annotations = map[string]string{annotation: "yes"}
	return ctrl.Result{}, r.Update(ctx, &config)
}

// system returns the runner with another cluster.
func system(t *testing.T, west *remote.Cluster, options ...controllerruntime.Option) *core.System {
	t.Helper()
	return controllerruntime.ForTest(t, scheme.Scheme, append(options,
		controllerruntime.External(west),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			config, err := west.Config(mgr.GetConfig())
			if err != nil {
				return err
			}
			other, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			return ctrl.NewControllerManagedBy(mgr).Named("runner").For(&corev1.ConfigMap{}).Complete(&runner{mgr.GetClient(), other})
		}),
		controllerruntime.ObjectValues(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "task"}}),
		controllerruntime.Properties(properties.Convergent()...),
		controllerruntime.Properties(properties.EventuallyAlways("it is done", func(state core.State) bool {
			config := state.Get(core.Key{Kind: "ConfigMap", Namespace: "default", Name: "task"})
			return config != nil && strings.Contains(config.Canonical(), annotation)
		})),
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

// TestPlayers checks a Job that companions run in the second cluster, also with stale caches there, and that none runs
// without them.
func TestPlayers(t *testing.T) {
	for _, test := range []struct {
		players []remote.Player
		options orrery.Options
		want    core.Verdict
	}{
		{nil, orrery.Options{}, core.Violated},
		{[]remote.Player{remote.Player(companions.Jobs()), remote.Player(companions.Pods())}, orrery.Options{}, core.Holds},
		{[]remote.Player{remote.Player(companions.Jobs()), remote.Player(companions.Pods())}, orrery.Options{
			Stale: []orrery.Staleness{{Controller: "job@west", Rule: orrery.Lag(1)}}, Crashes: 1, FaultsIn: []string{"runner"},
		}, core.Holds},
	} {
		west, err := remote.New("west", scheme.Scheme, remote.Players(test.players...))
		if err != nil {
			t.Fatal(err)
		}
		made := system(t, west)
		report := check(t, made, test.options)
		if report.Verdict != test.want || len(report.Reasons) > 0 {
			t.Errorf("with %d players: %s, want %s: %v %v", len(test.players), report.Verdict, test.want, report.Findings, report.Reasons)
		}
		for _, finding := range report.Findings {
			if deviation, err := orrery.Replay(t.Context(), made, finding.Trace, test.options); deviation != nil || err != nil {
				t.Errorf("%s: %+v, %v", finding.Property, deviation, err)
			}
		}
	}
}

// TestTwoClusters checks that objects of one name in two clusters are two, that users of the second one act there, that
// its server refuses as any does, and that generated names make no difference.
func TestTwoClusters(t *testing.T) {
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "task"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "web-", Name: ""},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}}}}
	west, err := remote.New("west", scheme.Scheme, remote.Objects(settings),
		remote.Scenario(scenario.Delete(settings), scenario.Create(settings), scenario.Create(pod)),
		remote.Players(remote.Player(companions.Jobs()), remote.Player(companions.Pods()), func(server *kube.Server) (core.Strategy, error) {
			return players.GarbageCollector(server, "Pod", "Job.batch")
		}))
	if err != nil {
		t.Fatal(err)
	}
	made := system(t, west, controllerruntime.Properties(properties.Always("the first cluster keeps its own", func(state core.State) bool {
		return state.Get(core.Key{Kind: "ConfigMap", Namespace: "default", Name: "task"}) != nil
	})))
	report := check(t, made, orrery.Options{})
	if report.Verdict != core.Holds {
		t.Errorf("%s: %v %v", report.Verdict, report.Findings, report.Reasons)
	}
	there := func(outcome core.OutcomeReport, kind core.Kind) bool {
		return slices.ContainsFunc(outcome.Objects, func(o core.TraceObject) bool { return o.Kind == kind })
	}
	for _, outcome := range report.OutcomeList {
		if !there(outcome, "ConfigMap") || !there(outcome, "Job.batch@west") {
			t.Errorf("an outcome has %v", outcome.Objects)
		}
	}
	if !slices.ContainsFunc(report.OutcomeList, func(o core.OutcomeReport) bool { return !there(o, "ConfigMap@west") }) {
		t.Error("in no outcome the user has deleted the ConfigMap of the second cluster")
	}
}

func TestMistakes(t *testing.T) {
	for want, option := range map[string]remote.Option{
		"an initial object is nil":     remote.Objects(nil),
		"player number 1 is nil":       remote.Players(nil),
		"west: the action \"nothing":   remote.Scenario(scenario.Action{Name: "nothing"}),
		"there is no failure \"none\"": remote.APIServer(kube.Failures("none")),
	} {
		if _, err := remote.New("west", scheme.Scheme, option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	far, err := remote.New("far west", scheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	nothing := controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("runner").For(&corev1.ConfigMap{}).Complete(&runner{mgr.GetClient(), nil})
	})
	if _, err := controllerruntime.New(scheme.Scheme, nothing, controllerruntime.External(far)); err == nil || !strings.Contains(err.Error(), `called "far west": give it a name of letters`) {
		t.Errorf("got %v", err)
	}
	busy, err := remote.New("busy", scheme.Scheme, remote.Scenario(scenario.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})))
	if err != nil {
		t.Fatal(err)
	}
	inOrder := controllerruntime.InOrder(controllerruntime.Delete(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"}}))
	if _, err := controllerruntime.New(scheme.Scheme, nothing, inOrder, controllerruntime.External(busy)); err == nil || !strings.Contains(err.Error(), "use Scenario in place of InOrder") {
		t.Errorf("got %v", err)
	}
	west, err := remote.New("west", scheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := west.Client(&rest.Config{}); err == nil || !strings.Contains(err.Error(), "not that of a set-up which is checked") {
		t.Errorf("got %v", err)
	}
}

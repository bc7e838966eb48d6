package replay_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/standin"
	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
	"github.com/orrery-dev/orrery/record/live/replay"
)

// setup registers controllers, on a manager that runs or on one that is checked.
type setup func(ctrl.Manager) error

// schemeOf has the kinds of the tests.
func schemeOf(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// record runs controllers on a stand-in for a cluster, and returns the folder with the recording. work is what users do
// meanwhile.
func record(t testing.TB, options observe.Options, s setup, work func(*standin.Cluster, client.Client)) string {
	t.Helper()
	scheme := schemeOf(t)
	server, err := kube.NewServer(scheme, kube.ManagedFields())
	if err != nil {
		t.Fatal(err)
	}
	cluster := standin.New(server)
	defer cluster.Close()
	options.Folder = t.TempDir()
	options.Process = live.Process{Name: "test", Replica: "0"}
	mgr, err := ctrl.NewManager(cluster.Config("test"), ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	mgr = observe.Manager(mgr, options)
	if err := s(mgr); err != nil {
		t.Fatal(err)
	}
	user, err := client.New(cluster.Config("user"), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	work(cluster, user)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return options.Folder
}

// system is what the same controllers are when they are checked.
func system(t testing.TB, s setup) *core.System {
	t.Helper()
	return controllerruntime.ForTest(t, schemeOf(t), controllerruntime.Name("test"), controllerruntime.Setup(s))
}

// replayed replays a recording.
func replayed(t testing.TB, folder string, s setup) *replay.Report {
	t.Helper()
	sources, err := analysis.Files(folder)
	if err != nil {
		t.Fatal(err)
	}
	report, err := replay.Run(t.Context(), system(t, s), sources, behavior.Limits{Deadline: 20 * time.Second, Calls: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// textOf is a report as people read it.
func textOf(r *replay.Report) string {
	var text strings.Builder
	r.Text(&text)
	return text.String()
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// until waits for a ConfigMap to have a key.
func until(t testing.TB, c client.Client, name, key string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		cm := configMap(name)
		if err := c.Get(context.Background(), client.ObjectKeyFromObject(cm), cm); err == nil && cm.Data[key] != "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s never gets %s", name, key)
		}
	}
}

// settle waits until nothing is left to do, most likely: what is under way when the recording ends is not wrong.
func settle() { time.Sleep(200 * time.Millisecond) }

// variant is how the code differs from the recorded one.
type variant struct{ value, label string }

// worker does a bit of everything: cached and live reads, lists, creations, patches, times, and results.
func worker(v variant) setup {
	return func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("worker").Complete(
			reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				cm := &corev1.ConfigMap{}
				if err := c.Get(ctx, r.NamespacedName, cm); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				if cm.Labels["app"] != v.label {
					return ctrl.Result{}, nil
				}
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Name}, StringData: map[string]string{"password": "hunter2"}}
				if err := mgr.GetAPIReader().Get(ctx, client.ObjectKeyFromObject(secret), &corev1.Secret{}); apierrors.IsNotFound(err) {
					if err := c.Create(ctx, secret); err != nil {
						return ctrl.Result{}, err
					}
					return ctrl.Result{}, errors.New("not yet")
				} else if err != nil {
					return ctrl.Result{}, err
				}
				var all corev1.ConfigMapList
				if err := c.List(ctx, &all, client.InNamespace(r.Namespace), client.MatchingLabels{"app": v.label}); err != nil {
					return ctrl.Result{}, err
				}
				if cm.Data["done"] != "" {
					return ctrl.Result{RequeueAfter: time.Hour}, nil
				}
				base := cm.DeepCopy()
				cm.Data = map[string]string{"done": v.value, "at": time.Now().Format(time.RFC3339), "count": fmt.Sprint(len(all.Items))}
				return ctrl.Result{}, c.Patch(ctx, cm, client.MergeFrom(base))
			}))
	}
}

func labelled(name string) *corev1.ConfigMap {
	cm := configMap(name)
	cm.Labels = map[string]string{"app": "worker"}
	return cm
}

func recordWorker(t testing.TB, options observe.Options) string {
	return record(t, options, worker(variant{"yes", "worker"}), func(_ *standin.Cluster, c client.Client) {
		for _, name := range []string{"a", "b"} {
			if err := c.Create(context.Background(), labelled(name)); err != nil {
				t.Fatal(err)
			}
			until(t, c, name, "done")
		}
		settle()
	})
}

func TestTheSameCodeDoesTheSame(t *testing.T) {
	report := replayed(t, recordWorker(t, observe.Options{}), worker(variant{"yes", "worker"}))
	if report.Same < 4 || report.Same != report.Reconciles || report.Parted > 0 || len(report.Missed) > 0 {
		t.Errorf("%s", textOf(report))
	}
}

func TestOtherCodeParts(t *testing.T) {
	folder := recordWorker(t, observe.Options{KeepSecrets: true})
	t.Run("another value", func(t *testing.T) {
		report := replayed(t, folder, worker(variant{"no", "worker"}))
		if report.Parted != 2 || report.Same != report.Reconciles-2 {
			t.Fatalf("%s", textOf(report))
		}
		p := report.Partings[0]
		if p.Controller != "worker" || p.Request != "default/a" || p.Step != 4 || p.Recorded != "patch ConfigMap default/a" || p.Now != p.Recorded {
			t.Errorf("%+v", p)
		}
		if want := []replay.Difference{{Field: "data.done", Recorded: `"yes"`, Now: `"no"`}}; fmt.Sprint(p.Fields) != fmt.Sprint(want) {
			t.Errorf("%+v", p.Fields)
		}
	})
	t.Run("an earlier end", func(t *testing.T) {
		report := replayed(t, folder, worker(variant{"yes", "other"}))
		if report.Same != 0 || report.Parted != report.Reconciles || report.Partings[0].Step != 2 || report.Partings[0].Now != "it returns" {
			t.Errorf("%s", textOf(report))
		}
	})
	t.Run("nobody", func(t *testing.T) {
		report := replayed(t, folder, renamed)
		if report.Same != 0 || report.Parted != 0 || report.MissedReconciles() != report.Reconciles || !strings.Contains(textOf(report), `no controller "worker"`) {
			t.Errorf("%s", textOf(report))
		}
	})
}

// renamed has no controller that was recorded.
func renamed(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("renamed").Complete(
		reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil }))
}

// counter counts in its memory, and writes that down.
func counter(step int) setup {
	return func(mgr ctrl.Manager) error {
		c, seen := mgr.GetClient(), map[string]int{}
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("counter").Complete(&counting{c, step, seen})
	}
}

type counting struct {
	client.Client
	step int
	seen map[string]int
}

func (c *counting) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	cm := &corev1.ConfigMap{}
	if err := c.Get(ctx, r.NamespacedName, cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if cm.Data["seen"] != "" {
		return ctrl.Result{}, nil
	}
	c.seen[r.Namespace] += c.step
	cm.Data = map[string]string{"seen": fmt.Sprint(c.seen[r.Namespace])}
	return ctrl.Result{}, c.Update(ctx, cm)
}

func recordCounter(t testing.TB, names ...string) string {
	return record(t, observe.Options{}, counter(1), func(_ *standin.Cluster, c client.Client) {
		for _, name := range names {
			if err := c.Create(context.Background(), configMap(name)); err != nil {
				t.Fatal(err)
			}
			until(t, c, name, "seen")
			settle()
		}
	})
}

func TestMemoryIsWhatItWas(t *testing.T) {
	folder := recordCounter(t, "a", "b", "c")
	if report := replayed(t, folder, counter(1)); report.Same != report.Reconciles || report.Same < 6 {
		t.Errorf("%s", textOf(report))
	}
	// The first that parts is told. From then on nobody knows what it would remember.
	report := replayed(t, folder, counter(5))
	if report.Parted != 1 || report.MissedReconciles() != 2 || !strings.Contains(textOf(report), "what it remembered is not known") {
		t.Errorf("%s", textOf(report))
	}
}

// rewrite passes the entries of a recording through a function, which may drop them.
func rewrite(t testing.TB, folder string, change func(live.Header, live.Entry) (live.Header, live.Entry)) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.ort"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	in, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r, err := live.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	to := t.TempDir()
	out, err := os.Create(filepath.Join(to, "changed.ort"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	header, _ := change(r.Header(), nil)
	w, err := live.NewWriter(out, header)
	if err != nil {
		t.Fatal(err)
	}
	for {
		entry, err := r.Next()
		if err != nil {
			break
		}
		if _, entry = change(header, entry); entry == nil {
			continue
		}
		if err := w.Add(entry); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	t.Run("the beginning", func(t *testing.T) {
		folder := rewrite(t, recordCounter(t, "a", "b"), func(h live.Header, e live.Entry) (live.Header, live.Entry) {
			h.Part = 2
			return h, e
		})
		report := replayed(t, folder, counter(2))
		if report.Parted != 0 || report.MissedReconciles() == 0 || !strings.Contains(textOf(report), "does not begin with the process") {
			t.Errorf("%s", textOf(report))
		}
	})
	t.Run("a call", func(t *testing.T) {
		dropped := false
		folder := rewrite(t, recordWorker(t, observe.Options{}), func(h live.Header, e live.Entry) (live.Header, live.Entry) {
			if c, ok := e.(live.Call); ok && c.Verb == live.Patch && !dropped {
				dropped = true
				return h, nil
			}
			return h, e
		})
		report := replayed(t, folder, worker(variant{"yes", "worker"}))
		if report.Parted != 0 || report.MissedReconciles() != 1 || report.Same != report.Reconciles-1 || !strings.Contains(textOf(report), "entries are missing that may be of it") {
			t.Errorf("%s", textOf(report))
		}
	})
	t.Run("an end", func(t *testing.T) {
		folder := rewrite(t, recordWorker(t, observe.Options{}), func(h live.Header, e live.Entry) (live.Header, live.Entry) {
			if d, ok := e.(live.Done); ok && d.Error != "" {
				return h, nil
			}
			return h, e
		})
		report := replayed(t, folder, worker(variant{"yes", "worker"}))
		if report.Parted != 0 || report.MissedReconciles() != 2 || !strings.Contains(textOf(report), "does not have its end") {
			t.Errorf("%s", textOf(report))
		}
	})
	t.Run("an answer", func(t *testing.T) {
		folder := rewrite(t, recordWorker(t, observe.Options{}), func(h live.Header, e live.Entry) (live.Header, live.Entry) {
			if c, ok := e.(live.Call); ok && c.Failed != nil {
				c.Failed = &live.Failure{Message: "connection refused"}
				return h, c
			}
			return h, e
		})
		report := replayed(t, folder, worker(variant{"yes", "worker"}))
		if report.Parted != 0 || report.MissedReconciles() != 2 || !strings.Contains(textOf(report), "connection refused") {
			t.Errorf("%s", textOf(report))
		}
	})
}

// copier copies a Secret: what it reads is redacted.
func copier(prefix string) setup {
	return func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.Secret{}).Named("copier").Complete(
			reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				secret := &corev1.Secret{}
				if err := c.Get(ctx, r.NamespacedName, secret); err != nil || !strings.HasPrefix(r.Name, "from") {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				to := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: "to"}, Data: secret.Data}
				if err := c.Create(ctx, to); err != nil {
					return ctrl.Result{}, client.IgnoreAlreadyExists(err)
				}
				cm := configMap("done")
				cm.Data = map[string]string{"password": prefix + string(secret.Data["password"])}
				return ctrl.Result{}, c.Create(ctx, cm)
			}))
	}
}

func TestRedactedDataIsNotHeldAgainstAnybody(t *testing.T) {
	record := func(keep bool) string {
		return record(t, observe.Options{KeepSecrets: keep}, copier("x"), func(_ *standin.Cluster, c client.Client) {
			from := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "from"}, Data: map[string][]byte{"password": []byte("hunter2")}}
			if err := c.Create(context.Background(), from); err != nil {
				t.Fatal(err)
			}
			until(t, c, "done", "password")
			settle()
		})
	}
	kept, redacted := record(true), record(false)
	if report := replayed(t, kept, copier("x")); report.Same != report.Reconciles || report.Same < 2 {
		t.Errorf("%s", textOf(report))
	}
	if report := replayed(t, kept, copier("y")); report.Parted != 1 {
		t.Errorf("%s", textOf(report))
	}
	// The value in the ConfigMap is made of what is redacted.
	report := replayed(t, redacted, copier("x"))
	if report.Parted != 0 || report.MissedReconciles() != 1 || !strings.Contains(textOf(report), "redacted") {
		t.Errorf("%s", textOf(report))
	}
}

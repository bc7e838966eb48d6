package recorded_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/recorded"
	"github.com/orrery-dev/orrery/adapters/kube/standin"
	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

func serverOf(t *testing.T) *kube.Server {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server, err := kube.NewServer(scheme, kube.ManagedFields())
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// grow gives every ConfigMap a Pod, and counts in the ConfigMap how often it was reconciled, up to three times.
func grow(mgr ctrl.Manager) error {
	c := mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("grow").Complete(
		reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
			cm := &corev1.ConfigMap{}
			if err := c.Get(ctx, r.NamespacedName, cm); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			n, _ := strconv.Atoi(cm.Data["n"])
			if n >= 3 {
				return ctrl.Result{}, nil
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Name}}
			pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "img"}}
			if err := client.IgnoreAlreadyExists(c.Create(ctx, pod)); err != nil {
				return ctrl.Result{}, err
			}
			base := cm.DeepCopy()
			if cm.Data == nil {
				cm.Data = map[string]string{}
			}
			cm.Data["n"] = strconv.Itoa(n + 1)
			if n == 1 {
				return ctrl.Result{}, c.Patch(ctx, cm, client.MergeFrom(base))
			}
			return ctrl.Result{}, c.Update(ctx, cm)
		}))
}

// observed returns a manager of a process on a stand-in for a cluster, and the folder with its recording.
func observed(t *testing.T, cluster *standin.Cluster, scheme *runtime.Scheme, name string) (mgr ctrl.Manager, folder string) {
	t.Helper()
	mgr, err := ctrl.NewManager(cluster.Config(name), ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	return observe.Manager(mgr, observe.Options{Folder: folder, Process: live.Process{Name: name, Replica: "0"}}), folder
}

// recordGrow records grow on a stand-in for a cluster, with somebody else who writes without being recorded.
func recordGrow(t *testing.T) string {
	t.Helper()
	server := serverOf(t)
	cluster := standin.New(server)
	defer cluster.Close()
	mgr, folder := observed(t, cluster, server.Scheme(), "grower")
	if err := grow(mgr); err != nil {
		t.Fatal(err)
	}
	user, err := client.New(cluster.Config("kubectl"), client.Options{Scheme: server.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	web := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Data: map[string]string{"owner": "kubectl"}}
	if err := user.Create(ctx, web); err != nil {
		t.Fatal(err)
	}
	wait := func(n string) {
		for deadline := time.Now().Add(20 * time.Second); web.Data["n"] != n; time.Sleep(5 * time.Millisecond) {
			if err := user.Get(ctx, client.ObjectKeyFromObject(web), web); err != nil || time.Now().After(deadline) {
				t.Fatalf("it never gets to %s: %v", n, err)
			}
		}
	}
	wait("3")
	// The controller is behind: it writes onto a version that is no longer there, and is refused.
	release := cluster.Hold("ConfigMap")
	web.Data["n"] = "1"
	web.Labels = map[string]string{"touched": "yes"}
	if err := user.Update(ctx, web); err != nil {
		t.Fatal(err)
	}
	release()
	wait("3")
	time.Sleep(200 * time.Millisecond)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return folder
}

func validated(t *testing.T, server recorded.Model, folder string) *recorded.Report {
	t.Helper()
	sources, err := analysis.Files(folder)
	if err != nil {
		t.Fatal(err)
	}
	report, err := recorded.Validate(server, sources)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func textOf(r *recorded.Report) string {
	var text strings.Builder
	r.Text(&text)
	return text.String()
}

func TestARunOfTheModelIsExplained(t *testing.T) {
	report := validated(t, serverOf(t), recordGrow(t))
	if report.Calls < 12 || report.Explained != report.Calls || report.Unexplained > 0 {
		t.Errorf("%s", textOf(report))
	}
	if len(report.Actors) != 1 || report.Actors[0].Manager != "kubectl" || report.Actors[0].Writes < 1 {
		t.Errorf("%+v", report.Actors)
	}
}

// faulty is a simulated server that forgets a default of Pods.
type faulty struct{ *kube.Server }

func (f faulty) Answer(state core.Snapshot, call core.Call) (core.Answer, error) {
	answer, err := f.Server.Answer(state, call)
	if r, ok := call.(*kube.Request); ok && err == nil && r.Kind.Kind == "Pod" && r.Verb == kube.Create {
		if response := answer.Response.(*kube.Response); response.Object != nil {
			answer.Response = kube.Done([]byte(strings.Replace(string(response.Object), `"restartPolicy":"Always"`, `"restartPolicy":"Never"`, 1)))
		}
	}
	return answer, err
}

func TestAFaultOfTheSimulatorIsFound(t *testing.T) {
	report := validated(t, faulty{serverOf(t)}, recordGrow(t))
	if report.Unexplained != 1 {
		t.Fatalf("%s", textOf(report))
	}
	f := report.Findings[0]
	if f.By != recorded.BySimulator || f.Call != "create Pod default/web" || len(f.Fields) != 1 ||
		f.Fields[0] != (core.FieldChange{Path: "spec.restartPolicy", From: "Always", To: "Never"}) {
		t.Errorf("%+v", f)
	}
	if f.Case == nil || len(f.Case.Steps) != 1 || f.Case.Stored["Pod default/web"] == nil {
		t.Errorf("%+v", f.Case)
	}
}

// rewrite passes the entries of a recording through a function, which may drop them.
func rewrite(t *testing.T, folder string, change func(live.Entry) live.Entry) string {
	t.Helper()
	return rewriteWith(t, folder, change, nil)
}

// rewriteWith does so, and adds entries.
func rewriteWith(t *testing.T, folder string, change func(live.Entry) live.Entry, more []live.Entry) string {
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
	w, err := live.NewWriter(out, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	for {
		entry, err := r.Next()
		if err != nil {
			break
		}
		if entry = change(entry); entry == nil {
			continue
		}
		if err := w.Add(entry); err != nil {
			t.Fatal(err)
		}
	}
	for _, entry := range more {
		if err := w.Add(entry); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestACacheThatGoesBackIsFound(t *testing.T) {
	var first []int
	reads := 0
	folder := rewrite(t, recordGrow(t), func(e live.Entry) live.Entry {
		c, ok := e.(live.Call)
		if !ok || !c.Cached || c.Failed != nil {
			return e
		}
		if reads++; reads == 1 {
			first = c.Answer
		} else if reads == 4 {
			c.Answer = first // long after it has shown newer versions
		}
		return c
	})
	report := validated(t, serverOf(t), folder)
	if report.Unexplained != 1 || report.Findings[0].By != recorded.ByView || !strings.Contains(textOf(report), "a cache does not go back") {
		t.Errorf("%s", textOf(report))
	}
}

func TestARefusalWithoutAReasonIsSomebodys(t *testing.T) {
	done := false
	folder := rewrite(t, recordGrow(t), func(e live.Entry) live.Entry {
		c, ok := e.(live.Call)
		if ok && c.Verb == live.Create && c.Failed != nil && !done {
			done = true
			c.Failed = &live.Failure{Code: 404, Reason: "NotFound", Message: "pods is not found"}
			return c
		}
		return e
	})
	report := validated(t, serverOf(t), folder)
	if report.Unexplained != 1 || report.Findings[0].By != recorded.ByActor {
		t.Errorf("%s", textOf(report))
	}
}

// TestAnAnswerThatNobodyMakesIsFound puts a field into the answer to a patch that nobody wrote.
func TestAnAnswerThatNobodyMakesIsFound(t *testing.T) {
	folder := rewrite(t, recordGrow(t), func(e live.Entry) live.Entry {
		if o, ok := e.(live.Object); ok && strings.Contains(string(o.Value), `"n":"2"`) {
			o.Value = []byte(strings.Replace(string(o.Value), `"n":"2"`, `"n":"2","other":"x"`, 1))
			return o
		}
		return e
	})
	report := validated(t, serverOf(t), folder)
	if report.Unexplained == 0 || report.Findings[0].Call != "patch ConfigMap default/web" || report.Findings[0].Fields[0].Path != "data.other" ||
		!strings.Contains(report.Findings[0].Says, "names no version") {
		t.Errorf("%s", textOf(report))
	}
}

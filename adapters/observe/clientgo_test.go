package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/standin"
	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// mirror is a controller as the sample-controller is one: it copies ConfigMaps to Secrets.
type mirror struct {
	recorder   *observe.Recorder
	client     kubernetes.Interface
	configMaps corelisters.ConfigMapLister
	queue      workqueue.TypedRateLimitingInterface[string]
	// sync is what it does, for tests.
	sync func(*mirror, context.Context, *corev1.ConfigMap) error
}

// runMirror runs one on a stand-in for a cluster, while work is done, and returns its recording and the client of a
// user.
func runMirror(t *testing.T, options observe.Options, sync func(*mirror, context.Context, *corev1.ConfigMap) error, work func(*standin.Cluster, kubernetes.Interface)) []byte {
	t.Helper()
	server, err := kube.NewServer(scheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	cluster := standin.New(server)
	defer cluster.Close()
	var files []*file
	base := inMemory(&files)
	options.Open, options.Process = base.Open, base.Process
	options.Report = func(err error) { t.Error(err) }
	recorder := observe.NewRecorder(options)
	config := recorder.Config(cluster.Config("mirror"), scheme.Scheme)
	client, user := kubernetes.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(cluster.Config("user"))

	factory := informers.NewSharedInformerFactory(client, 0)
	informer := recorder.Informer("mirror", scheme.Scheme, &corev1.ConfigMap{}, factory.Core().V1().ConfigMaps().Informer())
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second)
	m := &mirror{
		recorder: recorder, client: client, configMaps: corelisters.NewConfigMapLister(informer.GetIndexer()), sync: sync,
		queue: observe.Queue(recorder, "mirror", workqueue.NewTypedRateLimitingQueue(limiter)),
	}
	enqueue := func(o any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
			m.queue.Add(key)
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, o any) { enqueue(o) }, DeleteFunc: enqueue}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the cache does not fill")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.work(ctx)
	}()
	work(cluster, user)
	m.queue.ShutDown()
	<-done
	stop()
	factory.Shutdown()
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	return files[0].Bytes()
}

// work is the loop of a worker, as in the sample-controller.
func (m *mirror) work(ctx context.Context) {
	for {
		key, shutdown := m.queue.Get()
		if shutdown {
			return
		}
		func() {
			defer m.queue.Done(key)
			namespace, name, _ := cache.SplitMetaNamespaceKey(key)
			cm, err := m.configMaps.ConfigMaps(namespace).Get(name)
			if apierrors.IsNotFound(err) {
				return
			}
			if err == nil {
				err = m.sync(m, ctx, cm)
			}
			if err != nil {
				m.queue.AddRateLimited(key)
				return
			}
			m.queue.Forget(key)
		}()
	}
}

// copies creates the Secret of a ConfigMap, and marks that.
func copies(m *mirror, ctx context.Context, cm *corev1.ConfigMap) error {
	if cm.Annotations["copied"] != "" {
		return nil
	}
	secrets := m.client.CoreV1().Secrets(cm.Namespace)
	_, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: cm.Name}, StringData: cm.Data}, metav1.CreateOptions{FieldManager: "mirror"})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	cm = cm.DeepCopy()
	cm.Annotations = map[string]string{"copied": "true"}
	_, err = m.client.CoreV1().ConfigMaps(cm.Namespace).Update(ctx, cm, metav1.UpdateOptions{})
	return err
}

func ofUser(name, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"n": text}}
}

// waits waits for a ConfigMap to be copied.
func waits(t *testing.T, user kubernetes.Interface, name string) {
	t.Helper()
	eventually(t, name+" is copied", func() bool {
		cm, err := user.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && cm.Annotations["copied"] != ""
	})
	time.Sleep(50 * time.Millisecond)
}

// tale tells a recording in a line for each entry, without times and versions.
func tale(entries []live.Entry) string {
	var out strings.Builder
	begins := map[uint64]string{}
	for _, entry := range entries {
		switch e := entry.(type) {
		case live.Event:
			fmt.Fprintf(&out, "%s %s\n", e.Controller, e.Type)
		case live.Begin:
			begins[e.N] = e.Request
			fmt.Fprintf(&out, "begin %s", e.Request)
			for _, cause := range e.Causes {
				fmt.Fprintf(&out, " by %s", cause.By)
			}
			out.WriteString("\n")
		case live.Call:
			fmt.Fprintf(&out, "%s: %s %s", begins[e.Reconcile], e.Verb, strings.TrimSuffix(e.Object.String()+"/"+e.Subresource, "/"))
			if e.Cached {
				out.WriteString(" (cache)")
			}
			if e.Failed != nil {
				fmt.Fprintf(&out, " %s", e.Failed.Reason)
			} else {
				fmt.Fprintf(&out, " %d", len(e.Answer))
			}
			out.WriteString("\n")
		case live.Done:
			fmt.Fprintf(&out, "done %s", begins[e.Reconcile])
			if e.Requeue {
				out.WriteString(" again")
			}
			if e.After > 0 {
				fmt.Fprintf(&out, " after %v", e.After)
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

// TestClientGo records a controller without a manager, and asks the recording why.
func TestClientGo(t *testing.T) {
	f := runMirror(t, observe.Options{}, copies, func(_ *standin.Cluster, user kubernetes.Interface) {
		if _, err := user.CoreV1().ConfigMaps("default").Create(t.Context(), ofUser("a", "hush"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		waits(t, user, "a")
	})
	entries := entriesOf(t, f)
	// The watch may tell of the update before the update has its answer, and before the reconcile is done.
	const begins = `mirror added
begin default/a by event
default/a: get ConfigMap default/a (cache) 1
default/a: create Secret default/a 1
`
	const updates, done, told = "default/a: update ConfigMap default/a 1\n", "done default/a\n", "mirror updated\n"
	const again = `begin default/a by event
default/a: get ConfigMap default/a (cache) 1
done default/a
`
	got := tale(entries)
	if got != begins+updates+done+told+again && got != begins+updates+told+done+again && got != begins+told+updates+done+again {
		t.Errorf("got\n%s\nwant\n%s", got, begins+updates+done+told+again)
	}
	calls := the[live.Call](entries)
	if create := calls[1]; create.Write.Manager != "mirror" || bytes.Contains(create.Sent, []byte("hush")) || !bytes.Contains(create.Sent, []byte("redacted:")) {
		t.Errorf("the creation is %+v, %s", create.Write, create.Sent)
	}
	if update := calls[2]; update.Base == "" || !bytes.Contains(update.Sent, []byte(`"copied":"true"`)) {
		t.Errorf("the update is of @%s: %s", update.Base, update.Sent)
	}
	source := analysis.Source{Name: "a.ort", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f)), nil }}
	answer, _, err := analysis.Why([]analysis.Source{source}, "configmap/default/a.metadata.annotations.copied")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	answer.Text(&text)
	if !strings.Contains(text.String(), "written by update in the reconcile of mirror default/a") || !strings.Contains(text.String(), "added ConfigMap default/a@") {
		t.Errorf("why says\n%s", text.String())
	}
}

// TestClientGoAgain tells why a request is in the queue again, which reads were stale, and what belongs to no
// reconcile.
func TestClientGoAgain(t *testing.T) {
	var once *sync.Once
	does := func(m *mirror, ctx context.Context, cm *corev1.ConfigMap) error {
		switch cm.Name {
		case "retry":
			if err := copies(m, ctx, cm); err != nil {
				return err
			}
			var err error
			once.Do(func() { err = errors.New("not yet") })
			return err
		case "later":
			if m.queue.NumRequeues("default/later") == 0 {
				m.queue.AddAfter("default/other", time.Hour) // which is no answer about this one
				once.Do(func() { m.queue.AddAfter("default/later", time.Millisecond) })
			}
		case "beside":
			done := make(chan struct{})
			if cm.Data["n"] == "within" {
				ctx = m.recorder.Within(ctx)
			}
			go func() {
				defer close(done)
				_, _ = m.client.CoreV1().Secrets("default").Get(ctx, "none", metav1.GetOptions{})
			}()
			<-done
		}
		return nil
	}
	record := func(name, text string) []byte {
		once = new(sync.Once)
		return runMirror(t, observe.Options{}, does, func(_ *standin.Cluster, user kubernetes.Interface) {
			if _, err := user.CoreV1().ConfigMaps("default").Create(t.Context(), ofUser(name, text), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(150 * time.Millisecond)
		})
	}
	begun := func(name string) string { return tale(entriesOf(t, record(name, ""))) }
	if got := begun("retry"); !strings.Contains(got, "done default/retry again\n") || !strings.Contains(got, "by requeue") {
		t.Errorf("a retry:\n%s", got)
	}
	if got := begun("later"); !strings.Contains(got, "done default/later after 1ms\n") || !strings.Contains(got, "begin default/later by requeue\n") || strings.Contains(got, "1h") {
		t.Errorf("a requeue:\n%s", got)
	}
	for text, want := range map[string][2]string{
		"":       {"\n: get Secret default/none NotFound\n", "get Secret default/none: NotFound, outside of a reconcile\n"},
		"within": {"\ndefault/beside: get Secret default/none NotFound\n", "    get Secret default/none: NotFound\n"},
	} {
		f := record("beside", text)
		if got := tale(entriesOf(t, f)); !strings.Contains(got, want[0]) {
			t.Errorf("a call beside, %q:\n%s", text, got)
		}
		var shown strings.Builder
		source := analysis.Source{Name: "a.ort", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f)), nil }}
		if _, err := analysis.Show([]analysis.Source{source}, analysis.Filter{}, func(s analysis.Shown) error {
			s.Text(&shown)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(shown.String(), want[1]) {
			t.Errorf("a call beside, %q, is shown as\n%s", text, shown.String())
		}
	}
}

// TestClientGoStale reads from a cache that is behind what the controller itself wrote.
func TestClientGoStale(t *testing.T) {
	var cluster *standin.Cluster
	sync := func(m *mirror, ctx context.Context, cm *corev1.ConfigMap) error {
		if m.queue.NumRequeues("default/a") == 0 {
			cluster.Hold("ConfigMap")
			if err := copies(m, ctx, cm); err != nil {
				return err
			}
			return errors.New("once more")
		}
		return nil
	}
	f := runMirror(t, observe.Options{}, sync, func(c *standin.Cluster, user kubernetes.Interface) {
		cluster = c
		if _, err := user.CoreV1().ConfigMaps("default").Create(t.Context(), ofUser("a", ""), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		waits(t, user, "a")
	})
	source := analysis.Source{Name: "a.ort", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f)), nil }}
	var stale []string
	if _, err := analysis.Stale([]analysis.Source{source}, func(read analysis.StaleRead) error {
		stale = append(stale, fmt.Sprint(read.Controller, " ", read.Request, " ", read.Behind))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(stale) != 1 || stale[0] != "mirror default/a 1" {
		t.Errorf("stale reads: %q of\n%s", stale, tale(entriesOf(t, f)))
	}
}

// TestClientGoReads records lists, and reads that find nothing.
func TestClientGoReads(t *testing.T) {
	sync := func(m *mirror, ctx context.Context, cm *corev1.ConfigMap) error {
		if cm.Name != "trigger" {
			return copies(m, ctx, cm)
		}
		if _, err := m.configMaps.ConfigMaps("default").List(labels.Everything()); err != nil {
			return err
		}
		_, err := m.configMaps.ConfigMaps("default").Get("a")
		return err
	}
	f := runMirror(t, observe.Options{}, sync, func(cluster *standin.Cluster, user kubernetes.Interface) {
		create := func(name string) {
			if _, err := user.CoreV1().ConfigMaps("default").Create(t.Context(), ofUser(name, ""), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		create("trigger")
		time.Sleep(50 * time.Millisecond)
		create("a")
		waits(t, user, "a")
	})
	if got := tale(entriesOf(t, f)); !strings.Contains(got, "default/trigger: list ConfigMap default/ (cache) 1\ndefault/trigger: get ConfigMap default/a (cache) NotFound\n") {
		t.Errorf("got\n%s", got)
	}
}

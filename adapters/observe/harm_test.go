package observe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/record/live"
)

// counting counts its reconciles, and reads once in each.
func counting(runs *atomic.Int64) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("counting").Complete(
			reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				runs.Add(1)
				return ctrl.Result{}, client.IgnoreNotFound(mgr.GetClient().Get(ctx, r.NamespacedName, &corev1.ConfigMap{}))
			}))
	}
}

// create makes ConfigMaps.
func create(t *testing.T, c client.Client, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := c.Create(t.Context(), configMap(fmt.Sprintf("cm-%d", i))); err != nil {
			t.Fatal(err)
		}
	}
}

// stuck is a file that nothing can be written to until it is released.
type stuck struct {
	file
	released chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.released
	return s.file.Write(p)
}

// TestOverload lets the disk hang: reconciles go on, and what is missing is counted.
func TestOverload(t *testing.T) {
	var runs atomic.Int64
	out := &stuck{released: make(chan struct{})}
	options := observe.Options{Buffer: 20, Open: func(int) (io.WriteCloser, error) { return out, nil }}
	c, _, stop := running(t, newAPIServer(t), options, counting(&runs))
	create(t, c, 0, 50)
	eventually(t, "all are reconciled", func() bool { return runs.Load() == 50 })
	close(out.released)
	time.Sleep(50 * time.Millisecond)
	create(t, c, 50, 51)
	eventually(t, "one more is reconciled", func() bool { return runs.Load() == 51 })
	stop()
	entries := entriesOf(t, out.Bytes())
	missing := 0
	for _, gap := range the[live.Gap](entries) {
		if missing += gap.Entries; gap.Reason != live.Overload || gap.Entries == 0 || gap.Until < gap.At {
			t.Errorf("gap %+v", gap)
		}
	}
	numbered := len(the[live.Event](entries)) + len(the[live.Queued](entries)) + len(the[live.Begin](entries)) + len(the[live.Call](entries)) + len(the[live.Done](entries))
	if want := 51 * 5; numbered+missing != want || missing == 0 || numbered < 10 {
		t.Errorf("%d entries and %d missing, want %d", numbered, missing, want)
	}
	done := the[live.Done](entries)
	if last := done[len(done)-1]; last.N != 51*5 {
		t.Errorf("the last entry has the number %d, want %d", last.N, 51*5)
	}
}

// full is a file on a full disk.
type full struct {
	file
	panics bool
}

func (f *full) Write([]byte) (int, error) {
	if f.panics {
		panic("no file")
	}
	return 0, errors.New("no space left on device")
}

// TestBroken lets everything go wrong that can: controllers do not notice, and the user is told once.
func TestBroken(t *testing.T) {
	tests := []struct {
		name    string
		options observe.Options
		want    string
	}{
		{"full disk", observe.Options{Open: func(int) (io.WriteCloser, error) { return &full{}, nil }}, "no space left on device"},
		{"no file", observe.Options{Open: func(int) (io.WriteCloser, error) { return nil, errors.New("read-only file system") }}, "read-only file system"},
		{"panic", observe.Options{Open: func(int) (io.WriteCloser, error) { return &full{panics: true}, nil }}, "panicked: no file"},
		{"no options", observe.Options{}, "set either Options.Folder or Options.Open"},
		{"share", observe.Options{Folder: "x", Share: 1.5}, "between 0 and 1"},
		{"pointer", observe.Options{Folder: "x", Redact: []observe.Redaction{{Pointer: "spec"}}}, "must start with a slash"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var runs atomic.Int64
			var mu sync.Mutex
			var told []string
			test.options.Report = func(err error) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, err.Error())
				panic("the report panics as well")
			}
			c, _, stop := running(t, newAPIServer(t), test.options, counting(&runs))
			create(t, c, 0, 5)
			eventually(t, "all are reconciled", func() bool { return runs.Load() == 5 })
			time.Sleep(20 * time.Millisecond)
			create(t, c, 5, 10)
			eventually(t, "all are reconciled", func() bool { return runs.Load() == 10 })
			stop()
			mu.Lock()
			defer mu.Unlock()
			if len(told) != 1 || !strings.Contains(told[0], test.want) {
				t.Errorf("told %q, want %q once", told, test.want)
			}
		})
	}
}

// TestPause switches off and on.
func TestPause(t *testing.T) {
	var files []*file
	var runs atomic.Int64
	options := inMemory(&files)
	options.Off = true
	c, recorder, stop := running(t, newAPIServer(t), options, counting(&runs))
	step := func(n int) {
		create(t, c, n, n+1)
		eventually(t, "it is reconciled", func() bool { return runs.Load() == int64(n+1) })
		time.Sleep(20 * time.Millisecond)
	}
	step(0)
	recorder.Resume()
	recorder.Resume()
	step(1)
	recorder.Pause()
	recorder.Pause()
	step(2)
	recorder.Resume()
	step(3)
	stop()
	recorder.Resume() // too late
	var requests []string
	entries := entriesOf(t, files[0].Bytes())
	for _, entry := range entries {
		switch e := entry.(type) {
		case live.Begin:
			requests = append(requests, e.Request)
		case live.Gap:
			requests = append(requests, e.Reason)
		}
	}
	if got, want := strings.Join(requests, " "), "paused default/cm-1 paused default/cm-3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestShare records some objects, and of these everything.
func TestShare(t *testing.T) {
	var files []*file
	var runs atomic.Int64
	options := inMemory(&files)
	options.Share = 0.3
	c, _, stop := running(t, newAPIServer(t), options, counting(&runs))
	create(t, c, 0, 100)
	eventually(t, "all are reconciled", func() bool { return runs.Load() == 100 })
	stop()
	entries := entriesOf(t, files[0].Bytes())
	n := len(the[live.Begin](entries))
	if n < 15 || n > 45 {
		t.Errorf("%d of 100 objects are recorded, with a share of 0.3", n)
	}
	for what, got := range map[string]int{
		"events": len(the[live.Event](entries)), "queued": len(the[live.Queued](entries)), "calls": len(the[live.Call](entries)), "done": len(the[live.Done](entries)),
	} {
		if got != n {
			t.Errorf("%d %s of %d objects", got, what, n)
		}
	}
}

// request is one of a typed controller.
type request struct{ Color string }

// typed registers a controller with requests of a type of its own.
func typed(runs *atomic.Int64) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		return builder.TypedControllerManagedBy[request](mgr).Named("typed").
			Watches(&corev1.ConfigMap{}, handler.TypedFuncs[client.Object, request]{
				CreateFunc: func(_ context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[request]) {
					q.Add(request{e.Object.GetName()})
				},
			}).
			Complete(reconcile.TypedFunc[request](func(ctx context.Context, r request) (ctrl.Result, error) {
				runs.Add(1)
				return ctrl.Result{}, mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: "default", Name: r.Color}, &corev1.ConfigMap{})
			}))
	}
}

// TestTypedControllers records them if their type is named, and says so if it is not.
func TestTypedControllers(t *testing.T) {
	for _, named := range []bool{false, true} {
		t.Run(fmt.Sprint(named), func(t *testing.T) {
			var files []*file
			var runs atomic.Int64
			options := inMemory(&files)
			if named {
				options.Requests = []observe.RequestType{observe.RequestsOf[request]()}
			}
			c, _, stop := running(t, newAPIServer(t), options, typed(&runs))
			create(t, c, 0, 1)
			eventually(t, "it is reconciled", func() bool { return runs.Load() == 1 })
			stop()
			entries := entriesOf(t, files[0].Bytes())
			begun, unseen, calls := the[live.Begin](entries), the[live.Unseen](entries), the[live.Call](entries)
			switch {
			case len(calls) != 1:
				t.Errorf("calls %+v", calls)
			case named && (len(begun) != 1 || len(unseen) != 0 || begun[0].Request != "{Color:cm-0}" || len(begun[0].Causes) != 1 || calls[0].Reconcile != begun[0].N):
				t.Errorf("begun %+v, unseen %+v", begun, unseen)
			case !named && (len(begun) != 0 || len(unseen) != 1 || unseen[0].Controller != "typed" || calls[0].Reconcile != 0):
				t.Errorf("begun %+v, unseen %+v", begun, unseen)
			}
		})
	}
}

// watching is a client that can watch.
type watching struct{ client.Client }

// Watch implements client.WithWatch.
func (watching) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	return watch.NewEmptyWatch(), nil
}

// withClient is a manager with another client.
type withClient struct {
	ctrl.Manager
	client client.Client
}

// GetClient implements cluster.Cluster.
func (w withClient) GetClient() client.Client { return w.client }

// TestInterfaces keeps what can be asked of a client.
func TestInterfaces(t *testing.T) {
	var files []*file
	plain := newManager(t, newAPIServer(t))
	mgr, recorder := observe.Start(plain, inMemory(&files))
	if _, ok := mgr.GetAPIReader().(client.Client); !ok {
		t.Error("the API reader is no client any more")
	}
	if _, ok := mgr.GetClient().(client.WithWatch); ok {
		t.Error("the client says that it can watch")
	}
	if err := recorder.Close(); err != nil {
		t.Error(err)
	}
	mgr, recorder = observe.Start(withClient{plain, watching{plain.GetClient()}}, inMemory(&files))
	watcher, ok := mgr.GetClient().(client.WithWatch)
	if !ok {
		t.Fatal("the client cannot watch any more")
	}
	if _, err := watcher.Watch(t.Context(), &corev1.ConfigMapList{}); err != nil {
		t.Error(err)
	}
	if err := recorder.Close(); err != nil {
		t.Error(err)
	}
}

// odd is a manager that a test of its user made.
type odd struct{ ctrl.Manager }

// GetHTTPClient implements cluster.Cluster.
func (odd) GetHTTPClient() *http.Client { panic("there is none") }

// TestOddManager cannot be wrapped, and is as good as before.
func TestOddManager(t *testing.T) {
	var files []*file
	plain := newManager(t, newAPIServer(t))
	options := inMemory(&files)
	told := make(chan error, 1)
	options.Report = func(err error) { told <- err }
	mgr := observe.Manager(odd{plain}, options)
	if mgr == nil || mgr.GetClient() != plain.GetClient() || mgr.GetCache() != plain.GetCache() || mgr.GetAPIReader() != plain.GetAPIReader() {
		t.Error("the manager is another one")
	}
	if err := <-told; !strings.Contains(err.Error(), "there is none") {
		t.Errorf("told %v", err)
	}
}

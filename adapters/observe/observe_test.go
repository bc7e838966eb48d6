package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/record/live"
)

// file is a file in memory.
type file struct {
	bytes.Buffer
	closed bool
}

func (f *file) Close() error { f.closed = true; return nil }

// inMemory are options that keep the files in memory.
func inMemory(files *[]*file) observe.Options {
	return observe.Options{Process: live.Process{Name: "test", Replica: "0"}, Open: func(int) (io.WriteCloser, error) {
		f := &file{}
		*files = append(*files, f)
		return f, nil
	}}
}

// running starts a manager with what set-up registers, and returns a client past the recorder and what ends it.
func running(t *testing.T, server *rest.Config, options observe.Options, setup func(ctrl.Manager) error) (client.Client, *observe.Recorder, func()) {
	t.Helper()
	plain := newManager(t, server)
	past := newManager(t, server).GetAPIReader().(client.Client)
	mgr, recorder := observe.Start(plain, options)
	if err := setup(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return past, recorder, stop
}

// entriesOf reads a recording, which must be complete.
func entriesOf(t *testing.T, f []byte) []live.Entry {
	t.Helper()
	r, err := live.NewReader(bytes.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var entries []live.Entry
	for {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	if !r.Complete() {
		t.Error("the recording is not complete")
	}
	return entries
}

// the returns all entries of a type.
func the[E live.Entry](entries []live.Entry) []E {
	var found []E
	for _, entry := range entries {
		if e, ok := entry.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// eventually waits for something to be so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not so: %s", what)
		}
	}
}

// has reports whether a ConfigMap has a key.
func has(t *testing.T, c client.Client, name, key string) func() bool {
	return func() bool {
		got := configMap(name)
		err := c.Get(t.Context(), client.ObjectKeyFromObject(got), got)
		return err == nil && got.Data[key] != ""
	}
}

// secrets gives each ConfigMap a Secret, live, and then writes that down, by patch and apply to the status.
func secrets(mgr ctrl.Manager) error {
	c, live := mgr.GetClient(), mgr.GetAPIReader()
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("secrets").Complete(
		reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
			cm := &corev1.ConfigMap{}
			if err := c.Get(ctx, r.NamespacedName, cm); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Name}, StringData: map[string]string{"password": "hunter2"}}
			if err := live.Get(ctx, r.NamespacedName, &corev1.Secret{}); apierrors.IsNotFound(err) {
				if err := c.Create(ctx, secret); err != nil {
					return ctrl.Result{}, err
				}
			} else if err != nil {
				return ctrl.Result{}, err
			}
			if cm.Data["done"] != "" {
				return ctrl.Result{RequeueAfter: time.Hour}, nil
			}
			base := cm.DeepCopy()
			cm.Data = map[string]string{"done": "yes"}
			return ctrl.Result{}, c.Patch(ctx, cm, client.MergeFrom(base))
		}))
}

// TestRecording follows one object through events, queue, reconciles and calls.
func TestRecording(t *testing.T) {
	var files []*file
	c, _, stop := running(t, newAPIServer(t), inMemory(&files), secrets)
	if err := c.Create(t.Context(), configMap("a")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the ConfigMap is done", has(t, c, "a", "done"))
	time.Sleep(300 * time.Millisecond) // for the reconcile that its event causes
	stop()
	if len(files) != 1 || !files[0].closed {
		t.Fatalf("%d files", len(files))
	}
	entries := entriesOf(t, files[0].Bytes())
	events, queued, begun, calls, done := the[live.Event](entries), the[live.Queued](entries), the[live.Begin](entries), the[live.Call](entries), the[live.Done](entries)
	if len(events) != 2 || events[0].Type != live.Added || events[1].Type != live.Updated || events[0].Controller != "secrets" {
		t.Fatalf("events %+v", events)
	}
	if len(queued) != 2 || queued[0].Event != events[0].N || queued[1].Event != events[1].N || queued[0].Request != "default/a" {
		t.Fatalf("queued %+v", queued)
	}
	if len(begun) != 2 || len(done) != 2 {
		t.Fatalf("begun %+v, done %+v", begun, done)
	}
	for i, begin := range begun {
		if want := []live.Cause{{By: live.ByEvent, N: events[i].N}}; !slices.Equal(begin.Causes, want) || begin.Controller != "secrets" || begin.Request != "default/a" || begin.ID == "" {
			t.Errorf("begin %+v, want causes %v", begin, want)
		}
		if done[i].Reconcile != begin.N || done[i].Error != "" {
			t.Errorf("done %+v", done[i])
		}
	}
	if done[1].After != time.Hour {
		t.Errorf("done %+v", done[1])
	}
	var told []string
	for _, call := range calls {
		s := fmt.Sprintf("%d %s %s cached=%v answers=%d", call.Reconcile, call.Verb, call.Object, call.Cached, len(call.Answer))
		if call.Failed != nil {
			s += " " + call.Failed.Reason
		}
		told = append(told, s)
	}
	first, second := begun[0].N, begun[1].N
	want := []string{
		fmt.Sprintf("%d get ConfigMap default/a cached=true answers=1", first),
		fmt.Sprintf("%d get Secret default/a cached=false answers=0 NotFound", first),
		fmt.Sprintf("%d create Secret default/a cached=false answers=1", first),
		fmt.Sprintf("%d patch ConfigMap default/a cached=false answers=1", first),
		fmt.Sprintf("%d get ConfigMap default/a cached=true answers=1", second),
		fmt.Sprintf("%d get Secret default/a cached=false answers=1", second),
	}
	if !slices.Equal(told, want) {
		t.Errorf("calls\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	// The version that the patch made is the one that the event told of and the second reconcile read.
	objects := the[live.Object](entries)
	version := func(number int) string { return objects[number-1].ResourceVersion }
	if made := version(calls[3].Answer[0]); made != version(events[1].Object) || made != version(calls[4].Answer[0]) || calls[3].Base != version(events[0].Object) {
		t.Errorf("the patch made version %s, the event told of %s", made, version(events[1].Object))
	}
	if sent := string(calls[3].Sent); sent != `{"data":{"done":"yes"}}` {
		t.Errorf("the patch sent %s", sent)
	}
	var text strings.Builder
	for _, entry := range entries {
		fmt.Fprintf(&text, "%s", fmt.Sprint(entry))
		if o, ok := entry.(live.Object); ok {
			text.Write(o.Value)
		}
		if call, ok := entry.(live.Call); ok {
			text.Write(call.Sent)
		}
	}
	if strings.Contains(text.String(), "hunter2") || !strings.Contains(text.String(), "redacted:") {
		t.Error("a secret is in the recording")
	}
}

// TestResults records errors, panics and requests to be run again, and that these are why reconciles begin.
func TestResults(t *testing.T) {
	var files []*file
	runs := 0
	c, _, stop := running(t, newAPIServer(t), inMemory(&files), func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("results").Complete(
			reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				switch runs++; runs {
				case 1:
					return ctrl.Result{}, errors.New("not yet")
				case 2:
					panic("not at all")
				case 3:
					return ctrl.Result{RequeueAfter: time.Millisecond}, nil
				case 4:
					return ctrl.Result{}, reconcile.TerminalError(errors.New("never"))
				}
				return ctrl.Result{}, errors.New("unexpected")
			}))
	})
	if err := c.Create(t.Context(), configMap("a")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	stop()
	entries := entriesOf(t, files[0].Bytes())
	begun, done := the[live.Begin](entries), the[live.Done](entries)
	if len(begun) != 4 || len(done) != 4 {
		t.Fatalf("begun %+v\ndone %+v", begun, done)
	}
	if d := done[0]; d.Error != "not yet" || d.Terminal {
		t.Errorf("done %+v", d)
	}
	if !done[1].Panicked || done[2].Panicked || done[2].After != time.Millisecond || !done[3].Terminal {
		t.Errorf("done %+v", done)
	}
	for i, want := range []string{live.ByEvent, live.ByFailure, live.ByFailure, live.ByResult} {
		if causes := begun[i].Causes; len(causes) != 1 || causes[0].By != want || i > 0 && causes[0].N != begun[i-1].N {
			t.Errorf("reconcile %d has the causes %+v, want %s", i+1, causes, want)
		}
	}
}

// TestApplyToStatus records what a client of ours does not see.
func TestApplyToStatus(t *testing.T) {
	var files []*file
	var applied atomic.Bool // the call has its answer, which others do not wait for
	c, _, stop := running(t, newAPIServer(t), inMemory(&files), func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("apply").Complete(
			reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				err := applyToStatus(ctx, mgr.GetClient(), r.Namespace, r.Name)
				applied.Store(err == nil)
				return ctrl.Result{}, err
			}))
	})
	if err := c.Create(t.Context(), configMap("a")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the status is applied", applied.Load)
	stop()
	calls := the[live.Call](entriesOf(t, files[0].Bytes()))
	if len(calls) == 0 {
		t.Fatal("no call")
	}
	call := calls[0]
	if call.Verb != live.Apply || call.Subresource != "status" || call.Object.String() != "ConfigMap default/a" || call.Reconcile == 0 ||
		call.Write.Manager != "test" || len(call.Answer) != 1 || !strings.Contains(string(call.Sent), `"applied"`) {
		t.Errorf("%+v sent %s, failed %+v", call, call.Sent, call.Failed)
	}
}

// TestFolder writes files that end and begin, and keeps some.
func TestFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	server := newAPIServer(t)
	c, _, stop := running(t, server, observe.Options{Folder: folder, FileSize: 1, Files: 3, FlushEvery: time.Millisecond, Process: live.Process{Name: "te/st", Replica: "0"}}, secrets)
	for i := range 5 {
		name := fmt.Sprintf("cm-%d", i)
		if err := c.Create(t.Context(), configMap(name)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the ConfigMap is done", has(t, c, name, "done"))
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	names, err := filepath.Glob(filepath.Join(folder, "te_st_0_*.ort"))
	if err != nil || len(names) != 3 {
		t.Fatalf("files %v, %v", names, err)
	}
	for i, name := range names {
		f, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		entries := entriesOf(t, f)
		if end, ok := entries[len(entries)-1].(live.End); !ok || i < 2 && !end.Rotated {
			t.Errorf("%s ends with %+v", name, entries[len(entries)-1])
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

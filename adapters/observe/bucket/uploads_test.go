package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	_ "gocloud.dev/blob/memblob"
	"gocloud.dev/gcerrors"

	"github.com/orrery-dev/orrery/adapters/observe/bucket"
)

// store is a bucket in memory that can be out of order in several ways.
type store struct {
	driver.Bucket // what is not used
	mu            sync.Mutex
	objects       map[string][]byte
	broken        error
	panics        bool
	// hangs keeps writers from ending, even when they are told to.
	hangs    chan struct{}
	attempts int
	most     int
	running  int
}

func (s *store) set(change func(*store)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// names are those of the objects in the store.
func (s *store) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.objects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *store) NewTypedWriter(_ context.Context, key, _ string, _ *driver.WriterOptions) (driver.Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts++
	if s.panics {
		panic("no bucket")
	}
	s.running++
	s.most = max(s.most, s.running)
	return &writer{store: s, key: key}, nil
}

func (s *store) Close() error                       { return nil }
func (s *store) ErrorCode(error) gcerrors.ErrorCode { return gcerrors.Unknown }
func (s *store) ErrorAs(error, any) bool            { return false }
func (s *store) As(any) bool                        { return false }

type writer struct {
	bytes.Buffer
	store *store
	key   string
}

// Close puts the object into the store, half of it where that is broken.
func (w *writer) Close() error {
	w.store.mu.Lock()
	hangs := w.store.hangs
	w.store.mu.Unlock()
	if hangs != nil {
		<-hangs
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.store.running--
	if w.store.broken != nil {
		return w.store.broken
	}
	w.store.objects[w.key] = w.Bytes()
	return nil
}

// told are reports.
type told struct {
	mu    sync.Mutex
	texts []string
}

func (r *told) report(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, err.Error())
	panic("the report panics as well")
}

func (r *told) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.texts)
}

// started starts uploads into a store.
func started(t *testing.T, s *store, folder string, change func(*bucket.Options)) (*bucket.Uploads, *told) {
	t.Helper()
	s.objects = map[string][]byte{}
	reports := &told{}
	options := bucket.Options{
		Bucket: blob.NewBucket(s), Folder: folder, Prefix: "shop/", Pause: time.Millisecond, CloseWithin: 100 * time.Millisecond, Report: reports.report,
	}
	if change != nil {
		change(&options)
	}
	u, err := bucket.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = u.Close() })
	return u, reports
}

// file writes a file, and returns its path.
func file(t *testing.T, folder string, n int) string {
	t.Helper()
	name := filepath.Join(folder, fmt.Sprintf("test_0_%06d.ort", n))
	if err := os.WriteFile(name, []byte(strings.Repeat("x", n)), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestUploads takes files to the bucket, those of an earlier process first, and removes them.
func TestUploads(t *testing.T) {
	for _, keep := range []bool{false, true} {
		folder, s := filepath.Join(t.TempDir(), "odd[1]*"), &store{}
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		file(t, folder, 1)
		if err := os.WriteFile(filepath.Join(folder, "other.txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		u, reports := started(t, s, folder, func(o *bucket.Options) { o.Keep = keep })
		eventually(t, "what was left is there", func() bool { return u.Uploaded() == 1 })
		for n := 2; n < 5; n++ {
			u.Ended(file(t, folder, n))
		}
		for range 2 {
			if err := u.Close(); err != nil {
				t.Error(err)
			}
		}
		want := []string{"shop/test_0_000001.ort", "shop/test_0_000002.ort", "shop/test_0_000003.ort", "shop/test_0_000004.ort"}
		if got := s.names(); !reflect.DeepEqual(got, want) || len(s.objects[want[2]]) != 3 || u.Uploaded() != 4 || u.Lost() != 0 || len(reports.all()) != 0 {
			t.Errorf("objects %q, %d uploaded, %d lost, told %q", got, u.Uploaded(), u.Lost(), reports.all())
		}
		left, err := os.ReadDir(folder)
		if want := map[bool]int{false: 1, true: 5}[keep]; err != nil || len(left) != want {
			t.Errorf("%d files are left, want %d, %v", len(left), want, err)
		}
	}
}

// TestUnreachable lets the bucket fail in each way. Files wait, and are taken there when it is back; the user is told
// once.
func TestUnreachable(t *testing.T) {
	ways := map[string]struct {
		breaks, mends func(*store)
		says          string
	}{
		"refused":        {func(s *store) { s.broken = errors.New("connection refused") }, func(s *store) { s.broken = nil }, "connection refused"},
		"no such bucket": {func(s *store) { s.broken = os.ErrNotExist }, func(s *store) { s.broken = nil }, "file does not exist"},
		"panics":         {func(s *store) { s.panics = true }, func(s *store) { s.panics = false }, "panicked: no bucket"},
		"hangs":          {func(s *store) { s.hangs = make(chan struct{}) }, func(s *store) { close(s.hangs); s.hangs = nil }, "deadline"},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			folder, s := t.TempDir(), &store{}
			way.breaks(s)
			u, reports := started(t, s, folder, func(o *bucket.Options) { o.Timeout = 10 * time.Millisecond })
			for n := range 5 {
				began := time.Now()
				u.Ended(file(t, folder, n))
				if took := time.Since(began); took > time.Second {
					t.Errorf("the recorder waits for %v", took)
				}
			}
			eventually(t, "it is told", func() bool { return len(reports.all()) > 0 })
			time.Sleep(20 * time.Millisecond)
			if u.Uploaded() != 0 || u.Lost() != 0 {
				t.Errorf("%d uploaded, %d lost", u.Uploaded(), u.Lost())
			}
			s.set(way.mends)
			eventually(t, "all are there", func() bool { return u.Uploaded() == 5 })
			if got := s.names(); len(got) != 5 || u.Lost() != 0 {
				t.Errorf("objects %q, %d lost", got, u.Lost())
			}
			if texts := reports.all(); len(texts) != 1 || !strings.Contains(texts[0], way.says) || !strings.Contains(texts[0], "test_0_000000.ort cannot be uploaded, and waits") {
				t.Errorf("told %q", texts)
			}
			s.set(func(s *store) {
				if s.most > 1 {
					t.Errorf("%d attempts at once", s.most)
				}
			})
		})
	}
}

// TestNextProcess leaves in the folder what it could not upload, and finds it when it starts again.
func TestNextProcess(t *testing.T) {
	folder, s := t.TempDir(), &store{broken: errors.New("connection refused")}
	u, _ := started(t, s, folder, nil)
	u.Ended(file(t, folder, 1))
	u.Ended(file(t, folder, 2))
	began := time.Now()
	if err := u.Close(); err == nil || !strings.Contains(err.Error(), "2 files could not be uploaded, and stay in "+folder) {
		t.Errorf("the end says %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the end takes %v", took)
	}
	s = &store{}
	u, _ = started(t, s, folder, nil)
	eventually(t, "both are there", func() bool { return u.Uploaded() == 2 })
}

// TestLost counts files that the recorder removed while they waited.
func TestLost(t *testing.T) {
	folder, s := t.TempDir(), &store{broken: errors.New("connection refused")}
	u, reports := started(t, s, folder, nil)
	for n := range 4 {
		u.Ended(file(t, folder, n))
	}
	eventually(t, "it was tried", func() bool { return len(reports.all()) == 1 })
	for n := range 3 {
		if err := os.Remove(filepath.Join(folder, fmt.Sprintf("test_0_%06d.ort", n))); err != nil {
			t.Fatal(err)
		}
	}
	s.set(func(s *store) { s.broken = nil })
	// One of them may have been open when it was removed.
	eventually(t, "all are done with", func() bool { return u.Uploaded()+u.Lost() == 4 })
	eventually(t, "all is told", func() bool { return len(reports.all()) == 1+u.Lost() })
	texts := reports.all()
	if u.Lost() < 2 || u.Lost() > 3 || !strings.Contains(texts[len(texts)-1], "was removed before it was uploaded") {
		t.Errorf("%d lost, told %q", u.Lost(), texts)
	}
}

// TestURL opens a bucket by its URL.
func TestURL(t *testing.T) {
	folder := t.TempDir()
	u, err := bucket.Start(t.Context(), bucket.Options{URL: "mem://", Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	u.Ended(file(t, folder, 1))
	eventually(t, "it is there", func() bool { return u.Uploaded() == 1 })
	if err := u.Close(); err != nil {
		t.Error(err)
	}
	for name, options := range map[string]bucket.Options{
		"set Options.Folder":                       {URL: "mem://"},
		"set either Options.URL or Options.Bucket": {Folder: folder},
		"to nothing negative":                      {URL: "mem://", Folder: folder, Pause: -1},
		`no driver registered for "nowhere"`:       {URL: "nowhere://x", Folder: folder},
	} {
		if u, err := bucket.Start(t.Context(), options); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v, %v, want %q", options, u, err, name)
		}
	}
}

// TestPauses does not try again and again while the bucket is away, however many files end.
func TestPauses(t *testing.T) {
	folder, s := t.TempDir(), &store{broken: errors.New("connection refused")}
	u, _ := started(t, s, folder, func(o *bucket.Options) { o.Pause = time.Hour })
	var sending sync.WaitGroup
	var n atomic.Int64
	for range 4 {
		sending.Go(func() {
			for range 50 {
				u.Ended(filepath.Join(folder, fmt.Sprintf("%d.ort", n.Add(1))))
			}
		})
	}
	u.Ended(file(t, folder, 1))
	sending.Wait()
	time.Sleep(20 * time.Millisecond)
	s.set(func(s *store) {
		if s.attempts > 1 {
			t.Errorf("%d attempts", s.attempts)
		}
	})
}

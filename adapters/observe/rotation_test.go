package observe_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/record/live"
)

// wholeBlocks reads a recording up to its last whole block.
func wholeBlocks(t *testing.T, f []byte) (entries []live.Entry, header live.Header) {
	t.Helper()
	r, err := live.NewReader(bytes.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries, r.Header()
		}
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
}

// numbered counts the entries with a number: five for a reconcile of counting.
func numbered(entries []live.Entry) int {
	return len(the[live.Event](entries)) + len(the[live.Queued](entries)) + len(the[live.Begin](entries)) + len(the[live.Call](entries)) + len(the[live.Done](entries))
}

// TestRotateEvery ends files by time. Their names sort, each is told of when it is whole, and nothing is missing
// between them.
func TestRotateEvery(t *testing.T) {
	var runs atomic.Int64
	var mu sync.Mutex
	var ended []string
	folder := t.TempDir()
	options := observe.Options{
		Folder: folder, RotateEvery: 30 * time.Millisecond, FlushEvery: time.Millisecond, Process: live.Process{Name: "test", Replica: "0"},
		Ended: func(name string) {
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, name)
			panic("whoever is told panics")
		},
	}
	c, _, stop := running(t, newAPIServer(t), options, counting(&runs))
	const steps = 5
	for i := range steps {
		create(t, c, i, i+1)
		eventually(t, "it is reconciled", func() bool { return runs.Load() == int64(i+1) })
		time.Sleep(60 * time.Millisecond)
	}
	stop()
	names, err := filepath.Glob(filepath.Join(folder, "*.ort"))
	if err != nil || len(names) < 3 || !reflect.DeepEqual(names, ended) {
		t.Fatalf("files %q, %v; told of %q", names, err, ended)
	}
	total := 0
	for i, name := range names {
		f, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		entries, header := wholeBlocks(t, f)
		end, whole := entries[len(entries)-1].(live.End)
		if !whole || header.Part != i+1 || i < len(names)-1 && !end.Rotated {
			t.Errorf("%s is part %d, and ends with %+v", name, header.Part, entries[len(entries)-1])
		}
		total += numbered(entries)
	}
	if total != 5*steps {
		t.Errorf("%d entries in all files, want %d", total, 5*steps)
	}
}

// disk is a disk with files, which can be full.
type disk struct {
	mu    sync.Mutex
	full  bool
	files []*diskFile
	parts []int
}

type diskFile struct {
	bytes.Buffer
	disk *disk
}

var errDiskFull = errors.New("no space left on device")

func (d *disk) open(part int) (io.WriteCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.parts = append(d.parts, part)
	f := &diskFile{disk: d}
	d.files = append(d.files, f)
	return f, nil
}

// Write writes half of what does not fit.
func (f *diskFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.full {
		n, _ := f.Buffer.Write(p[:len(p)/2])
		return n, errDiskFull
	}
	return f.Buffer.Write(p)
}

func (f *diskFile) Close() error { return nil }

func (d *disk) fills(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// TestFullDisk fills the disk and makes room again. Reconciles go on, what was written can be read, and what is missing
// is counted.
func TestFullDisk(t *testing.T) {
	for _, recovers := range []bool{true, false} {
		var runs atomic.Int64
		var mu sync.Mutex
		var told []string
		d := &disk{}
		options := observe.Options{FlushEvery: time.Millisecond, Open: d.open, Report: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, err.Error())
		}}
		c, _, stop := running(t, newAPIServer(t), options, counting(&runs))
		step := func(from, to int) {
			create(t, c, from, to)
			eventually(t, "all are reconciled", func() bool { return runs.Load() == int64(to) })
			time.Sleep(30 * time.Millisecond)
		}
		step(0, 10)
		d.fills(true)
		step(10, 20)
		if recovers {
			d.fills(false)
			time.Sleep(200 * time.Millisecond) // nobody looks more often than after a while
			step(20, 30)
		}
		stop()

		var entries []live.Entry
		var parts []int
		for _, f := range d.files {
			if r, err := live.NewReader(bytes.NewReader(f.Bytes())); err == nil {
				r.Close()
				part, header := wholeBlocks(t, f.Bytes())
				entries, parts = append(entries, part...), append(parts, header.Part)
			}
		}
		gaps := the[live.Gap](entries)
		mu.Lock()
		if len(told) != 1 || !strings.Contains(told[0], "interrupted") || !strings.Contains(told[0], errDiskFull.Error()) {
			t.Errorf("told %q, want once that the disk is full", told)
		}
		mu.Unlock()
		if !recovers {
			if len(gaps) != 0 || numbered(entries) != 5*10 || !reflect.DeepEqual(parts, []int{1}) {
				t.Errorf("gaps %+v, %d entries in parts %v", gaps, numbered(entries), parts)
			}
			continue
		}
		if len(gaps) != 1 || gaps[0].Reason != live.NotKept || gaps[0].Until <= gaps[0].At || gaps[0].Entries < 5*9 || numbered(entries)+gaps[0].Entries != 5*30 {
			t.Errorf("gaps %+v, %d entries, want %d together", gaps, numbered(entries), 5*30)
		}
		if !slices.Equal(parts, []int{1, 2}) {
			t.Errorf("the parts are %v of the attempts %v", parts, d.parts)
		}
		begins := map[string]bool{}
		for _, begin := range the[live.Begin](entries) {
			begins[begin.Request] = true
		}
		if !begins["default/cm-0"] || !begins["default/cm-29"] {
			t.Errorf("reconciles %v", begins)
		}
		for _, o := range the[live.Object](entries) {
			if o.Value == nil {
				t.Errorf("%s has no value, in a file that was begun after the disk was full", o.Name)
			}
		}
	}
}

// TestFormerProcesses counts files of processes before this one of the same name, and no others, among those that are
// kept.
func TestFormerProcesses(t *testing.T) {
	folder := t.TempDir()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	former := []string{
		"test_" + host + "-0a1b2c3d_20200101T000000.000Z_000002.ort", "test_" + host + "-0a1b2c3d_20200101T000000.000Z_000001.ort", "test_" + host + "-9a1b2c3d_20190101T000000.000Z_000009.ort",
	}
	others := []string{"test_other-0a1b2c3d_20100101T000000.000Z_000001.ort", "tests_" + host + "-0a1b2c3d_20100101T000000.000Z_000001.ort", "test_" + host + "-two-0a1b2c3d_20100101T000000.000Z_000001.ort", "mine.ort"}
	for _, name := range slices.Concat(former, others) {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var runs atomic.Int64
	c, _, stop := running(t, newAPIServer(t), observe.Options{Folder: folder, Files: 2, Process: live.Process{Name: "test"}}, counting(&runs))
	create(t, c, 0, 1)
	eventually(t, "it is reconciled", func() bool { return runs.Load() == 1 })
	stop()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "test_"+host+"-") || slices.Contains(former, entry.Name()) || slices.Contains(others, entry.Name()) {
			left = append(left, entry.Name())
		}
	}
	want := append(others, former[0])
	slices.Sort(want)
	if !slices.Equal(left, want) || len(entries) != len(want)+1 {
		t.Errorf("left are %q of %d files, want %q and a new one", left, len(entries), want)
	}
}

// TestSameReplica begins beside the files of a process with the same replica, as a container is when it is started
// again.
func TestSameReplica(t *testing.T) {
	folder := t.TempDir()
	for range 3 {
		var runs atomic.Int64
		options := observe.Options{Folder: folder, Process: live.Process{Name: "test", Replica: "test-0"}, Report: func(err error) { t.Error(err) }}
		c, _, stop := running(t, newAPIServer(t), options, counting(&runs))
		create(t, c, 0, 1)
		eventually(t, "it is reconciled", func() bool { return runs.Load() == 1 })
		stop()
	}
	names, err := filepath.Glob(filepath.Join(folder, "test_test-0_*_000001.ort"))
	if err != nil || len(names) != 3 {
		t.Errorf("files %q, %v", names, err)
	}
}

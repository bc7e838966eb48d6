package checkpoint_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/record/checkpoint"
)

var identity = checkpoint.Identity{{Name: "the binary", Value: "abc", Opaque: true}, {Name: "the system", Value: "web"}, {Name: "--crashes", Value: "1"}}

func open(t *testing.T, o checkpoint.Options) *checkpoint.File {
	t.Helper()
	if o.Identity == nil {
		o.Identity = identity
	}
	f, err := checkpoint.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// rest returns the entries that are left.
func rest(f *checkpoint.File) (entries [][]byte) {
	for entry := f.Next(); entry != nil; entry = f.Next() {
		entries = append(entries, bytes.Clone(entry))
	}
	return entries
}

// written returns a checkpoint with some entries, that are synced one by one, and these.
func written(t *testing.T) (path string, entries [][]byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "kept")
	f := open(t, checkpoint.Options{Path: path, Every: time.Nanosecond})
	r := rand.New(rand.NewPCG(1, 73))
	for range 12 {
		entry := make([]byte, 1+r.IntN(100))
		for i := range entry {
			entry[i] = byte(r.Uint32())
		}
		entries = append(entries, entry)
		f.Add(entry)
	}
	f.End(false)
	if err := f.Close(); err != nil || !f.Cut() || f.Saved() != path {
		t.Fatalf("%v, cut %t, saved as %q", err, f.Cut(), f.Saved())
	}
	return path, entries
}

// TestEveryStartIsACheckpoint cuts a checkpoint off after many of its bytes, and changes them: what is read is what was
// written, up to some entry.
func TestEveryStartIsACheckpoint(t *testing.T) {
	path, want := written(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	longest := 0
	for size := 0; size < len(whole); size += 1 + size%13 {
		changed := bytes.Clone(whole)
		changed[size] ^= 4
		for i, contents := range [][]byte{whole[:size], changed} {
			if err := os.WriteFile(other, contents, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := checkpoint.Open(checkpoint.Options{Identity: identity, Resume: other})
			if err != nil {
				if !strings.Contains(err.Error(), "other") {
					t.Errorf("the error does not name the file: %v", err)
				}
				continue
			}
			got := rest(f)
			if len(got) >= len(want) || !slices.EqualFunc(got, want[:len(got)], bytes.Equal) {
				t.Fatalf("byte %d: %d entries, which are not the first of those that were written", size, len(got))
			}
			if (f.Damage() != "") != (i == 1) && i == 0 {
				t.Errorf("cut off after %d bytes: %s", size, f.Damage())
			}
			longest = max(longest, len(got))
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if longest < len(want)-2 {
		t.Errorf("%d entries at most, want %d", longest, len(want)-1)
	}
}

// TestReplaced checks when a checkpoint takes the place of another one, and that only its owner may read it.
func TestReplaced(t *testing.T) {
	path, want := written(t)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	there := func() int {
		t.Helper()
		f := open(t, checkpoint.Options{Resume: path, Path: filepath.Join(t.TempDir(), "copy")})
		defer func() { _ = f.Close() }()
		return len(rest(f))
	}
	// A search that goes on from it, and does not come to where it ended.
	f := open(t, checkpoint.Options{Resume: path})
	f.Add(f.Next())
	f.End(false)
	if err := f.Close(); err != nil || f.Saved() != "" || there() != len(want) {
		t.Errorf("%v: saved as %q, %d entries, want %d", err, f.Saved(), there(), len(want))
	}
	// One that goes further.
	f = open(t, checkpoint.Options{Resume: path})
	for _, entry := range rest(f) {
		f.Add(entry)
	}
	f.Add([]byte("more"))
	if err := f.Close(); err != nil || f.Saved() != path || there() != len(want)+1 {
		t.Errorf("%v: saved as %q, %d entries, want %d", err, f.Saved(), there(), len(want)+1)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// A new one replaces it when there is something to replace it with.
	f = open(t, checkpoint.Options{Path: path})
	f.Add([]byte("new"))
	if got := there(); got != len(want)+1 {
		t.Errorf("%d entries before anything was saved, want %d", got, len(want)+1)
	}
	if err := f.Close(); err != nil || there() != 1 {
		t.Errorf("%v: %d entries, want 1", err, there())
	}
}

// TestOneAtATime has two checks write one checkpoint.
func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept")
	f := open(t, checkpoint.Options{Path: path})
	for _, o := range []checkpoint.Options{{Identity: identity, Path: path}, {Identity: identity, Resume: path}} {
		if _, err := checkpoint.Open(o); err == nil || !strings.Contains(err.Error(), "a check is going on that writes the checkpoint") {
			t.Errorf("got the error %v", err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, checkpoint.Options{Resume: path}).Close(); err != nil {
		t.Error(err)
	}
}

// TestMismatch says what differs between a check and the one whose checkpoint there is.
func TestMismatch(t *testing.T) {
	path, _ := written(t)
	with := func(i int, value string) checkpoint.Identity {
		other := slices.Clone(identity)
		other[i].Value = value
		return other
	}
	for says, other := range map[string]checkpoint.Identity{
		"the binary is not the same":                           with(0, "def"),
		"the system was web, and is db now":                    with(1, "db"),
		"--crashes was 1, and is not given now":                identity[:2],
		"--failures was not given, and is 2 now":               append(slices.Clone(identity), checkpoint.Trait{Name: "--failures", Value: "2"}),
		"what is in the file is not the same. Go on with what": append(slices.Clone(identity), checkpoint.Trait{Name: "what is in the file", Value: "x", Opaque: true}),
	} {
		_, err := checkpoint.Open(checkpoint.Options{Identity: other, Resume: path})
		var mismatch *checkpoint.MismatchError
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	for name, contents := range map[string]string{"is not a checkpoint": "orrery record 1\n", "of version 9, and this program reads version 1": "orrery checkpoint 9\n"} {
		other := filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(other, []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := checkpoint.Open(checkpoint.Options{Identity: identity, Resume: other}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

// TestFullDisk writes where there is no room: the search goes on, and the error is told at its end.
func TestFullDisk(t *testing.T) {
	path, _ := written(t)
	f := open(t, checkpoint.Options{Resume: path})
	rest(f)
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		f.Add([]byte(fmt.Sprint(i)))
	}
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "could not be kept") {
		t.Errorf("got the error %v", err)
	}
}

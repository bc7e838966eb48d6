package iotrace

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orrery-dev/orrery/internal/lookup"
)

// inGoroutine runs a function as sessions do, in a goroutine of its own.
func inGoroutine(run func() error) func() error {
	return func() error {
		ended := make(chan error)
		go func() { ended <- run() }()
		return <-ended
	}
}

// leftOut is what [TestDeeds] leaves out by its name.
func leftOut(run func() error) error { return run() }

// TestDeeds checks what is found out of code that talks to the network, reads files and starts processes, and of code
// that does not.
func TestDeeds(t *testing.T) {
	lookup.Prepare()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	readFile := func() error {
		_, err := os.ReadFile(file)
		return err
	}
	for name, test := range map[string]struct {
		run  func() error
		want []Kind
		// counted tells that the count has grown.
		counted bool
	}{
		"nothing": {func() error { return nil }, nil, false},
		"sleeps, and reads a variable": {func() error {
			time.Sleep(time.Millisecond)
			_ = os.Getenv("HOME")
			return nil
		}, nil, false},
		"asks a server": {func() error {
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			response, err := client.Get(server.URL)
			if err == nil {
				err = response.Body.Close()
			}
			return err
		}, []Kind{Network}, true},
		"only connects": {func() error {
			c, err := net.Dial("tcp", address)
			if err == nil {
				err = c.Close()
			}
			return err
		}, []Kind{Network}, true},
		"sends a packet": {func() error {
			c, err := net.ListenPacket("udp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			_, err = c.WriteTo([]byte("x"), c.LocalAddr())
			return errors.Join(err, c.Close())
		}, []Kind{Network}, true},
		"looks up a name in a bubble": {func() error {
			synctest.Test(new(testing.T), func(*testing.T) { _, _ = net.LookupHost("orrery.invalid") })
			return nil
		}, []Kind{Network}, true},
		"reads a file": {readFile, []Kind{File}, true},
		"reads a file in a goroutine of a goroutine": {inGoroutine(inGoroutine(readFile)), []Kind{File}, true},
		"reads nothing":  {func() error { _, err := io.ReadAll(strings.NewReader("")); return err }, nil, false},
		"is left out":    {func() error { return leftOut(readFile) }, nil, true},
		"starts there":   {func() error { return leftOut(inGoroutine(readFile)) }, nil, true},
		"writes a file":  {func() error { return appendTo(file) }, []Kind{File}, true}, // which it opens
		"logs":           {func() error { _, err := os.Stderr.WriteString(""); return err }, nil, true},
		"runs a program": {func() error { return exec.Command("true").Run() }, []Kind{Process}, true},
		"knows zones":    {func() error { _, err := time.LoadLocation("Europe/Berlin"); return err }, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := Now()
			deeds, err := Trace(inGoroutine(test.run), "leftOut")
			counted := Now().Since(before)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []Kind
			for _, d := range deeds {
				if !strings.HasPrefix(d.Where, "github.com/orrery-dev/orrery/internal/iotrace.") || !strings.Contains(d.Where, "(iotrace/iotrace_test.go:") {
					t.Errorf("it was done in %s, want a place in this file", d.Where)
				}
				kinds = append(kinds, d.Kind)
			}
			if kinds = slices.Compact(kinds); !slices.Equal(kinds, test.want) {
				t.Errorf("found %v, want %v: %v", kinds, test.want, deeds)
			}
			if before.Known() && test.counted && counted == 0 {
				t.Error("nothing was counted")
			}
		})
	}
}

func appendTo(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("more")
	return errors.Join(err, f.Close())
}

// TestOthersDoNotCount checks that what goroutines do that the function has not started is not put down to it.
func TestOthersDoNotCount(t *testing.T) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = os.ReadFile("/dev/null")
			}
		}
	}()
	deeds, err := Trace(inGoroutine(func() error { time.Sleep(10 * time.Millisecond); return nil }))
	close(stop)
	<-stopped
	if err != nil || len(deeds) > 0 {
		t.Errorf("found %v, %v", deeds, err)
	}
}

// TestNothingIsCounted checks that the count stands still in a bubble where time passes and goroutines come and go.
func TestNothingIsCounted(t *testing.T) {
	if !Now().Known() {
		t.Skip("nothing is counted here")
	}
	time.Sleep(50 * time.Millisecond) // what other tests have left ends
	before := Now()
	for range 100 {
		synctest.Test(t, func(*testing.T) {
			go time.Sleep(time.Hour)
			time.Sleep(2 * time.Hour)
		})
	}
	if counted := Now().Since(before); counted > 0 {
		t.Errorf("counted %d", counted)
	}
}

// TestBusy checks that a trace that is under way is left alone.
func TestBusy(t *testing.T) {
	if err := trace.Start(io.Discard); err != nil {
		t.Skip(err)
	}
	defer trace.Stop()
	if _, err := Trace(func() error { return nil }); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		Now()
	}
}

func BenchmarkTrace(b *testing.B) {
	for b.Loop() {
		if _, err := Trace(inGoroutine(func() error { return nil })); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzRead reads traces that are none.
func FuzzRead(f *testing.F) {
	f.Add([]byte("go 1.26 trace\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if deeds, err := read(strings.NewReader(string(text)), nil); err != nil && deeds != nil {
			t.Error("both")
		}
	})
}

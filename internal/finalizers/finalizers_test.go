package finalizers_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orrery-dev/orrery/internal/finalizers"
)

// cache stops its goroutine when nobody refers to it any more.
type cache struct{ *goroutine }

type goroutine struct{ stop chan bool }

func newCache() *cache {
	g := &goroutine{stop: make(chan bool)}
	go func() { <-g.stop }()
	c := &cache{g}
	runtime.SetFinalizer(c, func(c *cache) { c.stop <- true })
	return c
}

// leave makes a cache in a bubble, and leaves its goroutine there.
func leave() {
	defer func() { recover() }() //nolint:errcheck // it is that the bubble has a deadlock
	synctest.Test(new(testing.T), func(*testing.T) { newCache() })
}

// TestEnd leaves caches in bubbles, which ends the process, unless no finalizer runs.
func TestEnd(t *testing.T) {
	const child = "ORRERY_TEST_FINALIZERS"
	if ends := os.Getenv(child); ends != "" {
		if ends == "yes" {
			finalizers.End()
			finalizers.End()
		}
		for range 20 {
			leave()
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		return
	}
	for ends, survives := range map[string]bool{"yes": true, "no": false} {
		command := exec.Command(os.Args[0], "-test.run=^TestEnd$")
		command.Env = append(os.Environ(), child+"="+ends)
		if output, err := command.CombinedOutput(); (err == nil) != survives {
			t.Errorf("finalizers end: %s, and the process says %v:\n%s", ends, err, output)
		}
	}
}

// TestCleanups has what does not need that goroutine go on.
func TestCleanups(t *testing.T) {
	finalizers.End()
	done := make(chan bool)
	type large struct{ _ [100]*int }
	runtime.AddCleanup(new(large), func(done chan bool) { close(done) }, done)
	for range 100 {
		runtime.GC()
		select {
		case <-done:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("a cleanup does not run")
}

package behavior

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// TestLeaves holds stacks against whose goroutines are left.
func TestLeaves(t *testing.T) {
	const own = "goroutine 7 [running]:\nmain.setUp()\n\tmain.go:1 +0x1\ncreated by main.main in goroutine 1\n\tmain.go:9\n"
	other := func(by, number string) string {
		return "\ngoroutine 8 [select]:\nmain.work()\n\tmain.go:5 +0x1\ncreated by " + by + " in goroutine " + number + "\n\tmain.go:2 +0x3\n"
	}
	for stacks, want := range map[string]bool{
		own:                                    false,
		own + other("main.setUp", "7"):         true,
		own + other("main.setUp", "1"):         false,
		own + other("k8s.io/client-go.F", "7"): false,
		own + other("sigs.k8s.io/controller-runtime.F", "7"):                false,
		own + other("sigs.k8s.io/karpenter/pkg.F", "7"):                     true,
		own + other("example.com/k8s.io/x.F", "7"):                          true,
		own + other("k8s.io/client-go.F", "7") + other("main.setUp", "7"):   true,
		own + other("main.setUp", "17") + other("main.main", "70"):          false,
		own + "\ngoroutine 8 [select]:\nmain.main()\n":                      false,
		"no stack\n" + other("main.setUp", "7"):                             false,
		"goroutine 8 [running]:\nmain.setUp()\n" + other("main.setUp", "7"): false,
	} {
		if got := leaves(stacks); got != want {
			t.Errorf("goroutines are left: %t, want %t, of\n%s", got, want, stacks)
		}
	}
}

// TestStacks has the stacks of all goroutines be written in full, however long that is.
func TestStacks(t *testing.T) {
	const many, depth = 40, 60
	var begun, ended sync.WaitGroup
	end := make(chan struct{})
	var descend func(int)
	descend = func(left int) {
		if left > 0 {
			descend(left - 1)
			return
		}
		begun.Done()
		<-end
	}
	begun.Add(many)
	for range many {
		ended.Go(func() { descend(depth) })
	}
	begun.Wait()
	text := goroutine.Stacks()
	close(end)
	ended.Wait()
	if got := strings.Count(text, "TestStacks.func1("); got != many*(depth+1) {
		t.Errorf("in %d bytes there are %d frames of goroutines, want %d", len(text), got, many*(depth+1))
	}
}

// TestDoubts has a run be given up that is seen to wait for a lock so many times in a row, and looked at the less often
// the longer it does not, or the longer a look takes.
func TestDoubts(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name  string
		looks []time.Duration // how long each took; those of locks are negative
		want  time.Duration   // the pause before the next one, 0 if it is given up
	}{
		{"locked all the time", []time.Duration{-ms, -ms, -ms, -ms, -ms, -ms}, 0},
		{"not yet long enough", []time.Duration{-ms, -ms, -ms, -ms, -ms}, looks},
		{"with a break", []time.Duration{-ms, -ms, -ms, ms, -ms, -ms, -ms, -ms, -ms}, 2 * looks},
		{"again after a break", []time.Duration{-ms, ms, -ms, -ms, -ms, -ms, -ms, -ms}, 0},
		{"no lock", []time.Duration{ms, ms, ms}, 8 * looks},
		{"slow looks", []time.Duration{ms, 100 * ms}, 2000 * ms},
		{"slow looks at first", []time.Duration{100 * ms, ms}, 4000 * ms},
	} {
		d := doubts{pause: looks}
		over := false
		for _, took := range test.looks {
			if over {
				t.Errorf("%s: it is given up too early", test.name)
			}
			over = d.look(took < 0, took)
		}
		if over != (test.want == 0) || !over && d.pause != test.want {
			t.Errorf("%s: it is given up: %t, or looked at after %s; want %s", test.name, over, d.pause, test.want)
		}
	}
}

// TestConnected holds stacks against whether a goroutine of a bubble waits for the network.
func TestConnected(t *testing.T) {
	for stacks, want := range map[string]bool{
		"":                                    false,
		"goroutine 1 [IO wait]:\nmain.main()": false,
		"goroutine 1 [select, synctest bubble 3]:\nmain.main()":                                           false,
		"goroutine 1 [IO wait, synctest bubble 3]:\nmain.main()":                                          true,
		"goroutine 1 [select]:\nmain.main()\n\ngoroutine 2 [IO wait, 2 minutes, synctest bubble 3]:\nf()": true,
		"goroutine 1 [select]:\nIO wait, synctest bubble\n":                                               false,
		"goroutine 1 [IO wait]:\nf()\n\ngoroutine 2 [select, synctest bubble 3]:\nf()":                    false,
	} {
		if got := connected(stacks); got != want {
			t.Errorf("it waits for the network: %t, want %t, of\n%s", got, want, stacks)
		}
	}
}

// TestLooksUp holds stacks against whether a goroutine of a bubble looks up a name.
func TestLooksUp(t *testing.T) {
	const resolves = "net.(*Resolver).lookupIPAddr(0x1)\n\t/net/lookup.go:1"
	for stacks, want := range map[string]bool{
		"": false,
		"goroutine 1 [select, synctest bubble 3]:\n" + resolves:                                                       true,
		"goroutine 1 [select]:\n" + resolves:                                                                          false,
		"goroutine 1 [select, synctest bubble 3]:\nmain.main()":                                                       false,
		"goroutine 1 [select]:\n" + resolves + "\n\ngoroutine 2 [select, synctest bubble 3]:\nmain.f()":               false,
		"goroutine 1 [select]:\nmain.main()\n\ngoroutine 2 [select, 2 minutes, synctest bubble 3]:\n" + resolves + "": true,
	} {
		if got := looksUp(stacks); got != want {
			t.Errorf("it looks up a name: %t, want %t, of\n%s", got, want, stacks)
		}
	}
}

// starting is a strategy whose set-up starts something.
type starting func()

func (starting) Describe() core.Description { return core.Description{Name: "starting"} }
func (s starting) New() (core.Instance, error) {
	s()
	return nil, nil
}

// TestLeavesGoroutines looks at goroutines that set-ups start, whether they come to an end or not.
func TestLeavesGoroutines(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	for name, test := range map[string]struct {
		does starting
		want bool
	}{
		"nothing":         {func() {}, false},
		"one that waits":  {func() { go func() { <-end }() }, true},
		"panics":          {func() { panic("at once") }, false},
		"one, and panics": {func() { go func() { <-end }(); panic("at once") }, false},
	} {
		if got := LeavesGoroutines(test.does); got != test.want {
			t.Errorf("%s: goroutines are left: %t", name, got)
		}
	}
}

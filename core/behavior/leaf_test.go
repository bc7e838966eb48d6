package behavior

import (
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/orrery-dev/orrery/core"
)

// TestAgrees has two ends mean the same unless what comes after them may differ: how long a controller asks to wait,
// and the words of an error, make no difference.
func TestAgrees(t *testing.T) {
	same := []Leaf{
		{}, {Message: "in other words"}, {Memory: 3}, {Drawn: true},
	}
	waits := []Leaf{{Result: core.Result{RequeueAfter: time.Second}}, {Result: core.Result{RequeueAfter: time.Hour}}}
	fails := []Leaf{{Result: core.Result{Err: errors.New("one")}}, {Result: core.Result{Err: errors.New("other")}}}
	others := [][]Leaf{
		same, waits, fails, {{Result: core.Result{Requeue: true}}}, {{Result: core.Result{Blocked: true}}}, {{Failure: Panicked}, {Failure: Panicked, Message: "once more"}}, {{Failure: Deadlock}},
		{{Requests: []core.Request{"a"}}}, {{Requests: []core.Request{"b"}}}, {{Requests: []core.Request{"a", "b"}}},
	}
	for i, group := range others {
		for j, other := range others {
			for _, one := range group {
				for _, two := range other {
					if got := one.agrees(&two); got != (i == j) {
						t.Errorf("%+v and %+v mean the same: %t", one, two, got)
					}
				}
			}
		}
	}
}

// TestFailuresThatNeverComeBack has a worker be lost in all failures but panics, which its host recovers from, and
// crashes.
func TestFailuresThatNeverComeBack(t *testing.T) {
	for failure, want := range map[Failure]bool{None: false, Panicked: false, CutOff: false, Deadlock: true, Exited: true, Overdue: true, Connected: true, Withheld: true, Runaway: true, Polling: true, Leaked: true, Fatal: true} {
		if got := failure.Stuck(); got != want {
			t.Errorf("%q never comes back: %t", failure, got)
		}
	}
	for _, test := range []struct {
		leaf           Leaf
		retried, later bool
	}{
		{Leaf{}, false, false}, {Leaf{Result: core.Result{Requeue: true}}, true, false}, {Leaf{Result: core.Result{Err: errors.New("no")}}, true, false}, {Leaf{Failure: Panicked}, true, false},
		{Leaf{Result: core.Result{RequeueAfter: time.Hour}}, false, true}, {Leaf{Result: core.Result{Requeue: true, RequeueAfter: time.Hour}}, true, false},
		{Leaf{Result: core.Result{Err: errors.New("no"), RequeueAfter: time.Hour}}, true, false}, {Leaf{Failure: Deadlock}, false, false},
	} {
		if test.leaf.Retried() != test.retried || test.leaf.Later() != test.later {
			t.Errorf("%+v is tried again: %t, and later: %t", test.leaf, test.leaf.Retried(), test.leaf.Later())
		}
	}
}

// TestApart has the field be told in which two texts differ, or what can be quoted of it.
func TestApart(t *testing.T) {
	for _, test := range []struct{ a, b, wantA, wantB string }{
		{"", "", `""`, `""`},
		{"same", "same", `"same"`, `"same"`},
		{"abc", "abcd", `"abc"`, `"abcd"`},
		{"abcd", "abc", `"abcd"`, `"abc"`},
		{`{"a":1,"b":2}`, `{"a":1,"b":3}`, `"b":2`, `"b":3`},
		{`{"a":"x"}`, `{"a":"y"}`, `"a":"x"`, `"a":"y"`},
		{`{"a":1}`, `{"a":12}`, `"a":1`, `"a":12`},
		{`{"a":"x, and so on"}`, `{"a":"y, and so on"}`, `"\"a\":\"x"`, `"\"a\":\"y"`},
		{"{\"a\":\"x\xff\"}", `{"a":"y"}`, `"\"a\":\"x\xff\""`, `"a":"y"`},
	} {
		if a, b := apart(test.a, test.b); a != test.wantA || b != test.wantB || !utf8.ValidString(a+b) {
			t.Errorf("%q and %q differ in %s and %s, want %s and %s", test.a, test.b, a, b, test.wantA, test.wantB)
		}
	}
	one, other := put{"put", "a"}, put{"put", "b"}
	if d := parting(one, other, nil, 3); d.Recorded != `put with "a"` || d.Observed != `put with "b"` || d.After != 3 || d.Call != core.Call(other) || d.Ended != nil {
		t.Errorf("runs part as %+v", d)
	}
	if d := parting(one, put{"get", "a"}, nil, 0); d.Recorded != "put" || d.Observed != "get" {
		t.Errorf("runs part as %+v", d)
	}
	if d := parting(one, nil, &Leaf{Failure: Exited, Message: "put"}, 0); d.Recorded != "put" || d.Observed != "put" {
		t.Errorf("a run that ends parts as %+v", d)
	}
	end := &Leaf{}
	if d := parting(one, nil, end, 0); d.Recorded != "put" || d.Observed != "returns" || d.Ended != end {
		t.Errorf("runs part as %+v", d)
	}
}

// TestWithin has a folder be one of the innermost module that it is in.
func TestWithin(t *testing.T) {
	roots := map[string]string{"example.com/shop": "/src/shop", "example.com/shop/tools": "/src/shop/tools", "example.com/a": "/src", "example.com/b": "/src/shop/t"}
	for folder, want := range map[string][2]string{
		"/src/shop":           {"example.com/shop", "example.com/shop"},
		"/src/shop/web":       {"example.com/shop/web", "example.com/shop"},
		"/src/shop/tools":     {"example.com/shop/tools", "example.com/shop/tools"},
		"/src/shop/tools/fix": {"example.com/shop/tools/fix", "example.com/shop/tools"},
		"/src/shopping":       {"example.com/a/shopping", "example.com/a"},
		"/other":              {"", ""},
	} {
		for range 20 { // in whatever order modules are gone through
			if of, module := within(folder, roots); of != want[0] || module != want[1] {
				t.Fatalf("%s is in %q of %q, want %q", folder, of, module, want)
			}
		}
	}
	b := build{main: "example.com/shop", modules: []string{"example.com/long", "example.com"}}
	for function, want := range map[string][3]string{
		"net/http.(*Client).Do":        {"net/http", "", "http.(*Client).Do"},
		"example.com/shop/web.Serve":   {"example.com/shop/web", "example.com/shop", "web.Serve"},
		"example.com/long/x.F.func1":   {"example.com/long/x", "example.com/long", "x.F"},
		"example.com/shop/a_test.Fail": {"example.com/shop/a_test", "example.com/shop", "a_test.Fail"},
	} {
		if of, module, name := b.packageOf(function, "/x/y.go"); [3]string{of, module, name} != want {
			t.Errorf("%s is %q, want %q", function, [3]string{of, module, name}, want)
		}
	}
	if of, _, _ := b.packageOf("example.com/shop/a_test.Fail", "/x/y_test.go"); of != "example.com/shop/a" {
		t.Errorf("a function of an external test is of %q", of)
	}
}

// mute is an instance that shows no memory, exposed one that does, and split one that tells the memories of strategies
// apart.
type (
	mute    struct{ core.Instance }
	exposed struct{ core.Instance }
	split   struct{ exposed }
)

func (exposed) Memory() map[string]string                { return map[string]string{"all": "1"} }
func (split) Of(string) core.Instance                    { return nil }
func (split) MemoryOf(strategy string) map[string]string { return map[string]string{strategy: "2"} }

// TestMemoryOf has the memory of a strategy be what the instance shows of it, if it tells them apart, and else all of
// it.
func TestMemoryOf(t *testing.T) {
	for _, test := range []struct {
		instance core.Instance
		strategy string
		want     string
	}{{mute{}, "web", ""}, {exposed{}, "web", "all"}, {exposed{}, "", "all"}, {split{}, "web", "web"}, {split{}, "", "all"}} {
		got := memoryOf(test.instance, test.strategy)
		if _, shown := got[test.want]; shown != (test.want != "") || len(got) > 1 || test.want == "" && got != nil {
			t.Errorf("of %T, %q shows %v, want %q", test.instance, test.strategy, got, test.want)
		}
	}
	before := map[string]string{"stays": "1", "changes": "1", "goes": "1", "empty": ""}
	got := changed(before, map[string]string{"stays": "1", "changes": "2", "comes": "", "empty": ""})
	if len(got) != 2 || got["changes"] != "2" {
		t.Errorf("what has changed is %v", got)
	}
	if _, comes := got["comes"]; !comes {
		t.Error("what has come is not told, as it is empty")
	}
}

// TestWaitsIn reads from stacks whether code waits for a lock that nobody can unlock, or that somebody may who waits
// for the time.
func TestWaitsIn(t *testing.T) {
	const bubble = ", synctest bubble 7]:\nmain.f()\n"
	for _, test := range []struct {
		name          string
		stacks        []string
		locked, timed bool
	}{
		{"nobody", nil, false, false},
		{"somebody waits for a lock", []string{"goroutine 1 [sync.Mutex.Lock" + bubble}, true, false},
		{"somebody waits to read", []string{"goroutine 1 [sync.RWMutex.RLock" + bubble}, true, false},
		{"somebody waits to write", []string{"goroutine 1 [sync.RWMutex.Lock" + bubble}, true, false},
		{"somebody waits for a lock elsewhere", []string{"goroutine 1 [sync.Mutex.Lock, synctest bubble 8]:\nmain.f()\n", "goroutine 2 [sync.Mutex.Lock]:\nmain.f()\n"}, false, false},
		{"somebody waits for a lock elsewhere for long", []string{"goroutine 2 [sync.Mutex.Lock, 2 minutes]:\nmain.f()\n"}, false, false},
		{"somebody works", []string{"goroutine 1 [sync.Mutex.Lock" + bubble, "goroutine 2 [running" + bubble}, false, false},
		{"somebody sleeps", []string{"goroutine 1 [sync.Mutex.Lock" + bubble, "goroutine 2 [sleep (durable)" + bubble}, true, true},
		{"somebody waits for others", []string{"goroutine 1 [sync.Mutex.Lock" + bubble, "goroutine 2 [sync.WaitGroup.Wait (durable)" + bubble}, true, false},
		{"the bubble itself waits", []string{"goroutine 1 [sync.Mutex.Lock" + bubble, "goroutine 2 [synctest.Run (durable)" + bubble, "goroutine 3 [synctest.Wait (durable)" + bubble, "goroutine 4 [chan receive (durable), synctest bubble 7]:\ntesting/synctest.Test()\n"}, true, false},
		{"for long", []string{"goroutine 1 [sync.Mutex.Lock, 2 minutes" + bubble, "goroutine 2 [select (durable), 2 minutes" + bubble}, true, true},
	} {
		text := ""
		for i, stack := range test.stacks {
			if i > 0 {
				text += "\n" // the stacks end with one
			}
			text += stack
		}
		if locked, timed := waitsIn(text, 7); locked != test.locked || timed != test.timed {
			t.Errorf("%s: locked %t, and others wait for the time: %t", test.name, locked, timed)
		}
		if locked, timed := waitsIn(text, 0); locked || timed {
			t.Errorf("%s: in no bubble, locked %t, %t", test.name, locked, timed)
		}
	}
}

// TestReorders has a run do the same in another order: other calls first, or fields of lists.
func TestReorders(t *testing.T) {
	body := func(ports string) put { return put{"create web", `{"name":"web","ports":[` + ports + `]}`} }
	path := asking(put{"get", ""}, body(`{"name":"a","port":1},{"name":"b","port":2}`), put{"create job", "x"})
	for _, test := range []struct {
		name string
		d    Divergence
		want bool
	}{
		{"a list the other way round", Divergence{After: 1, Call: body(`{"name":"b","port":2},{"name":"a","port":1}`)}, true},
		{"texts", Divergence{After: 1, Call: body(`"b","a"`)}, false},
		{"another field", Divergence{After: 1, Call: body(`{"name":"a","port":1},{"name":"b","port":3}`)}, false},
		{"one more", Divergence{After: 1, Call: body(`{"name":"a","port":1},{"name":"b","port":2},{"name":"b","port":2}`)}, false},
		{"a later call", Divergence{After: 1, Call: put{"create job", "x"}}, true},
		{"an earlier call", Divergence{After: 1, Call: put{"get", ""}}, false},
		{"a later call that writes something else", Divergence{After: 1, Call: put{"create job", "y"}}, false},
		{"the end", Divergence{After: 1, Ended: &Leaf{}}, false},
		{"behind the end", Divergence{After: 3, Call: put{"create job", "x"}}, false},
	} {
		if got := test.d.Reorders(path); got != test.want {
			t.Errorf("%s: the same in another order: %t", test.name, got)
		}
	}
}

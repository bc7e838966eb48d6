package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// setUp sets up what does harm.
type setUp func(mgr ctrl.Manager) error

// key is the key of the object that is there.
func key() client.ObjectKey { return client.ObjectKey{Namespace: "default", Name: "a"} }

// reconciles is a controller that does what is given in each reconcile, after it has read its object.
func reconciles(do func(ctx context.Context, c client.Client, m *corev1.ConfigMap) error) setUp {
	return func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("hostile").For(&corev1.ConfigMap{}).Complete(reading(mgr.GetClient(), do))
	}
}

// reading reads the object of a request, and does what is given.
func reading(c client.Client, do func(ctx context.Context, c client.Client, m *corev1.ConfigMap) error) reconcile.Func {
	return func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		m := &corev1.ConfigMap{}
		if err := c.Get(ctx, r.NamespacedName, m); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		return reconcile.Result{}, do(ctx, c, m)
	}
}

// does is a controller that does what is given in each reconcile.
func does(do func()) setUp {
	return reconciles(func(context.Context, client.Client, *corev1.ConfigMap) error { do(); return nil })
}

// elsewhere does what is given in a goroutine, and waits until it is over.
func elsewhere(do func()) func() {
	return func() {
		over := make(chan struct{})
		go func() { defer close(over); do() }()
		<-over
	}
}

// stubborn is an error whose text panics.
type stubborn struct{}

func (stubborn) Error() string { panic("no text") }

// quiet is a reconciler that does nothing.
func quiet() reconcile.Func {
	return func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil }
}

// handling is a controller whose event handlers do what is given.
func handling(do func()) setUp {
	return func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("hostile").Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(
			func(context.Context, client.Object) []reconcile.Request { do(); return nil })).Complete(quiet())
	}
}

// filtering is a controller whose predicates do what is given.
func filtering(do func()) setUp {
	return func(mgr ctrl.Manager) error {
		p := predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { do(); return true }}
		return ctrl.NewControllerManagedBy(mgr).Named("hostile").For(&corev1.ConfigMap{}, builder.WithPredicates(p)).Complete(quiet())
	}
}

// indexing is a controller whose index functions do what is given.
func indexing(do func()) setUp {
	return func(mgr ctrl.Manager) error {
		err := mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.ConfigMap{}, "data", func(client.Object) []string { do(); return []string{"v"} })
		if err != nil {
			return err
		}
		return reconciles(func(ctx context.Context, c client.Client, _ *corev1.ConfigMap) error {
			return c.List(ctx, &corev1.ConfigMapList{}, client.MatchingFields{"data": "v"})
		})(mgr)
	}
}

// settingUp is a controller whose set-up does what is given.
func settingUp(do func()) setUp {
	return func(mgr ctrl.Manager) error {
		do()
		return ctrl.NewControllerManagedBy(mgr).Named("hostile").For(&corev1.ConfigMap{}).Complete(quiet())
	}
}

// running is a manager with a runnable that does what is given.
func running(do func(ctx context.Context, c client.Client)) setUp {
	return func(mgr ctrl.Manager) error {
		err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { do(ctx, mgr.GetClient()); return nil }))
		if err != nil {
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).Named("hostile").For(&corev1.ConfigMap{}).Complete(quiet())
	}
}

func deep(n int) int {
	if n < 0 {
		return n
	}
	return deep(n+1) + 1
}

func spin() {
	for {
		runtime.Gosched()
	}
}

func sleep() { time.Sleep(time.Hour) }

func block() { select {} }

func concurrentWrites() {
	m := map[int]int{}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 100_000 {
				m[j] = i
			}
		})
	}
	all.Wait()
}

func change(ctx context.Context, c client.Client, m *corev1.ConfigMap, value string) error {
	m.Data = maps.Clone(m.Data)
	m.Data["k"] = value
	return c.Update(ctx, m)
}

// controllers are the systems by their names.
func controllers() map[string]setUp {
	answers, waits := answering(), silent()
	all := map[string]setUp{
		// What ends the process.
		"exit-0":          does(func() { os.Exit(0) }),
		"exit-1":          does(func() { os.Exit(1) }),
		"exit-3":          does(func() { os.Exit(3) }),
		"log-fatal":       does(func() { log.Fatal("it is over") }),
		"goroutine-panic": does(elsewhere(func() { panic("boom") })),
		"goroutine-nil":   does(elsewhere(func() { var m *corev1.ConfigMap; m.Name = "x" })),
		"goroutine-exit":  does(elsewhere(func() { os.Exit(0) })),
		"left-panic":      does(func() { go panic("left behind") }),
		"timer-panic":     does(func() { time.AfterFunc(time.Second, func() { panic("later") }) }),
		"stack-overflow":  does(func() { debug.SetMaxStack(64 << 20); _ = deep(0) }), // as a gigabyte takes long on a machine that is busy
		"map-writes":      does(concurrentWrites),
		"unlock":          does(func() { var mu sync.Mutex; mu.Unlock() }),
		"rw-unlock":       does(func() { var mu sync.RWMutex; mu.RUnlock() }),
		"segfault":        does(func() { debug.SetPanicOnFault(false); *(*int)(unsafe.Pointer(uintptr(16 << 30))) = 1 }),
		"small-stack":     does(func() { debug.SetMaxStack(1 << 16); _ = deep(0) }),
		"handler-exit":    handling(func() { os.Exit(0) }),
		"predicate-exit":  filtering(func() { os.Exit(0) }),
		"index-exit":      indexing(func() { os.Exit(0) }),
		"set-up-exit":     settingUp(func() { os.Exit(0) }),
		"set-up-go-panic": settingUp(elsewhere(func() { panic("in the set-up") })),
		"runnable-exit":   running(func(context.Context, client.Client) { os.Exit(0) }),
		"runnable-panic":  running(func(context.Context, client.Client) { panic("in a runnable") }),
		"runnable-go":     running(func(context.Context, client.Client) { elsewhere(func() { panic("in a goroutine of a runnable") })() }),
		"exit-second": reconciles(func(ctx context.Context, c client.Client, m *corev1.ConfigMap) error {
			if m.Data["k"] == "w" {
				os.Exit(0)
			}
			return change(ctx, c, m, "w")
		}),
		"defer-exit":      does(func() { defer os.Exit(0) }),
		"waitgroup-reuse": does(func() { var g sync.WaitGroup; g.Done() }),
		"close-closed":    does(elsewhere(func() { c := make(chan int); close(c); close(c) })),

		// What does not come back.
		"spin": does(spin),
		"busy": does(func() {
			for i := 0; ; i++ {
				_ = i
			}
		}),
		"block":        does(block),
		"deadlock":     does(func() { var mu sync.Mutex; mu.Lock(); mu.Lock() }),
		"goexit":       does(runtime.Goexit),
		"wait-forever": does(func() { var g sync.WaitGroup; g.Add(1); g.Wait() }),
		"endless-calls": reconciles(func(ctx context.Context, c client.Client, m *corev1.ConfigMap) error {
			for {
				if err := c.Get(ctx, key(), m); err != nil {
					return err
				}
			}
		}),
		"endless-writes": reconciles(func(ctx context.Context, c client.Client, m *corev1.ConfigMap) error {
			for i := 0; ; i++ {
				if err := change(ctx, c, m, fmt.Sprint(i)); err != nil {
					return err
				}
			}
		}),
		"handler-spin":    handling(spin),
		"handler-block":   handling(block),
		"handler-goexit":  handling(runtime.Goexit),
		"handler-panic":   handling(func() { panic("in a handler") }),
		"predicate-spin":  filtering(spin),
		"predicate-panic": filtering(func() { panic("in a predicate") }),
		"index-spin":      indexing(spin),
		"index-block":     indexing(block),
		"index-sleep":     indexing(sleep),
		"index-goexit":    indexing(runtime.Goexit),
		"index-panic":     indexing(func() { panic("in an index") }),
		"set-up-spin":     settingUp(spin),
		"set-up-block":    settingUp(block),
		"set-up-goexit":   settingUp(runtime.Goexit),
		"set-up-panic":    settingUp(func() { panic("in the set-up") }),
		"runnable-spin":   running(func(context.Context, client.Client) { spin() }),

		// What panics, errs or remembers.
		"panic":        does(func() { panic("boom") }),
		"panic-nil":    does(func() { panic(nil) }),
		"panic-error":  does(func() { panic(stubborn{}) }),
		"error-panics": reconciles(func(context.Context, client.Client, *corev1.ConfigMap) error { return stubborn{} }),
		"error-nil":    reconciles(func(context.Context, client.Client, *corev1.ConfigMap) error { var err *os.PathError; return err }),
		"error-always": reconciles(func(context.Context, client.Client, *corev1.ConfigMap) error { return errors.New("always") }),
		"error-huge": reconciles(func(context.Context, client.Client, *corev1.ConfigMap) error {
			return errors.New(strings.Repeat("x", 10<<20))
		}),
		"nil-object":  reconciles(func(ctx context.Context, c client.Client, _ *corev1.ConfigMap) error { return c.Update(ctx, nil) }),
		"nil-list":    reconciles(func(ctx context.Context, c client.Client, _ *corev1.ConfigMap) error { return c.List(ctx, nil) }),
		"nil-context": reconciles(func(_ context.Context, c client.Client, m *corev1.ConfigMap) error { return c.Get(nil, key(), m) }), //nolint:staticcheck // that is the point

		// What is shared with code outside of a run.
		"network-name": does(func() { _, _ = net.LookupHost("nobody.invalid") }),
		"network-refused": does(func() {
			if c, err := net.Dial("tcp", "127.0.0.1:1"); err == nil {
				_ = c.Close()
			}
		}),
		"network-packet": does(func() {
			if c, err := net.Dial("udp", "127.0.0.1:9"); err == nil {
				_, _ = c.Write([]byte("x"))
				_ = c.Close()
			}
		}),
		"network-http": reconciles(func(ctx context.Context, _ client.Client, _ *corev1.ConfigMap) error {
			return ask(ctx, "http://"+answers)
		}),
		"network-waits": does(func() {
			if c, err := net.Dial("tcp", waits); err == nil {
				_, _ = c.Read(make([]byte, 1))
			}
		}),
		"program": reconciles(func(ctx context.Context, _ client.Client, _ *corev1.ConfigMap) error {
			return exec.CommandContext(ctx, "true").Run()
		}),
		"standard-input": does(func() { _, _ = io.ReadAll(os.Stdin) }),
		"file":           does(func() { _, _ = os.ReadFile("/etc/hostname") }),
	}
	once := &sync.Once{}
	var lazy chan int
	all["lazy-channel"] = does(func() {
		once.Do(func() { lazy = make(chan int, 1) })
		select {
		case lazy <- 1:
		case <-lazy:
		}
	})
	all["lazy-ticker"] = func() setUp {
		var ticker *time.Ticker
		return does(func() {
			if ticker == nil {
				ticker = time.NewTicker(time.Second)
			}
			<-ticker.C
		})
	}()
	all["set-up-answers"] = func(mgr ctrl.Manager) error {
		questions, answers := make(chan string), make(chan string)
		go func() {
			for question := range questions {
				answers <- question + "!"
			}
		}()
		return ctrl.NewControllerManagedBy(mgr).Named("hostile").For(&corev1.ConfigMap{}).Complete(reading(mgr.GetClient(), func(ctx context.Context, c client.Client, m *corev1.ConfigMap) error {
			questions <- "v"
			if answer := <-answers; m.Data["k"] != answer {
				return change(ctx, c, m, answer)
			}
			return nil
		}))
	}
	all["set-up-goroutine"] = func(mgr ctrl.Manager) error {
		work, c := make(chan string, 1), mgr.GetClient()
		go func() {
			for value := range work {
				m := &corev1.ConfigMap{}
				if err := c.Get(context.Background(), key(), m); err == nil && m.Data["k"] != value {
					_ = change(context.Background(), c, m, value)
				}
			}
		}()
		return ctrl.NewControllerManagedBy(mgr).Named("hostile").For(&corev1.ConfigMap{}).Complete(reading(c, func(context.Context, client.Client, *corev1.ConfigMap) error {
			work <- "w"
			return nil
		}))
	}
	return all
}

// answering is the address of a server that answers.
func answering() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		_ = http.Serve(l, http.NotFoundHandler())
	}()
	return l.Addr().String()
}

// silent is the address of a server that never answers.
func silent() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		var kept []net.Conn
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			kept = append(kept, c)
		}
		runtime.KeepAlive(kept)
	}()
	return l.Addr().String()
}

// ask sends a request, and forgets the answer.
func ask(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

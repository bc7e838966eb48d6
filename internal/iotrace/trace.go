package iotrace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"runtime/debug"
	"runtime/trace"
	"slices"
	"strings"
	"sync"

	exp "golang.org/x/exp/trace"

	"github.com/orrery-dev/orrery/internal/lookup"
)

// Kind says what was done.
type Kind uint8

// What is told apart.
const (
	// Network is a connection, a packet, or a wait for either.
	Network Kind = iota
	// Process is another process that was started.
	Process
	// File is a file that was looked for or read. That one is written is no part of it: code that logs does so all the
	// time.
	File
)

// Deed is something that was done, and where in the code.
type Deed struct {
	Kind Kind
	// Where is the innermost function that is not of the standard library, with its place:
	// "main.(*Reconciler).Reconcile (controllers/web.go:42)". Where there is none, it is the outermost one.
	Where string
}

// tracing guards the execution tracer, of which the runtime has one.
var tracing sync.Mutex

// ErrBusy tells that the execution is being traced by somebody else.
var ErrBusy = errors.New("the execution is traced already")

// Trace runs a function, and returns what was done by the goroutines that it started, and those that they started, in
// order of kinds and places; without what is done in a function whose name contains one of some texts, and by
// goroutines that were started there.
func Trace(run func() error, without ...string) ([]Deed, error) {
	tracing.Lock()
	defer tracing.Unlock()
	var text bytes.Buffer
	if err := trace.Start(&text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBusy, err)
	}
	trace.Log(context.Background(), mark, "")
	err := run()
	trace.Stop()
	if err != nil {
		return nil, err
	}
	return read(&text, without)
}

// mark is the message that tells which goroutine traces.
const mark = "orrery traces a run"

// follower follows the goroutines of a run through a trace.
type follower struct {
	without []string
	modules modules
	// root is who traces, and families are the goroutines that come from it, each with the stack on which it was
	// started and those behind it.
	root     exp.GoID
	families map[exp.GoID][]place
	found    map[Deed]bool
}

// place is a function, and where in it.
type place struct {
	function, file string
	line           uint64
}

// read reads a trace.
func read(text io.Reader, without []string) ([]Deed, error) {
	events, err := exp.NewReader(text)
	if err != nil {
		return nil, fmt.Errorf("the trace of a run cannot be read: %w", err)
	}
	f := follower{without: without, modules: built(), root: exp.NoGoroutine, families: map[exp.GoID][]place{}, found: map[Deed]bool{}}
	for {
		event, err := events.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the trace of a run cannot be read: %w", err)
		}
		f.follow(event)
	}
	deeds := make([]Deed, 0, len(f.found))
	for deed := range f.found {
		deeds = append(deeds, deed)
	}
	slices.SortFunc(deeds, func(a, b Deed) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Where, b.Where)) })
	return deeds, nil
}

func (f *follower) follow(event exp.Event) {
	if event.Kind() == exp.EventLog && event.Log().Category == mark {
		f.root = event.Goroutine()
		return
	}
	if event.Kind() != exp.EventStateTransition || f.root == exp.NoGoroutine {
		return
	}
	transition := event.StateTransition()
	if transition.Resource.Kind != exp.ResourceGoroutine {
		return
	}
	from, to := transition.Goroutine()
	by := event.Goroutine()
	behind, inside := f.families[by]
	if !inside && by != f.root {
		return
	}
	stack := append(placesOf(event.Stack()), behind...)
	switch {
	case f.leavesOut(stack):
	case from == exp.GoNotExist:
		f.families[transition.Resource.Goroutine()] = stack
	case !inside:
	case to == exp.GoSyscall || to == exp.GoWaiting && transition.Reason == "network":
		if kind, known := f.modules.kindOf(stack); known {
			f.found[Deed{kind, f.modules.where(stack)}] = true
		}
	}
}

func placesOf(stack exp.Stack) []place {
	var places []place
	for frame := range stack.Frames() {
		places = append(places, place{frame.Func, frame.File, frame.Line})
	}
	return places
}

// leavesOut reports whether a stack is in what does not count.
func (f *follower) leavesOut(stack []place) bool {
	return slices.ContainsFunc(stack, func(p place) bool {
		return slices.ContainsFunc(f.without, func(text string) bool { return strings.Contains(p.function, text) })
	})
}

// kindOf returns what a stack of a system call or a wait is about, and false for what is not told.
func (m modules) kindOf(stack []place) (Kind, bool) {
	for _, p := range stack {
		switch dir := packageOf(p.function); {
		case dir == "net":
			return Network, true
		case dir == "os/exec", p.function == "os.StartProcess", p.function == "syscall.StartProcess", strings.HasPrefix(p.function, "os.(*Process)"):
			return Process, true
		case dir == "os" && (strings.HasPrefix(p.function, "os.(*File).Write") || strings.HasPrefix(p.function, "os.(*File).Close") || strings.HasPrefix(p.function, "os.(*file).close")):
			return 0, false
		case dir == "time": // reads time zones
			return 0, false
		case !m.standard(dir):
			return File, slices.ContainsFunc(stack, func(p place) bool { return packageOf(p.function) == "os" })
		}
	}
	return 0, false
}

// where says where in the code a stack is: in the program's own module, or else outside of the standard library.
func (m modules) where(stack []place) string {
	i := slices.IndexFunc(stack, func(p place) bool { return m.own(packageOf(p.function)) })
	if i < 0 {
		i = slices.IndexFunc(stack, func(p place) bool { return !m.standard(packageOf(p.function)) })
	}
	if i < 0 {
		i = len(stack) - 1
	}
	p := stack[i]
	dir, file := filepath.Split(p.file)
	return fmt.Sprintf("%s (%s:%d)", p.function, path.Join(filepath.Base(dir), file), p.line)
}

// packageOf returns the import path of a function's package.
func packageOf(function string) string {
	dir, name := path.Split(function)
	name, _, _ = strings.Cut(name, ".")
	return dir + name
}

// modules are those of a program.
type modules struct {
	// main is the path of the program's own, empty if it is not known, and undotted are the paths of those that could
	// be of the standard library by their paths.
	main     string
	undotted []string
}

// built returns the modules of this program.
func built() modules {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return modules{}
	}
	m := modules{main: info.Main.Path}
	for _, of := range append(info.Deps, &info.Main) {
		if of.Path != "" && !domain(of.Path) {
			m.undotted = append(m.undotted, of.Path)
		}
	}
	return m
}

// domain reports whether the first element of an import path has a dot. Those of the standard library have none.
func domain(dir string) bool {
	first, _, _ := strings.Cut(dir, "/")
	return strings.Contains(first, ".")
}

// standard reports whether a package is of the standard library, or in the place of what is.
func (m modules) standard(dir string) bool {
	return dir == lookup.Package || !domain(dir) && dir != "main" && !slices.ContainsFunc(m.undotted, func(path string) bool { return in(dir, path) })
}

// own reports whether a package is of the program's own module.
func (m modules) own(dir string) bool {
	return !m.standard(dir) && (dir == "main" || m.main != "" && in(dir, m.main))
}

// in reports whether a package is in a module.
func in(dir, path string) bool { return dir == path || strings.HasPrefix(dir, path+"/") }

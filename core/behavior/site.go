package behavior

import (
	"path"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// site is where a call was made, as the program counters of its stack, innermost first. It is nil if nobody wants to
// know.
type site []uintptr

// deepest is how many frames of a stack are kept: those of clients, and of the controller that called them.
const deepest = 128

// Locate has the session find out where code makes the calls of the runs that it repeats from now on, which takes
// longer.
func (s *Session) Locate(sites *Sites) {
	s.located = sites
	s.locates.Store(true)
}

// site returns where the code is that makes a call.
func (s *Session) site() site {
	if !s.locates.Load() {
		return nil
	}
	var stack [deepest]uintptr
	const skipped = 3 // of this method, of the recorder, and of the runtime
	return append(site{}, stack[:runtime.Callers(skipped, stack[:])]...)
}

// locate tells where the call was made that is answered next.
func (s *Session) locate(node *Node) {
	if len(s.sites[s.turn]) > 0 {
		s.located.add(node, s.sites[s.turn])
	}
}

// Sites says where in the code of controllers calls are made: for each node of a behavior tree the innermost frame of
// the stack that is of no library. Whoever comes to the same node came the same way through the code.
type Sites struct {
	known map[*Node]*core.Site
	build build
}

// NewSites returns what says so for a system with some libraries, see [core.System]. It knows of no call yet.
func NewSites(libraries []string) *Sites {
	b := build{libraries: []*regexp.Regexp{ownPackages()}}
	for _, pattern := range libraries {
		b.libraries = append(b.libraries, packages(pattern))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.from(info)
	}
	return &Sites{known: map[*Node]*core.Site{}, build: b}
}

// from notes which modules a program was built from.
func (b *build) from(info *debug.BuildInfo) {
	b.main, b.command = info.Main.Path, info.Path
	for _, m := range info.Deps {
		b.modules = append(b.modules, m.Path)
	}
	slices.SortFunc(b.modules, func(m, n string) int { return len(n) - len(m) })
}

// Of returns where the call of a node is made, nil if that is not known.
func (s *Sites) Of(node *Node) *core.Site { return s.known[node] }

// add notes where the call of a node was made.
func (s *Sites) add(node *Node, stack site) {
	var all []runtime.Frame
	for frames := runtime.CallersFrames(stack); ; {
		frame, more := frames.Next()
		if all = append(all, frame); !more {
			break
		}
	}
	roots := s.build.roots(all)
	for _, frame := range aboveClients(all) {
		if site := s.build.site(frame.Function, frame.File, frame.Line, roots); site != nil {
			s.known[node] = site
			return
		}
	}
}

// aboveClients leaves out of a stack what carries the request of an HTTP client: transports that are put around others
// make no calls of their own.
func aboveClients(stack []runtime.Frame) []runtime.Frame {
	for i, frame := range slices.Backward(stack) {
		if strings.HasPrefix(frame.Function, "net/http.(*Client).") {
			return stack[i+1:]
		}
	}
	return stack
}

// build is what a program was built from.
type build struct {
	// main is the path of the main module, and command that of the package "main". modules are the paths of the others,
	// longest first. What is in none of them is of the standard library.
	main, command string
	modules       []string
	libraries     []*regexp.Regexp
}

// packageOf returns the import path of the package that a function is named after, without what tells external tests
// apart, its module, and the function as code names it. The module is empty for the standard library.
func (b build) packageOf(function, file string) (of, module, name string) {
	of, name = cutPackage(function)
	if of == "main" {
		of = b.command
	}
	if strings.HasSuffix(file, "_test.go") {
		of = strings.TrimSuffix(of, "_test")
	}
	if under(of, b.main) {
		return of, b.main, name
	}
	if i := slices.IndexFunc(b.modules, func(m string) bool { return under(of, m) }); i >= 0 {
		return of, b.modules[i], name
	}
	return of, "", name
}

// roots returns the folders of modules, as far as frames tell.
func (b build) roots(frames []runtime.Frame) map[string]string {
	roots := map[string]string{}
	for _, frame := range frames {
		of, module, _ := b.packageOf(frame.Function, frame.File)
		if module == "" || of == module {
			continue // a module may have any folder
		}
		if root, ok := strings.CutSuffix(path.Dir(frame.File), of[len(module):]); ok {
			roots[module] = root
		}
	}
	return roots
}

// site returns the line of a frame, nil if it is of a library. A function literal is named after the function that its
// code was inlined into, which may be one of another package: then the file says whose it is, if the folder of its
// module is known.
func (b build) site(function, file string, line int, roots map[string]string) *core.Site {
	of, module, name := b.packageOf(function, file)
	if module == "" {
		return nil
	}
	folder, root := path.Dir(file), roots[module]
	if !strings.HasSuffix(folder, of[len(module):]) || of == module && root != "" {
		if of, module = within(folder, roots); module == "" {
			return nil
		}
	}
	base := path.Base(file)
	if !strings.HasSuffix(base, "_test.go") && slices.ContainsFunc(b.libraries, func(l *regexp.Regexp) bool { return l.MatchString(of) }) {
		return nil
	}
	site := &core.Site{Module: module, File: path.Join(strings.TrimPrefix(of[len(module):], "/"), base), Line: line, Function: name}
	if module == b.main {
		site.Module = ""
	}
	return site
}

// within returns the package in a folder and its module, by the folders of modules: the innermost one.
func within(folder string, roots map[string]string) (of, module string) {
	for m, root := range roots {
		rest, ok := strings.CutPrefix(folder, root)
		if ok && (rest == "" || rest[0] == '/') && len(root) > len(roots[module]) {
			of, module = m+rest, m
		}
	}
	return of, module
}

// closures end the names of functions without a name of their own, of methods that are values, and of bodies of loops
// over functions.
var closures = regexp.MustCompile(`(\.func\d+|\.gowrap\d+|\.\d+|-range\d+|-fm)+$`)

// cutPackage returns the import path of a function's package, and the function with the package as code names it.
func cutPackage(function string) (of, name string) {
	begin := strings.LastIndexByte(function, '/') + 1
	end := strings.IndexByte(function[begin:], '.')
	if end < 0 {
		return "", ""
	}
	// The last element of an import path has its dots escaped.
	of = strings.ReplaceAll(function[:begin+end], "%2e", ".")
	return of, closures.ReplaceAllString(path.Base(of)+function[begin+end:], "")
}

// under reports whether a package is that of a path, or below it.
func under(of, where string) bool {
	rest, ok := strings.CutPrefix(of, where)
	return ok && where != "" && (rest == "" || rest[0] == '/' || rest == "_test")
}

// packages returns what matches the import paths that a pattern of the go command means.
func packages(pattern string) *regexp.Regexp {
	expression := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\.\.\.`, ".*")
	if all, ok := strings.CutSuffix(expression, "/.*"); ok {
		expression = all + "(/.*)?"
	}
	return regexp.MustCompile("^" + expression + "$")
}

// ownPackages matches the packages of this module that run controllers. Examples have controllers.
func ownPackages() *regexp.Regexp {
	module := strings.TrimSuffix(reflect.TypeFor[build]().PkgPath(), "/core/behavior")
	return regexp.MustCompile("^" + regexp.QuoteMeta(module) + "(/(core|adapters|record|cli|internal/supervisor)(/.*)?)?$")
}

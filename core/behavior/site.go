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

// site is where a call was made, as the program counters of its stack, innermost first. It is nil if nobody wants to know.
type site []uintptr

// deepest is how many frames of a stack are kept: those of clients, and of the controller that called them.
const deepest = 128

// Locate has the session find out where code makes the calls of the runs that it repeats from now on, which takes longer.
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
	if s.located != nil && len(s.sites[s.turn]) > 0 {
		s.located.add(node, s.sites[s.turn])
	}
}

// Sites says where in the code of controllers calls are made: for each node of a behavior tree the innermost frame of the stack that is of no library. Whoever comes to the same node
// came the same way through the code.
type Sites struct {
	known map[*Node]*core.Site
	build build
}

// NewSites returns what says so for a system with some libraries, see [core.System]. It knows of no call yet.
func NewSites(libraries []string) *Sites {
	b := build{libraries: []*regexp.Regexp{ownPackages()}, roots: map[string]string{}}
	if _, file, _, ok := runtime.Caller(0); ok {
		b.note(ownModule()+"/core/behavior", file)
	}
	for _, pattern := range libraries {
		b.libraries = append(b.libraries, packages(pattern))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.main, b.command = info.Main.Path, info.Path
		for _, m := range info.Deps {
			b.modules = append(b.modules, m.Path)
		}
		slices.SortFunc(b.modules, func(m, n string) int { return len(n) - len(m) })
	}
	return &Sites{known: map[*Node]*core.Site{}, build: b}
}

// Of returns where the call of a node is made, nil if that is not known.
func (s *Sites) Of(node *Node) *core.Site { return s.known[node] }

// add notes where the call of a node was made.
func (s *Sites) add(node *Node, stack site) {
	frames := runtime.CallersFrames(stack)
	for {
		frame, more := frames.Next()
		if of, _ := cutPackage(frame.Function); s.build.module(of) != "" {
			s.build.note(of, frame.File)
		}
		if site := s.build.site(frame.Function, frame.File, frame.Line); site != nil {
			s.known[node] = site
			return
		}
		if !more {
			return
		}
	}
}

// build is what a program was built from.
type build struct {
	// main is the path of the main module, and command that of the package "main". modules are the paths of the others, longest first. What is in none of them is of the
	// standard library.
	main, command string
	modules       []string
	libraries     []*regexp.Regexp
	// roots are the folders of modules, as far as known, by their paths.
	roots map[string]string
}

// module returns the path of the module that a package is in, "" for those of the standard library.
func (b build) module(of string) string {
	if under(of, b.main) {
		return b.main
	}
	if i := slices.IndexFunc(b.modules, func(m string) bool { return under(of, m) }); i >= 0 {
		return b.modules[i]
	}
	return ""
}

// note notes the folder of a package's module, if the file of a function is where the package is, below it.
func (b build) note(of, file string) {
	module := b.module(of)
	within := strings.TrimSuffix(strings.TrimPrefix(of, module), "_test")
	if root, ok := strings.CutSuffix(path.Dir(file), within); ok && within != "" && b.roots[module] == "" {
		b.roots[module] = root
	}
}

// written returns the package that a function was written in, by its file. The functions without a name that a function makes which was inlined into
// another package are told as of that package, but keep their file.
func (b build) written(of, file string) string {
	module, dir := b.module(of), path.Dir(file)
	if within := strings.TrimSuffix(of[len(module):], "_test"); within != "" && strings.HasSuffix(dir, within) {
		return of
	}
	for _, in := range []string{module, ownModule()} {
		if rest, ok := strings.CutPrefix(dir, b.roots[in]); ok && b.roots[in] != "" && (rest == "" || rest[0] == '/') && !strings.HasPrefix(rest, "/vendor/") {
			return in + rest
		}
	}
	return of
}

// site returns the line of a frame, nil if it is of a library.
func (b build) site(function, file string, line int) *core.Site {
	of, name := cutPackage(function)
	if of == "main" {
		of = b.command
	}
	if b.module(of) == "" {
		return nil
	}
	of = b.written(of, file)
	module := b.module(of)
	base := path.Base(file)
	if test := strings.HasSuffix(base, "_test.go"); test {
		of = strings.TrimSuffix(of, "_test")
	} else if slices.ContainsFunc(b.libraries, func(l *regexp.Regexp) bool { return l.MatchString(of) }) {
		return nil
	}
	site := &core.Site{Module: module, File: path.Join(strings.TrimPrefix(of[len(module):], "/"), base), Line: line, Function: name}
	if module == b.main {
		site.Module = ""
	}
	return site
}

// closures end the names of functions without a name of their own, of methods that are values, and of bodies of loops over functions.
var closures = regexp.MustCompile(`(\.func\d+|\.gowrap\d+|\.\d+|-range\d+|-fm)+$`)

// cutPackage returns the import path of a function's package, and the function with the package as code names it.
func cutPackage(function string) (of, name string) {
	begin := strings.LastIndexByte(function, '/') + 1
	end := strings.IndexByte(function[begin:], '.')
	if end < 0 {
		return function, function
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

// ownModule returns the path of this module.
func ownModule() string {
	return strings.TrimSuffix(reflect.TypeFor[build]().PkgPath(), "/core/behavior")
}

// ownPackages matches the packages of this module that run controllers. Examples have controllers.
func ownPackages() *regexp.Regexp {
	module := ownModule()
	return regexp.MustCompile("^" + regexp.QuoteMeta(module) + "(/(core|adapters|record|cli|internal/supervisor)(/.*)?)?$")
}

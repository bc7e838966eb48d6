// Package pins finds out where a build has other versions of Kubernetes' libraries than a module with controllers
// requires: a build has one version of each, the newest that any of its modules asks for.
package pins

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// libraries are the modules whose behavior controllers depend on.
var libraries = []string{"sigs.k8s.io/controller-runtime", "k8s.io/client-go", "k8s.io/apimachinery", "k8s.io/api"}

// Raised says which of Kubernetes' libraries are newer in this build than the modules require that values come from,
// such as reconcilers: a sentence for each module. A module whose go.mod is not at hand, in the module cache or where
// it is replaced, is left out, and so is the main module: its go.mod was changed when the version was raised.
func Raised(values ...any) []string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return raised(build, moduleCache(), values)
}

// raised is as [Raised] for a build and a module cache.
func raised(build *debug.BuildInfo, cache string, values []any) []string {
	var all []string
	for _, value := range values {
		m := moduleOf(build, packageOf(value))
		if m == nil || slices.Contains(libraries, m.Path) {
			continue
		}
		required := requirements(m, cache)
		var newer []string
		for _, library := range libraries {
			if has := version(build, library); required[library] != "" && semver.Compare(has, required[library]) > 0 {
				newer = append(newer, fmt.Sprintf("%s %s (here %s)", library, required[library], has))
			}
		}
		if len(newer) == 0 {
			continue
		}
		text := fmt.Sprintf("%s %s requires %s: it is checked with newer versions than it is released with.", m.Path, m.Version, strings.Join(newer, ", "))
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// AtLeast reports whether this build has some version of a module, or a later one. Where nobody knows, it has not.
func AtLeast(path, least string) bool {
	build, ok := debug.ReadBuildInfo()
	return ok && semver.Compare(version(build, path), least) >= 0
}

// packageOf returns the path of the package that the type of a value is declared in, or the value itself if it is a
// function. It is empty if there is none.
func packageOf(value any) string {
	v := reflect.ValueOf(value)
	if !v.IsValid() {
		return ""
	}
	if v.Kind() == reflect.Func && !v.IsNil() {
		name := runtime.FuncForPC(v.Pointer()).Name()
		folder, file := "", name
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			folder, file = name[:i+1], name[i+1:]
		}
		file, _, _ = strings.Cut(file, ".")
		return folder + file
	}
	t := v.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}

// moduleOf returns the dependency that has a package, nil if none has.
func moduleOf(build *debug.BuildInfo, path string) *debug.Module {
	var found *debug.Module
	for _, m := range build.Deps {
		if (path == m.Path || strings.HasPrefix(path, m.Path+"/")) && (found == nil || len(m.Path) > len(found.Path)) {
			found = m
		}
	}
	return found
}

// version returns the version of a module in a build, empty if it has none.
func version(build *debug.BuildInfo, path string) string {
	for _, m := range build.Deps {
		if m.Path == path {
			return replaced(m).Version
		}
	}
	return ""
}

// replaced returns what a module is replaced with, or the module.
func replaced(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

// requirements returns the versions that the go.mod of a module requires, none if it is not at hand.
func requirements(m *debug.Module, cache string) map[string]string {
	m = replaced(m)
	file := filepath.Join(m.Path, "go.mod")
	if m.Version != "" {
		path, err := module.EscapePath(m.Path)
		if err != nil || cache == "" {
			return nil
		}
		escaped, err := module.EscapeVersion(m.Version)
		if err != nil {
			return nil
		}
		file = filepath.Join(cache, "cache", "download", filepath.FromSlash(path), "@v", escaped+".mod")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	parsed, err := modfile.ParseLax(file, text, nil)
	if err != nil {
		return nil
	}
	required := map[string]string{}
	for _, r := range parsed.Require {
		required[r.Mod.Path] = r.Mod.Version
	}
	return required
}

// moduleCache returns where the go command keeps modules, empty if nobody knows.
func moduleCache() string {
	if cache := os.Getenv("GOMODCACHE"); cache != "" {
		return cache
	}
	if path := filepath.SplitList(os.Getenv("GOPATH")); len(path) > 0 {
		return filepath.Join(path[0], "pkg", "mod")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, "go", "pkg", "mod")
}

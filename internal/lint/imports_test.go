package lint

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// place is a place in the house: one folder, or with a trailing "/..." all folders
// below one.
type place struct {
	folder string
	// imports are the places it may import, besides those of its own subtree.
	imports []string
	// outside tells which modules of others it may import.
	outside outside
}

// outside is what a package may import besides the house and the standard library.
type outside int

const (
	nothing    outside = iota // only the standard library
	libraries                 // anything but Kubernetes
	kubernetes                // anything
)

// house is the house: imports point inwards, towards core. The first place that a
// folder is in counts.
func house() []place {
	engine := []string{"core", "core/state", "core/behavior", "core/view", "core/effort", "core/scc", "core/explore"}
	public := []string{".", "core/...", "properties/...", "catalog", "record/...", "bench", "adapters/...", "cli"}
	kube := []string{
		"core", "adapters/kube/fieldrules", "adapters/kube/kindrules", "adapters/kube/internal/jsontree", "adapters/kube/internal/kinds",
		"adapters/kube/internal/storage", "adapters/kube/internal/validation", "adapters/kube/internal/builtin",
	}
	words := []string{"internal/typo", "internal/excerpt"}
	return []place{
		{"core", nil, nothing},
		{"core/state", engine[:1], nothing},
		{"core/behavior", append([]string{"internal/finalizers", "internal/goroutine", "internal/cputime", "internal/lookup"}, engine[:2]...), libraries},
		{"core/view", engine[:3], nothing},
		{"core/effort", engine[:1], libraries},
		{"core/scc", nil, nothing},
		{"core/internal/store", engine[:1], nothing},
		{"core/internal/calendar", nil, nothing},
		{"core/internal/inventory", engine[:1], nothing},
		{"core/internal/memo", engine[:3], nothing},
		{"core/internal/memories", nil, nothing},
		{"core/internal/periodic", nil, nothing},
		{"core/internal/stepcache", engine[:2], nothing},
		{"core/internal/tally", nil, nothing},
		{"core/internal/wording", nil, nothing},
		{"core/internal/transition", append([]string{"internal/iotrace", "core/internal/calendar", "core/internal/memo", "core/internal/memories", "core/internal/stepcache", "core/internal/tally", "internal/goroutine"}, engine[:4]...), libraries},
		{"core/internal/reduction", append([]string{"internal/bitset", "core/internal/stepcache", "core/internal/transition"}, engine[:4]...), nothing},
		{"core/explore", append([]string{"internal/bitset", "internal/goroutine", "internal/grace", "internal/iotrace", "internal/lookup", "internal/resident", "core/internal/..."}, engine[:6]...), libraries},
		{"reduction", []string{"internal/bitset", "core", "core/explore"}, nothing},
		{"properties/specification", append([]string{"core", "properties/..."}, words...), kubernetes},
		{"properties/cel", append([]string{"core", "properties", "properties/ltl"}, words...), kubernetes},
		{"properties/...", append([]string{"internal/bitset", "core", "core/effort", "core/scc", "properties/internal/..."}, words...), libraries},
		{"catalog", []string{"core"}, libraries},
		{"record/live", []string{"core", "record/internal/block"}, libraries},
		{"record/live/analysis", []string{"core", "record/live"}, libraries},
		{"record/graph", []string{"core", "core/scc", "record"}, libraries},
		{"record/checkpoint", []string{"internal/filelock", "record/atomicfile", "record/internal/block"}, libraries},
		{"record/atomicfile", []string{"internal/filelock"}, nothing},
		{"record/live/redact", []string{"core"}, libraries},
		{"record/live/spans", []string{"record/live", "record/live/analysis"}, libraries},
		{"record/live/foreign", []string{"core", "record/live", "record/live/redact"}, libraries},
		{"record/live/replay", []string{"core", "core/state", "core/behavior", "record/live", "record/live/analysis"}, libraries},
		{"record/...", []string{"core"}, libraries},
		{"bench", []string{"core"}, nothing},
		{"adapters/kube/cluster", []string{"core", "adapters/kube", "adapters/kube/internal/storage"}, kubernetes},
		{"adapters/kube/controlplane", []string{"internal/filelock"}, kubernetes},
		{"adapters/kube/transport", []string{"core", "adapters/kube", "internal/goroutine"}, kubernetes},
		{"adapters/kube/fieldrules", nil, kubernetes},
		{"adapters/kube/kindrules", nil, kubernetes},
		{"adapters/kube/internal/jsontree/...", nil, kubernetes},
		{"adapters/kube/internal/kinds", kube[:4], kubernetes},
		{"adapters/kube/internal/storage", kube[:5], kubernetes},
		{"adapters/kube/internal/plaintext", nil, nothing},
		{"adapters/kube/internal/randomness", []string{"core", "adapters/kube/internal/plaintext"}, kubernetes},
		{"adapters/kube/internal/validation", kube[:5], kubernetes},
		{"adapters/kube/internal/apply", kube[:6], kubernetes},
		{"adapters/kube/internal/builtin", kube[:7], kubernetes},
		{"adapters/kube/internal/canonical", append([]string{"adapters/kube/internal/plaintext", "adapters/kube/internal/randomness"}, kube[:8]...), kubernetes},
		{"adapters/kube/companions", []string{"core", "adapters/kube", "adapters/kube/scenario", "adapters/kube/internal/jsontree", "adapters/kube/internal/storage"}, kubernetes},
		{"adapters/kube/recorded", []string{"core", "adapters/kube", "record/live", "record/live/analysis"}, kubernetes},
		{"adapters/kube/standin", []string{"core", "adapters/kube", "adapters/kube/internal/storage", "adapters/kube/transport"}, kubernetes},
		{"adapters/kube/...", []string{"core", "adapters/kube/...", "record/live"}, kubernetes},
		{"adapters/kube/players", append([]string{"adapters/kube", "adapters/kube/internal/builtin"}, kube[:6]...), kubernetes},
		{"adapters/kube/scenario", []string{"core", "adapters/kube", "adapters/kube/transport"}, kubernetes},
		{"adapters/internal/informer", []string{"core", "adapters/kube", "adapters/kube/transport"}, kubernetes},
		{"adapters/internal/webhook", []string{"core", "adapters/kube", "internal/finalizers"}, kubernetes},
		{"adapters/internal/memory", []string{"core"}, nothing},
		{"adapters/internal/pins", nil, libraries},
		{"adapters/internal/metrics", []string{"internal/goroutine"}, libraries},
		{"adapters/external", []string{"core", "internal/goroutine"}, kubernetes}, // of which it knows what a configuration is
		{"adapters/external/remote", []string{"core", "adapters/external", "adapters/kube", "adapters/kube/scenario", "adapters/kube/transport"}, kubernetes},
		{"adapters/external/...", []string{"core", "adapters/external"}, kubernetes},
		{"adapters/internal/system", []string{"core", "adapters/external", "adapters/kube", "adapters/kube/companions", "adapters/kube/players", "adapters/kube/scenario", "adapters/internal/informer", "adapters/internal/pins", "adapters/internal/webhook", "internal/goroutine", "record/live"}, kubernetes},
		{"adapters/controllerruntime", []string{"core", "adapters/external", "adapters/kube", "adapters/kube/transport", "adapters/kube/companions", "adapters/kube/scenario", "adapters/internal/..."}, kubernetes},
		{"adapters/clientgo", []string{"core", "adapters/external", "adapters/kube", "adapters/kube/transport", "adapters/kube/companions", "adapters/kube/scenario", "adapters/internal/...", "internal/goroutine"}, kubernetes},
		{"adapters/knative", []string{"internal/goroutine", "adapters/clientgo"}, kubernetes},
		{"adapters/observe", []string{"core", "internal/goroutine", "record/live", "record/live/redact"}, kubernetes},
		{"adapters/observe/bucket", nil, libraries},
		{"adapters/internal/story", []string{"core"}, nothing},
		{"adapters/text", []string{"core", "adapters/internal/story"}, libraries},
		{"adapters/inspect", []string{"core", "record", "record/graph", "adapters/internal/story"}, libraries},
		{"adapters/page", []string{"core", "record", "record/graph", "record/live/analysis", "adapters/internal/story"}, libraries},
		{"adapters/dot", []string{"core", "record/live/analysis", "adapters/internal/story"}, libraries},
		{"adapters/export", []string{"core", "adapters/internal/story", "adapters/text"}, libraries},
		{"adapters/...", []string{"core"}, libraries},
		{".", append([]string{"properties/...", "reduction", "record/...", "adapters/text", "adapters/page", "adapters/dot", "internal/typo", "internal/goroutine", "internal/grace", "internal/regression", "internal/resident", "internal/supervisor"}, engine...), libraries},
		{"cli", append([]string{"internal/typo", "internal/grace", "internal/regression", "internal/resident", "internal/scaffold", "internal/supervisor"}, public...), libraries},
		{"cmd/...", append([]string{"examples/..."}, public...), libraries},
		{"examples/leases/check", []string{"cli", "examples/leases"}, nothing},                 // the main of a tutorial
		{"examples/live", append([]string{"examples/jobset/operator"}, public...), kubernetes}, // the same operator, recorded
		{"examples/...", public, kubernetes},
		{"internal/naive", []string{"core"}, libraries},
		{"internal/random", []string{"core", "adapters/plain", "internal/naive"}, libraries},
		{"internal/bitset", nil, nothing},
		{"internal/cputime", nil, nothing},
		{"internal/filelock", nil, nothing},
		{"internal/goroutine", nil, nothing},
		{"internal/grace", []string{"internal/goroutine"}, nothing},
		{"internal/finalizers", nil, nothing},
		{"internal/iotrace", []string{"internal/lookup"}, libraries},
		{"internal/lookup", []string{"internal/goroutine"}, nothing},
		{"internal/supervisor", engine[:1], libraries},
		{"internal/regression", nil, libraries},
		{"internal/scaffold", nil, libraries},
		{"internal/typo", nil, nothing},
		{"internal/excerpt", nil, nothing},
		{"internal/lint", nil, nothing},
		{"internal/mutation", nil, libraries},
		{"internal/resident", nil, nothing},
		{"internal/readme", public, kubernetes},
		{"internal/incident", public, kubernetes},
		{"internal/tutorial", nil, libraries},
	}
}

// isIn reports whether a folder is in a place.
func isIn(folder, where string) bool {
	if below, all := strings.CutSuffix(where, "/..."); all {
		return folder == below || strings.HasPrefix(folder, below+"/")
	}
	return folder == where
}

// placeOf returns where in the house a folder is.
func placeOf(folder string) (place, bool) {
	all := house()
	i := slices.IndexFunc(all, func(p place) bool { return isIn(folder, p.folder) })
	if i < 0 {
		return place{}, false
	}
	return all[i], true
}

// checkImports holds imports against the directions of the house. Tests may import
// anything that is not a command.
func checkImports(t *tree, complain complain) {
	for _, f := range t.source(true) {
		from, known := placeOf(f.folder())
		if !known {
			continue // a complaint of its own
		}
		for _, spec := range f.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			to, ours := inHouse(imported)
			switch {
			case ours && isIn(to, "cmd/..."):
				complain(t.at(spec), "nobody imports a command")
			case f.isTest():
			case ours && !from.mayImport(f.folder(), to):
				complain(t.at(spec), "%s must not import %s: imports point inwards, towards core", f.folder(), to)
			case !ours && from.outside < kindOfOutside(imported):
				complain(t.at(spec), "%s must not depend on %s", f.folder(), imported)
			}
		}
	}
}

func (p place) mayImport(folder, to string) bool {
	if strings.HasPrefix(to, folder+"/") {
		return true
	}
	return slices.ContainsFunc(p.imports, func(where string) bool { return isIn(to, where) })
}

// inHouse returns the folder of a package of ours, and false for one of others.
func inHouse(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// kindOfOutside tells what sort of package one of others is.
func kindOfOutside(imported string) outside {
	host, _, _ := strings.Cut(imported, "/")
	switch {
	case !strings.Contains(host, "."):
		return nothing
	case host == "k8s.io" || host == "sigs.k8s.io":
		return kubernetes
	}
	return libraries
}

// checkPlaces wants every package to have a place in the house, and the page on the
// architecture to name it or a folder that it is in.
func checkPlaces(t *tree, complain complain) {
	var page string
	for _, f := range t.files {
		if f.path == "docs/architecture.md" {
			page = string(f.text)
		}
	}
	for _, files := range t.packages() {
		folder := files[0].folder()
		if _, known := placeOf(folder); !known {
			complain(folder, "the package has no place in the house: give it one in internal/lint/imports_test.go")
		}
		named := folder == "."
		for above := folder; above != "."; above = path.Dir(above) {
			named = named || strings.Contains(page, "`"+above+"`")
		}
		if !named {
			complain(folder, "docs/architecture.md does not name the package: say what is in it")
		}
	}
}

// checkNames refuses names of packages and files that say nothing.
func checkNames(t *tree, complain complain) {
	empty := []string{"util", "utils", "common", "types", "helper", "helpers", "misc", "base", "shared"}
	for _, f := range t.source(true) {
		if slices.Contains(empty, f.syntax.Name.Name) {
			complain(t.at(f.syntax.Name), "%q says nothing: name a package after a noun of the field", f.syntax.Name.Name)
		}
		if name := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test"); slices.Contains(empty, name) {
			complain(f.path, "%q says nothing: name a file after the concept in it", name)
		}
	}
}

package behavior

import (
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestModules has the modules of a program be those that it was built from, the longest path first.
func TestModules(t *testing.T) {
	if libraries := NewSites([]string{"a.b/c/..."}).build.libraries; len(libraries) != 2 || !libraries[1].MatchString("a.b/c/d") || libraries[1].MatchString("a.b") {
		t.Errorf("the libraries are %v", libraries)
	}
	var b build
	b.from(&debug.BuildInfo{Path: "example.com/shop/cmd", Main: debug.Module{Path: "example.com/shop"}, Deps: []*debug.Module{{Path: "a.b/c"}, {Path: "a.b/c/d"}, {Path: "a.b"}}})
	if want := []string{"a.b/c/d", "a.b/c", "a.b"}; b.main != "example.com/shop" || b.command != "example.com/shop/cmd" || !slices.Equal(b.modules, want) {
		t.Errorf("it is %s of %s, with %v", b.command, b.main, b.modules)
	}
}

// TestInnermostFrame has a call be put down to the innermost frame of its stack that is of no library, however deep
// that is.
func TestInnermostFrame(t *testing.T) {
	sites, node := NewSites(nil), new(Node)
	stack := make(site, 8)
	stack = stack[:runtime.Callers(0, stack)] // that of the runtime comes first
	sites.add(node, stack)
	if found := sites.Of(node); found == nil || found.Function != "behavior.TestInnermostFrame" || found.File != "core/behavior/site_test.go" {
		t.Errorf("the call is made at %+v", found)
	}
	unknown := new(Node)
	if sites.add(unknown, stack[:1]); sites.Of(unknown) != nil {
		t.Errorf("what is only called by libraries is made at %+v", sites.Of(unknown))
	}
}

// TestAboveClients leaves out transports that a program puts around others, and nothing where there is no HTTP client.
func TestAboveClients(t *testing.T) {
	stack := func(functions ...string) (frames []runtime.Frame) {
		for _, function := range functions {
			frames = append(frames, runtime.Frame{Function: function})
		}
		return frames
	}
	call := stack("k8s.io/client-go/rest.(*Request).Do", "example.com/shop.(*Reconciler).Reconcile")
	below := stack("example.com/shop.counting.RoundTrip", "net/http.send", "net/http.(*Client).do", "net/http.(*Client).Do")
	for _, test := range [][]runtime.Frame{slices.Concat(below, call), slices.Concat(below, below, call), call} {
		if got := aboveClients(test); !reflect.DeepEqual(got, call) {
			t.Errorf("%v asks in %v", test, got)
		}
	}
}

// TestSites checks which frames are of controllers, and how their lines are named.
func TestSites(t *testing.T) {
	b := build{
		main: "example.com/shop", command: "example.com/shop/cmd/manager", modules: []string{"example.com/shop-tools", "sigs.k8s.io/controller-runtime", "github.com/orrery-dev/orrery", "gopkg.in/web.v2", "example.com"},
		libraries: []*regexp.Regexp{ownPackages(), packages("sigs.k8s.io/controller-runtime/..."), packages(".../clientset/versioned/...")},
	}
	roots := b.roots([]runtime.Frame{
		{Function: "example.com/shop/internal/controller.Start", File: "/src/shop/internal/controller/shop.go"},
		{Function: "example.com/shop/internal/controller.Start.Change[...].func2", File: "/orrery/adapters/kube/scenario/scenario.go"},
		{Function: "github.com/orrery-dev/orrery/core/behavior.contain.func1", File: "/orrery/core/behavior/contain.go"},
		{Function: "example.com/shop.Run", File: "/src/shop/run.go"},
		{Function: "example.com/shop.Run.Fix[...].func2", File: "/elsewhere/fix.go"},
		{Function: "runtime.goexit", File: "/usr/local/go/src/runtime/asm_amd64.s"},
	})
	if want := map[string]string{"example.com/shop": "/src/shop", "github.com/orrery-dev/orrery": "/orrery"}; !maps.Equal(roots, want) {
		t.Errorf("the modules are in %v", roots)
	}
	for _, test := range []struct {
		function, file string
		want           core.Site
	}{
		{"example.com/shop/internal/controller.(*Reconciler).Reconcile", "/src/shop/internal/controller/shop.go", core.Site{File: "internal/controller/shop.go", Function: "controller.(*Reconciler).Reconcile"}},
		{"example.com/shop/internal/controller.(*Reconciler).Reconcile.func1.2", "example.com/shop/internal/controller/shop.go", core.Site{File: "internal/controller/shop.go", Function: "controller.(*Reconciler).Reconcile"}},
		{"example.com/shop/internal/controller.Each[...].func1", "C:/shop/internal/controller/shop.go", core.Site{File: "internal/controller/shop.go", Function: "controller.Each[...]"}},
		{"example.com/shop/internal/controller_test.TestAll", "/src/shop/internal/controller/all_test.go", core.Site{File: "internal/controller/all_test.go", Function: "controller_test.TestAll"}},
		{"main.run", "/src/shop/cmd/manager/run.go", core.Site{File: "cmd/manager/run.go", Function: "main.run"}},
		{"example.com/shop.Run", "/src/shop/run.go", core.Site{File: "run.go", Function: "shop.Run"}},
		{"example.com/shop-tools/fix.Now", "/modules/example.com/shop-tools@v1.2.3/fix/now.go", core.Site{Module: "example.com/shop-tools", File: "fix/now.go", Function: "fix.Now"}},
		{"gopkg.in/web%2ev2.Get", "/modules/gopkg.in/web.v2@v2.0.0/get.go", core.Site{Module: "gopkg.in/web.v2", File: "get.go", Function: "web.v2.Get"}},
		{"github.com/orrery-dev/orrery/examples/toggle.(*Savings).Reconcile", "/x/examples/toggle/toggle.go", core.Site{Module: "github.com/orrery-dev/orrery", File: "examples/toggle/toggle.go", Function: "toggle.(*Savings).Reconcile"}},
		{"sigs.k8s.io/controller-runtime/pkg/client.(*client).Update", "/x/pkg/client/client.go", core.Site{}},
		{"sigs.k8s.io/controller-runtime.Request", "/x/alias.go", core.Site{}},
		{"example.com/shop/pkg/clientset/versioned/typed/shop/v1.(*shops).Update", "/x/pkg/clientset/versioned/typed/shop/v1/shop.go", core.Site{}},
		{"github.com/orrery-dev/orrery/adapters/kube/transport.(*Run).Do", "/x/adapters/kube/transport/run.go", core.Site{}},
		{"github.com/orrery-dev/orrery.Run", "/x/run.go", core.Site{}},
		{"net/http.(*Client).Do", "/usr/local/go/src/net/http/client.go", core.Site{}},
		{"runtime.goexit", "/usr/local/go/src/runtime/asm_amd64.s", core.Site{}},
		{"", "", core.Site{}},
		// Function literals of code that was inlined are named after where.
		{"example.com/shop/internal/controller.Start.Change[...].func2", "/orrery/adapters/kube/scenario/scenario.go", core.Site{}},
		{"github.com/orrery-dev/orrery/adapters/kube/scenario.Do.Fix[...].func1", "/src/shop/internal/fix/fix.go", core.Site{File: "internal/fix/fix.go", Function: "scenario.Do.Fix[...]"}},
		{"gopkg.in/web%2ev2_test.TestAll.Fix[...].func1", "/src/shop/internal/fix/fix.go", core.Site{File: "internal/fix/fix.go", Function: "web.v2_test.TestAll.Fix[...]"}},
		{"example.com/shop.Start.Fix[...].func2", "/src/shop/internal/fix/fix.go", core.Site{File: "internal/fix/fix.go", Function: "shop.Start.Fix[...]"}},
		{"example.com/shop/internal/controller.Start.Twice[...].func2", "/elsewhere/twice.go", core.Site{}},
	} {
		got := b.site(test.function, test.file, 7, roots)
		if got == nil {
			got = &core.Site{}
		}
		if test.want != (core.Site{}) {
			test.want.Line = 7
		}
		if *got != test.want {
			t.Errorf("%s in %s: %+v, want %+v", test.function, test.file, *got, test.want)
		}
	}
}

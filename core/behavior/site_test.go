package behavior

import (
	"regexp"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestSites checks which frames are of controllers, and how their lines are named.
func TestSites(t *testing.T) {
	b := build{
		main: "example.com/shop", command: "example.com/shop/cmd/manager", modules: []string{"example.com/shop-tools", "sigs.k8s.io/controller-runtime", "github.com/orrery-dev/orrery", "gopkg.in/web.v2", "example.com"},
		libraries: []*regexp.Regexp{ownPackages(), packages("sigs.k8s.io/controller-runtime/..."), packages(".../clientset/versioned/...")},
	}
	b.roots = map[string]string{}
	b.note("example.com/shop/internal/controller", "/src/shop/internal/controller/shop.go")
	b.note("github.com/orrery-dev/orrery/core/behavior", "/modules/github.com/orrery-dev/orrery@v1.0.0/core/behavior/site.go")
	for _, test := range []struct {
		function, file string
		want           core.Site
	}{
		// Inlined from other packages.
		{"example.com/shop/internal/controller.(*Reconciler).Reconcile.Each[...].func1", "/src/shop/internal/each/each.go", core.Site{File: "internal/each/each.go", Function: "controller.(*Reconciler).Reconcile.Each[...]"}},
		{"example.com/shop.Run.Each[...].func1", "/src/shop/internal/each/each.go", core.Site{File: "internal/each/each.go", Function: "shop.Run.Each[...]"}},
		{"example.com/shop.Users.Change[...].func1", "/modules/github.com/orrery-dev/orrery@v1.0.0/adapters/kube/scenario/scenario.go", core.Site{}},
		{"example.com/shop/users.All.Change[...].func1", "/modules/github.com/orrery-dev/orrery@v1.0.0/adapters/kube/scenario/scenario.go", core.Site{}},
		{"example.com/shop-tools/fix.Now", "/src/shop/vendor/example.com/shop-tools/fix/now.go", core.Site{Module: "example.com/shop-tools", File: "fix/now.go", Function: "fix.Now"}},
		{"example.com/shop/internal/controller.(*Reconciler).Reconcile", "/src/shop/internal/controller/shop.go", core.Site{File: "internal/controller/shop.go", Function: "controller.(*Reconciler).Reconcile"}},
		{"example.com/shop/internal/controller.(*Reconciler).Reconcile.func1.2", "example.com/shop/internal/controller/shop.go", core.Site{File: "internal/controller/shop.go", Function: "controller.(*Reconciler).Reconcile"}},
		{"example.com/shop/internal/controller.Each[...].func1", "C:/shop/internal/controller/shop.go", core.Site{File: "internal/controller/shop.go", Function: "controller.Each[...]"}},
		{"example.com/shop/internal/controller_test.TestAll", "/src/shop/internal/controller/all_test.go", core.Site{File: "internal/controller/all_test.go", Function: "controller_test.TestAll"}},
		{"main.run", "/src/shop/cmd/manager/run.go", core.Site{File: "cmd/manager/run.go", Function: "main.run"}},
		{"example.com/shop.Run", "/src/shop/run.go", core.Site{File: "run.go", Function: "shop.Run"}},
		{"example.com/shop-tools/fix.Now", "/modules/example.com/shop-tools@v1.2.3/fix/now.go", core.Site{Module: "example.com/shop-tools", File: "fix/now.go", Function: "fix.Now"}},
		{"gopkg.in/web%2ev2.Get", "/modules/gopkg.in/web.v2@v2.0.0/get.go", core.Site{Module: "gopkg.in/web.v2", File: "get.go", Function: "web.v2.Get"}},
		{"github.com/orrery-dev/orrery/examples/toggle.(*Savings).Reconcile", "/x/toggle.go", core.Site{Module: "github.com/orrery-dev/orrery", File: "examples/toggle/toggle.go", Function: "toggle.(*Savings).Reconcile"}},
		{"sigs.k8s.io/controller-runtime/pkg/client.(*client).Update", "/x/client.go", core.Site{}},
		{"sigs.k8s.io/controller-runtime.Request", "/x/alias.go", core.Site{}},
		{"example.com/shop/pkg/clientset/versioned/typed/shop/v1.(*shops).Update", "/x/shop.go", core.Site{}},
		{"github.com/orrery-dev/orrery/adapters/kube/transport.(*Run).Do", "/x/run.go", core.Site{}},
		{"github.com/orrery-dev/orrery.Run", "/x/run.go", core.Site{}},
		{"net/http.(*Client).Do", "/usr/local/go/src/net/http/client.go", core.Site{}},
		{"runtime.goexit", "/usr/local/go/src/runtime/asm_amd64.s", core.Site{}},
		{"", "", core.Site{}},
	} {
		got := b.site(test.function, test.file, 7)
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

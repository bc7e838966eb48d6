package regression_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/internal/regression"
)

// head is what begins the files of the tests; their checks are where it says CHECK.
const head = `package shop_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"

	"example.com/shop"
	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/properties"
)

func build(replicas int) any { return replicas }

`

// source returns what is written for a file with one line that has CHECK in it.
func source(t *testing.T, body string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop_test.go")
	text := head + body
	line := 1 + strings.Count(text[:strings.Index(text, "CHECK")], "\n")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "CHECK", "orrery")), 0o644); err != nil {
		t.Fatal(err)
	}
	check, err := regression.Find(file, line)
	if err != nil {
		return "", err
	}
	written, err := check.Source(regression.Pinned{Name: "TestShopRegression1", Of: "TestShop", Summary: "a and b\nfight */ for ever", Record: "testdata/orrery/x.orr"})
	return string(written), err
}

// TestCopied checks what is copied of tests and specs, and what is not.
func TestCopied(t *testing.T) {
	const end = "\torrery.ReplayFile(t, system, \"testdata/orrery/x.orr\")\n}\n"
	for _, test := range []struct{ name, body, want string }{
		{
			"what the system depends on, and no more",
			`func TestShop(t *testing.T) {
	t.Log("a beginning")
	other, want := build(1), 3
	objects := []any{&appsv1.Deployment{}}
	system, err := shop.System(build(2), objects)
	if err != nil {
		t.Fatal(err)
	}
	asked := properties.Convergent()
	result := CHECK.CheckWith(t, orrery.Options{}, system, asked...)
	if result.Report.States != want { t.Error(other) }
}`,
			`package shop_test

import (
	"testing"

	"example.com/shop"
	"github.com/orrery-dev/orrery"
	appsv1 "k8s.io/api/apps/v1"
)

// TestShopRegression1 runs again what a check in TestShop found, and fails as long as it happens: a and b fight */ for ever
func TestShopRegression1(t *testing.T) {
	objects := []any{&appsv1.Deployment{}}
	system, err := shop.System(build(2), objects)
	if err != nil {
		t.Fatal(err)
	}
` + end,
		},
		{
			"within a subtest, and what nobody needs any more",
			`func TestShop(t *testing.T) {
	first := CHECK0(t)
	size, more := 2, 3
	t.Run("small", func(t *testing.T) {
		system := shop.System(size)
		CHECK.Check(
			t,
			system)
		_ = more
	})
}
func CHECK0(t *testing.T) int { return 1 }`,
			`package shop_test

import (
	"testing"

	"example.com/shop"
	"github.com/orrery-dev/orrery"
)

// TestShopRegression1 runs again what a check in TestShop found, and fails as long as it happens: a and b fight */ for ever
func TestShopRegression1(t *testing.T) {
	size, more := 2, 3
	system := shop.System(size)
	_ = more
` + end,
		},
		{
			"a spec of Ginkgo",
			`var _ = Describe("the shop", func() {
	size := 2
	It("settles", func() {
		system, err := shop.System(size)
		Expect(err).NotTo(HaveOccurred())
		CHECK.Check(GinkgoT(), system)
	})
})`,
			`package shop_test

import (
	"example.com/shop"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/orrery-dev/orrery"
)

// A check in TestShop found this run. The spec fails as long as it happens.
var _ = It("TestShopRegression1: a and b fight */ for ever", func() {
	size := 2
	system, err := shop.System(size)
	Expect(err).NotTo(HaveOccurred())
	orrery.ReplayFile(GinkgoT(), system, "testdata/orrery/x.orr")
})
`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := strings.Replace(test.body, "CHECK0(t)", "zero(t)", 1)
			body = strings.Replace(body, "func CHECK0", "func zero", 1)
			got, err := source(t, body)
			if err != nil || got != test.want {
				t.Errorf("%v:\n%s\nwant:\n%s", err, got, test.want)
			}
		})
	}
}

// TestNotCopied checks what is said where a system cannot be made in another test.
func TestNotCopied(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"func TestShop(t *testing.T) {\n\tfor _, size := range []int{1, 2} {\n\t\tCHECK.Check(t, shop.System(size))\n\t}\n}", "depends on size, the variable of the loop in line 18"},
		{"func check(t *testing.T, size int) { CHECK.Check(t, shop.System(size)) }", "depends on size, a parameter"},
		{"func TestShop(t *testing.T) {\n\tfirst := orrery.Check(t, nil)\n\tCHECK.Check(t, shop.After(first))\n}", "depends on first, which an earlier check returns"},
		{"func TestShop(t *testing.T) {\n\tif system, err := shop.System(1); err == nil {\n\t\tCHECK.Check(t, system)\n\t}\n}", "depends on system, a variable of the statement in line 18"},
		{"func (s *suite) TestShop() {\n\tsystem := shop.System(1)\n\tCHECK.Check(s.T(), system)\n}", "neither a parameter nor GinkgoT()"},
		{"var _ = Describe(\"shop\", func() {\n\tvar system any\n\tBeforeEach(func() { system = shop.System(1) })\n\tIt(\"settles\", func() { CHECK.Check(GinkgoT(), system) })\n})", "what line 19 prepares for several specs"},
		{"func TestShop(t *testing.T) { CHECK.Run(nil) }", "is no call of orrery.Check or orrery.CheckWith"},
	} {
		if got, err := source(t, test.body); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\ngives %v, want %s\n%s", test.body, err, test.want, got)
		}
	}
	if _, err := regression.Find(filepath.Join(t.TempDir(), "none_test.go"), 1); err == nil {
		t.Error("a file that is not there has a check")
	}
}

package tenants

import (
	"flag"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

func check(t *testing.T, n int, reduction orrery.Reduction) core.Report {
	t.Helper()
	system, err := System(n)
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, orrery.Options{Reduction: reduction})
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// TestProduct checks the law of independent parts. A state of n tenants is a state of
// each, so that there are 8ⁿ if there are 8 for one. A step is a step of one tenant, of
// which there are 10, while the others are in any state: n · 10 · 8ⁿ⁻¹. What controllers
// do for one tenant has nothing to do with the others, so that code runs n times as often
// as for one: each behaviour once to learn it, and once more to see that it stays so.
func TestProduct(t *testing.T) {
	states, transitions := 1, 0
	for n := 1; n <= 3; n++ {
		transitions = 10*states + 8*transitions
		states *= 8
		report := check(t, n, orrery.NoReduction)
		if report.Verdict != core.Holds {
			t.Errorf("n=%d: the verdict is %s, with the findings %v", n, report.Verdict, report.Findings)
		}
		if report.States != states || report.Transitions != transitions {
			t.Errorf("n=%d: %d states and %d transitions, want %d and %d", n, report.States, report.Transitions, states, transitions)
		}
		if report.TerminalStates != 1 || report.Outcomes != 1 || report.Depth != 4*n {
			t.Errorf("n=%d: %d terminal states, %d outcomes and depth %d, want 1, 1 and %d",
				n, report.TerminalStates, report.Outcomes, report.Depth, 4*n)
		}
		if report.Behaviours != 6*n {
			t.Errorf("n=%d: there are %d behaviours, want %d", n, report.Behaviours, 6*n)
		}
	}
}

// TestSum checks that independent parts are done one after the other where orders that cannot matter are left out, and that controllers which find nothing
// to do go first: a tenant takes 6 states after the one it starts in, a step each.
func TestSum(t *testing.T) {
	for _, n := range []int{1, 2, 4, 10, 20} {
		report := check(t, n, orrery.ByPartialOrder)
		if report.Verdict != core.Holds || report.States != 6*n+1 || report.Transitions != 6*n || report.Outcomes != 1 {
			t.Errorf("n=%d: %s with %d states, %d transitions and %d outcomes, want %d, %d and 1",
				n, report.Verdict, report.States, report.Transitions, report.Outcomes, 6*n+1, 6*n)
		}
	}
}

func TestOutcome(t *testing.T) {
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	objects := check(t, 2, orrery.ByPartialOrder).OutcomeList[0].Objects
	tenants, err := controllerruntime.List[*Tenant](scheme, objects)
	if err != nil {
		t.Fatal(err)
	}
	if len(tenants) != 2 {
		t.Fatalf("there are %d tenants in the end, want 2", len(tenants))
	}
	for _, tenant := range tenants {
		if !tenant.Status.Ready {
			t.Errorf("%s is not ready", tenant.Name)
		}
		if _, err := controllerruntime.Get[*corev1.Namespace](scheme, objects, tenant.Name); err != nil {
			t.Error(err)
		}
		quota, err := controllerruntime.Get[*corev1.ResourceQuota](scheme, objects, tenant.Name+"/"+quotaName)
		if err != nil {
			t.Error(err)
			continue
		}
		if pods := quota.Spec.Hard.Pods().Value(); pods != int64(tenant.Spec.Pods) {
			t.Errorf("%s may run %d Pods, want %d", tenant.Name, pods, tenant.Spec.Pods)
		}
	}
}

func BenchmarkTenants(b *testing.B) {
	for n := 1; n <= 5; n++ {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				system, err := System(n)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := orrery.Run(b.Context(), system, orrery.Options{Reduction: orrery.NoReduction}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestAlike checks that of equal tenants only how many are in which state is told apart: with 8 states of one there are as many as ways to
// choose n of 8 with repetition.
func TestAlike(t *testing.T) {
	for n, want := range map[int]int{2: 36, 3: 120, 4: 330} {
		system, err := Alike(n)
		if err != nil {
			t.Fatal(err)
		}
		result, err := orrery.Run(t.Context(), system, orrery.Options{Reduction: orrery.BySymmetry})
		if err != nil {
			t.Fatal(err)
		}
		if r := result.Report; r.Verdict != core.Holds || r.Reduction != string(orrery.BySymmetry) || r.States != want || r.Outcomes != 1 {
			t.Errorf("n=%d: %s by %s with %d states and %d outcomes, want %d states: %q", n, r.Verdict, r.Reduction, r.States, r.Outcomes, want, r.Assumptions)
		}
	}
}

// Package orrery checks control loops. It runs unmodified controllers against a
// simulated world, in one process, and visits every order in which they can act,
// every stale cache they can act on, and every crash they can suffer, within stated
// bounds. It reports whether the system always settles, in the same place, with the
// user's own properties true. If it does not, it shows a counterexample, the shortest one
// unless another search was asked for.
//
// # A first check
//
// [Check] is for tests, [Run] for all else. What is checked is a [core.System]:
// controllers, the world that they act on, the objects that it starts with, and the
// properties that are to hold. An adapter makes it:
//
//   - [github.com/orrery-dev/orrery/adapters/controllerruntime] takes the set-up code of
//     controller-runtime controllers, as it is in main.go, and Kubernetes objects;
//   - [github.com/orrery-dev/orrery/adapters/plain] takes control loops and models that are
//     plain Go functions over typed variables.
//
// With controller-runtime, a test is
//
//	func TestSettles(t *testing.T) {
//		system := controllerruntime.ForTest(t, scheme.Scheme,
//			controllerruntime.Setup(func(mgr ctrl.Manager) error {
//				return (&WebReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
//			}),
//			controllerruntime.CRDs("../config/crd/bases"),
//			controllerruntime.Objects("testdata/web.yaml"),
//		)
//		orrery.Check(t, system, properties.Convergent()...)
//	}
//
// # What is checked
//
// Package [github.com/orrery-dev/orrery/properties] has what most systems are checked for.
// Its Convergent stands for three of them: the system settles and stays so, it always
// settles in the same outcome, and once it is quiet no reconcile changes anything. There are
// also properties for deletion, ownership, quotas and single fields, and temporal
// patterns such as Always, Eventually and LeadsTo. Formulas of linear temporal logic
// are in its package ltl, expressions in CEL in its package cel, and YAML files of
// properties in its package specification. An invariant of your own is a Go function
// over a [core.State].
//
// Every check also looks for what is wrong in any controller: panics, reconciles that
// never return, endless calls, and reconciles that are not deterministic.
//
// # Flags of tests
//
// Tests that import this package have flags: go test -orrery.out FILE writes a record of each check, -orrery.dot FILE
// draws its first finding, -orrery.html FILE writes the report with all stories as a page for browsers,
// -orrery.regression . writes a test that runs the first finding again ([ReplayFile]), and with -orrery.replay FILE the
// findings of a record are replayed instead of a check. Files are named from the folder of the package. A folder gets a
// file for each test.
//
// # The verdict
//
// A check has one of three verdicts, see [core.Verdict]:
//
//   - holds: the whole system was searched, and every property is true;
//   - violated: there are findings, each with a counterexample that was run again with the
//     real code before it was reported;
//   - inconclusive: nothing wrong was found, but something was left out. The report's
//     Reasons say what, and what to change: the option to raise, or the code that the
//     simulated world cannot do justice to.
//
// What a verdict takes for granted otherwise is listed in the report's Assumptions. A
// [Result] holds the report, as plain data, and the graph of states that was searched.
//
// # What may go wrong
//
// By default nothing goes wrong: caches are fresh, nothing crashes, no call
// fails. These options let it:
//
//   - [Options.Stale] lets caches miss the latest changes, for each controller and kind;
//   - [Options.Crashes] lets controllers crash between two calls and start again;
//   - [Options.Failures] lets calls fail, before or after they took effect;
//   - [Options.Doubles] lets two instances of a controller be active at once;
//   - [Options.Granularity] takes each call of a reconcile as a step of its own, so that
//     others act in between.
//
// With faults, or with stale caches, a check also asks whether the system reaches an
// outcome that is unreachable without them.
//
// # Size
//
// A search ends when all states are found, or at a bound: [Options.MaxStates],
// [Options.MaxDepth], [Options.MaxTime], [Options.MaxMemory]. Start with few objects: most
// defects need no more than two of each. Orders of steps that make no difference are left
// out, see [Options.Reduction]; declare names as interchangeable where it does not matter
// which is which. [Options.Compact] needs less memory, and [Options.Workers] more
// processors. Systems that are too large to be searched can be sampled by walks, see
// [Options.Search].
//
// The result does not depend on the number of workers, and the same check gives the same
// result again.
//
// # Findings
//
// A [core.Finding] has a trace: what each step read, wrote and changed.
// Package [github.com/orrery-dev/orrery/adapters/text] writes it for people, as [Check] does, and
// [github.com/orrery-dev/orrery/adapters/dot] draws it.
//
// [Replay] takes the steps of a trace again, with the controllers as they are now: that is
// how a regression test asks whether a defect is back. [Confirm] takes them in another world
// than the simulated one, such as a real API server.
//
// # The command
//
// The command orrery checks systems by name, records runs, replays, draws and confirms
// findings, and measures the engine. A program of your own has the same commands with your
// systems, by two lines:
//
//	func main() {
//		cli.Main(catalog.Entry{Name: "web", Doc: "...", Build: build})
//	}
//
// # How it works
//
// A controller is learned once: its code runs only where it makes a call that it has not
// made before in such a situation; otherwise a step of the search is a look-up. The
// document docs/architecture.md shows how a check comes about, docs/semantics.md what a
// state and a step are, docs/fidelity.md how the simulated API server compares with a real one.
package orrery

package cel_test

import (
	"context"
	"fmt"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/cel"
)

// Two accounts, and a transfer that does not look at what there is.
func ExampleAlways() {
	account := plain.NewFamily[int]("account")
	from, to := account.Named("from"), account.Named("to")
	system, err := plain.Model{
		Name:    "bank",
		Initial: []core.Initial{plain.Start(from.Is(2), to.Is(0))},
		Processes: []plain.Process{{Name: "transfer", Actions: []plain.Action{{Name: "move one", Do: func(w *plain.World) {
			w.Require(to.Get(w) < 3)
			from.Set(w, from.Get(w)-1)
			to.Set(w, to.Get(w)+1)
		}}}}},
		Properties: []core.Property{
			cel.Always("no money is made", `family("account")["from"] + family("account")["to"] == 2`),
			cel.Always("nobody owes", `family("account").all(name, balance, balance >= 0)`),
		},
	}.System()
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := orrery.Run(context.Background(), system, orrery.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, finding := range result.Report.Findings {
		fmt.Println(finding.Summary)
		fmt.Println(finding.Steps, "steps")
	}
	// Output:
	// nobody owes: not true: family("account").all(name, balance, balance >= 0)
	// 3 steps
}

// What is wrong with an expression is said before anything runs.
func ExampleCompile() {
	_, err := cel.Compile(`deployments.all(d, d.spec.replcias > 0)`, cel.Types{})
	fmt.Println(err)
	// Output:
	// expression, column 27: apps.v1.DeploymentSpec has no field "replcias": did you mean replicas?
	//   deployments.all(d, d.spec.replcias > 0)
	//                             ^^^^^^^^
}

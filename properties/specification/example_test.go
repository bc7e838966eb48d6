package specification_test

import (
	"context"
	"fmt"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/examples/toggle"
	"github.com/orrery-dev/orrery/properties/specification"
)

// A property file for a system whose controllers have learned not to fight. In a test, orrery.Check takes what is read.
func ExampleTerms_ReadFile() {
	system, err := toggle.Catalog()[0].Build(catalog.Values{"fixed": 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	given, err := specification.Of(system).ReadFile("testdata/web.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	system.Properties = append(system.Properties, given...)
	result, err := orrery.Run(context.Background(), system, orrery.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("The system:", result.Report.Verdict)
	for _, p := range given {
		for _, f := range result.Report.Findings {
			if f.Property == p.Name {
				fmt.Println("Warning:", f.Summary)
			}
		}
	}
	// Output:
	// The system: holds
	// Warning: "settled && cheap" never becomes true permanently
}

// A mistake is told before anything runs.
func ExampleTerms_Formula() {
	_, err := specification.Terms{}.Formula(`G ("deployments.all(d, d.spec.replcias > 0)" -> F settled)`)
	fmt.Println(err)
	// Output:
	// formula, column 31: invalid expression: apps.v1.DeploymentSpec has no field "replcias": did you mean replicas?
	//   G ("deployments.all(d, d.spec.replcias > 0)" -> F settled)
	//                                 ^^^^^^^^
}

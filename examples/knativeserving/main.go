// Knativeserving checks the published controllers of Knative Serving, unmodified, as their own main functions set them up. It has the verbs of orrery: see
// go run . --help.
package main

import (
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
)

func main() { cli.Main(entries()...) }

// entries is what the command can check.
func entries() []catalog.Entry {
	return []catalog.Entry{{
		Name: "knativeserving",
		Doc:  "The controllers of Knative Serving, with stand-ins for Deployments, Endpoints, Ingresses and the measured load.",
		Params: []catalog.Param{
			{Name: "services", Doc: "Knative Services", Default: 1, Min: 1, Max: 2},
			{Name: "idle", Doc: "1: there are no requests, so that they are scaled to zero", Default: 0, Min: 0, Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return newSystem(size{services: v["services"], idle: v["idle"] == 1})
		},
	}}
}

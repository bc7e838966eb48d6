// Leaderworkerset checks the published controllers of LeaderWorkerSet, unmodified, as their own main.go sets them up. It has the verbs of orrery: see
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
		Name: "leaderworkerset",
		Doc:  "The published controllers of LeaderWorkerSet, with companions for StatefulSets and Pods.",
		Params: []catalog.Param{
			{Name: "groups", Doc: "groups of Pods", Default: 1, Min: 1, Max: 3},
			{Name: "size", Doc: "Pods of each group", Default: 2, Min: 1, Max: 4},
		},
		Build: func(v catalog.Values) (*core.System, error) { return newSystem(v["groups"], v["size"]) },
	}}
}

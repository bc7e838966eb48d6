package leases

import (
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
)

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "leases",
		Doc:  "Two controllers keep the records of a DNS zone in step with leases: a record is lost. Without Kubernetes, see docs/your-own-adapter.md.",
		Params: []catalog.Param{
			{Name: "looks", Doc: "1: the sweeper looks for a lease before it deletes a record", Max: 1},
			{Name: "watch", Doc: "1: both controllers watch the records, too", Max: 1},
			{Name: "remember", Doc: "1: the publisher remembers what it has published", Max: 1},
			{Name: "background", Doc: "1: the sweeper deletes in a goroutine of its own; 2: which tries again after a failure", Max: 2},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return System(Options{
				Looks: v["looks"] == 1, WatchesRecords: v["watch"] == 1,
				Remembers: v["remember"] == 1, Background: v["background"] >= 1, Retries: v["background"] == 2,
			})
		},
	}}
}

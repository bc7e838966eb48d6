// Orrery checks control loops: see orrery --help.
package main

import (
	"slices"

	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/examples/autoscaler"
	"github.com/orrery-dev/orrery/examples/bugs/capa"
	"github.com/orrery-dev/orrery/examples/bugs/cilium"
	"github.com/orrery-dev/orrery/examples/bugs/cryostat"
	"github.com/orrery-dev/orrery/examples/bugs/rabbitmq"
	"github.com/orrery-dev/orrery/examples/bugs/zookeeper"
	"github.com/orrery-dev/orrery/examples/expectations"
	"github.com/orrery-dev/orrery/examples/instances"
	"github.com/orrery-dev/orrery/examples/launchcache"
	"github.com/orrery-dev/orrery/examples/leadergroups"
	"github.com/orrery-dev/orrery/examples/leases"
	"github.com/orrery-dev/orrery/examples/mirror"
	"github.com/orrery-dev/orrery/examples/missedwatch"
	"github.com/orrery-dev/orrery/examples/models"
	"github.com/orrery-dev/orrery/examples/racecondition"
	"github.com/orrery-dev/orrery/examples/scheduler"
	"github.com/orrery-dev/orrery/examples/subscriptions"
	"github.com/orrery-dev/orrery/examples/tenants"
	"github.com/orrery-dev/orrery/examples/toggle"
)

func main() {
	cli.Main(slices.Concat(
		models.Catalog(),
		autoscaler.Catalog(),
		capa.Catalog(),
		cilium.Catalog(),
		cryostat.Catalog(),
		rabbitmq.Catalog(),
		zookeeper.Catalog(),
		expectations.Catalog(),
		instances.Catalog(),
		launchcache.Catalog(),
		scheduler.Catalog(),
		leadergroups.Catalog(),
		leases.Catalog(),
		mirror.Catalog(),
		missedwatch.Catalog(),
		racecondition.Catalog(),
		subscriptions.Catalog(),
		tenants.Catalog(),
		toggle.Catalog(),
	)...)
}

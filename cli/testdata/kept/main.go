// Kept has systems whose searches are ended in midst.
package main

import (
	"slices"

	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/examples/launchcache"
	"github.com/orrery-dev/orrery/examples/models"
	"github.com/orrery-dev/orrery/examples/scheduler"
	"github.com/orrery-dev/orrery/examples/tenants"
)

func main() {
	cli.Main(slices.Concat(models.Catalog(), launchcache.Catalog(), scheduler.Catalog(), tenants.Catalog())...)
}

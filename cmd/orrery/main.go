// Orrery checks control loops: see orrery --help.
package main

import (
	"slices"

	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/examples/missedwatch"
	"github.com/orrery-dev/orrery/examples/models"
	"github.com/orrery-dev/orrery/examples/racecondition"
	"github.com/orrery-dev/orrery/examples/tenants"
	"github.com/orrery-dev/orrery/examples/toggle"
)

func main() {
	cli.Main(slices.Concat(
		models.Catalog(),
		missedwatch.Catalog(),
		racecondition.Catalog(),
		tenants.Catalog(),
		toggle.Catalog(),
	)...)
}

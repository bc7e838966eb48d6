// Check has the verbs of orrery for this example alone.
package main

import (
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/examples/leases"
)

func main() { cli.Main(leases.Catalog()...) }

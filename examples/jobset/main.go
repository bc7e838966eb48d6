// Jobset checks the published JobSet controllers, unmodified, as their own main.go
// sets them up. It has the verbs of orrery: see go run . --help.
package main

import "github.com/orrery-dev/orrery/cli"

func main() { cli.Main(entries()...) }

// Crossplane checks published controllers of Crossplane, unmodified: those of claims,
// composite resources, compositions and their revisions. Users delete claims and
// compositions meanwhile, or have a claim use another composition. README.md says what is
// found, and which lines of code it comes from.
//
// It has the verbs of orrery: see go run . --help. The path of this module lies below
// Crossplane's, whose controllers are internal to it.
package main

import "github.com/orrery-dev/orrery/cli"

func main() { cli.Main(entries()...) }

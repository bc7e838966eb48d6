package main

import (
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/orrery-dev/orrery/bench"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/models"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"orrery": main, "jobset": standIn, "hoard": hoard})
}

// standIn is a command of the form of examples/jobset, a module of its own. It counts where that reconciles.
func standIn() {
	all := models.Catalog()
	counters := all[slices.IndexFunc(all, func(e catalog.Entry) bool { return e.Name == bench.Counters })]
	cli.Main(catalog.Entry{
		Name: "jobset",
		Doc:  "Two counters for each group of each JobSet.",
		Params: []catalog.Param{
			{Name: "jobsets", Doc: "JobSets", Default: 1, Min: 1, Max: 8},
			{Name: "groups", Doc: "groups of each", Default: 2, Min: 1, Max: 8},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return counters.Build(catalog.Values{"n": 2 * v["jobsets"] * v["groups"], "k": 2})
		},
	})
}

// TestScripts runs the real command on the systems that are built into it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true})
}

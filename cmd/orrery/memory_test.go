package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/models"
)

var limits = flag.String("limits", "256", "the limits on memory to measure, in MiB")

// hoard is a command with the models, and with controllers that allocate in each reconcile.
func hoard() {
	cli.Main(append(models.Catalog(), catalog.Entry{
		Name: "hoard",
		Doc:  "Three controllers that count for ever. Each run allocates 4 MiB, and writes an object of 16 KiB that there was not before.",
		Build: func(catalog.Values) (*core.System, error) {
			ledger := plain.NewVar[string]("ledger")
			model := plain.Model{Name: "hoard", Initial: []core.Initial{plain.Start(ledger.Is("0 0 0"))}}
			for i := range 3 {
				model.Controllers = append(model.Controllers, plain.Controller{
					Name: fmt.Sprintf("counts%d", i), Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						numbers := strings.Fields(ledger.Get(w))[:3]
						var pieces [][]byte
						for range 64 {
							pieces = append(pieces, make([]byte, 64<<10))
						}
						n, err := strconv.Atoi(numbers[i])
						if err != nil {
							return core.Result{Err: err}
						}
						numbers[i] = strconv.Itoa(n + len(pieces)/64)
						ledger.Set(w, strings.Join(numbers, " ")+" "+strings.Repeat("x", 16<<10))
						return core.Result{Requeue: true}
					},
				})
			}
			return model.System()
		},
	})...)
}

// TestMemoryIsWithinTheLimit runs the command on systems that are larger than its limit, and asks the operating system
// for the most that was resident. It tells that all is used but what is left for judging.
func TestMemoryIsWithinTheLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills the memory")
	}
	if runtime.GOOS != "linux" {
		t.Skip("it is counted in other units here")
	}
	for _, text := range strings.Split(*limits, ",") {
		limit, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"model/counters", "--param", "n=14", "--param", "k=3", "--reduction", "none"},
			{"hoard"},
		} {
			args := append([]string{"check", "--out", filepath.Join(t.TempDir(), "run.orr")}, args...)
			t.Run(fmt.Sprintf("%s MiB %s", text, args[3]), func(t *testing.T) { measure(t, limit, args) })
		}
	}
}

func measure(t *testing.T, limit int64, args []string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "hoard", append(args, "--max-memory", fmt.Sprintf("%dMiB", limit), "--log-level", "warn")...)
	command.Env = append(os.Environ(), "GOMEMLIMIT=off", "GOGC=100")
	out, err := command.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), "memory limit") {
		t.Fatalf("%v\n%s", err, out)
	}
	peak := command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 // of KiB
	t.Logf("%d MiB were resident at most, within a limit of %d MiB", peak, limit)
	if peak > limit+limit/10 {
		t.Errorf("that is %d %% more than the limit", (peak-limit)*100/limit)
	}
	if peak < limit/2 {
		t.Error("that is less than half of it")
	}
}

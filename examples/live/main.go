// Live records the published JobSet controllers on a real API server, and has the verbs of orrery for what comes of it: see live.sh.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/orrery-dev/orrery/cli"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "record" {
		cli.Main(entries()...)
		return
	}
	if len(os.Args) < 3 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: live record FOLDER [SCENARIO]")
		os.Exit(cli.ExitUsage)
	}
	name := "restart"
	if len(os.Args) == 4 {
		name = os.Args[3]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	moment, err := record(ctx, os.Args[2], name, "")
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "live: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(moment)
}

// Command outside runs controller code in bubbles of virtual time, in a binary that is
// no test.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

type code func() core.Result

func (c code) Handle(core.EffectRecorder, core.Event) []core.Request   { return nil }
func (c code) Reconcile(core.EffectRecorder, core.Request) core.Result { return c() }

func main() {
	var slept time.Duration
	run(func() core.Result {
		began := time.Now()
		time.Sleep(time.Hour)
		slept = time.Since(began)
		return core.Result{}
	})
	blocked := run(func() core.Result { select {} })
	fmt.Printf("slept %s; %s\n", slept, blocked.Failure)
}

func run(c code) *behavior.Leaf {
	limits := behavior.Limits{Deadline: 20 * time.Second, Calls: 10}
	_, leaf, err := behavior.Start(c, false, behavior.Activation{}, limits).Next(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	return leaf
}

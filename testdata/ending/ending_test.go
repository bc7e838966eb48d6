// Package ending has checks of controllers that end the process of their test.
package ending

import (
	"os"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// system is a process that counts to three, and does something else before it writes the last number.
func system(t *testing.T, last func()) *core.System {
	t.Helper()
	n := plain.NewVar[int]("n")
	s, err := plain.Model{
		Name:    "ending",
		Initial: []core.Initial{plain.Start(n.Is(0))},
		Processes: []plain.Process{{Name: "counter", Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) {
			at := n.Get(w)
			w.Require(at < 3)
			if at == 2 {
				last()
			}
			n.Set(w, at+1)
		}}}}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBefore(t *testing.T) { orrery.Check(t, system(t, func() {})) }

func TestExit(t *testing.T) { orrery.Check(t, system(t, func() { os.Exit(3) })) }

func TestPanic(t *testing.T) {
	orrery.CheckWith(t, orrery.Options{}, system(t, func() {
		go panic("left behind")
		select {}
	}))
}

func TestAfter(t *testing.T) { orrery.Check(t, system(t, func() {})) }

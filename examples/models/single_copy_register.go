package models

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
)

// singleCopyRegister is servers that each keep a register of their own and know
// nothing of each other. One server is a linearizable register; two are not.
//
// By hand, 1 client and 1 server: the put is under way, then its answer, then
// the get, then its answer, then nothing: 5 states.
func singleCopyRegister() catalog.Entry {
	return catalog.Entry{
		Name: "model/single-copy-register",
		Doc:  "Clients put and get at servers that keep one copy each: linearizable with one server, not with two.",
		Params: []catalog.Param{
			{Name: "clients", Doc: "clients, each puts once and gets once", Default: 2, Min: 1, Max: 4},
			{Name: "servers", Doc: "servers, each with a copy of its own", Default: 1, Min: 1, Max: 4},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return singleCopyRegisterModel(v["clients"], v["servers"]).System()
		},
	}
}

func singleCopyRegisterModel(clients, servers int) plain.Model {
	copies := plain.NewFamily[string]("copy")
	var start []core.Object
	for i := range servers {
		start = append(start, copies.At(i+1).Is(""))
	}
	server := func(i int, name string) plain.Process {
		mine := copies.At(i + 1)
		return plain.Process{Name: name, Receive: inboxOf(name).Receive(func(w *plain.World, m message) {
			switch m.Verb {
			case put:
				mine.Set(w, m.Value)
				inboxOf(m.From).Send(w, message{Verb: stored, From: name})
			case get:
				inboxOf(m.From).Send(w, message{Verb: got, Value: mine.Get(w), From: name})
			default:
				panic(fmt.Sprintf("%s cannot %q", name, m.Verb))
			}
		})}
	}
	return registerModel("model/single-copy-register", clients, servers, server, start...)
}

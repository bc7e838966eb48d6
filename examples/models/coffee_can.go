package models

import (
	"context"
	"fmt"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
)

// coffeeCan is the riddle of the coffee can (Scholten, Dijkstra, Gries): while
// there are two beans, draw two. If they are of one colour, put a black bean
// back, else the white one. Every mix of 1 to n beans is a state at start.
//
// By hand: a draw takes one bean away, so that all states are states at start:
// k+1 mixes of k beans, for k from 1 to n, are n(n+3)/2.
func coffeeCan() catalog.Entry {
	return catalog.Entry{
		Name:   "model/coffee-can",
		Doc:    "A can of black and white beans, from all mixes of up to n beans: the parity of the white beans never changes.",
		Params: []catalog.Param{{Name: "n", Doc: "beans at most", Default: 100, Min: 1, Max: 1000}},
		Build: func(v catalog.Values) (*core.System, error) {
			return coffeeCanModel(v["n"]).System()
		},
	}
}

func coffeeCanModel(n int) plain.Model {
	black, white := plain.NewVar[int]("black"), plain.NewVar[int]("white")
	model := plain.Model{
		Name: "model/coffee-can",
		Processes: []plain.Process{{
			Name: "hand",
			Actions: []plain.Action{
				{Name: "draw two black beans", Do: func(w *plain.World) {
					blacks := black.Get(w)
					w.Require(blacks >= 2)
					black.Set(w, blacks-1)
				}},
				{Name: "draw two white beans", Do: func(w *plain.World) {
					whites := white.Get(w)
					w.Require(whites >= 2)
					white.Set(w, whites-2)
					black.Set(w, black.Get(w)+1)
				}},
				{Name: "draw one of each", Do: func(w *plain.World) {
					w.Require(white.Get(w) >= 1)
					blacks := black.Get(w)
					w.Require(blacks >= 1)
					black.Set(w, blacks-1)
				}},
			},
		}},
		Properties: coffeeCanProperties(white),
	}
	for beans := 1; beans <= n; beans++ {
		for whites := range beans + 1 {
			model.Initial = append(model.Initial, plain.Start(black.Is(beans-whites), white.Is(whites)))
		}
	}
	return model
}

func coffeeCanProperties(white plain.Var[int]) []core.Property {
	return []core.Property{{
		Name: "the whites keep their parity",
		Doc:  "No draw changes whether the number of white beans is even. So the colour of the last bean is known at start.",
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			for id := range core.StateID(g.States()) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				before := white.Get(g.State(id))
				for _, edge := range g.Edges(id) {
					after := white.Get(g.State(edge.To))
					if before%2 == after%2 {
						continue
					}
					stem, _ := g.Shortest(func(s core.StateID) bool { return s == id })
					return []core.Violation{{
						Summary: fmt.Sprintf("a draw changes the white beans from %d to %d", before, after),
						Fields:  []string{white.Key().String()},
						Stem:    append(stem, edge),
						State:   edge.To,
					}}, nil
				}
			}
			return nil, nil
		},
	}}
}

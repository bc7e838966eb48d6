package page

import (
	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// classView is a class of states: those from which the same ends can be reached.
type classView struct {
	Number  int
	Ends    string
	States  string
	First   core.StateID
	Initial bool
	Exits   []exitView
}

// exitView are the steps that lead to another class, which decide what cannot be any more.
type exitView struct {
	Number int
	Ends   string
	Steps  []decision
	More   int
}

// decision is a step that decides, and a state in which it can be taken.
type decision struct {
	deed
	State core.StateID
}

const (
	// mostClasses is how many classes are listed, and mostDecisions how many steps between two of them.
	mostClasses   = 100
	mostDecisions = 8
	// mostDrawn is how many classes are drawn: a picture of more shows nothing.
	mostDrawn = 30
)

// classes returns the first classes, and how many more there are.
func (s *Server) classes() (shown []classView, more int) {
	all := s.graph.Classes()
	for number, class := range all[:min(len(all), mostClasses)] {
		v := classView{Number: number + 1, Ends: s.ends(number), States: story.Counted(class.States, "state", "states"), First: class.First, Initial: class.Initial}
		for _, exit := range class.Exits {
			e := exitView{Number: exit.To + 1, Ends: s.ends(exit.To), More: max(0, len(exit.Steps)-mostDecisions)}
			for i, step := range exit.Steps[:len(exit.Steps)-e.More] {
				e.Steps = append(e.Steps, decision{deedOf(s.graph.States().Steps()[step]), exit.Froms[i]})
			}
			v.Exits = append(v.Exits, e)
		}
		shown = append(shown, v)
	}
	return shown, len(all) - len(shown)
}

// picture is a drawing of the classes in layers: steps lead downwards.
type picture struct {
	Width, Height int
	Boxes         []box
	Lines         []line
}

// box is a class, with its upper left corner.
type box struct {
	X, Y, Width, Height int
	MiddleX             int
	// Short says where the class can still end, cut to the width.
	Short string
	classView
}

// line leads from one class to another.
type line struct{ X1, Y1, X2, Y2 int }

// The measures of the picture.
const (
	boxWidth, boxHeight = 230, 80
	gapX, gapY          = 24, 56
	// boxRunes is how many letters have room in a box.
	boxRunes = 28
)

// picture draws the classes, nil if there are too many or only one.
func (s *Server) picture() *picture {
	all := s.graph.Classes()
	if len(all) < 2 || len(all) > mostDrawn {
		return nil
	}
	layers := layersOf(len(all), func(number int) (to []int) {
		for _, exit := range all[number].Exits {
			to = append(to, exit.To)
		}
		return to
	})
	shown, _ := s.classes()
	widest := 0
	for _, layer := range layers {
		widest = max(widest, len(layer))
	}
	p := &picture{Width: widest*(boxWidth+gapX) + gapX, Height: len(layers)*(boxHeight+gapY) - gapY + 2*gapX}
	places := make([]box, len(all))
	for depth, layer := range layers {
		left := (p.Width - len(layer)*(boxWidth+gapX) + gapX) / 2
		for i, number := range layer {
			b := box{X: left + i*(boxWidth+gapX), Y: gapX + depth*(boxHeight+gapY), Width: boxWidth, Height: boxHeight, classView: shown[number]}
			b.MiddleX, b.Short = b.X+boxWidth/2, shown[number].Ends
			if runes := []rune(b.Short); len(runes) > boxRunes {
				b.Short = string(runes[:boxRunes-1]) + "…"
			}
			places[number] = b
		}
	}
	p.Boxes = places
	for number, class := range all {
		for _, exit := range class.Exits {
			from, to := places[number], places[exit.To]
			p.Lines = append(p.Lines, line{from.MiddleX, from.Y + boxHeight, to.MiddleX, to.Y})
		}
	}
	return p
}

// layersOf puts the nodes of a graph without cycles into layers, so that each edge leads to a later one: a node is as
// far down as the longest way to it.
func layersOf(nodes int, next func(int) []int) [][]int {
	depths := make([]int, nodes)
	for changed := true; changed; {
		changed = false
		for node := range nodes {
			for _, to := range next(node) {
				if depths[to] <= depths[node] {
					depths[to], changed = depths[node]+1, true
				}
			}
		}
	}
	var layers [][]int
	for node, depth := range depths {
		for len(layers) <= depth {
			layers = append(layers, nil)
		}
		layers[depth] = append(layers[depth], node)
	}
	return layers
}

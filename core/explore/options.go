package explore

import (
	"time"

	"github.com/orrery-dev/orrery/core/behavior"
)

// Order is an order in which states are expanded.
type Order int

const (
	// BreadthFirst expands states in the order of their distance from the start.
	BreadthFirst Order = iota
	// DepthFirst expands the states that were found last first.
	DepthFirst
)

// Bounds cut a search short. 0 means no bound.
type Bounds struct {
	States int
	Depth  int
	Time   time.Duration
	// Memory is in bytes, as the Go runtime counts what it holds.
	Memory int64
}

// Options steer a search.
type Options struct {
	Order   Order
	Workers int // at least 1
	Bounds  Bounds
	// Reducer leaves out orders that cannot matter; nil leaves out none.
	Reducer Reducer
	// Conditions are what the world may do to the controllers.
	Conditions Conditions
	// Run bounds each run of controller code.
	Run behavior.Limits
	// Progress, if set, is called now and then from the searching goroutine.
	Progress func(Progress)
}

// Progress is how far a search has come.
type Progress struct {
	States      int
	Transitions int
	Frontier    int
	Depth       int
	Memory      int64
}

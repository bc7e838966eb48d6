package store

import (
	"sync"
	"sync/atomic"
)

// words is a list of words that does not move what it holds when it grows: each is written once, and then several
// goroutines may read it while others write more.
type words struct {
	growing sync.Mutex
	pages   atomic.Pointer[[]*wordPage]
}

const wordPageLen = 1 << 12

type wordPage [wordPageLen]uint64

// at returns a word.
func (w *words) at(i uint32) uint64 { return (*w.pages.Load())[i/wordPageLen][i%wordPageLen] }

// put writes a word, and makes the list as long as that takes.
func (w *words) put(i uint32, word uint64) {
	if pages := w.pages.Load(); pages == nil || int(i/wordPageLen) >= len(*pages) {
		w.grow(int(i/wordPageLen) + 1)
	}
	(*w.pages.Load())[i/wordPageLen][i%wordPageLen] = word
}

// grow makes the list at least so many pages long.
func (w *words) grow(pages int) {
	w.growing.Lock()
	defer w.growing.Unlock()
	var all []*wordPage
	if before := w.pages.Load(); before != nil {
		all = *before
	}
	for len(all) < pages {
		all = append(all, new(wordPage))
	}
	w.pages.Store(&all)
}

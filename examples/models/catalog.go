// Package models holds the textbook models: small systems whose state spaces are
// known, by hand or from the literature. They show how a model is written with
// package plain, and they pin the engine down: every count given here is tested.
package models

import "github.com/orrery-dev/orrery/catalog"

// Catalog returns all models in the order of their names.
func Catalog() []catalog.Entry {
	return []catalog.Entry{
		coffeeCan(),
		contended(),
		counters(),
		dieHard(),
		increment(),
		incrementLock(),
		paxos(),
		peterson(),
		philosophers(),
		singleCopyRegister(),
		twoPhaseCommit(),
	}
}

// interchangeable declares names to be interchangeable, if there are several, and not more than can be arranged.
func interchangeable(names []string) [][]string {
	if len(names) < 2 || len(names) > 6 {
		return nil
	}
	return [][]string{names}
}

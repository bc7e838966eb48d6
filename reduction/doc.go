// Package reduction leaves out orders of steps that cannot matter.
//
// Where two steps do not touch the same things, their order does not matter, and one order stands for both. In each
// state a search follows only some of the agents that could take a step: a stubborn set, chosen so that whatever the
// others do first, it could as well be done afterwards. What a step may touch is learned from what it did touch; the
// search is run again until nothing new is learned. Before that, an agent that looks and finds nothing to do is
// followed alone, if whatever changes what it looked at wakes it again: controllers are level-triggered. Of those that
// are followed, agents whose steps another order takes anyhow may sleep. Why that is enough is in docs/decisions.
package reduction

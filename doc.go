// Package orrery checks control loops: it runs unmodified controllers against a
// simulated world, visits every order in which they can act, and says whether the
// system always settles where it should.
package orrery

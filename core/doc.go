// Package core is the language of Orrery: objects, requests, calls, strategies,
// steps, runs, properties and verdicts, and the ports through which a checked
// system and the world it acts on are plugged in.
//
// The package knows no Kubernetes and no search. A controller is a [Strategy];
// everything it does to the world goes through an [EffectRecorder]; the world
// itself is a [Store]. What a search found is a [Graph], which a [Property]
// judges.
package core

// Package webhook runs admission webhooks where a simulated API server asks them, and knows from their configurations
// what they are asked about.
//
// [Read] reads the configurations that a cluster has. [Configured] makes of each one that a set-up registers the
// webhooks of a [kube.Server]: one for each kind and set of operations that its rules match, asked only about objects
// and namespaces that its selectors select. What of it is not modelled goes to [Notes].
//
// A [Reviewer] asks one webhook. Each review is made by a fresh instance, in a bubble of virtual time: so its timeout
// takes no time, a webhook that waits for nothing is found out, and nothing is kept from one review to the next. What
// the webhook reads, it reads of the store as it is when it is asked, through calls to a recorder that is part of the
// review; a cache of it that may be stale is a reason against a verdict. It may only read. One that does not come back
// in real time is left behind, and never asked again.
//
// How a webhook is registered and called is the library's of the adapter: it hands in a [Registered] with a function
// that makes a [Handle].
package webhook

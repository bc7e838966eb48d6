// Package cel says what should be true of a system in the Common Expression Language, with the libraries that
// Kubernetes adds to it: an expression that is true or false of the objects of a state becomes a property.
//
//	cel.Always("every pod has an owner", `pods.all(p, has(p.metadata.ownerReferences))`)
//	cel.Eventually("it is rolled out", `deployments.all(d, d.?status.readyReplicas.orValue(0) == d.spec.replicas)`)
//	cel.LeadsTo("claims are answered",
//		`objects("Claim.example.com").exists(c, !has(c.status))`,
//		`objects("Claim.example.com").all(c, has(c.status))`)
//	cel.Steps("nobody scales down", "deployments", `new.spec.replicas >= old.spec.replicas`)
//	cel.Steps("the turn changes by one", `variable("turn")`, `new - old in [-1, 1]`)
//
// # What an expression can look at
//
//	pods, deployments, …            all objects of a kind, in the order of their keys, by the plural of the kind
//	objects("Deployment.apps")      the same, by kind and group; also "apps/Deployment", "apps/v1/Deployment",
//	                                "deployments.apps", "v1/Pod", and "Deployment" where only one group has it
//	objects("Pod", "shop")          those in a namespace
//	object("Pod", "shop", "web")    one object, which may be missing: ask hasValue(), or say what it is
//	                                then, as in object("Node", "one").?spec.unschedulable.orValue(false)
//	variable("turn")                the value of a variable of a plain model
//	family("account")               the values of a family of variables, by name
//	old, new                        the object before and after, in an expression about a step
//
// The names of kinds and of namespaces of objects(…) are texts in quotes, not other expressions. So it is known before
// anything runs what is looked at, and a search can leave out orders of steps that make no difference there.
//
// Kubernetes' own kinds are known, with their fields; others can be told with [Types]. A field that does not exist, a
// kind that is not known, a comparison of a number with a text are mistakes that are found before anything runs, with
// the place marked:
//
//	expression, column 27: apps.v1.DeploymentSpec has no field "replcias": did you mean replicas?
//	  deployments.all(d, d.spec.replcias > 0)
//	                            ^^^^^^^^
//
// Of a kind of another group of which nothing is known, any field can be asked for. An object has no
// metadata.resourceVersion, as the store of a state has none.
//
// # What is not there
//
// As in Kubernetes, a field that is not set has no value, not even that of an empty one: d.status.readyReplicas is an
// error as long as nothing is ready. An expression that comes to such an error in a state is neither true nor false
// there. It does not count as true: the state breaks the property, and the finding shows the place. Ask
// has(d.status.readyReplicas) before, or say what it is then: d.?status.readyReplicas.orValue(0). As everywhere in CEL,
// errors do not matter where the other side of && or || decides.
//
// An expression about all objects of a kind is true where there are none.
package cel

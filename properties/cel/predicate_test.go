package cel_test

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/cel"
)

// shop is a world with two Pods, one of them without an owner, and what is around them.
const shop = `
apiVersion: v1
kind: Pod
metadata:
  name: web-0
  namespace: shop
  uid: uid-0
  creationTimestamp: "2000-01-01T00:00:00Z"
  labels: {app: web, tier: front}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: uid-1, controller: true}]
spec:
  nodeName: one
  containers:
  - name: main
    image: registry/web:1
    ports: [{name: http, containerPort: 8080}]
    resources: {requests: {cpu: 250m}}
    readinessProbe: {httpGet: {port: http}}
status: {phase: Running, podIP: 10.0.0.7, startTime: null}
---
apiVersion: v1
kind: Pod
metadata: {name: stray, namespace: shop, uid: uid-2, labels: {app: web}}
spec:
  containers: [{name: main, image: registry/web:2}]
status: {phase: Pending}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 2}
spec: {replicas: 2, selector: {matchLabels: {app: web}}}
status: {observedGeneration: 2, readyReplicas: 1}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: shop}
data: {token: b3BlbiBzZXNhbWU=}
---
apiVersion: v1
kind: Node
metadata: {name: one}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: shop}
spec: {size: 3, ratio: 0.5, parts: [a, b], empty: null}
`

func TestHolds(t *testing.T) {
	for _, test := range []struct {
		expression string
		want       bool
	}{
		// Selections.
		{`true`, true},
		{`pods.size() == 2`, true},
		{`services.size() == 0`, true},
		{`pods.all(p, p.metadata.namespace == "shop")`, true},
		{`pods.all(p, has(p.metadata.ownerReferences))`, false},
		{`pods.filter(p, has(p.metadata.ownerReferences)).map(p, p.metadata.name) == ["web-0"]`, true},
		{`pods.map(p, p.metadata.name) == ["stray", "web-0"]`, true},
		{`objects("Pod").size() == 2 && objects("v1/Pod").size() == 2 && objects("pods").size() == 2`, true},
		{`objects("Deployment.apps") == objects("apps/Deployment") && objects("deployments.apps") == objects("apps/v1/Deployment")`, true},
		{`objects("Pod", "shop").size() == 2 && objects("pods", "bank").size() == 0 && objects("Pod", "shop") == pods`, true},
		{`deployments[0].kind == "Deployment" && deployments[0].apiVersion == "apps/v1"`, true},
		{`pods.exists_one(p, p.status.phase == "Running")`, true},
		{`pods.all(p, deployments.exists(d, d.spec.selector.matchLabels["app"] == p.metadata.labels.app))`, true},

		// One object.
		{`object("Deployment.apps", "shop", "web").hasValue()`, true},
		{`object("Deployment.apps", "shop", "wbe").hasValue()`, false},
		{`object("deployments", "shop", "web").value().spec.replicas == 2`, true},
		{`object("Deployment.apps", "shop", "none").?spec.replicas.orValue(7) == 7`, true},
		{`object("Node", "one").hasValue() && !object("Node", "two").hasValue()`, true},
		{`object("Node", "one").?spec.unschedulable.orValue(false)`, false},
		{`pods.filter(p, has(p.spec.nodeName)).all(p, object("Node", p.spec.nodeName).hasValue())`, true},

		// Fields and their types.
		{`pods.all(p, p.?status.podIP.orValue("none") != "")`, true},
		{`pods.exists(p, has(p.status.startTime))`, false}, // null is nothing
		{`pods.exists(p, has(p.metadata.creationTimestamp) && p.metadata.creationTimestamp < timestamp("2001-01-01T00:00:00Z"))`, true},
		{`secrets.all(s, s.data["token"] == b"open sesame")`, true},
		{`pods.exists(p, p.spec.containers[0].?readinessProbe.httpGet.port.orValue(0) == "http")`, true},
		{`pods.exists(p, p.metadata.labels == {"app": "web"})`, true},
		{`pods.exists(p, {"tier": "front", "app": "web"} == p.metadata.labels)`, true},
		{`pods.all(p, p.metadata.labels.all(k, k in ["app", "tier"]))`, true},
		{`pods.exists(p, p.metadata.labels.exists(k, v, k == "tier" && v == "front"))`, true},
		{`pods.exists(p, p.metadata.labels.map(k, k) == ["app", "tier"])`, true},
		{`pods.exists(p, "tier" in p.metadata.labels) && !pods.all(p, "tier" in p.metadata.labels)`, true},
		{`pods.all(p, p.spec == p.spec) && pods[0].spec != pods[1].spec`, true},
		{`pods.all(p, p.metadata.__namespace__ == "shop" && !("__namespace__" in p.metadata.labels))`, true},
		{`pods.all(pods, pods.metadata.namespace == "shop")`, true},
		{`pods.all(events, events.metadata.namespace == "shop")`, true},
		{`deployments.all(d, d.status.observedGeneration <= d.metadata.generation && d.status.readyReplicas < d.spec.replicas)`, true},

		// Objects of which nothing is known.
		{`objects("Widget.example.com").all(w, w.spec.size == 3 && w.spec.ratio < 1.0 && "b" in w.spec.parts)`, true},
		{`objects("example.com/Widget")[0].spec.parts.size() == 2`, true},
		{`objects("example.com/v1/Widget").exists(w, w.spec.empty == null)`, true},
		{`objects("Widget.example.com").all(w, has(w.spec.colour))`, false},

		// The libraries of Kubernetes.
		{`pods.exists(p, quantity(p.spec.containers[0].?resources.requests["cpu"].orValue("0")).isGreaterThan(quantity("200m")))`, true},
		{`pods.exists(p, isIP(p.?status.podIP.orValue("")) && cidr("10.0.0.0/8").containsIP(p.status.podIP))`, true},
		{`pods.all(p, p.spec.containers[0].image.find("[0-9]+$") in ["1", "2"])`, true},
		{`pods.map(p, p.spec.containers[0].image).isSorted()`, false},
		{`url("https://example.com:80/x").getPort() == "80"`, true},
		{`semver("1.2.3").isLessThan(semver("1.10.0"))`, true},
		{`sets.contains(["a", "b"], ["a"])`, true},

		// Errors do not matter where the rest decides.
		{`true || pods[7].metadata.name == ""`, true},
		{`pods[7].metadata.name == "" || true`, true},
	} {
		t.Run(test.expression, func(t *testing.T) {
			p, err := cel.Compile(test.expression, cel.Types{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Holds(worldOf(t, shop))
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("it is %t, want %t", got, test.want)
			}
			if p.String() != test.expression {
				t.Errorf("it is written %q", p)
			}
		})
	}
}

func BenchmarkHolds(b *testing.B) {
	for _, expression := range []string{
		`pods.size() > 0`,
		`pods.all(p, p.metadata.namespace == "shop")`,
		`deployments.all(d, d.status.readyReplicas <= d.spec.replicas)`,
		`pods.all(p, deployments.exists(d, d.spec.selector.matchLabels["app"] == p.metadata.labels.app))`,
		`object("Deployment.apps", "shop", "web").?spec.replicas.orValue(0) == 2`,
	} {
		b.Run(expression, func(b *testing.B) {
			p, err := cel.Compile(expression, cel.Types{})
			if err != nil {
				b.Fatal(err)
			}
			w := worldOf(b, shop)
			b.ReportAllocs()
			for b.Loop() {
				if holds, err := p.Holds(w); err != nil || !holds {
					b.Fatal(holds, err)
				}
			}
		})
	}
}

// TestPlain checks that the variables of a plain model can be looked at.
func TestPlain(t *testing.T) {
	w := &world{objects: []core.Object{
		{Key: core.Key{Name: "turn"}, Content: tree{int64(1)}},
		{Key: core.Key{Name: "free"}, Content: tree{true}},
		{Key: core.Key{Name: "point"}, Content: tree{map[string]any{"X": int64(1), "Y": uint64(2), "Names": []any{"a"}}}},
		{Key: core.Key{Kind: "account", Name: "a"}, Content: tree{int64(5)}},
		{Key: core.Key{Kind: "account", Name: "b"}, Content: tree{int64(-1)}},
	}}
	for expression, want := range map[string]bool{
		`variable("turn") == 1 && variable("free")`:                    true,
		`variable("free")`:                                             true,
		`variable("point").X + variable("point").Y == 3`:               true,
		`variable("point").Names.exists(n, n == "a")`:                  true,
		`family("account").all(name, family("account")[name] >= 0)`:    false,
		`family("account").all(name, balance, balance > -2)`:           true,
		`family("account").size() == 2 && family("other").size() == 0`: true,
	} {
		p, err := cel.Compile(expression, cel.Types{})
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if got, err := p.Holds(w); err != nil || got != want {
			t.Errorf("%s is %t, %v, want %t", expression, got, err, want)
		}
	}
}

package kube

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

var budgetKind = schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}

// of turns a request into one for a subresource.
func of(subresource string, r *Request) *Request {
	r.Subresource = subresource
	return r
}

// posting makes the request for an action on an object, with the body.
func posting(kind schema.GroupVersionKind, name, subresource string, body []byte) *Request {
	r := of(subresource, request(Create, kind, name))
	r.Body = body
	return r
}

func TestScaleOfADeployment(t *testing.T) {
	w := newWorld(t)
	d := w.must(creation(deploymentKind, tree{"name": "d"}, tree{"spec": tree{"replicas": 2}}))
	d.Object["status"] = tree{"replicas": 1}
	d = w.must(ofStatus(updating(deploymentKind, d)))
	scale := w.must(of("scale", request(Get, deploymentKind, "d")))
	expect(t, "scale", scale.Object, tree{
		"apiVersion": "autoscaling/v1", "kind": "Scale",
		"metadata": tree{
			"name": "d", "namespace": "default", "uid": string(d.GetUID()), "resourceVersion": d.GetResourceVersion(),
			"creationTimestamp": "2000-01-01T00:00:00Z",
		},
		"spec":   tree{"replicas": 2},
		"status": tree{"replicas": 1, "selector": "x=1"},
	})
	jsontree.Set(scale.Object, int64(5), "spec", "replicas")
	scale = w.must(of("scale", updating(deploymentKind, scale)))
	expect(t, "wanted", jsontree.At(scale, "spec", "replicas"), 5)
	d = w.must(request(Get, deploymentKind, "d"))
	expect(t, "replicas", jsontree.At(d, "spec", "replicas"), 5)
	expect(t, "generation", d.GetGeneration(), 2)
	expect(t, "version of the scale", scale.GetResourceVersion(), d.GetResourceVersion())
	if _, writes := w.do(of("scale", updating(deploymentKind, scale))); writes != 0 {
		t.Error("an identical scale writes")
	}

	w.must(of("scale", patching(deploymentKind, "d", types.MergePatchType, `{"spec":{"replicas":7}}`)))
	w.refuse(of("scale", updating(deploymentKind, scale)), 409, `Operation cannot be fulfilled on deployments.apps "d": `+staleMessage)
	scale.SetResourceVersion("")
	w.must(of("scale", updating(deploymentKind, scale)))
	expect(t, "replicas", jsontree.At(w.must(request(Get, deploymentKind, "d")), "spec", "replicas"), 5)
	w.refuse(of("scale", patching(deploymentKind, "d", types.MergePatchType, `{"spec":{"replicas":-1}}`)), 422,
		`Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`)
	w.refuse(of("scale", request(Get, deploymentKind, "e")), 404, `deployments.apps "e" not found`)
}

// Who applies a scale manages the number in the object, and comes into conflict with others
// who do.
func TestApplyToAScale(t *testing.T) {
	w := newWorld(t)
	w.must(creation(deploymentKind, tree{"name": "d"}, tree{"spec": tree{"replicas": 3}}))
	scaleKind := autoscalingv1.SchemeGroupVersion.WithKind("Scale")
	scaled := func(manager string, replicas any) *Request {
		r := of("scale", applying(deploymentKind, "d", manager, nil))
		r.Body = object(scaleKind, tree{"name": "d", "namespace": "default"}, tree{"spec": tree{"replicas": replicas}})
		return r
	}
	w.refuse(scaled("m", 4), 409, `Apply failed with 1 conflict: conflict with "before-first-apply" using autoscaling/v1: .spec.replicas`)
	forced := scaled("m", 4)
	forced.Force = true
	expect(t, "the scale", jsontree.At(w.must(forced), "spec", "replicas"), 4)
	d := w.must(request(Get, deploymentKind, "d"))
	expect(t, "replicas", jsontree.At(d, "spec", "replicas"), 4)
	expect(t, "managers", managersOf(d), []string{"m Apply scale", "before-first-apply Update"})
	w.refuse(scaled("m", "many"), 500,
		"failed to create typed patch object (default/d; autoscaling/v1, Kind=Scale): .spec.replicas: expected numeric (int or float), got string")
}

// A real server cannot do it for custom resources.
func TestApplyToTheScaleOfACustomResource(t *testing.T) {
	w := newWorld(t, ManagedFields())
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Herd"}
	w.must(creation(kind, tree{"name": "h"}, tree{"spec": tree{"animals": tree{"wanted": 3}}}))
	r := of("scale", applying(kind, "h", "m", nil))
	r.Force = true
	scaleKind := autoscalingv1.SchemeGroupVersion.WithKind("Scale")
	r.Body = object(scaleKind, tree{"name": "h", "namespace": "default"}, tree{"spec": tree{"replicas": 4}})
	w.refuse(r, 500, "failed to convert new object (default/h; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1")
	r.Body = object(scaleKind, tree{"name": "h", "namespace": "default"}, tree{"spec": tree{"replicas": 3}})
	expect(t, "an apply of what is there", jsontree.At(w.must(r), "spec", "replicas"), 3)
}

func TestScaleOfACustomResource(t *testing.T) {
	w := newWorld(t)
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Herd"}
	w.must(creation(kind, tree{"name": "h"}, tree{"spec": tree{"animals": tree{"wanted": 3}}}))
	scale := w.must(of("scale", request(Get, kind, "h")))
	expect(t, "wanted", jsontree.At(scale, "spec", "replicas"), 3)
	expect(t, "status", scale.Object["status"], tree{"replicas": 0})
	jsontree.Set(scale.Object, int64(4), "spec", "replicas")
	w.must(of("scale", updating(kind, scale)))
	h := w.must(request(Get, kind, "h"))
	expect(t, "wanted", jsontree.At(h, "spec", "animals", "wanted"), 4)
	h.Object["status"] = tree{"seen": 2, "selector": "farm=1"}
	w.must(ofStatus(updating(kind, h)))
	expect(t, "status", w.must(of("scale", request(Get, kind, "h"))).Object["status"], tree{"replicas": 2, "selector": "farm=1"})
	w.must(creation(kind, tree{"name": "empty"}, nil))
	w.refuse(of("scale", request(Get, kind, "empty")), 500, `Internal error occurred: the spec replicas field ".spec.animals.wanted" does not exist`)
	w.refuse(of("scale", request(Get, widgetKind, "a")), 404, `widgets.example.com "a" not found`)
	bad := creation(kind, tree{"name": "bad"}, tree{"spec": tree{"animals": tree{"wanted": -3}}})
	w.refuse(bad, 422, `Herd.example.com "bad" is invalid: .spec.animals.wanted: Invalid value: -3: should be a non-negative integer`)
}

// running creates a Pod that runs on a node.
func (w *world) running(name string) *unstructured.Unstructured {
	w.t.Helper()
	w.must(creation(podKind, tree{"name": name, "labels": tree{"app": "x"}}, tree{"spec": tree{"nodeName": "n"}}))
	return w.must(ofStatus(patching(podKind, name, types.MergePatchType, `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)))
}

func eviction(name string) *Request {
	return posting(podKind, name, "eviction", object(schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}, tree{"name": name}, nil))
}

func TestEviction(t *testing.T) {
	w := newWorld(t)
	w.running("free")
	w.must(eviction("free"))
	pod := w.must(request(Get, podKind, "free"))
	expect(t, "grace period", pod.GetDeletionGracePeriodSeconds(), 30)
	expect(t, "condition", jsontree.ListAt(pod, "status", "conditions")[1].(tree)["reason"], "EvictionByEvictionAPI")

	w.must(creation(podKind, tree{"name": "pending"}, nil))
	w.must(eviction("pending"))
	w.refuse(request(Get, podKind, "pending"), 404, `pods "pending" not found`)
	w.refuse(eviction("missing"), 404, `pods "missing" not found`)
	renamed := eviction("free")
	renamed.Name = "other"
	w.refuse(renamed, 400, "name in URL does not match name in Eviction object")
}

func TestEvictionSpendsTheBudget(t *testing.T) {
	w := newWorld(t)
	w.running("a")
	w.running("b")
	w.must(creation(budgetKind, tree{"name": "pdb"}, tree{"spec": tree{"minAvailable": 1, "selector": tree{"matchLabels": tree{"app": "x"}}}}))
	w.refuse(eviction("a"), 429, "Cannot evict pod as it would violate the pod's disruption budget.")
	w.must(ofStatus(patching(budgetKind, "pdb", types.MergePatchType,
		`{"status":{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2}}`)))
	w.must(eviction("a"))
	budget := w.must(request(Get, budgetKind, "pdb"))
	expect(t, "disruptions allowed", jsontree.At(budget, "status", "disruptionsAllowed"), 0)
	expect(t, "disrupted", jsontree.At(budget, "status", "disruptedPods"), tree{"a": "2000-01-01T00:00:00Z"})
	response, writes := w.do(eviction("b"))
	if response.Status == nil || response.Status.Code != 429 || writes != 0 {
		t.Fatalf("the second eviction: %s with %d writes", response, writes)
	}
	expect(t, "cause", response.Status.Details.Causes[0].Message, "The disruption budget pdb does not allow evicting pods currently")
	w.must(creation(budgetKind, tree{"name": "other"}, tree{"spec": tree{"selector": tree{}}}))
	w.refuse(eviction("b"), 500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
}

// A dry run is asked for by the request, by the body, or by both. It is refused as the
// eviction would be, and spends nothing.
func TestDryEviction(t *testing.T) {
	w := newWorld(t)
	w.running("a")
	w.must(creation(budgetKind, tree{"name": "pdb"}, tree{"spec": tree{"selector": tree{"matchLabels": tree{"app": "x"}}}}))
	dry := func(request bool, stages ...any) *Request {
		r := posting(podKind, "a", "eviction", object(schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"},
			tree{"name": "a"}, tree{"deleteOptions": tree{"dryRun": stages}}))
		r.DryRun = request
		return r
	}
	w.refuse(dry(false, "All"), 429, "Cannot evict pod as it would violate the pod's disruption budget.")
	w.must(ofStatus(patching(budgetKind, "pdb", types.MergePatchType, `{"status":{"observedGeneration":1,"disruptionsAllowed":1,"expectedPods":1}}`)))
	for _, r := range []*Request{dry(false, "All"), dry(true), dry(true, "All")} {
		if response, writes := w.do(r); response.Status != nil || writes != 0 {
			t.Errorf("%s: %s with %d writes", r, response, writes)
		}
	}
	w.refuse(dry(true, "Some"), 500, "Non-matching dry-run options in request and content: [All] and [Some]")
	expect(t, "deletion of the Pod", w.must(request(Get, podKind, "a")).GetDeletionTimestamp(), nil)
	expect(t, "disruptions allowed", jsontree.At(w.must(request(Get, budgetKind, "pdb")), "status", "disruptionsAllowed"), 1)
	w.must(dry(false))
	expect(t, "grace period", w.must(request(Get, podKind, "a")).GetDeletionGracePeriodSeconds(), 30)
}

func TestBinding(t *testing.T) {
	w := newWorld(t)
	w.must(creation(podKind, tree{"name": "p"}, nil))
	bind := posting(podKind, "p", "binding", object(schema.GroupVersionKind{Version: "v1", Kind: "Binding"},
		tree{"name": "p", "annotations": tree{"x": "1"}}, tree{"target": tree{"kind": "Node", "name": "n"}}))
	w.must(bind)
	pod := w.must(request(Get, podKind, "p"))
	expect(t, "node", jsontree.At(pod, "spec", "nodeName"), "n")
	expect(t, "annotations", pod.GetAnnotations(), tree{"x": "1"})
	expect(t, "condition", jsontree.ListAt(pod, "status", "conditions")[0].(tree)["type"], "PodScheduled")
	w.refuse(bind, 409, `Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"`)
	w.must(creation(podKind, tree{"name": "gated"}, tree{"spec": tree{"schedulingGates": []any{tree{"name": "g"}}}}))
	w.refuse(posting(podKind, "gated", "binding", []byte(`{"metadata":{"name":"gated"},"target":{"name":"n"}}`)), 409,
		`Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates`)
}

func TestToken(t *testing.T) {
	w := newWorld(t)
	kind := corev1.SchemeGroupVersion.WithKind("ServiceAccount")
	account := w.must(creation(kind, tree{"name": "s"}, nil))
	answer := w.must(posting(kind, "s", "token", []byte(`{"spec":{"expirationSeconds":7200}}`)))
	expect(t, "status", answer.Object["status"], tree{
		"token": "token-of-" + string(account.GetUID()), "expirationTimestamp": "2000-01-01T02:00:00Z",
	})
	w.refuse(posting(kind, "none", "token", []byte(`{}`)), 404, `serviceaccounts "none" not found`)
	w.must(creation(podKind, tree{"name": "p"}, tree{"spec": tree{"serviceAccountName": "s"}}))
	w.must(creation(podKind, tree{"name": "other"}, nil))
	w.must(posting(kind, "s", "token", []byte(`{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"p"}}}`)))
	for _, test := range []struct {
		body    string
		code    int32
		message string
	}{
		{`{"spec":{"expirationSeconds":599}}`, 422,
			`TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`},
		{`{"spec":{"expirationSeconds":4294967297}}`, 422,
			`TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`},
		{`{"metadata":{"name":"t"}}`, 422,
			`TokenRequest.authentication.k8s.io "s" is invalid: metadata.name: Invalid value: "t": must match the service account name if specified`},
		{`{"metadata":{"namespace":"t"}}`, 422,
			`TokenRequest.authentication.k8s.io "s" is invalid: metadata.namespace: Invalid value: "t": must match the service account namespace if specified`},
		{`{"metadata":{"uid":"u"}}`, 409, `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "s": ` +
			`the UID in the token request (u) does not match the UID of the service account (` + string(account.GetUID()) + `)`},
		{`{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Secret","name":"x"}}}`, 404, `secrets "x" not found`},
		{`{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Node","name":"x"}}}`, 404, `nodes "x" not found`},
		{`{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"ConfigMap","name":"x"}}}`, 400, "cannot bind token to object of type /v1, Kind=ConfigMap"},
		{`{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"other"}}}`, 400,
			`cannot bind token for serviceaccount "s" to pod running with different serviceaccount name.`},
		{`{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}}}`, 409, `Operation cannot be fulfilled on Pod "p": ` +
			`the UID in the bound object reference (u) does not match the UID in record. The object might have been deleted and then recreated`},
	} {
		w.refuse(posting(kind, "s", "token", []byte(test.body)), test.code, test.message)
	}
}

func TestEphemeralContainers(t *testing.T) {
	w := newWorld(t)
	w.must(creation(podKind, tree{"name": "p"}, nil))
	pod := w.must(of("ephemeralcontainers", patching(podKind, "p", types.StrategicMergePatchType,
		`{"metadata":{"labels":{"x":"1"}},"spec":{"nodeName":"n","ephemeralContainers":[{"name":"shell","image":"shell:1"}]}}`)))
	expect(t, "containers", len(jsontree.ListAt(pod, "spec", "ephemeralContainers")), 1)
	expect(t, "node", jsontree.At(pod, "spec", "nodeName"), nil)
	expect(t, "labels", pod.GetLabels(), nil)
	changed := of("ephemeralcontainers", patching(podKind, "p", types.JSONPatchType, `[{"op":"replace","path":"/spec/ephemeralContainers","value":[]}]`))
	if response, _ := w.do(changed); response.Status == nil || response.Status.Code != 422 {
		t.Errorf("taking one off: %s", response)
	}
}

// pemOfRequest is a request for a certificate, signed by nobody in particular.
func pemOfRequest(t *testing.T) string {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	der, err := x509.CreateCertificateRequest(nil, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

// What is decided about a request is decided in its approval, and once.
func TestApproval(t *testing.T) {
	w := newWorld(t)
	kind := schema.GroupVersionKind{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"}
	const times = `"lastUpdateTime":"2000-01-01T00:00:00Z","lastTransitionTime":"2000-01-01T00:00:00Z"`
	c := w.must(creation(kind, tree{"name": "c"}, tree{"spec": tree{"request": pemOfRequest(t), "signerName": "example.com/s", "usages": []any{"client auth"}}}))
	c.Object["status"] = tree{"certificate": "eA==", "conditions": []any{tree{"type": "Approved", "status": "True"}}}
	refused := func(r *Request, message string) {
		t.Helper()
		w.refuse(r, 422, `CertificateSigningRequest.certificates.k8s.io "c" is invalid: status.`+message)
	}
	refused(ofStatus(updating(kind, c)), `conditions: Forbidden: updates may not add a condition of type "Approved"`)
	c = w.must(of("approval", updating(kind, c)))
	expect(t, "status", c.Object["status"], tree{"conditions": []any{tree{
		"type": "Approved", "status": "True", "lastUpdateTime": "2000-01-01T00:00:00Z", "lastTransitionTime": "2000-01-01T00:00:00Z",
	}}})
	refused(of("approval", patching(kind, "c", types.MergePatchType, `{"status":{"conditions":null}}`)),
		`conditions: Forbidden: updates may not remove a condition of type "Approved"`)
	refused(ofStatus(patching(kind, "c", types.MergePatchType, `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"x",`+times+`}]}}`)),
		`conditions: Forbidden: updates may not modify a condition of type "Approved"`)
	refused(of("approval", patching(kind, "c", types.JSONPatchType, `[{"op":"add","path":"/status/conditions/-","value":{"type":"Denied","status":"True"}}]`)),
		`conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive`)
	w.must(ofStatus(patching(kind, "c", types.MergePatchType, `{"status":{"certificate":"eA=="}}`)))
	refused(ofStatus(patching(kind, "c", types.MergePatchType, `{"status":{"certificate":"eQ=="}}`)),
		"certificate: Forbidden: updates may not modify existing certificate content")
	w.must(patching(kind, "c", types.MergePatchType, `{"spec":{"signerName":"example.com/t"}}`))
	expect(t, "signer", jsontree.At(w.must(request(Get, kind, "c")), "spec", "signerName"), "example.com/s")
}

func TestSubresourcesThatAreNotThere(t *testing.T) {
	w := newWorld(t)
	w.refuse(of("nonsense", request(Get, podKind, "p")), 404, "the server could not find the requested resource")
	w.refuse(of("eviction", request(Get, podKind, "p")), 405, "the server does not allow this method on the requested resource")
	w.refuse(of("nonsense", request(Get, widgetKind, "a")), 404, `widgets.example.com "a" not found`)
	for _, name := range []string{"log", "exec", "resize"} {
		w.unsupported(of(name, request(Get, podKind, "p")))
	}
}

// TestContainerLogs asks for logs of Pods: they are what the option says, of containers that have started.
func TestContainerLogs(t *testing.T) {
	w := newWorld(t, ContainerLogs("done\n"))
	logs := func(name, container string) *Request {
		r := of("log", request(Get, podKind, name))
		r.Container = container
		return r
	}
	containers := []any{tree{"name": "a", "image": "i"}, tree{"name": "b", "image": "i"}}
	w.must(creation(podKind, tree{"name": "one"}, tree{"spec": tree{"nodeName": "n", "containers": containers[:1]}}))
	w.must(creation(podKind, tree{"name": "two"}, tree{"spec": tree{"containers": containers}}))
	text := func(r *Request) string {
		t.Helper()
		response, _ := w.do(r)
		if response.Status != nil {
			t.Fatalf("%s: %s", r, response)
		}
		return string(response.Object)
	}
	w.refuse(logs("none", ""), 404, `pods "none" not found`)
	w.refuse(logs("two", ""), 400, "a container name must be specified for pod two, choose one of: [a b]")
	w.refuse(logs("two", "c"), 400, "container c is not valid for pod two")
	expect(t, "log of a Pod on no node", text(logs("two", "b")), `""`)
	w.unsupported(logs("one", ""))
	pod := w.must(request(Get, podKind, "one"))
	pod.Object["status"] = tree{"containerStatuses": []any{tree{"name": "a", "image": "i", "imageID": "", "ready": true, "restartCount": 0, "state": tree{"running": tree{}}}}}
	w.must(ofStatus(updating(podKind, pod)))
	expect(t, "log", text(logs("one", "")), `"done\n"`)
	expect(t, "log of the container", text(logs("one", "a")), `"done\n"`)
	w.refuse(of("log", updating(podKind, pod)), 405, "the server does not allow this method on the requested resource")
	if reason := newWorld(t).unsupported(logs("one", "")); !strings.Contains(reason, "kube.ContainerLogs") {
		t.Errorf("the reason does not name the option: %s", reason)
	}
}

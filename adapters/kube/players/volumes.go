package players

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// VolumeProtector returns the strategy that plays the controllers of Kubernetes that protect volumes. It lets go of a
// claim that is being deleted once no Pod on a node uses it, and of a volume once it is not bound. Claims and volumes
// that somebody takes the finalizer from get it again, unless they are being deleted. The server is to be made with
// [kube.VolumeProtection].
//
// It returns an error that says what to change if the server does not protect volumes, or
// serves no Pods.
func VolumeProtector(server *kube.Server) (core.Strategy, error) {
	p := &volumeProtector{
		claims: named(server, kinds.Claim), volumes: named(server, kinds.Volume), pods: named(server, kinds.Pod),
	}
	switch {
	case p.claims == nil || p.volumes == nil || p.pods == nil:
		return nil, errors.New("the protection of volumes needs claims, volumes and Pods: add corev1 to the scheme")
	case !server.ProtectsVolumes():
		return nil, errors.New("the server does not protect volumes: make it with kube.VolumeProtection")
	}
	return p, nil
}

// volumeProtector is both the strategy and, having no memory, its instance.
type volumeProtector struct {
	claims, volumes, pods *resource
}

var (
	_ core.Strategy = (*volumeProtector)(nil)
	_ core.Instance = (*volumeProtector)(nil)
)

// Describe implements [core.Strategy].
func (p *volumeProtector) Describe() core.Description {
	return core.Description{Name: "volume-protector", Watches: []core.Kind{kinds.Volume, kinds.Claim, kinds.Pod}, Sequential: true}
}

// New implements [core.Strategy].
func (p *volumeProtector) New() (core.Instance, error) { return p, nil }

// Handle implements [core.Instance]. A claim or volume is looked at when it lacks the finalizer, and while it is being
// deleted; so is a claim when a Pod that may have used it is gone, has come to its end, or is on no node.
func (p *volumeProtector) Handle(world core.EffectRecorder, event core.Event) []core.Request {
	if event.Key.Kind == kinds.Pod {
		return p.handlePod(world, event)
	}
	if event.New == nil {
		return nil
	}
	protection := kinds.ClaimProtection
	if event.Key.Kind == kinds.Volume {
		protection = kinds.VolumeProtection
	}
	meta := storage.Of(event.New).Meta()
	if storage.Waits(meta, protection) || meta.GetDeletionTimestamp() == nil && !slices.Contains(meta.GetFinalizers(), protection) {
		return []core.Request{requestFor(event.Key)}
	}
	return nil
}

// handlePod returns the requests for the claims of a Pod that are being deleted, as the cache shows them, if the Pod
// may use them no longer.
func (p *volumeProtector) handlePod(world core.EffectRecorder, event core.Event) []core.Request {
	pod := storage.Of(cmp.Or(event.New, event.Old)).Meta()
	if node, _ := jsontree.At(pod, "spec", "nodeName").(string); event.New != nil && node != "" && !terminated(pod) {
		return nil
	}
	var requests []core.Request
	for _, claim := range builtin.Claims(pod.Object) {
		response := perform(world, &kube.Request{
			Verb: kube.Get, Kind: p.claims.kind, Namespace: event.Key.Namespace, Name: claim, FromCache: true, LifetimeOnly: true,
		})
		shown := &unstructured.Unstructured{}
		if response.Err() == nil && jsontree.Decode(response.Object, &shown.Object) == nil && storage.Waits(shown, kinds.ClaimProtection) {
			requests = append(requests, requestFor(core.Key{Kind: kinds.Claim, Namespace: event.Key.Namespace, Name: claim}))
		}
	}
	slices.Sort(requests)
	return slices.Compact(requests)
}

// terminated reports whether a Pod has come to its end, or is being deleted and none of its containers is known to run.
func terminated(pod *unstructured.Unstructured) bool {
	switch jsontree.At(pod, "status", "phase") {
	case string(corev1.PodSucceeded), string(corev1.PodFailed):
		return true
	}
	if pod.GetDeletionTimestamp() == nil {
		return false
	}
	for _, containers := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for _, status := range jsontree.ListAt(pod, "status", containers) {
			fields, _ := status.(map[string]any)
			state, _ := fields["state"].(map[string]any)
			if state["terminated"] == nil && state["waiting"] == nil {
				return false
			}
		}
	}
	return true
}

// Reconcile implements [core.Instance]: it looks at one claim or volume, with live reads.
func (p *volumeProtector) Reconcile(world core.EffectRecorder, request core.Request) core.Result {
	key, ok := parseRequest(request)
	if !ok {
		return core.Result{Err: fmt.Errorf("%q does not name a claim or a volume", request)}
	}
	r, protection := p.claims, kinds.ClaimProtection
	if key.Kind == kinds.Volume {
		r, protection = p.volumes, kinds.VolumeProtection
	}
	return core.Result{Err: p.protect(world, r, protection, key)}
}

// protect gives an object the finalizer that it lacks, or takes it from one that is being deleted and is not used any
// more.
func (p *volumeProtector) protect(world core.EffectRecorder, r *resource, protection string, key core.Key) error {
	response := perform(world, &kube.Request{Verb: kube.Get, Kind: r.kind, Namespace: key.Namespace, Name: key.Name})
	if err := response.Err(); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	object := &unstructured.Unstructured{}
	if err := jsontree.Decode(response.Object, &object.Object); err != nil {
		return err
	}
	switch has := slices.Contains(object.GetFinalizers(), protection); {
	case object.GetDeletionTimestamp() == nil && !has:
		object.SetFinalizers(append(object.GetFinalizers(), protection))
	case object.GetDeletionTimestamp() == nil || !has:
		return nil
	default:
		if used, err := p.used(world, key, object); err != nil || used {
			return err
		}
		object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == protection }))
	}
	err := perform(world, &kube.Request{
		Verb: kube.Update, Kind: r.kind, Namespace: key.Namespace, Name: key.Name, Body: jsontree.Canonical(object.Object),
	}).Err()
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// used reports whether anybody uses a claim or a volume.
func (p *volumeProtector) used(world core.EffectRecorder, key core.Key, object *unstructured.Unstructured) (bool, error) {
	if key.Kind == kinds.Volume {
		return jsontree.At(object, "status", "phase") == "Bound", nil
	}
	response := perform(world, &kube.Request{Verb: kube.List, Kind: p.pods.kind, Namespace: key.Namespace})
	if err := response.Err(); err != nil {
		return false, err
	}
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := jsontree.Decode(response.Object, &list); err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Items, func(pod map[string]any) bool { return builtin.Uses(pod, object) }), nil
}

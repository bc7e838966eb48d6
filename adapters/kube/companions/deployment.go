package companions

import (
	"cmp"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Deployments is the controller that makes the ReplicaSets of Deployments: rolling updates within maxSurge and
// maxUnavailable, recreation, pauses, scaling in proportion, revisions and their limit, status and conditions.
// [ReplicaSets] makes the Pods.
//
// It adopts ReplicaSets and lets them go by their labels. Left out are that an update takes longer than its deadline
// for progress, and rollbacks that an annotation asks for.
func Deployments() Companion {
	return func(server *kube.Server) (core.Strategy, error) {
		s := &strategy{
			name: "deployment", kinds: []schema.GroupVersionKind{deploymentKind(), replicaSetKind(), podKind()},
			handle: handleDeployment, reconcile: reconcileDeployment,
		}
		return s.on(server)
	}
}

func handleDeployment(c client, event core.Event) []core.Request {
	switch event.Key.Kind {
	case kube.KindOf(deploymentKind().GroupKind()):
		return []core.Request{on(event.Key.Namespace, event.Key.Name)}
	case kube.KindOf(replicaSetKind().GroupKind()):
		return replicaSetsOfDeployments().requests(c, event)
	}
	if event.New != nil {
		return nil
	}
	return recreating(c, event)
}

// recreating is the request for the Deployment of a Pod that is gone, if that waits for it.
func recreating(c client, event core.Event) []core.Request {
	pods := controls{owner: replicaSetKind()}
	owner := pods.controllerOf(metaOf(event.Old))
	if owner == nil {
		return nil
	}
	for _, set := range listCached[appsv1.ReplicaSet](c, replicaSetKind(), event.Key.Namespace) {
		if set.UID == owner.UID {
			return replicaSetsOfDeployments().ownerOf(c, set)
		}
	}
	return nil
}

// replicaSetsOfDeployments is how Deployments control ReplicaSets.
func replicaSetsOfDeployments() controls {
	return controls{owner: deploymentKind(), dependent: replicaSetKind()}
}

// claim reads the ReplicaSets that a Deployment controls and selects. It adopts orphans among those that it selects,
// unless it is being deleted.
func (r *deploying) claim() error {
	d := r.deployment
	all, err := list[appsv1.ReplicaSet](r.client, &kube.Request{
		Kind: replicaSetKind(), Namespace: d.Namespace, LabelSelector: selectorOf(d.Spec.Selector).String(),
	})
	if err != nil {
		return err
	}
	for _, set := range all {
		switch controller := metav1.GetControllerOf(set); {
		case controller != nil && controller.UID == d.UID:
		case controller == nil && set.DeletionTimestamp == nil && d.DeletionTimestamp == nil:
			if err := replicaSetsOfDeployments().adopt(r.client, d, set); err != nil {
				return err
			}
		default:
			continue
		}
		r.sets = append(r.sets, set)
	}
	slices.SortStableFunc(r.sets, byAge)
	return nil
}

func reconcileDeployment(c client, named request) error {
	if named.what == release {
		return replicaSetsOfDeployments().release(c, named)
	}
	d, err := get[appsv1.Deployment](c, deploymentKind(), named.namespace, named.name)
	if err != nil || d == nil {
		return err
	}
	if d.Annotations[appsv1.DeprecatedRollbackTo] != "" {
		c.leavesOut(deploymentKind(), d, "metadata.annotations["+appsv1.DeprecatedRollbackTo+"]")
	}
	r := &deploying{client: c, deployment: d, written: d.Status.DeepCopy()}
	if err := r.claim(); err != nil {
		return err
	}
	r.find()
	if err := r.work(); err != nil {
		return err
	}
	return r.write()
}

// byAge compares ReplicaSets by the time of creation and then by the name, as real controllers do.
func byAge(a, b *appsv1.ReplicaSet) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// deploying is the controller of Deployments at work on one of them.
type deploying struct {
	client     client
	deployment *appsv1.Deployment
	// written is the status as it was read.
	written *appsv1.DeploymentStatus
	// sets are all ReplicaSets of the Deployment; current is the one of its template, nil if there is none, and old are
	// the others.
	sets, old []*appsv1.ReplicaSet
	current   *appsv1.ReplicaSet
	// rolled tells that an update was gone on with, and annotated that the Deployment has another revision.
	rolled, annotated bool
}

// find finds the ReplicaSet of the template.
func (r *deploying) find() {
	r.current, r.old = nil, nil
	for _, set := range r.sets {
		if r.current == nil && sameTemplate(&set.Spec.Template, &r.deployment.Spec.Template) {
			r.current = set
			continue
		}
		r.old = append(r.old, set)
	}
}

// sameTemplate compares templates without the hash that ReplicaSets have.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	delete(a.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(b.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return equality.Semantic.DeepEqual(a, b)
}

// work brings the ReplicaSets closer to what the Deployment asks for, and notes conditions in the status.
func (r *deploying) work() error {
	d := r.deployment
	if d.DeletionTimestamp != nil {
		return nil
	}
	r.pause()
	if d.Spec.Paused || r.isScaled() {
		if err := r.revise(); err != nil {
			return err
		}
		// The real controller goes by the sizes from before, too: a ReplicaSet that it has just given replicas may be
		// deleted.
		expired := r.expired()
		if err := r.scaleInProportion(); err != nil || !d.Spec.Paused {
			return err
		}
		return r.remove(expired)
	}
	r.rolled = true
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return r.recreate()
	}
	return r.roll()
}

// pause notes that the Deployment is paused, or goes on.
func (r *deploying) pause() {
	condition := r.condition(appsv1.DeploymentProgressing)
	paused := condition != nil && condition.Reason == "DeploymentPaused"
	switch {
	case !r.hasDeadline():
	case r.deployment.Spec.Paused && !paused:
		r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused")
	case !r.deployment.Spec.Paused && paused:
		r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentResumed", "Deployment is resumed")
	}
}

// isScaled reports whether the Deployment asks for another number of replicas than a ReplicaSet was made for.
func (r *deploying) isScaled() bool {
	return slices.ContainsFunc(r.sets, func(set *appsv1.ReplicaSet) bool {
		desired, known := desiredWith(set)
		return replicasOf(set) > 0 && known && desired != r.replicas()
	})
}

// desiredWith returns for which size of the Deployment a ReplicaSet was made, and false if it does not say so.
func desiredWith(set *appsv1.ReplicaSet) (int32, bool) {
	desired, err := strconv.Atoi(set.Annotations[desiredAnnotation])
	return int32(desired), err == nil
}

const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	desiredAnnotation  = "deployment.kubernetes.io/desired-replicas"
	maxAnnotation      = "deployment.kubernetes.io/max-replicas"
)

func (r *deploying) replicas() int32 { return ptr.Deref(r.deployment.Spec.Replicas, 1) }

// replicasOf is how many Pods a ReplicaSet is to have.
func replicasOf(set *appsv1.ReplicaSet) int32 { return ptr.Deref(set.Spec.Replicas, 1) }

// recreate makes the new Pods once all old ones are gone.
func (r *deploying) recreate() error {
	if err := r.revise(); err != nil {
		return err
	}
	scaled := false
	for _, set := range r.old {
		scaled = scaled || replicasOf(set) != 0
		if err := r.scale(set, 0); err != nil {
			return err
		}
	}
	if scaled {
		return nil
	}
	gone, err := r.oldPodsGone()
	if err != nil || !gone {
		return err
	}
	if err := r.ensure(); err != nil {
		return err
	}
	if err := r.scale(r.current, r.replicas()); err != nil {
		return err
	}
	return r.tidyIfComplete()
}

// oldPodsGone reports whether no Pod of an old ReplicaSet is left that has not come to its end.
func (r *deploying) oldPodsGone() (bool, error) {
	if total(r.old, func(set *appsv1.ReplicaSet) int32 { return set.Status.Replicas }) > 0 {
		return false, nil
	}
	pods, err := list[corev1.Pod](r.client, &kube.Request{Kind: podKind(), Namespace: r.deployment.Namespace})
	if err != nil {
		return false, err
	}
	for _, set := range r.old {
		if slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return metav1.IsControlledBy(pod, set) && !isFinished(pod) }) {
			return false, nil
		}
	}
	return true, nil
}

// ensure creates the ReplicaSet of the template if there is none.
func (r *deploying) ensure() error {
	if err := r.revise(); err != nil || r.current != nil {
		return err
	}
	d := r.deployment
	hash := templateHash(&d.Spec.Template, d.Status.CollisionCount)
	template := d.Spec.Template.DeepCopy()
	template.Labels = labels.Merge(d.Spec.Template.Labels, labels.Set{appsv1.DefaultDeploymentUniqueLabelKey: hash})
	selector := d.Spec.Selector.DeepCopy()
	selector.MatchLabels = labels.Merge(selector.MatchLabels, labels.Set{appsv1.DefaultDeploymentUniqueLabelKey: hash})
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: d.Name + "-" + hash, Labels: template.Labels, Annotations: r.annotations(nil),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, deploymentKind())},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32), MinReadySeconds: d.Spec.MinReadySeconds, Selector: selector, Template: *template,
		},
	}
	*set.Spec.Replicas = r.room(set)
	r.annotateSize(set)
	if err := r.client.create(replicaSetKind(), set); err != nil {
		return r.collide(set, err)
	}
	r.sets, r.current = append(r.sets, set), set
	r.setRevision()
	if r.hasDeadline() {
		r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetCreated", "Created new replica set "+strconv.Quote(set.Name))
	}
	return nil
}

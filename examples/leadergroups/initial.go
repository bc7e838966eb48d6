package leadergroups

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// running reports whether the groups run when the scenario begins.
func (s *Scenario) running() bool { return s.Update || s.Restart }

// initial returns what is there in the beginning: a set that is new, or one all of whose groups run.
func initial(scheme *runtime.Scheme, of Scenario) ([]client.Object, error) {
	set := &GroupSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gs", Generation: 1},
		Spec:       GroupSetSpec{Groups: int32(of.Groups), Template: GroupTemplate{Size: int32(of.Size), Image: "work:1"}},
	}
	if !of.running() {
		return []client.Object{set}, nil
	}
	w := &world{scheme: scheme, objects: []client.Object{set}}
	if err := w.run(set); err != nil {
		return nil, err
	}
	if of.Update {
		set.Spec.Template.Image = "work:2"
		set.Generation++
	}
	if of.Restart {
		w.objects[len(w.objects)-1].(*corev1.Pod).Status = readyStatus(1)
	}
	return w.objects, nil
}

// world is the objects of a set that runs, its last worker last.
type world struct {
	scheme  *runtime.Scheme
	objects []client.Object
}

// run adds all that a set has made, and its status.
func (w *world) run(set *GroupSet) error {
	revision, err := newRevision(set, 1)
	if err != nil {
		return err
	}
	if err := w.add(set, revision); err != nil {
		return err
	}
	leaders, err := w.addPods(set, newLeaders(set, revision))
	if err != nil {
		return err
	}
	groups := make([]group, len(leaders))
	for i, leader := range leaders {
		workers, err := newWorkers(leader, revision)
		if err != nil {
			return err
		}
		if _, err := w.addPods(leader, workers); err != nil {
			return err
		}
		groups[i] = group{ready: true, updated: true}
	}
	summarize(set, groups)
	// The clock of a check stands here, so that a condition which comes to be what it was is the same again.
	for i := range set.Status.Conditions {
		set.Status.Conditions[i].LastTransitionTime = metav1.Date(2000, time.January, 1, 0, 0, 1, 0, time.UTC)
	}
	return nil
}

// add adds an object that an owner controls.
func (w *world) add(owner, object client.Object) error {
	w.objects = append(w.objects, object)
	return ctrl.SetControllerReference(owner, object, w.scheme)
}

// addPods adds a StatefulSet that an owner controls, with its Pods, all ready.
func (w *world) addPods(owner client.Object, set *appsv1.StatefulSet) ([]*corev1.Pod, error) {
	if err := w.add(owner, set); err != nil {
		return nil, err
	}
	set.Generation = 1
	pods := make([]*corev1.Pod, *set.Spec.Replicas)
	for place := range pods {
		pods[place] = newPod(set, place)
		pods[place].Status = readyStatus(0)
		if err := w.add(set, pods[place]); err != nil {
			return nil, err
		}
	}
	set.Status = statusOf(set, pods)
	return pods, nil
}

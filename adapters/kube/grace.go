package kube

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// Pods are the one kind that is deleted gracefully: a Pod on a node stays, marked as
// being deleted, until somebody who plays the kubelet deletes it without grace.

// pending tells whether a Pod is being deleted already, with a grace period that
// the request does not shorten.
func (op *operation) pending(pod *unstructured.Unstructured) bool {
	left := pod.GetDeletionGracePeriodSeconds()
	if pod.GetDeletionTimestamp() == nil || left == nil || *left == 0 {
		return false
	}
	asked := op.request.GracePeriodSeconds
	return asked == nil || readPeriod(*asked) >= *left
}

// startGracePeriod marks a Pod as being deleted, with the time that its node has
// for stopping it, or shortens that time.
func (op *operation) startGracePeriod(pod *unstructured.Unstructured) {
	var period int64
	left := pod.GetDeletionGracePeriodSeconds()
	switch {
	case pod.GetDeletionTimestamp() == nil:
		period = op.gracePeriod(pod)
		nextGenerationOnDelete(pod)
	case left == nil || *left == 0:
		return
	default:
		period = readPeriod(*op.request.GracePeriodSeconds)
	}
	end := metav1.NewTime(storage.Now().Add(time.Duration(period) * time.Second))
	pod.SetDeletionTimestamp(&end)
	pod.SetDeletionGracePeriodSeconds(&period)
}

// gracePeriod is the number of seconds that a Pod gets: none if it runs nowhere.
func (op *operation) gracePeriod(pod *unstructured.Unstructured) int64 {
	node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	if node == "" || phase == string(corev1.PodFailed) || phase == string(corev1.PodSucceeded) {
		return 0
	}
	if asked := op.request.GracePeriodSeconds; asked != nil {
		return readPeriod(*asked)
	}
	if own, found, _ := unstructured.NestedInt64(pod.Object, "spec", "terminationGracePeriodSeconds"); found {
		return readPeriod(own)
	}
	return corev1.DefaultTerminationGracePeriodSeconds
}

// readPeriod reads a grace period as the server does: a negative one is one second.
func readPeriod(seconds int64) int64 {
	if seconds < 0 {
		return 1
	}
	return seconds
}

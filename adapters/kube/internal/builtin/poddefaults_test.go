package builtin

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPullPolicy(t *testing.T) {
	for image, want := range map[string]corev1.PullPolicy{
		"app": corev1.PullAlways, "app:latest": corev1.PullAlways, "host:5000/app": corev1.PullAlways,
		"app:1": corev1.PullIfNotPresent, "host:5000/app:1": corev1.PullIfNotPresent,
		"app@sha256:0": corev1.PullIfNotPresent, "app:latest@sha256:0": corev1.PullAlways, "": corev1.PullIfNotPresent,
	} {
		if got := pullPolicy(image); got != want {
			t.Errorf("%q is pulled %s, want %s", image, got, want)
		}
	}
}

package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

var (
	claimKind  = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	volumeKind = corev1.SchemeGroupVersion.WithKind("PersistentVolume")
)

// using is what a Pod says that uses a claim.
func using(claim, node string) tree {
	return tree{"spec": tree{"nodeName": node, "volumes": []any{tree{"name": "v", "persistentVolumeClaim": tree{"claimName": claim}}}}}
}

// The first update of a claim writes it anew, even if it changes nothing.
func TestFirstUpdateOfAClaim(t *testing.T) {
	w := newWorld(t)
	c := w.must(creation(claimKind, tree{"name": "c"}, claim()))
	for _, want := range []int{1, 0} {
		c.SetResourceVersion("")
		if _, writes := w.do(updating(claimKind, c)); writes != want {
			t.Errorf("an update that changes nothing has %d writes, want %d", writes, want)
		}
	}
}

// Without protection nobody can tell what becomes of a claim or a volume that is in use.
func TestVolumesInUse(t *testing.T) {
	w := newWorld(t)
	w.must(creation(claimKind, tree{"name": "used"}, claim()))
	w.must(creation(claimKind, tree{"name": "free"}, claim()))
	w.must(creation(podKind, tree{"name": "p"}, using("used", "n")))
	w.unsupported(request(Delete, claimKind, "used"))
	w.must(request(Delete, claimKind, "free"))
	w.must(creation(volumeKind, tree{"name": "v"}, volume()))
	w.must(ofStatus(patching(volumeKind, "v", types.MergePatchType, `{"status":{"phase":"Bound"}}`)))
	w.unsupported(request(Delete, volumeKind, "v"))
}

func TestProtectsVolumes(t *testing.T) {
	if newWorld(t).server.ProtectsVolumes() {
		t.Error("volumes are protected though nobody asked for it")
	}
	if !newWorld(t, VolumeProtection()).server.ProtectsVolumes() {
		t.Error("volumes are not protected")
	}
	server, err := NewServer(runtime.NewScheme(), VolumeProtection())
	if err != nil || server.ProtectsVolumes() {
		t.Errorf("a server without volumes protects them, or error %v", err)
	}
}

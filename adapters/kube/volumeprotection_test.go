package kube

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/core"
)

var (
	claimKind  = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	volumeKind = corev1.SchemeGroupVersion.WithKind("PersistentVolume")
)

// using is what a Pod says that uses a claim.
func using(claim, node string) tree {
	return tree{"spec": tree{"nodeName": node, "volumes": []any{tree{"name": "v", "persistentVolumeClaim": tree{"claimName": claim}}}}}
}

// TestVolumeProtector runs the strategy until nothing is left to do.
func TestVolumeProtector(t *testing.T) {
	w := newWorld(t, VolumeProtection())
	protector, err := VolumeProtector(w.server)
	if err != nil {
		t.Fatal(err)
	}
	instance, err := protector.New()
	if err != nil {
		t.Fatal(err)
	}
	before := map[core.Key]core.Content{}
	run := func() {
		for requests := []core.Request{""}; len(requests) > 0; {
			requests = nil
			for _, key := range slices.SortedFunc(maps.Keys(union(before, w.objects)), core.Key.Compare) {
				if before[key] != w.objects[key] && slices.Contains(protector.Describe().Watches, key.Kind) {
					requests = append(requests, instance.Handle(w, core.Event{Key: key, Old: before[key], New: w.objects[key]})...)
				}
			}
			before = maps.Clone(w.objects)
			for _, r := range requests {
				if result := instance.Reconcile(w, r); result.Err != nil {
					t.Fatal(result.Err)
				}
			}
		}
	}
	for _, name := range []string{"used", "waiting", "free"} {
		c := w.must(creation(claimKind, tree{"name": name}, claim()))
		expect(t, "finalizers of a claim", c.GetFinalizers(), []any{claimProtection})
	}
	w.must(creation(podKind, tree{"name": "p"}, using("used", "n")))
	w.must(creation(podKind, tree{"name": "unscheduled"}, using("waiting", "")))
	run()
	w.must(request(DeleteCollection, claimKind, ""))
	run()
	w.refuse(request(Get, claimKind, "free"), 404, `persistentvolumeclaims "free" not found`)
	w.refuse(request(Get, claimKind, "waiting"), 404, `persistentvolumeclaims "waiting" not found`)
	w.must(request(Get, claimKind, "used"))
	deletion := request(Delete, podKind, "p")
	deletion.GracePeriodSeconds = new(int64)
	w.must(deletion)
	run()
	w.refuse(request(Get, claimKind, "used"), 404, `persistentvolumeclaims "used" not found`)

	v := w.must(creation(volumeKind, tree{"name": "v", "finalizers": []any{"example.com/x"}}, volume()))
	expect(t, "finalizers of a volume", v.GetFinalizers(), []any{"example.com/x", volumeProtection})
	bound := func(phase string) {
		w.must(ofStatus(patching(volumeKind, "v", types.MergePatchType, `{"status":{"phase":"`+phase+`"}}`)))
	}
	bound("Bound")
	w.must(request(Delete, volumeKind, "v"))
	run()
	expect(t, "finalizers while it is bound", len(w.must(request(Get, volumeKind, "v")).GetFinalizers()), 2)
	bound("Released")
	run()
	expect(t, "finalizers after that", w.must(request(Get, volumeKind, "v")).GetFinalizers(), []any{"example.com/x"})
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
	if _, err := VolumeProtector(w.server); err == nil {
		t.Error("there is a protector for a server that protects nothing")
	}
	bare, err := NewServer(runtime.NewScheme(), VolumeProtection())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := VolumeProtector(bare); err == nil {
		t.Error("there is a protector for a server without volumes")
	}
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

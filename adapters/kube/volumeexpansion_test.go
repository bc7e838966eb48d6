package kube

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
)

var storageClassKind = storagev1.SchemeGroupVersion.WithKind("StorageClass")

// TestExpansion has claims grow: only those do that are bound, and of a class that allows it.
func TestExpansion(t *testing.T) {
	w := newWorld(t)
	for _, class := range []string{"grows", "stays"} {
		w.must(creation(storageClassKind, tree{"name": class}, tree{"provisioner": "a.example.com", "allowVolumeExpansion": class == "grows"}))
	}
	const unsupported = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
	for _, test := range []struct{ class, size, refused string }{
		{"grows", "2Gi", ""},
		{"stays", "1024Mi", ""},
		{"stays", "2Gi", unsupported},
		{"gone", "2Gi", unsupported},
		{"", "2Gi", unsupported},
	} {
		name := "c" + test.class + test.size[:1]
		body := claim()
		body["spec"].(tree)["storageClassName"] = test.class
		w.must(creation(claimKind, tree{"name": name}, body))
		w.must(ofStatus(patching(claimKind, name, types.MergePatchType, `{"status":{"phase":"Bound"}}`)))
		growing := patching(claimKind, name, types.MergePatchType, `{"spec":{"resources":{"requests":{"storage":"`+test.size+`"}}}}`)
		if test.refused == "" {
			w.must(growing)
			continue
		}
		w.refuse(growing, 403, `persistentvolumeclaims "`+name+`" is forbidden: `+test.refused)
	}
}

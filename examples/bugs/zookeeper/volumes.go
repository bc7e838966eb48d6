package zookeeper

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
)

// volumesAreKept says what users rely on: while a cluster is wanted, every server that
// runs, and is to go on running, has its volume.
func volumesAreKept() core.Property {
	return core.Property{
		Name: "volumes in use are kept",
		Doc:  "Every running server of a cluster that nobody deletes has the claim of its volume.",
		Invariant: func(s core.State) error {
			for _, object := range s.List("ZookeeperCluster.example.orrery.dev", "") {
				var cluster ZookeeperCluster
				fields := object.Content.Fields().(map[string]any)
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &cluster); err != nil {
					return err
				}
				if !cluster.DeletionTimestamp.IsZero() {
					continue
				}
				for server := range min(cluster.Spec.Replicas, cluster.Status.ReadyReplicas) {
					claim := core.Key{Kind: "PersistentVolumeClaim", Namespace: cluster.Namespace, Name: claimName(cluster.Name, server)}
					if s.Get(claim) == nil {
						return fmt.Errorf("server %d of %s runs, and %s is gone", server, object.Key, claim)
					}
				}
			}
			return nil
		},
	}
}

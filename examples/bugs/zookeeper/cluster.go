package zookeeper

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// version is the version of the kinds of this package.
var version = schema.GroupVersion{Group: "example.orrery.dev", Version: "v1"}

// ZookeeperCluster is a number of servers, each with a volume of its own.
type ZookeeperCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ZookeeperClusterSpec   `json:"spec"`
	Status ZookeeperClusterStatus `json:"status,omitempty"`
}

// ZookeeperClusterSpec is what the user wants.
type ZookeeperClusterSpec struct {
	// Replicas is how many servers there should be.
	Replicas int32 `json:"replicas"`
}

// ZookeeperClusterStatus is what there is.
type ZookeeperClusterStatus struct {
	// ReadyReplicas is how many servers are running.
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
}

// ZookeeperClusterList is a list of clusters.
type ZookeeperClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ZookeeperCluster `json:"items"`
}

// DeepCopyObject implements [runtime.Object].
func (c *ZookeeperCluster) DeepCopyObject() runtime.Object { return c.deepCopy() }

func (c *ZookeeperCluster) deepCopy() *ZookeeperCluster {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements [runtime.Object].
func (l *ZookeeperClusterList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]ZookeeperCluster, len(l.Items))
		for i := range l.Items {
			out.Items[i] = *l.Items[i].deepCopy()
		}
	}
	return &out
}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(version, &ZookeeperCluster{}, &ZookeeperClusterList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}

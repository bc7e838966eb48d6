package rabbitmq

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// version is the version of the kinds of this package.
var version = schema.GroupVersion{Group: "example.orrery.dev", Version: "v1"}

// RabbitmqCluster is a number of servers, each with a volume of its own.
type RabbitmqCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RabbitmqClusterSpec `json:"spec"`
}

// RabbitmqClusterSpec is what the user wants.
type RabbitmqClusterSpec struct {
	// Replicas is how many servers there should be. It can only grow.
	Replicas int32 `json:"replicas"`
	// Storage is how large their volumes should be. It can only grow.
	Storage resource.Quantity `json:"storage"`
}

// RabbitmqClusterList is a list of clusters.
type RabbitmqClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RabbitmqCluster `json:"items"`
}

// DeepCopyObject implements [runtime.Object].
func (c *RabbitmqCluster) DeepCopyObject() runtime.Object { return c.deepCopy() }

func (c *RabbitmqCluster) deepCopy() *RabbitmqCluster {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Storage = c.Spec.Storage.DeepCopy()
	return &out
}

// DeepCopyObject implements [runtime.Object].
func (l *RabbitmqClusterList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]RabbitmqCluster, len(l.Items))
		for i := range l.Items {
			out.Items[i] = *l.Items[i].deepCopy()
		}
	}
	return &out
}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(version, &RabbitmqCluster{}, &RabbitmqClusterList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}

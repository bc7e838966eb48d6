package launchcache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Claim asks for an instance.
type Claim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status ClaimStatus `json:"status,omitempty"`
}

// ClaimStatus is what has come of a claim.
type ClaimStatus struct {
	// Phase is empty until a controller has seen the claim.
	Phase Phase `json:"phase,omitempty"`
	// Instance is the name of the instance, once there is one.
	Instance string `json:"instance,omitempty"`
}

// Phase is how far a claim is.
type Phase string

const (
	// Launching tells that somebody is at it.
	Launching Phase = "Launching"
	// Launched tells that there is an instance.
	Launched Phase = "Launched"
)

// ClaimList is a list of claims.
type ClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Claim `json:"items"`
}

// Instance is a machine in the cloud.
type Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// InstanceList is a list of instances.
type InstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Instance `json:"items"`
}

// DeepCopyObject implements [runtime.Object].
func (c *Claim) DeepCopyObject() runtime.Object {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements [runtime.Object].
func (l *ClaimList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = copied(l.Items, (*Claim).DeepCopyObject)
	return &out
}

// DeepCopyObject implements [runtime.Object].
func (i *Instance) DeepCopyObject() runtime.Object {
	out := *i
	i.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements [runtime.Object].
func (l *InstanceList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = copied(l.Items, (*Instance).DeepCopyObject)
	return &out
}

func copied[T any](items []T, deepCopy func(*T) runtime.Object) []T {
	if items == nil {
		return nil
	}
	out := make([]T, len(items))
	for i := range items {
		out[i] = *deepCopy(&items[i]).(any).(*T)
	}
	return out
}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	version := schema.GroupVersion{Group: "example.orrery.dev", Version: "v1"}
	scheme.AddKnownTypes(version, &Claim{}, &ClaimList{}, &Instance{}, &InstanceList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}

package tenants

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Tenant is a customer of the cluster: it gets a Namespace of its name, with a
// quota.
type Tenant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TenantSpec   `json:"spec"`
	Status TenantStatus `json:"status,omitempty"`
}

// TenantSpec is what a tenant has paid for.
type TenantSpec struct {
	// Pods is how many Pods the tenant may run at once.
	Pods int32 `json:"pods"`
}

// TenantStatus is what a tenant has got.
type TenantStatus struct {
	// Ready tells that the tenant can begin.
	Ready bool `json:"ready,omitempty"`
}

// TenantList is a list of tenants.
type TenantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Tenant `json:"items"`
}

// DeepCopyObject implements [runtime.Object].
func (t *Tenant) DeepCopyObject() runtime.Object { return t.deepCopy() }

func (t *Tenant) deepCopy() *Tenant {
	out := *t
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements [runtime.Object].
func (l *TenantList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]Tenant, len(l.Items))
		for i := range l.Items {
			out.Items[i] = *l.Items[i].deepCopy()
		}
	}
	return &out
}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	version := schema.GroupVersion{Group: "example.orrery.dev", Version: "v1"}
	scheme.AddKnownTypes(version, &Tenant{}, &TenantList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}

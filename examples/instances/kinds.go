package instances

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Machine asks for an instance in the cloud.
type Machine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status MachineStatus `json:"status,omitempty"`
}

// MachineStatus is what has come of a machine.
type MachineStatus struct {
	// Phase is empty until the controller has seen the machine.
	Phase Phase `json:"phase,omitempty"`
	// Instance is the id of the instance, once it is known.
	Instance string `json:"instance,omitempty"`
}

// Phase is how far a machine is.
type Phase string

const (
	// Creating tells that an instance may be there.
	Creating Phase = "Creating"
	// Ready tells that the instance runs.
	Ready Phase = "Ready"
)

// MachineList is a list of machines.
type MachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Machine `json:"items"`
}

// DeepCopyObject implements [runtime.Object].
func (m *Machine) DeepCopyObject() runtime.Object { return m.deepCopy() }

func (m *Machine) deepCopy() *Machine {
	out := *m
	m.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements [runtime.Object].
func (l *MachineList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]Machine, len(l.Items))
		for i := range l.Items {
			out.Items[i] = *l.Items[i].deepCopy()
		}
	}
	return &out
}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	version := schema.GroupVersion{Group: "example.orrery.dev", Version: "v1"}
	scheme.AddKnownTypes(version, &Machine{}, &MachineList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}

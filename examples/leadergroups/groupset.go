package leadergroups

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// version is the version of the kinds of this package.
var version = schema.GroupVersion{Group: "example.orrery.dev", Version: "v1"}

// GroupSet is a number of groups of Pods. Each group has a leader, and workers that live as long as their leader.
type GroupSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GroupSetSpec   `json:"spec"`
	Status GroupSetStatus `json:"status,omitempty"`
}

// GroupSetSpec is what the user wants.
type GroupSetSpec struct {
	// Groups is how many groups there should be.
	Groups int32 `json:"groups"`
	// Template is what each group should be.
	Template GroupTemplate `json:"template"`
}

// GroupTemplate describes a group. Each of its contents is a revision.
type GroupTemplate struct {
	// Size is how many Pods a group has, with its leader.
	Size int32 `json:"size"`
	// Image is what they run.
	Image string `json:"image"`
}

// GroupSetStatus is what there is.
type GroupSetStatus struct {
	// ObservedGeneration is the generation of the GroupSet that the status is about.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ReadyGroups is how many groups have a leader and workers that are ready, and UpdatedGroups how many of those are of the current revision.
	ReadyGroups   int32 `json:"readyGroups,omitempty"`
	UpdatedGroups int32 `json:"updatedGroups,omitempty"`
	// Conditions are Available and Updating.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GroupSetList is a list of GroupSets.
type GroupSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GroupSet `json:"items"`
}

// DeepCopyObject implements [runtime.Object].
func (s *GroupSet) DeepCopyObject() runtime.Object { return s.deepCopy() }

func (s *GroupSet) deepCopy() *GroupSet {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if s.Status.Conditions != nil {
		out.Status.Conditions = make([]metav1.Condition, len(s.Status.Conditions))
		for i := range s.Status.Conditions {
			s.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
		}
	}
	return &out
}

// DeepCopyObject implements [runtime.Object].
func (l *GroupSetList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]GroupSet, len(l.Items))
		for i := range l.Items {
			out.Items[i] = *l.Items[i].deepCopy()
		}
	}
	return &out
}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(version, &GroupSet{}, &GroupSetList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}

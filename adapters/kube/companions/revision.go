package companions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// history is the revisions that the template of an owner has had, the oldest first.
type history struct {
	kind      schema.GroupVersionKind
	owner     metav1.Object
	template  *corev1.PodTemplateSpec
	revisions []*appsv1.ControllerRevision
	hashing
}

// hashing is how revisions get their names.
type hashing struct {
	// label is the one that has the hash of a revision.
	label string
	// hash is that of a template, after a number of collisions with names that others have.
	hash func(template *corev1.PodTemplateSpec, collisions int32) string
}

// statefulHashing is that of StatefulSets.
func statefulHashing() hashing {
	return hashing{"controller.kubernetes.io/hash", func(template *corev1.PodTemplateSpec, collisions int32) string {
		sum := fnv.New32()
		fmt.Fprintf(sum, "%s%d", dataOf(template), collisions)
		return rand.SafeEncodeString(fmt.Sprint(sum.Sum32()))
	}}
}

// daemonHashing is that of DaemonSets.
func daemonHashing() hashing {
	return hashing{appsv1.DefaultDaemonSetUniqueLabelKey, func(template *corev1.PodTemplateSpec, collisions int32) string {
		if collisions == 0 {
			return templateHash(template, nil)
		}
		return templateHash(template, &collisions)
	}}
}

// readHistory reads the revisions of an owner. It adopts orphans among those that are selected, unless the owner is
// being deleted.
func readHistory(c client, kind schema.GroupVersionKind, owner metav1.Object, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, by hashing) (*history, error) {
	all, err := list[appsv1.ControllerRevision](c, &kube.Request{
		Kind: revisionKind(), Namespace: owner.GetNamespace(), LabelSelector: selectorOf(selector).String(),
	})
	if err != nil {
		return nil, err
	}
	h := &history{kind: kind, owner: owner, template: template, hashing: by}
	for _, revision := range all {
		switch controller := metav1.GetControllerOf(revision); {
		case controller != nil && controller.UID != owner.GetUID():
			continue
		case controller == nil:
			if owner.GetDeletionTimestamp() != nil {
				continue
			}
			adopted := append(slices.Clone(revision.OwnerReferences), *metav1.NewControllerRef(owner, kind))
			if err := c.setOwners(revisionKind(), revision, adopted); err != nil {
				return nil, err
			}
		}
		h.revisions = append(h.revisions, revision)
	}
	h.sort()
	return h, nil
}

func (h *history) sort() {
	slices.SortStableFunc(h.revisions, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Name, b.Name))
	})
}

// named returns the revision of a name, nil if there is none.
func (h *history) named(name string) *appsv1.ControllerRevision {
	for _, revision := range h.revisions {
		if revision.Name == name {
			return revision
		}
	}
	return nil
}

// newest makes the revision of the template the newest, and creates it if need be. collisions counts the names that
// were taken by others.
func (h *history) newest(c client, collisions *int32) (*appsv1.ControllerRevision, error) {
	var next int64 = 1
	if len(h.revisions) > 0 {
		next = h.revisions[len(h.revisions)-1].Revision + 1
	}
	for i, revision := range slices.Backward(h.revisions) {
		template, err := templateOf(revision)
		if err != nil || !equality.Semantic.DeepEqual(template, h.template) {
			continue
		}
		if i == len(h.revisions)-1 {
			return revision, nil
		}
		revision.Revision = next
		err = c.update(revisionKind(), revision)
		h.sort()
		return revision, err
	}
	for {
		revision, err := h.create(c, next, *collisions)
		if !apierrors.IsAlreadyExists(err) {
			return revision, err
		}
		taken, err := get[appsv1.ControllerRevision](c, revisionKind(), h.owner.GetNamespace(), revision.Name)
		if err != nil {
			return nil, err
		}
		switch {
		case taken == nil:
		case sameTemplateData(taken, revision):
			return taken, nil // of one of this name before; the real controllers take it, too
		default:
			*collisions++
		}
	}
}

// create creates the revision of the template.
func (h *history) create(c client, number int64, collisions int32) (*appsv1.ControllerRevision, error) {
	hash := h.hash(h.template, collisions)
	labels := maps.Clone(h.template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[h.label] = hash
	revision := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: h.owner.GetNamespace(), Name: h.owner.GetName() + "-" + hash, Labels: labels,
			// The counter of a DaemonSet's generations would go on for ever.
			Annotations:     without(h.owner.GetAnnotations(), appsv1.DeprecatedTemplateGeneration),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(h.owner, h.kind)},
		},
		Data:     runtime.RawExtension{Raw: dataOf(h.template)},
		Revision: number,
	}
	if err := c.create(revisionKind(), revision); err != nil {
		return revision, err
	}
	h.revisions = append(h.revisions, revision)
	return revision, nil
}

// truncate deletes the oldest revisions beyond a limit that nobody needs.
func (h *history) truncate(c client, limit *int32, needed map[string]bool) error {
	if limit == nil {
		return nil
	}
	unused := slices.DeleteFunc(slices.Clone(h.revisions), func(r *appsv1.ControllerRevision) bool { return needed[r.Name] })
	return deleteFirst(c, unused, len(unused)-int(*limit))
}

// deleteFirst deletes the first revisions of those given, up to a number of them.
func deleteFirst(c client, of []*appsv1.ControllerRevision, number int) error {
	for _, revision := range of[:max(0, min(number, len(of)))] {
		if err := c.remove(revisionKind(), revision); err != nil {
			return err
		}
	}
	return nil
}

// sameTemplateData reports whether two revisions have the same template.
func sameTemplateData(a, b *appsv1.ControllerRevision) bool {
	one, err := templateOf(a)
	if err != nil {
		return false
	}
	other, err := templateOf(b)
	return err == nil && equality.Semantic.DeepEqual(one, other)
}

// revisionData is what a revision has of its owner: a patch that replaces the template.
type revisionData struct {
	Spec struct {
		Template replacedTemplate `json:"template"`
	} `json:"spec"`
}

type replacedTemplate struct {
	corev1.PodTemplateSpec `json:",inline"`

	Patch string `json:"$patch,omitempty"`
}

func dataOf(template *corev1.PodTemplateSpec) []byte {
	var data revisionData
	data.Spec.Template = replacedTemplate{*template, "replace"}
	text, err := json.Marshal(data)
	if err != nil {
		panic("companions: a template cannot be written as JSON: " + err.Error())
	}
	return text
}

// templateOf is the template that a revision has.
func templateOf(revision *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	var data revisionData
	if err := json.Unmarshal(revision.Data.Raw, &data); err != nil {
		return nil, fmt.Errorf("the data of ControllerRevision %s cannot be read: %w", revision.Name, err)
	}
	return &data.Spec.Template.PodTemplateSpec, nil
}

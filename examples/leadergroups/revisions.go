package leadergroups

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// revisionLabel is on all that is made for a group, with the key of the revision that it is made of.
const revisionLabel = "example.orrery.dev/revision"

// newRevision returns the revision of the template of a set, and its key.
func newRevision(set *GroupSet, number int64) (*appsv1.ControllerRevision, error) {
	data, err := json.Marshal(set.Spec.Template)
	if err != nil {
		return nil, err
	}
	hash := fnv.New32a()
	hash.Write(data)
	key := rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace,
			Name:      set.Name + "-" + key,
			Labels:    map[string]string{setLabel: set.Name, revisionLabel: key},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: number,
	}, nil
}

// templateOf returns the template that a revision keeps.
func templateOf(revision *appsv1.ControllerRevision) (GroupTemplate, error) {
	var template GroupTemplate
	return template, json.Unmarshal(revision.Data.Raw, &template)
}

// ensureRevision returns the revision of what the set wants now, which it creates if it is new.
func (r *GroupSets) ensureRevision(ctx context.Context, set *GroupSet) (*appsv1.ControllerRevision, error) {
	known, err := r.revisions(ctx, set)
	if err != nil {
		return nil, err
	}
	var last int64
	for i := range known {
		last = max(last, known[i].Revision)
	}
	wanted, err := newRevision(set, last+1)
	if err != nil {
		return nil, err
	}
	for i := range known {
		if known[i].Name == wanted.Name {
			return &known[i], nil
		}
	}
	if err := ctrl.SetControllerReference(set, wanted, r.Scheme()); err != nil {
		return nil, err
	}
	return wanted, r.Create(ctx, wanted)
}

// pruneRevisions deletes the revisions of which there is no group any more.
func (r *GroupSets) pruneRevisions(ctx context.Context, set *GroupSet, current *appsv1.ControllerRevision) error {
	known, err := r.revisions(ctx, set)
	if err != nil {
		return err
	}
	for i := range known {
		if known[i].Name == current.Name {
			continue
		}
		if err := r.Delete(ctx, &known[i]); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func (r *GroupSets) revisions(ctx context.Context, set *GroupSet) ([]appsv1.ControllerRevision, error) {
	var list appsv1.ControllerRevisionList
	err := r.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingLabels{setLabel: set.Name})
	return list.Items, err
}

package conformance

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scaleKind is what the subresource scale shows objects as.
var scaleKind = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

func (s *Side) get(ctx context.Context, a Action) (tree, error) {
	key := client.ObjectKey{Namespace: a.Namespace, Name: a.Name}
	if a.MetadataOnly {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(s.subject(a.Subject).Kind())
		if err := s.client.Get(ctx, key, object); err != nil {
			return nil, err
		}
		return treeOf(object)
	}
	a.Object = nil
	object, err := s.form(a, s.fresh(a))
	if err != nil {
		return nil, err
	}
	if a.Subresource != "" {
		return s.getSubresource(ctx, a, object)
	}
	if err := s.client.Get(ctx, key, object); err != nil {
		return nil, err
	}
	return treeOf(object)
}

func (s *Side) getSubresource(ctx context.Context, a Action, object client.Object) (tree, error) {
	into := &unstructured.Unstructured{}
	if a.Subresource == "scale" {
		into.SetGroupVersionKind(scaleKind)
	}
	if err := s.client.SubResource(a.Subresource).Get(ctx, object, into); err != nil {
		return nil, err
	}
	return treeOf(into)
}

func (s *Side) list(ctx context.Context, a Action) (tree, error) {
	options := &client.ListOptions{Namespace: a.Namespace, Limit: a.Limit}
	if a.Labels != "" {
		selector, err := labels.Parse(a.Labels)
		if err != nil {
			return nil, err
		}
		options.LabelSelector = selector
	}
	if a.Fields != "" {
		selector, err := fields.ParseSelector(a.Fields)
		if err != nil {
			return nil, err
		}
		options.FieldSelector = selector
	}
	if a.Continue {
		options.Continue = s.tokens[copyKey{a.Client, a.Subject, a.Namespace, ""}]
	}
	kind := s.subject(a.Subject).Kind()
	kind.Kind += "List"
	if a.MetadataOnly {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		if err := s.client.List(ctx, list, options); err != nil {
			return nil, err
		}
		return treeOf(list)
	}
	if a.Typed && s.scheme.Recognizes(kind) {
		typed, err := s.scheme.New(kind)
		if err != nil {
			return nil, err
		}
		list, ok := typed.(client.ObjectList)
		if !ok {
			return nil, errors.New("the Go type of the list is no list")
		}
		if err := s.client.List(ctx, list, options); err != nil {
			return nil, err
		}
		return treeOf(list)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	if err := s.client.List(ctx, list, options); err != nil {
		return nil, err
	}
	return treeOf(list)
}

func (s *Side) create(ctx context.Context, a Action) (tree, error) {
	if a.Subresource != "" {
		return s.createSubresource(ctx, a)
	}
	object, err := s.form(a, s.fresh(a))
	if err != nil {
		return nil, err
	}
	options := &client.CreateOptions{FieldManager: a.Owner}
	if a.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	if err := s.client.Create(ctx, object, options); err != nil {
		return nil, err
	}
	return treeOf(object)
}

// createSubresource sends the object of the action to a subresource. It is of another
// kind than the subject, and says so itself.
func (s *Side) createSubresource(ctx context.Context, a Action) (tree, error) {
	sent := a
	sent.Object = nil
	object, err := s.form(a, s.fresh(sent))
	if err != nil {
		return nil, err
	}
	below := &unstructured.Unstructured{}
	mustDecode(a.Object, &below.Object)
	options := &client.SubResourceCreateOptions{}
	if a.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return nil, s.client.SubResource(a.Subresource).Create(ctx, object, below, options)
}

func (s *Side) update(ctx context.Context, a Action) (tree, error) {
	edited, err := s.edited(a)
	if err != nil {
		return nil, err
	}
	object, err := s.form(a, edited)
	if err != nil {
		return nil, err
	}
	options := client.UpdateOptions{FieldManager: a.Owner}
	if a.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	switch {
	case a.Subresource != "" && len(a.Object) > 0:
		below := &unstructured.Unstructured{}
		mustDecode(a.Object, &below.Object)
		err = s.client.SubResource(a.Subresource).Update(ctx, object, &client.SubResourceUpdateOptions{UpdateOptions: options, SubResourceBody: below})
		object = below
	case a.Subresource != "":
		err = s.client.SubResource(a.Subresource).Update(ctx, object, &client.SubResourceUpdateOptions{UpdateOptions: options})
	default:
		err = s.client.Update(ctx, object, &options)
	}
	if err != nil {
		return nil, err
	}
	return treeOf(object)
}

func (s *Side) patch(ctx context.Context, a Action) (tree, error) {
	body := []byte(a.Body)
	if a.Locked {
		var patch tree
		mustDecode(body, &patch)
		known := unstructured.Unstructured{Object: s.copyOf(a)}
		if err := unstructured.SetNestedField(patch, known.GetResourceVersion(), "metadata", "resourceVersion"); err != nil {
			return nil, err
		}
		var err error
		if body, err = json.Marshal(patch); err != nil {
			return nil, err
		}
	}
	sent := a
	sent.Object = nil
	object, err := s.form(a, s.fresh(sent))
	if err != nil {
		return nil, err
	}
	options := client.PatchOptions{FieldManager: a.Owner}
	if a.Force {
		options.Force = &a.Force
	}
	if a.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	patch := client.RawPatch(types.PatchType(a.PatchType), body)
	switch a.Subresource {
	case "":
		err = s.client.Patch(ctx, object, patch, &options)
	case "scale":
		scale := &unstructured.Unstructured{}
		scale.SetGroupVersionKind(scaleKind)
		err = s.client.SubResource(a.Subresource).Patch(ctx, object, patch, &client.SubResourcePatchOptions{PatchOptions: options, SubResourceBody: scale})
		object = scale
	default:
		err = s.client.SubResource(a.Subresource).Patch(ctx, object, patch, &client.SubResourcePatchOptions{PatchOptions: options})
	}
	if err != nil {
		return nil, err
	}
	return treeOf(object)
}

func (s *Side) apply(ctx context.Context, a Action) (tree, error) {
	sent := a
	if a.Subresource == "scale" {
		sent.Object = nil // That is the scale.
	}
	object := &unstructured.Unstructured{Object: s.fresh(sent)}
	applied := client.ApplyConfigurationFromUnstructured(object)
	options := client.ApplyOptions{FieldManager: a.Owner}
	if a.Force {
		options.Force = &a.Force
	}
	if a.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	var err error
	switch a.Subresource {
	case "":
		err = s.client.Apply(ctx, applied, &options)
	case "scale":
		scale := &unstructured.Unstructured{}
		mustDecode(a.Object, &scale.Object)
		err = s.client.SubResource(a.Subresource).Apply(ctx, applied, &client.SubResourceApplyOptions{
			ApplyOptions: options, SubResourceBody: client.ApplyConfigurationFromUnstructured(scale),
		})
	default:
		err = s.client.SubResource(a.Subresource).Apply(ctx, applied, &client.SubResourceApplyOptions{ApplyOptions: options})
	}
	if err != nil {
		return nil, err
	}
	return treeOf(object)
}

func (s *Side) deleteOptions(a Action) client.DeleteOptions {
	options := client.DeleteOptions{GracePeriodSeconds: a.Grace}
	if a.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	if a.Propagation != "" {
		policy := metav1.DeletionPropagation(a.Propagation)
		options.PropagationPolicy = &policy
	}
	known := unstructured.Unstructured{Object: s.copyOf(a)}
	if uid := known.GetUID(); a.SameUID && uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	if version := known.GetResourceVersion(); a.SameVersion && version != "" {
		if options.Preconditions == nil {
			options.Preconditions = &metav1.Preconditions{}
		}
		options.Preconditions.ResourceVersion = &version
	}
	return options
}

func (s *Side) delete(ctx context.Context, a Action) error {
	object, err := s.form(a, s.fresh(a))
	if err != nil {
		return err
	}
	options := s.deleteOptions(a)
	return s.client.Delete(ctx, object, &options)
}

func (s *Side) deleteAllOf(ctx context.Context, a Action) error {
	object, err := s.form(a, s.fresh(a))
	if err != nil {
		return err
	}
	options := &client.DeleteAllOfOptions{DeleteOptions: s.deleteOptions(a)}
	options.Namespace = a.Namespace
	if a.Labels != "" {
		if options.LabelSelector, err = labels.Parse(a.Labels); err != nil {
			return err
		}
	}
	if a.Fields != "" {
		if options.FieldSelector, err = fields.ParseSelector(a.Fields); err != nil {
			return err
		}
	}
	return s.client.DeleteAllOf(ctx, object, options)
}
